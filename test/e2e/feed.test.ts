import { expect } from 'chai'
import { WebSocket } from 'ws'
import { createRestClient } from '../../client/index.js'
import { signedAuth } from '../support/auth-frames.js'
import { eventually } from '../support/eventually.js'
import type { TestVenue } from '../support/venue.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, e18, SPOT, type Trader } from './stage/trader.js'

interface Frame {
  readonly type: string
  readonly channel: string
  readonly market: string
  readonly seq: number
  readonly prev_seq?: number
  readonly data: Record<string, unknown>
  readonly code?: string
}

interface Health {
  readonly markets: Readonly<Record<string, { readonly head_seq?: number }>>
}

/** A raw socket through the gateway that keeps every frame. */
async function listen(venue: TestVenue, frames: readonly object[]) {
  const url = new URL('/v1/ws', venue.gatewayUrl.replace(/^http/, 'ws'))
  const socket = new WebSocket(url)
  const received: Frame[] = []
  socket.on('message', (data: Buffer) => received.push(JSON.parse(data.toString()) as Frame))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  for (const frame of frames) socket.send(JSON.stringify(frame))
  return { received, close: () => socket.close() }
}

const subscribe = (channel: string, more: object = {}) => ({
  op: 'subscribe',
  channel,
  market: SPOT,
  ...more,
})

describe('the feed, through the gateway', function () {
  let venue: TestVenue
  let maker: Trader
  let taker: Trader
  before(async function () {
    venue = await sharedVenue()
    maker = createTrader(venue.devnet, 0)
    taker = createTrader(venue.devnet, 1)
  })

  const trade = async (): Promise<string> => {
    const resting = await maker.place({ side: 'sell', amount: '50', price: '0.0011' })
    const crossing = await taker.place({ side: 'buy', amount: '50', price: '0.0011' })
    await taker.until(crossing.order_id, 'filled')
    await maker.until(resting.order_id, 'filled')
    return crossing.order_id
  }

  it('sends a snapshot, then every change, and the trade when it is settled', async () => {
    const { received, close } = await listen(venue, [subscribe('book'), subscribe('trades')])
    await eventually(() => received.filter(({ type }) => type === 'snapshot').length === 2)
    const takerId = await trade()
    await eventually(() => received.some((it) => it.channel === 'trades' && it.type === 'update'))
    const fill = received.findLast((it) => it.channel === 'trades')
    expect(fill?.data).to.include({ taker_order_id: takerId, price: '0.0011', size: '50' })
    await eventually(() => received.some((it) => it.channel === 'book' && it.seq === fill?.seq))
    const book = received.filter((it) => it.channel === 'book')
    const [snapshot, ...updates] = book
    expect(updates.map((it) => it.seq)).to.deep.equal(
      updates.map((_, index) => (snapshot?.seq ?? 0) + 1 + index),
    )
    for (const update of updates) expect(update.prev_seq).to.equal(update.seq - 1)
    const moved = updates.reduce((sum, it) => sum + signedE18(String(it.data.size_delta)), 0n)
    expect(moved).to.equal(0n)
    close()
  })

  it('resumes from any seq with the same frames', async () => {
    const first = await listen(venue, [subscribe('book', { since_seq: 0 })])
    await trade()
    const head = (await eventuallyHead(first.received)).seq
    const middle = Math.floor(head / 2)
    const second = await listen(venue, [subscribe('book', { since_seq: middle })])
    await eventually(() => second.received.at(-1)?.seq === head)
    expect(second.received).to.deep.equal(first.received.filter((it) => it.seq > middle))
    expect(first.received[0]?.seq).to.equal(1)
    first.close()
    second.close()
  })

  it('agrees with the book over REST at the same moment (STR-013)', async () => {
    const resting = await maker.place({ side: 'sell', amount: '70', price: '0.0012' })
    const { received, close } = await listen(venue, [subscribe('book')])
    await eventually(() => received.length > 0)
    const book = await createRestClient(venue.gatewayUrl).book(SPOT)
    expect(received[0]?.data).to.deep.equal(JSON.parse(JSON.stringify(book)))
    await maker.cancel(resting)
    close()
  })

  it('follows the own orders through a trade, as REST shows them before and after', async () => {
    const privateKey = venue.devnet.accounts[0]?.private_key
    if (privateKey === undefined) throw new Error('the devnet has no accounts')
    const rest = createRestClient(venue.gatewayUrl)
    const resting = await maker.place({ side: 'sell', amount: '60', price: '0.0013' })
    const auth = await signedAuth({ privateKey, domain: venue.devnet.auth_domain })
    const { received, close } = await listen(venue, [auth, { op: 'subscribe', channel: 'orders' }])
    await eventually(() => received.some(({ type }) => type === 'snapshot'))
    const shown = JSON.parse(JSON.stringify(await rest.order(resting.order_id))) as object
    const [snapshot] = Object.values(received.find(({ type }) => type === 'snapshot')?.data ?? {})
    expect(shown).to.deep.include(snapshot)

    const crossing = await taker.place({ side: 'buy', amount: '60', price: '0.0013' })
    await taker.until(crossing.order_id, 'filled')
    const own = () => received.filter(({ type }) => type === 'update')
    await eventually(() => own().at(-1)?.data.status === 'filled')
    expect(own().map(({ data }) => [data.order_id, data.status, data.filled_amount])).to.deep.equal(
      [
        [resting.order_id, 'matching', '0'],
        [resting.order_id, 'filled', '60'],
      ],
    )
    expect(own()[1]?.prev_seq).to.equal(own()[0]?.seq)
    close()
  })

  it('names what it does not understand', async () => {
    const { received, close } = await listen(venue, [
      { op: 'nothing' },
      { op: 'subscribe', channel: 'candles', market: SPOT },
      { op: 'subscribe', channel: 'book', market: 'NOPE' },
      { op: 'subscribe', channel: 'orders' },
      subscribe('trades', { since_seq: 10_000_000 }),
      { op: 'ping' },
    ])
    await eventually(() => {
      expect(received.map(({ type }) => type)).to.include('pong')
      // The feed is asked for the last one, so that other frames may overtake it.
      expect(received.flatMap(({ code }) => code ?? [])).to.deep.equal([
        'bad_op',
        'bad_channel',
        'unknown_market',
        'auth_required',
        'resume_too_old',
      ])
    })
    close()
  })

  async function eventuallyHead(received: readonly Frame[]): Promise<Frame> {
    const health = await fetch(`${venue.gatewayUrl}/v1/health`)
    const { markets } = (await health.json()) as Health
    const head = markets[SPOT]?.head_seq ?? 0
    await eventually(() => received.some((it) => it.seq >= head))
    return received.at(-1) as Frame
  }
})

const signedE18 = (text: string): bigint =>
  text.startsWith('-') ? -e18(text.slice(1)) : e18(text.replace('+', ''))
