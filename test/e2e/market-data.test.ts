import { expect } from 'chai'
import { crc32 } from 'node:zlib'
import { createLocalLevels, createRestClient, type OrderRecord } from '../../client/index.js'
import type {
  CandleState,
  LevelsSnapshot,
  LevelsUpdate,
  StatusState,
  TickerState,
} from '../../interface/market-data.js'
import { eventually } from '../support/eventually.js'
import type { TestVenue } from '../support/venue.js'
import { listen, subscribe, type Frame, type Listener } from './black-box/socket.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, e18, SPOT, type Trader } from './stage/trader.js'

const DEPTH = 10
/** The channels, and what names one stream of each. */
const STREAMS = {
  levels: { depth: DEPTH },
  ticker: {},
  candles: { interval: '1m' },
  status: {},
} as const
type Channel = keyof typeof STREAMS
const CHANNELS = Object.keys(STREAMS) as Channel[]
type Positions = Readonly<Record<Channel, number>>

/** What a client holds that has applied all frames; each must continue the one before. */
function stateOf(frames: readonly Frame[]) {
  const levels = createLocalLevels()
  const candles = new Map<string, CandleState>()
  const at: Partial<Record<Channel, number>> = {}
  let ticker: TickerState | undefined
  let status: StatusState | undefined
  for (const frame of frames) {
    if (frame.type !== 'snapshot' && frame.type !== 'update') continue
    const channel = frame.channel as Channel
    const isSnapshot = frame.type === 'snapshot'
    if (!isSnapshot) {
      expect(frame.seq, channel).to.be.above(at[channel] ?? Infinity)
      // A sequence of the market that left the levels as they were is in no frame.
      if (channel === 'levels') expect(frame.prev_seq).to.be.at.most(at.levels ?? -1)
      else expect(frame.prev_seq, channel).to.equal(at[channel])
    }
    at[channel] = frame.seq
    const data: unknown = frame.data
    if (channel === 'ticker') ticker = data as TickerState
    else if (channel === 'status') status = data as StatusState
    else if (channel === 'candles') {
      if (isSnapshot) candles.clear()
      for (const candle of [data].flat() as CandleState[]) candles.set(candle.bucket_start, candle)
    } else if (isSnapshot) {
      expect(levels.reset(data as LevelsSnapshot, frame.seq)).to.equal(true)
    } else expect(levels.apply(data as LevelsUpdate, frame.seq)).to.equal(true)
  }
  // The answer to a subscription has no data, and no frame follows while the best levels stay.
  const last = frames.findLast((it) => it.channel === 'levels' && it.data !== undefined)
  const checksum = last?.data.checksum
  const sides = { bids: levels.levels('buy'), asks: levels.levels('sell') }
  return { at: at as Positions, sides, checksum, candles: [...candles.values()], ticker, status }
}

/** The levels of a side of the book over REST, best first, as `price:size`. */
function pairsOf(orders: readonly OrderRecord[], best: 'high' | 'low'): string[] {
  const open = new Map<string, bigint>()
  for (const { limit_price, open_amount } of orders) {
    open.set(limit_price, (open.get(limit_price) ?? 0n) + e18(open_amount))
  }
  const rising = [...open].sort(([a], [b]) => (e18(a) < e18(b) ? -1 : 1))
  const sorted = best === 'high' ? rising.reverse() : rising
  return sorted.slice(0, DEPTH).map(([price, size]) => `${price}:${text(size)}`)
}

function text(sizeE18: bigint): string {
  const [whole, fraction = ''] = [sizeE18 / 10n ** 18n, `${sizeE18 % 10n ** 18n}`.padStart(18, '0')]
  return `${whole}.${fraction}`.replace(/\.?0+$/, '')
}

describe('the channels of values, cut off and resumed', function () {
  let venue: TestVenue
  let maker: Trader
  let taker: Trader
  /** A socket that is never cut. */
  let watching: Listener
  const resting: OrderRecord[] = []
  before(async function () {
    venue = await sharedVenue()
    ;[maker, taker] = [createTrader(venue.devnet, 0), createTrader(venue.devnet, 1)]
    watching = await listen(venue.devnet, ...CHANNELS.map((channel) => asked(channel)))
    await watching.settled()
  })
  after(async () => {
    watching?.close()
    for (const order of resting) await maker.cancel(order)
  })

  const asked = (channel: Channel, since_seq?: number) =>
    subscribe(channel, SPOT, {
      ...STREAMS[channel],
      ...(since_seq === undefined ? {} : { since_seq, req_id: channel }),
    })
  const quote = async (side: 'buy' | 'sell', price: string, amount: string) =>
    resting.push(await maker.place({ side, price, amount }))
  async function fill(price: string, amount: string): Promise<void> {
    const made = await maker.place({ side: 'sell', price, amount })
    const taking = await taker.place({ side: 'buy', price, amount })
    await maker.until(made.order_id, 'filled')
    await taker.until(taking.order_id, 'filled')
  }

  /** Holds a state to what REST answers once nothing is under way. */
  async function expectAsOverRest(frames: () => readonly Frame[]): Promise<void> {
    const rest = createRestClient(venue.gatewayUrl)
    await eventually(async () => {
      const { at, sides, checksum, candles, ticker, status } = stateOf(frames())
      const book = await rest.book(SPOT)
      const pairs = { bids: pairsOf(book.bids, 'high'), asks: pairsOf(book.asks, 'low') }
      const shown = (side: keyof typeof sides) =>
        sides[side].map(({ price, size }) => `${price}:${size}`)
      expect({ bids: shown('bids'), asks: shown('asks') }).to.deep.equal(pairs)
      expect(checksum).to.equal(crc32([...pairs.bids, ...pairs.asks].join()))
      expect(ticker?.best_bid).to.deep.equal(sides.bids[0])
      expect(ticker?.best_ask).to.deep.equal(sides.asks[0])

      const { trades, stats_24h } = await rest.trades(SPOT, { limit: 1 })
      expect(ticker?.stats_24h).to.deep.equal(stats_24h)
      expect(ticker?.last_price).to.equal(trades[0]?.price)
      expect(ticker?.last_trade_at).to.equal(trades[0]?.created_at)
      const { candles: charted } = await rest.candles(SPOT, '1m', { limit: 200 })
      expect(candles.map(({ closed, ...candle }) => (expect(closed).to.be.a('boolean'), candle))) //
        .to.deep.equal(charted)

      const entry = (await rest.markets()).find(({ market }) => market === SPOT)
      expect(status?.trading_status).to.equal(entry?.trading_status)
      expect(Object.keys(at)).to.have.members(CHANNELS)
    })
  }

  it('go on after the last position: a fill meanwhile is neither missed nor counted twice', async () => {
    const cut = await listen(venue.devnet, ...CHANNELS.map((channel) => asked(channel)))
    await quote('buy', '0.00003', '100')
    await fill('0.0043', '21')
    await expectAsOverRest(() => cut.frames)
    const held = stateOf(cut.frames).at
    cut.close()
    await cut.closed

    await quote('sell', '0.0044', '50')
    await quote('buy', '0.00003', '11')
    await fill('0.0043', '22')
    // One more is under way while the client comes back.
    const underWay = fill('0.0042', '23')
    const resumed = await listen(
      venue.devnet,
      ...CHANNELS.map((channel) => asked(channel, held[channel])),
    )
    await underWay
    const frames = () => [...cut.frames, ...resumed.frames]
    await expectAsOverRest(frames)
    await expectAsOverRest(() => watching.frames)
    await eventually(() => {
      const mine = stateOf(frames())
      const theirs = stateOf(watching.frames)
      expect({ ...mine, at: undefined }).to.deep.equal({ ...theirs, at: undefined })
    })

    // Levels, candles and an unchanged status go on; a ticker is one object, which a snapshot tells whole.
    const answers = (channel: Channel) => resumed.frames.filter((it) => it.channel === channel)
    for (const channel of ['levels', 'candles'] as const) {
      expect(answers(channel).map(({ type }) => type))
        .to.include('ack')
        .and.not.include('snapshot')
      expect(answers(channel).find(({ type }) => type === 'update')?.prev_seq) //
        .to.equal(held[channel])
    }
    expect(answers('status')).to.deep.include({
      type: 'ack',
      message: 'resumed',
      channel: 'status',
      market: SPOT,
      req_id: 'status',
      seq: held.status,
    })
    const [refused, snapshot] = answers('ticker')
    expect([refused?.code, snapshot?.type]).to.deep.equal(['resume_too_old', 'snapshot'])
    resumed.close()
  })

  it('begin with a fresh snapshot where the position is not held', async () => {
    const lost: Positions = { levels: 2 ** 40, ticker: 1, candles: 2 ** 40, status: 0 }
    const late = await listen(
      venue.devnet,
      ...CHANNELS.map((channel) => asked(channel, lost[channel])),
    )
    const answersOf = (channel: Channel) => late.frames.filter((it) => it.channel === channel)
    // A snapshot may wait for the channel's next turn.
    await eventually(() => CHANNELS.every((channel) => answersOf(channel).length >= 2))
    for (const channel of CHANNELS) {
      const answers = answersOf(channel)
      expect(
        answers.map(({ type, code }) => code ?? type),
        channel,
      ) //
        .to.deep.equal(['resume_too_old', 'snapshot'])
      expect(answers.map(({ req_id }) => req_id)).to.deep.equal([channel, channel])
    }
    await expectAsOverRest(() => late.frames)
    late.close()
  })
})
