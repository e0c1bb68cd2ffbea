import { expect } from 'chai'
import { access, chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createRestClient, OutcomeUnknown, type OrderBody } from '../../client/index.js'
import type { Hex } from '../../core/action.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { parseProcfile } from '../../devnet/launcher/procfile.js'
import { natsServerBinary } from '../support/config.js'
import { eventually, onThisMachine } from '../support/eventually.js'
import { connectSocket } from '../support/socket-client.js'
import { tempDir } from '../support/temp-dir.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { createChainUser } from './black-box/chain.js'
import { readOrder } from './stage/reconcile.js'
import { createTrader, SPOT, type Trader } from './stage/trader.js'

/** A venue whose processes and bus can be kept down for as long as a test likes. */
interface GatedVenue extends TestVenue {
  /** Kills the process; its successors wait before they begin. */
  keepDown(process: string): Promise<void>
  /** Lets the waiting successor begin. */
  letUp(process: string): Promise<void>
}

/** Starts a venue in which a small shell loop stands before each process and before nats-server. */
async function startGatedVenue(): Promise<GatedVenue> {
  const directory = tempDir()
  const gates = join(directory.path, 'down')
  await mkdir(gates)
  const gateOf = (process: string) => join(gates, process)
  const waitAt = (process: string) =>
    `touch '${gateOf(process)}.met'; while [ -e '${gateOf(process)}' ]; do sleep 0.05; done;`

  const entries = parseProcfile(await readFile(inProject('Procfile'), 'utf8'), {
    markets: [SPOT],
    own: [SPOT],
  })
  const procfile = join(directory.path, 'Procfile')
  const lines = entries.map(({ name, command }) => `${name}: ${waitAt(name)} ${command}`)
  await writeFile(procfile, lines.join('\n'))

  const natsServer = join(directory.path, 'nats-server')
  const script = `#!/bin/sh\n${waitAt('nats-server')}\nexec '${natsServerBinary()}' "$@"\n`
  await writeFile(natsServer, script)
  await chmod(natsServer, 0o755)

  const venue = await startVenue({ env: { PROCFILE: procfile, NATS_SERVER_BIN: natsServer } })
  return {
    ...venue,
    keepDown: async (process) => {
      await writeFile(gateOf(process), '')
      await rm(`${gateOf(process)}.met`)
      await venue.kill(process, 'SIGKILL')
      await eventually(() => access(`${gateOf(process)}.met`))
    },
    letUp: (process) => rm(gateOf(process)),
    stop: async (options) => {
      const code = await venue.stop(options)
      directory.remove()
      return code
    },
  }
}

/** The promise is three seconds; the rest is the way there and back on a busy machine. */
const ANSWERED_WITHIN_MS = 3_500
const BACK_WITHIN_MS = 30_000

interface Answer {
  readonly status: number
  readonly ms: number
  readonly body: Readonly<Record<string, unknown>>
}

const OUTCOME_UNKNOWN = {
  error: 'outcome not known: safe to retry with the same order_id',
  code: 'outcome_unknown',
}

describe('a component that is down', function () {
  let venue: GatedVenue
  let maker: Trader
  let taker: Trader
  before(async () => {
    venue = await startGatedVenue()
    ;[maker, taker] = [createTrader(venue.devnet, 0), createTrader(venue.devnet, 1)]
  })
  after(async () => {
    await venue?.stop()
  })
  afterEach(async () => {
    for (const process of ['chain', 'nats-server', 'matcher-cngn-usdc']) {
      await venue.kill(process, 'SIGCONT')
    }
    await venue.untilReady()
  })

  async function ask(path: string, init?: RequestInit): Promise<Answer> {
    const begun = performance.now()
    const response = await fetch(new URL(path, venue.gatewayUrl), init)
    const body = (await response.json()) as Answer['body']
    return { status: response.status, ms: performance.now() - begun, body }
  }
  const postTo = (path: string, body: object): Promise<Answer> =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const post = (body: OrderBody): Promise<Answer> => postTo('/v1/orders', body)
  const resting = () => maker.sign({ side: 'buy', amount: '10', price: '0.0001' })

  function expectUnknown({ status, ms, body }: Answer): void {
    expect(status).to.equal(500)
    expect(body).to.include(OUTCOME_UNKNOWN)
    expect(ms).to.be.below(onThisMachine(ANSWERED_WITHIN_MS))
  }

  /** Readiness is asked for at most once a second, so it may take a moment to tell. */
  async function untilMissing(...names: string[]): Promise<void> {
    await eventually(async () => {
      const { status, body } = await ask('/readyz')
      expect(status).to.equal(503)
      expect(Object.keys(body.missing as object)).to.include.members(names)
      expect(body.error).to.include(names[0])
    }, BACK_WITHIN_MS)
  }

  const untilStored = (body: OrderBody, status: string) =>
    eventually(async () => {
      expect((await readOrder(venue, body.order_id))?.status).to.equal(status)
    }, BACK_WITHIN_MS)

  async function expectReadsServed(stored: OrderBody): Promise<void> {
    const paths = ['/v1/markets', `/v1/book?symbol=${SPOT}`, `/v1/trades?symbol=${SPOT}`]
    for (const path of [...paths, `/v1/orders/${stored.order_id}`]) {
      const { status, ms } = await ask(path)
      expect(status, path).to.equal(200)
      expect(ms, path).to.be.below(onThisMachine(ANSWERED_WITHIN_MS))
    }
  }

  /** A maker and a taker that meet. */
  async function meeting(): Promise<{ sell: OrderBody; buy: OrderBody }> {
    const terms = { amount: '25', price: '0.0007' } as const
    const sell = await maker.sign({ side: 'sell', ...terms })
    return { sell, buy: await taker.sign({ side: 'buy', ...terms }) }
  }

  it('matcher: an order is answered 500 in time, and placed once the matcher is back (ORD-003, ORD-007)', async () => {
    await venue.keepDown('matcher-cngn-usdc')
    const body = await resting()
    expectUnknown(await post(body))
    await untilMissing(`matcher-${SPOT}`)
    expectUnknown(await post(body))
    await venue.letUp('matcher-cngn-usdc')
    await untilStored(body, 'active')
    const repeat = await post(body)
    expect(repeat.status).to.equal(409)
    expect(repeat.body.order).to.include({ order_id: body.order_id, status: 'active' })
    await maker.cancel(body)
  })

  it('matcher that hangs: no answer and no client takes an order for refused that fills later (ORD-007)', async () => {
    const rest = createRestClient(venue.gatewayUrl, { resends: 1 })
    const standing = await resting()
    expect((await post(standing)).status).to.equal(200)
    await venue.kill('matcher-cngn-usdc', 'SIGSTOP')
    const body = await resting()
    // The first, and repeats of it.
    for (let n = 0; n < 3; n += 1) expectUnknown(await post(body))
    const failure = await rest.placeOrder(body).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(OutcomeUnknown)
    const socket = await connectSocket(new URL('/v1/ws', venue.gatewayUrl).href)
    socket.send({ op: 'place', req_id: 'again', order: body })
    const result = await socket.next(({ req_id }) => req_id === 'again')
    expect(result).to.include({ status: 500, code: 'outcome_unknown' })
    socket.ws.close()
    const { owner_address, nonce } = standing
    const asks: [string, object, object][] = [
      ['cancel', { owner_address, nonce }, { code: 'cancel_target_unresolved' }],
      [
        'reduce',
        { owner_address, nonce, desired_amount: '5' },
        { code: 'cancel_target_unresolved' },
      ],
      ['batch', { orders: [body] }, { 'results[0].code': 'outcome_unknown' }],
    ]
    for (const [path, sent, expected] of asks) {
      const { body: answered } = await postTo(`/v1/orders/${path}`, sent)
      for (const [key, value] of Object.entries(expected)) {
        expect(answered, path).to.have.nested.property(key, value)
      }
    }
    await venue.kill('matcher-cngn-usdc', 'SIGCONT')
    await untilStored(body, 'active')
    const known = await createRestClient(venue.gatewayUrl).placeOrder(body)
    expect(known).to.include({ order_id: body.order_id, status: 'active' })
    // The cancel that was not known to be carried out was.
    await untilStored(standing, 'cancelled')
    await maker.cancel(body)
  })

  it('order-intake: an order is answered 500 in time, and taken when it is sent again', async () => {
    await venue.keepDown('order-intake')
    const body = await resting()
    expectUnknown(await post(body))
    await untilMissing('order-intake')
    await venue.letUp('order-intake')
    await eventually(async () => expect((await post(body)).status).to.equal(200), BACK_WITHIN_MS)
    await maker.cancel(body)
  })

  it('nats-server: orders are answered 500 in time, reads are served', async () => {
    const before = await resting()
    expect((await post(before)).status).to.equal(200)
    await venue.keepDown('nats-server')
    await untilMissing('bus')
    const body = await resting()
    expectUnknown(await post(body))
    await expectReadsServed(before)
    await venue.letUp('nats-server')
    await eventually(async () => expect((await post(body)).status).to.equal(200), BACK_WITHIN_MS)
    for (const order of [before, body]) await maker.cancel(order)
  })

  it('nats-server that hangs: the same, and whatever was taken is placed once', async () => {
    const before = await resting()
    expect((await post(before)).status).to.equal(200)
    await venue.kill('nats-server', 'SIGSTOP')
    const body = await resting()
    expectUnknown(await post(body))
    await expectReadsServed(before)
    await venue.kill('nats-server', 'SIGCONT')
    await eventually(
      async () => expect((await post(body)).status).to.be.oneOf([200, 409]),
      BACK_WITHIN_MS,
    )
    await untilStored(body, 'active')
    for (const order of [before, body]) await maker.cancel(order)
  })

  it('executor: matches wait, and settle when it is back (SET-003)', async () => {
    await venue.keepDown('executor')
    const { sell, buy } = await meeting()
    expect((await post(sell)).body.order).to.include({ status: 'active' })
    expect((await post(buy)).body.order).to.include({ status: 'matching' })
    await untilMissing('executor')
    expect((await readOrder(venue, buy.order_id))?.status).to.equal('matching')
    await venue.letUp('executor')
    for (const order of [sell, buy]) await untilStored(order, 'filled')
  })

  it('chain that hangs: orders are taken in time, and settle when it answers again', async () => {
    await venue.kill('chain', 'SIGSTOP')
    const { sell, buy } = await meeting()
    for (const [order, status] of [
      [sell, 'active'],
      [buy, 'matching'],
    ] as const) {
      const answer = await post(order)
      expect(answer.body.order).to.include({ status, signature_status: 'checked' })
      expect(answer.ms).to.be.below(onThisMachine(ANSWERED_WITHIN_MS))
    }
    await untilMissing('executor')
    expect((await readOrder(venue, buy.order_id))?.status).to.equal('matching')
    await venue.kill('chain', 'SIGCONT')
    for (const order of [sell, buy]) await untilStored(order, 'filled')
  })

  it('chain that hangs: an order of a session key is hidden until the key is checked', async () => {
    const { accounts } = venue.devnet
    const key = privateKeyToAccount(generatePrivateKey())
    const owner = createChainUser(venue.devnet, accounts[2]?.private_key as Hex)
    await owner.registerSessionKey(key.address, BigInt(Math.floor(Date.now() / 1_000) + 3_600))
    const keyed = createTrader(venue.devnet, 2, key)
    await venue.kill('chain', 'SIGSTOP')
    const order = await keyed.sign({ side: 'buy', amount: '10', price: '0.0001' })
    const hidden = { signature_status: 'unchecked', open_amount: '0' }
    expect((await post(order)).body.order).to.include({ status: 'active', ...hidden })
    await eventually(async () => {
      expect(await readOrder(venue, order.order_id)).to.include(hidden)
    })
    await venue.kill('chain', 'SIGCONT')
    await eventually(async () => {
      const checked = { signature_status: 'checked', open_amount: '10' }
      expect(await readOrder(venue, order.order_id)).to.include(checked)
    }, BACK_WITHIN_MS)
  })

  it('chain-reader: trading goes on, and the health page says what is missing', async () => {
    await venue.keepDown('chain-reader')
    const { sell, buy } = await meeting()
    for (const order of [sell, buy]) expect((await post(order)).status).to.equal(200)
    for (const order of [sell, buy]) await untilStored(order, 'filled')
    await untilMissing('chain-reader')
    const chain = async () => (await ask('/v1/health')).body.chain
    expect(await chain()).to.include({ status: 'degraded' })
    await venue.letUp('chain-reader')
    await eventually(async () => expect(await chain()).to.include({ status: 'ok' }), BACK_WITHIN_MS)
  })

  it('projector: what a reader has seen is never unseen, reads say so in time', async () => {
    await venue.keepDown('projector')
    const body = await resting()
    expect((await post(body)).status).to.equal(200)
    const read = await ask(`/v1/orders/${body.order_id}`)
    expect(read.status).to.equal(503)
    expect(read.body).to.include({ code: 'read_behind' })
    expect(read.ms).to.be.below(onThisMachine(ANSWERED_WITHIN_MS))
    await untilMissing('projector')
    await venue.letUp('projector')
    await untilStored(body, 'active')
    await maker.cancel(body)
  })
})
