import { expect } from 'chai'
import type { OrderBody } from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { startGatedVenue, type GatedVenue } from '../support/gated-venue.js'
import { readOrder } from '../support/reconcile.js'
import { createTrader, SPOT, type Trader } from '../support/trader.js'

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
  this.timeout(90_000)
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
    for (const process of ['chain', 'nats-server']) await venue.kill(process, 'SIGCONT')
    await venue.untilReady()
  })

  async function ask(path: string, init?: RequestInit): Promise<Answer> {
    const begun = performance.now()
    const response = await fetch(new URL(path, venue.gatewayUrl), init)
    const body = (await response.json()) as Answer['body']
    return { status: response.status, ms: performance.now() - begun, body }
  }
  const post = (body: OrderBody): Promise<Answer> =>
    ask('/v1/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const resting = () => maker.sign({ side: 'buy', amount: '10', price: '0.0001' })

  function expectUnknown({ status, ms, body }: Answer): void {
    expect(status).to.equal(500)
    expect(body).to.include(OUTCOME_UNKNOWN)
    expect(ms).to.be.below(ANSWERED_WITHIN_MS)
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
      expect(ms, path).to.be.below(ANSWERED_WITHIN_MS)
    }
  }

  /** A maker and a taker that meet. */
  async function meeting(): Promise<{ sell: OrderBody; buy: OrderBody }> {
    const terms = { amount: '25', price: '0.0007' } as const
    const sell = await maker.sign({ side: 'sell', ...terms })
    return { sell, buy: await taker.sign({ side: 'buy', ...terms }) }
  }

  it('matcher: an order is answered 500 in time, and placed once the matcher is back', async () => {
    await venue.keepDown('matcher-cngn-usdc')
    const body = await resting()
    expectUnknown(await post(body))
    await untilMissing(`matcher-${SPOT}`)
    expect((await post(body)).status).to.equal(409)
    await venue.letUp('matcher-cngn-usdc')
    await untilStored(body, 'active')
    const repeat = await post(body)
    expect(repeat.status).to.equal(409)
    expect(repeat.body.order).to.include({ order_id: body.order_id, status: 'active' })
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

  it('executor: matches wait, and settle when it is back', async () => {
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
      expect(answer.ms).to.be.below(ANSWERED_WITHIN_MS)
    }
    await untilMissing('executor')
    expect((await readOrder(venue, buy.order_id))?.status).to.equal('matching')
    await venue.kill('chain', 'SIGCONT')
    for (const order of [sell, buy]) await untilStored(order, 'filled')
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
    expect(read.ms).to.be.below(ANSWERED_WITHIN_MS)
    await untilMissing('projector')
    await venue.letUp('projector')
    await untilStored(body, 'active')
    await maker.cancel(body)
  })
})
