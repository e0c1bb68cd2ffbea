import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { privateKeyToAccount } from 'viem/accounts'
import { signFrame } from '../../client/index.js'
import { frameHeader } from '../../client/sign-frame.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, SPOT } from './stage/trader.js'

const execute = promisify(execFile)

/** Runs a program; throws with all that it has printed when it fails. */
async function run(file: string, args: readonly string[], options: object): Promise<string> {
  try {
    return (await execute(file, args, { ...options, encoding: 'utf8' })).stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** What a user writes on the types that a generator makes of the served documents; each call prints its name and status. */
const PROGRAM = `
import createClient from 'openapi-fetch'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { components, paths } from './api.js'
import type { ClientFrame, ServerFrame } from './frames.js'

const { GATEWAY_URL: baseUrl = '', ORDER = '{}', FRAME = '', MARKET: symbol = '' } = process.env
const body = JSON.parse(ORDER) as components['schemas']['NewOrder']
const api = createClient<paths>({ baseUrl })
const header = { 'X-Service-Auth': FRAME }
const tell = (name: string, what: unknown): void => console.log(name, what)
function ok<Body>(name: string, answer: { data?: Body; error?: { error: string; code: string }; response: Response }): Body {
  const { data, error, response } = answer
  if (data === undefined) throw new Error(\`\${name}: \${response.status} \${error?.code} \${error?.error}\`)
  tell(name, response.status)
  return data
}

const { unix_ms } = ok('time', await api.GET('/v1/time'))
const late: number = unix_ms - Date.now()
if (Math.abs(late) > 60_000) throw new Error('the clocks differ')
ok('venue', await api.GET('/v1/venue'))
const market = ok('markets', await api.GET('/v1/markets')).find((each) => each.market === symbol)
const decimals: number | undefined = market?.ui_price_decimals
if (decimals === undefined) throw new Error('no such market')
const verdict = ok('validate', await api.POST('/v1/orders/validate', { body }))
if (!verdict.valid || verdict.outcome?.complete !== true) throw new Error(JSON.stringify(verdict))
const placed = await api.POST('/v1/orders', { body })
const { order } = ok('place', placed)
const min_seq = placed.response.headers.get('x-feed-seq') ?? ''
const path = { order_id: order.order_id }
const looked = ok('look up', await api.GET('/v1/orders/{order_id}', { params: { path, query: { min_seq } } }))
if (looked.final || looked.status !== 'active') throw new Error(looked.status)
// @ts-expect-error a status is one of five words
if (looked.status === 'open') throw new Error('never')
const paid: string | undefined = looked.fee_paid
tell('paid', paid)
const explained = ok('explain', await api.GET('/v1/orders/{order_id}/explain', { params: { path } }))
if (explained.text === '') throw new Error('no words')
const book = ok('book', await api.GET('/v1/book', { params: { query: { symbol, depth: 100, min_seq } } }))
if (!book.bids.some(({ order_id }) => order_id === order.order_id)) throw new Error('not in the book')
const levels = ok('levels', await api.GET('/v1/levels', { params: { query: { symbol, depth: 10, min_seq } } }))
const seq: number = levels.seq
tell('at', seq > 0)
ok('tickers', await api.GET('/v1/tickers'))
ok('trades', await api.GET('/v1/trades', { params: { query: { symbol, limit: 5 } } }))
// @ts-expect-error no read takes it
const refused = await api.GET('/v1/trades', { params: { query: { symbols: symbol } } })
tell(refused.error?.code ?? 'no code', refused.response.status)
const { orders } = ok('orders', await api.GET('/v1/orders', { params: { header, query: { status: 'open', min_seq } } }))
if (!orders.some(({ order_id }) => order_id === order.order_id)) throw new Error('not among its own')
ok('fills', await api.GET('/v1/fills', { params: { header, query: { min_seq } } }))
ok('accounts', await api.GET('/v1/accounts', { params: { query: { owner_address: body.owner_address } } }))

const socket = new WebSocket(new URL('/v1/ws', baseUrl.replace(/^http/, 'ws')))
await once(socket, 'open')
const send = (frame: ClientFrame): void => socket.send(JSON.stringify(frame))
send({ op: 'subscribe', channel: 'book', market: symbol })
const shown = await new Promise<components['schemas']['Order'][]>((resolve, reject) => {
  socket.on('message', (text: Buffer) => {
    const frame = JSON.parse(text.toString()) as ServerFrame
    if (frame.type === 'error') return reject(new Error(frame.message))
    if (frame.type === 'snapshot' && frame.channel === 'book') resolve(frame.data.bids)
  })
})
socket.close()
if (!shown.some(({ order_id }) => order_id === order.order_id)) throw new Error('not on the socket')
tell('socket', 101)

const cancel = { owner_address: body.owner_address, nonce: body.nonce, reason: 'enough' }
const cancelled = ok('cancel', await api.POST('/v1/orders/cancel', { body: cancel }))
tell('cancelled', cancelled.order.final && cancelled.order.cancel_reason === 'enough')
`

const CALLS = [
  ...['time 200', 'venue 200', 'markets 200', 'validate 200', 'place 200', 'look up 200', 'paid 0'],
  ...['explain 200', 'book 200', 'levels 200', 'at true', 'tickers 200', 'trades 200'],
  ...['unknown_market 400', 'orders 200', 'fills 200', 'accounts 200', 'socket 101', 'cancel 200'],
  'cancelled true',
]

const CONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    skipLibCheck: true,
    outDir: 'out',
  },
  files: ['calls.ts'],
}

interface Feed {
  readonly info: object
  readonly components: {
    readonly schemas: object
    readonly messages: Readonly<Record<string, { readonly payload: { readonly $ref: string } }>>
  }
  readonly operations: Readonly<Record<string, { readonly messages: { readonly $ref: string }[] }>>
}

/** The types of what each side sends: a generator of types knows OpenAPI, whose schemas are those of AsyncAPI. */
function framesOf({ components, operations }: Feed): string {
  const typeOf = ({ $ref }: { readonly $ref: string }): string => {
    const name = $ref.split('/').at(-1) ?? ''
    return `schemas['${components.messages[name]?.payload.$ref.split('/').at(-1)}']`
  }
  const union = (operation: string) => operations[operation]?.messages.map(typeOf).join(' | ')
  return `import type { components } from './feed.js'
type schemas = components['schemas']
export type ClientFrame = ${union('receiveFromClient')}
export type ServerFrame = ${union('sendToClient')}
`
}

describe('a client that a generator makes of the served documents', () => {
  let project: string
  before(async () => {
    project = await mkdtemp(join(tmpdir(), 'generated-client-'))
    await symlink(inProject('node_modules'), join(project, 'node_modules'))
    await writeFile(join(project, 'package.json'), '{"type":"module"}')
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(CONFIG))
    await writeFile(join(project, 'calls.ts'), PROGRAM)
  })
  after(() => rm(project, { recursive: true, force: true }))

  it('compiles strictly, and makes its calls', async () => {
    const { gatewayUrl, devnet } = await sharedVenue()
    const node = (script: string, ...args: string[]) =>
      run(process.execPath, [inProject(`node_modules/${script}`), ...args], { cwd: project })
    const generate = (document: string, file: string) =>
      node('openapi-typescript/bin/cli.js', document, '-o', file)
    await generate(`${gatewayUrl}/v1/openapi.json`, 'api.ts')
    const feed = (await (await fetch(`${gatewayUrl}/v1/asyncapi.json`)).json()) as Feed
    const { info, components } = feed
    const asOpenApi = { openapi: '3.1.0', info, paths: {}, components }
    await writeFile(join(project, 'feed.json'), JSON.stringify(asOpenApi))
    await generate('feed.json', 'feed.ts')
    await writeFile(join(project, 'frames.ts'), framesOf(feed))
    await node('typescript-7/bin/tsc', '-p', '.')

    const order = await createTrader(devnet, 0).sign({
      side: 'buy',
      price: '0.0000123',
      amount: '1',
    })
    const key = devnet.accounts[0]?.private_key ?? '0x'
    const signing = { purpose: 'history', domain: devnet.auth_domain } as const
    const frame = frameHeader(await signFrame(privateKeyToAccount(key), signing))
    const env = {
      GATEWAY_URL: gatewayUrl,
      ORDER: JSON.stringify(order),
      FRAME: frame,
      MARKET: SPOT,
    }
    const printed = await run(process.execPath, ['out/calls.js'], { cwd: project, env })
    expect(printed.trim().split('\n')).to.deep.equal(CALLS)
  })
})
