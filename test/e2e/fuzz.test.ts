import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import {
  createRestClient,
  frameHeader,
  signCancelAll,
  signCancelAllAfter,
  signCancelList,
  signFrame,
} from '../../client/index.js'
import type { Market } from '../../core/model/market.js'
import type { OrderBody } from '../support/builders.js'
import { runAudit } from '../support/audit.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { EXTREME_EXPIRIES, extremeOrders, type ExtremeDesk } from './stage/extreme-orders.js'
import {
  executorRequests,
  forEach,
  gatewayRequests,
  send,
  sendFrames,
  socketFrames,
  wrongOf,
  type Answer,
} from './stage/fuzzed-traffic.js'
import { PERP } from './stage/perp-trader.js'
import {
  registeredMarket,
  openSeries,
  openSeriesTraders,
  type SeriesTrader,
} from './stage/series.js'
import { createTrader, SPOT, type Trader } from './stage/trader.js'
import { createTransferUser } from './stage/transfer-user.js'

const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
/** Of each operation; about 5,000 requests and frames in all. */
const COUNTS = { write: 190, read: 45 }
const EXECUTOR_REQUESTS = 250
const FRAMES = 900
const INDEX_SECRET = 'fuzz'
const FUNDS = { usdc: 100_000_000_000n, cngn: 1_000_000_000_000_000n }
/** Few commands between two checkpoints, so that each market has several when it stops. */
const ENV = { CHECKPOINT_COMMANDS: '50', INDEX_STATUS_SECRET: INDEX_SECRET }
/** Those of the first two accounts send what is made up, the others trade in the end. */
const TRADERS = 4

describe(`requests that are made up (FUZZ_SEED=${SEED})`, function () {
  // Each test goes on with what the one before it has left.
  this.bail(true)
  let venue: TestVenue
  let series: Market
  let accounts: SeriesTrader[]
  /** Ids of extreme orders that were taken. */
  const taken: string[] = []

  const options = { markets: SPOT_AND_PERP, feeder: true, env: ENV } as const
  const rest = () => createRestClient(venue.gatewayUrl)
  const post = (path: string, body: object): Promise<Answer> =>
    send(venue.gatewayUrl, { method: 'POST', path, headers: {}, body: JSON.stringify(body) })

  before(async () => {
    venue = await startVenue(options)
    series = await openSeries(venue, 2)
    accounts = await openSeriesTraders(venue, series, FUNDS, TRADERS)
    await untilOpen()
  })
  after(async () => venue?.stop())

  const untilOpen = () =>
    eventually(async () => {
      const open = (await rest().markets()).filter((each) => each.trading_status === 'open')
      expect(open.map(({ market }) => market)).to.include.members([SPOT, PERP, series.market])
    }, 120_000)

  const signerOf = (index: number) =>
    privateKeyToAccount(venue.devnet.accounts[index]?.private_key ?? '0x')
  const domainOf = () => ({ chainId: venue.devnet.chain_id, matching: venue.devnet.matching })
  /** The times of a proof from now on. */
  const proof = () => {
    const issuedAtSec = Math.floor(Date.now() / 1_000)
    return { issuedAtSec, expirySec: issuedAtSec + 60 }
  }

  /** With a new proof each time: one that was sent may be used. */
  const carryOut = (path: string, sign: () => Promise<object>) =>
    eventually(async () => expect((await post(path, await sign())).status).to.equal(200))

  /** Desks of an account in all three markets. */
  async function desksOf(index: number): Promise<ExtremeDesk[]> {
    const account = venue.devnet.accounts[index]
    if (account === undefined) throw new Error(`the devnet has no account ${index}`)
    const privateKey = account.private_key
    return [
      {
        market: await registeredMarket(venue, SPOT),
        privateKey,
        amount: '10',
        subaccountId: BigInt(account.spot_subaccount_id),
        price: { buy: '0.0001', sell: '0.01' },
      },
      {
        market: await registeredMarket(venue, PERP),
        privateKey,
        amount: '10',
        subaccountId: BigInt(account.perp_subaccount_id),
        price: { buy: '0.0006', sell: '0.0007' },
      },
      {
        market: series,
        privateKey,
        amount: '1',
        subaccountId: accounts[index]?.subaccountId ?? 0n,
        price: { buy: '1500', sell: '1560' },
      },
    ]
  }

  async function extremesOf(round: string): Promise<OrderBody[]> {
    const domain = { chainId: venue.devnet.chain_id, verifyingContract: venue.devnet.matching }
    const desks = (await Promise.all([0, 1].map(desksOf))).flat()
    const orders = desks.map((desk, at) => extremeOrders(desk, domain, `${round}${at}-${SEED}`))
    return (await Promise.all(orders)).flat()
  }

  /** What would be carried out of every operation that writes. */
  async function realThings(bodies: readonly OrderBody[]) {
    const user = createTransferUser(venue.devnet, 0)
    const account = signerOf(0)
    const frame = await signFrame(account, { purpose: 'history', domain: venue.devnet.auth_domain })
    const names = bodies.map(({ owner_address, nonce }) => ({ owner_address, nonce }))
    const domain = user.domain
    const ids = bodies.map((body) => body.order_id)
    return {
      frame: frameHeader(frame),
      bodies: bodies.map((body) => ({ ...body })),
      bodiesOf: {
        '/v1/orders/cancel': names,
        '/v1/orders/reduce': names.map((name) => ({ ...name, desired_amount: '1' })),
        '/v1/orders/replace': bodies.map((body) => ({ ...body, replaces_nonce: body.nonce })),
        '/v1/orders/batch': [{ orders: bodies.slice(0, 9) }, { orders: bodies.slice(-9) }],
        '/v1/orders/cancel-all': [
          { owner_address: account.address, market: PERP, side: 'sell' },
          { ...(await signCancelAll(account, domain, { ...proof(), market: PERP, side: 'sell' })) },
        ],
        '/v1/orders/cancel-list': [
          { owner_address: account.address, order_ids: ids.slice(0, 20) },
          {
            ...(await signCancelList(account, domain, { ...proof(), orderIds: ids.slice(0, 20) })),
          },
        ],
        '/v1/orders/cancel-all-after': [
          { owner_address: account.address, seconds: 10 },
          { ...(await signCancelAllAfter(account, domain, { ...proof(), seconds: 10 })) },
          { ...(await signCancelAllAfter(account, domain, { ...proof(), seconds: 86_400 })) },
        ],
        '/v1/deposits': [{ ...(await user.deposit('25')) }],
        '/v1/withdrawals': [
          { ...(await user.withdrawal({ asset: venue.devnet.wrapped_usdc, amount: '4' })) },
        ],
        '/v1/internal/index-status': [
          { at_ms: Date.now(), usdc_per_cngn: '0.00065', sample_ok: true },
        ],
      },
    }
  }

  /** Places the orders; each is taken or refused with a reason, and one of each extreme expiry is taken in every market. */
  async function placeExtremes(round: string): Promise<void> {
    const bodies = await extremesOf(round)
    const wrong: string[] = []
    const expiries = new Map<string, Set<number>>()
    await forEach(bodies, async (body) => {
      const answer = await post('/v1/orders', body)
      const request = { method: 'POST', path: '/v1/orders', headers: {} }
      wrong.push(...wrongOf({ ...request, body: JSON.stringify(body) }, answer))
      // A 409 with the order says that it was taken when it was sent before.
      const { order } = JSON.parse(answer.text) as { order?: { market: string } }
      if (order === undefined) return
      taken.push(body.order_id)
      const seen = expiries.get(order.market) ?? new Set()
      expiries.set(order.market, seen.add(body.expiry))
    })
    expect(wrong).to.deep.equal([])
    for (const market of [SPOT, PERP, series.market])
      expect([...(expiries.get(market) ?? [])], market).to.include.members([...EXTREME_EXPIRIES])
  }

  async function fuzz(): Promise<void> {
    const real = await realThings(await extremesOf('m'))
    const wrong: string[] = []
    const statuses = new Map<number, number>()
    const requests = gatewayRequests(real, SEED, COUNTS)
    const sockets = sendFrames(
      venue.gatewayUrl.replace('http', 'ws') + '/v1/ws',
      socketFrames(
        {
          place: real.bodies.map((order) => ({ op: 'place', req_id: 'a', order })),
          cancel: real.bodiesOf['/v1/orders/cancel'].map((order) => ({
            op: 'cancel',
            req_id: 'a',
            order,
          })),
        },
        SEED,
        FRAMES,
      ),
      async () => {
        const domain = venue.devnet.auth_domain
        return { op: 'auth', ...(await signFrame(signerOf(1), { purpose: 'socket', domain })) }
      },
    )
    await forEach(requests, async (request) => {
      const { path } = request
      const headers = path.startsWith('/v1/internal') ? { 'x-index-token': INDEX_SECRET } : {}
      const sent = { ...request, headers: { ...headers, ...request.headers } }
      const answer = await send(venue.gatewayUrl, sent)
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      wrong.push(...wrongOf(sent, answer))
    })
    const answered = await sockets
    const secret = readFileSync(join(venue.dataDir, 'executor.secret'), 'utf8').trim()
    await forEach(executorRequests(secret, SEED, EXECUTOR_REQUESTS), async (request) => {
      const { status, text } = await send(venue.devnet.executor_url, request)
      const { error } = status < 400 ? { error: 'none' } : (JSON.parse(text) as { error?: unknown })
      if (status >= 500 || typeof error !== 'string')
        wrong.push(`${request.path} -> ${status} ${text}, sent ${request.body?.slice(0, 4_000)}`)
    })
    expect(wrong.slice(0, 20), `${wrong.length} of ${requests.length}`).to.deep.equal([])
    expect(requests.length + FRAMES + EXECUTOR_REQUESTS).to.be.above(4_500)
    expect(answered).to.be.above(FRAMES / 4)
    for (const status of [200, 400, 404]) expect(statuses.get(status), `${status}`).to.be.above(9)
  }

  it('get documented answers, and end no process', async () => {
    const before = await venue.pids()
    await placeExtremes('a')
    await fuzz()
    // A lease that was asked for would end what rests.
    for (const signer of [0, 1].map(signerOf)) {
      await carryOut('/v1/orders/cancel-all-after', () =>
        signCancelAllAfter(signer, domainOf(), { ...proof(), seconds: 0 }),
      )
    }
    await placeExtremes('b')
    expect(await venue.pids()).to.deep.equal(before)
  })

  it('leave a venue that starts again, with every order that it took', async () => {
    const shown = async (id: string) => {
      const { text } = await send(venue.gatewayUrl, {
        method: 'GET',
        path: `/v1/orders/${encodeURIComponent(id)}`,
        headers: {},
      })
      const { order } = JSON.parse(text) as { order: Record<string, unknown> }
      return [order.expiry, order.limit_price, order.nonce, order.action_json, order.created_at]
    }
    const before = await forEach(taken, shown)
    await venue.stop({ keepData: true })
    venue = await startVenue({ ...options, dataDir: venue.dataDir })
    expect(await forEach(taken, shown)).to.deep.equal(before)
  })

  it('leave markets that trade, and a clean audit', async () => {
    await untilOpen()
    for (const signer of [0, 1].map(signerOf)) {
      await carryOut('/v1/orders/cancel-all', () => signCancelAll(signer, domainOf(), proof()))
    }
    const [ann, bob] = [2, 3] as const
    const desk = (index: number, market: string, subaccountId: string | undefined): Trader =>
      createTrader(venue.devnet, index, undefined, { market, subaccountId: subaccountId ?? '' })
    const perpOf = (index: number) => venue.devnet.accounts[index]?.perp_subaccount_id
    const futureOf = (index: number) => accounts[index]?.subaccountId.toString()
    const trades = [
      [createTrader(venue.devnet, ann), createTrader(venue.devnet, bob), '10', '0.00065'],
      [desk(ann, PERP, perpOf(ann)), desk(bob, PERP, perpOf(bob)), '10', '0.00065'],
      [
        desk(ann, series.market, futureOf(ann)),
        desk(bob, series.market, futureOf(bob)),
        ...['1', '1530'],
      ],
    ] as const
    for (const [seller, buyer, amount, price] of trades) {
      const maker = await seller.place({ side: 'sell', amount, price })
      const taker = await buyer.place({ side: 'buy', amount, price })
      await buyer.until(taker.order_id, 'filled')
      await seller.until(maker.order_id, 'filled')
    }
    const { code, output } = await runAudit(auditEnvironment(venue))
    expect(code, output).to.equal(0)
  })
})

function auditEnvironment({ dataDir, devnet }: TestVenue): NodeJS.ProcessEnv {
  const text = readFileSync(join(dataDir, 'ports.json'), 'utf8')
  const { nats } = JSON.parse(text) as { nats: number }
  return {
    ...inheritedEnvironment(),
    NATS_URL: `nats://127.0.0.1:${nats}`,
    RPC_URL: devnet.rpc_url,
    DATA_DIR: dataDir,
  }
}
