import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { buildCcxt } from '../../devnet/build-ccxt.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const modules = dirname(dirname(fileURLToPath(import.meta.resolve('chai'))))

const manifestAt = (path: string) =>
  JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>

/** What a new user writes first; the same source for both kinds of modules. */
const EXAMPLE = `
import ccxt, { InsufficientFunds, type Order } from 'ccxt'
import { register, Venue, VenuePro } from 'venue-ccxt'

export async function bid(privateKey: string): Promise<Order | string> {
  const venue = new Venue({ privateKey, urls: { api: { rest: 'http://127.0.0.1:1' } } })
  try {
    const order = await venue.createOrder('CNGN/USDC', 'limit', 'buy', 15000, 0.0006, { postOnly: true })
    // @ts-expect-error a price is a number
    const text: string = order.price
    return text === '' ? order : await venue.cancelOrder(order.id as string)
  } catch (error) {
    if (error instanceof InsufficientFunds) return error.message
    throw error
  }
}
register(ccxt, 'numo', { baseUrl: 'https://venue.example' })
export const book: Promise<number | undefined> | undefined = new VenuePro().markets === undefined
  ? undefined
  : new VenuePro().watchOrderBook('CNGN/USDC').then(({ nonce }) => nonce)
`

/** It loads beside the same CCXT, whose errors it throws, and takes a name in its registry. */
const LOADS = `
const exchange = new Venue({ privateKey: '0x' + '11'.repeat(32) })
register(ccxt, 'numo', { baseUrl: 'https://venue.example' })
const named = new ccxt.pro.numo()
console.log(exchange instanceof ccxt.Exchange, exchange.signerAddress(), ccxt.exchanges.includes('numo'),
  new ccxt.numo().urls.api.rest, named.id, named.has.watchOrders, named.socketUrl())
`
const LOADED =
  'true 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a true https://venue.example numo true wss://venue.example/v1/ws\n'

/** Packed and installed as a user would, without a registry: CCXT is linked. */
describe('the package of the CCXT class', function () {
  let work: string
  let built: string
  let project: string
  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'ccxt-package-'))
    built = join(work, 'package')
    project = join(work, 'project')
    await buildCcxt(built)
    await mkdir(project)
    const npm = async (cwd: string, ...args: string[]) => {
      const alone = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund']
      return (await run('npm', [...args, ...alone], { cwd })).stdout
    }
    const tarball = (await npm(built, 'pack', '--pack-destination', work)).trim().split('\n').at(-1)
    await writeFile(join(project, 'package.json'), '{"name":"project","private":true}')
    await npm(project, 'install', '--legacy-peer-deps', join(work, tarball ?? ''))
    await symlink(join(modules, 'ccxt'), join(project, 'node_modules/ccxt'))
  })
  after(() => rm(work, { recursive: true, force: true }))

  it('has the version of the venue, and needs CCXT alone, in the version that is tested', () => {
    const own = manifestAt(join(built, 'package.json'))
    const whole = manifestAt(join(root, 'package.json'))
    const { ccxt } = whole.devDependencies as Readonly<Record<string, string>>
    expect(own.version).to.equal(whole.version)
    expect(own.dependencies).to.equal(undefined)
    expect(own.peerDependencies).to.deep.equal({ ccxt: `^${ccxt}` })
  })

  it('is in the form that tools expect', async () => {
    const { messages, pkg } = await publint({ pkgDir: built, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).to.deep.equal([])
  })

  it('compiles an example in an empty strict project as a module and as CommonJS', async () => {
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      types: [],
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      // The declarations of CCXT do not all compile under these.
      lib: ['es2022', 'dom'],
      skipLibCheck: true,
      esModuleInterop: true,
    }
    const files = ['example.mts', 'example.cts']
    for (const file of files) await writeFile(join(project, file), EXAMPLE)
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    await run(process.execPath, [join(modules, 'typescript-7/bin/tsc'), '-p', project])
  })

  it('loads as a module and as CommonJS, each beside the same build of CCXT', async () => {
    const imports = `import ccxt from 'ccxt'; import { register, Venue } from 'venue-ccxt';`
    const requires = `const ccxt = require('ccxt'); const { register, Venue } = require('venue-ccxt');`
    await writeFile(join(project, 'loads.mjs'), imports + LOADS)
    await writeFile(join(project, 'loads.cjs'), requires + LOADS)
    for (const file of ['loads.mjs', 'loads.cjs']) {
      const { stdout } = await run(process.execPath, [file], { cwd: project })
      expect(stdout, file).to.equal(LOADED)
    }
  })
})
