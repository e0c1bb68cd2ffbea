import { expect } from 'chai'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { feedSubject } from '../../../bus-schemas/subjects.js'
import { createLocalLevels, type LocalLevels } from '../../../client/local-levels.js'
import { applyChange, emptyView, openOrders } from '../../../core/engine/feed.js'
import { bestLevels, levelBookOf } from '../../../core/market-data/level-book.js'
import { openingOf } from '../../../core/model/market-terms.js'
import type { MarketStanding } from '../../../core/model/market.js'
import { levelsRecord } from '../../../core/records/market-data.js'
import type {
  CandleState,
  LevelsSnapshot,
  LevelsUpdate,
  StatusState,
  TickerState,
} from '../../../interface/market-data.js'
import { eventually } from '../../support/eventually.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { busyHistory } from '../../support/random-history.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'

const MARKET = 'cNGN-USDC'
const changes = busyHistory(60)
/** The minute of the first change; the others follow each a quarter of a second later. */
const MINUTE = '2026-09-21T14:13:00.000Z'
const AFTER_THEM_MS = Date.parse('2026-09-21T14:20:00Z')

/** Levels as a client builds them; a frame that does not fit its checksum or its place fails. */
function levelsOf({ frames }: SocketClient, depth: number): LocalLevels {
  const levels = createLocalLevels()
  for (const frame of frames as (Frame & { depth?: number })[]) {
    if (frame.channel !== 'levels' || frame.depth !== depth) continue
    const { seq = 0, prev_seq = 0 } = frame
    if (frame.type === 'snapshot') {
      expect(levels.reset(frame.data as LevelsSnapshot, seq)).to.equal(true)
    } else {
      expect(prev_seq).to.be.at.most(levels.seq() ?? -1)
      expect(seq).to.be.above(levels.seq() ?? seq)
      expect(levels.apply(frame.data as LevelsUpdate, seq)).to.equal(true)
    }
  }
  return levels
}

describe('ws-fanout market data', () => {
  let rig: FanOutRig
  afterEach(() => rig.end())

  /** Publishes changes and waits until the fan-out has folded them. */
  async function publish(some: typeof changes): Promise<void> {
    await rig.publish(some)
    await eventually(() => rig.fanOut().standing().positions?.[MARKET] === some.at(-1)?.seq)
  }

  const subscribed = async (request: object, client?: SocketClient) => {
    const used = client ?? (await rig.connect())
    used.send({ op: 'subscribe', market: MARKET, req_id: 'first', ...request })
    const first = await used.next(({ req_id }) => req_id === 'first')
    return { client: used, first }
  }

  /** The best levels after so many of the changes. */
  function expected(count: number, depth: number) {
    const view = emptyView(rig.market)
    for (const change of changes.slice(0, count)) applyChange(view, change)
    const { bids, asks } = bestLevels(levelBookOf(openOrders(view)), depth)
    return levelsRecord(rig.market, { bids, asks }, 0)
  }
  const shows = (client: SocketClient, depth: number, count: number): void => {
    const levels = levelsOf(client, depth)
    const { bids, asks } = expected(count, depth)
    expect([levels.levels('buy'), levels.levels('sell')]).to.deep.equal([bids, asks])
  }

  describe('levels', () => {
    it('leads clients of every depth to the levels of the book, checked by their checksums (STR-044, STR-046)', async () => {
      rig = await startRig()
      await publish(changes.slice(0, 50))
      const { client } = await subscribed({ channel: 'levels' })
      await subscribed({ channel: 'levels', depth: 10 }, client)
      await publish(changes.slice(50, 200))
      const { client: late } = await subscribed({ channel: 'levels', depth: 10 })
      await publish(changes.slice(200))
      await eventually(() => {
        shows(client, 25, changes.length)
        shows(client, 10, changes.length)
        shows(late, 10, changes.length)
      })
      expect(expected(changes.length, 25).asks).to.have.length(25)
    })

    it('shows a level in both languages', async () => {
      rig = await startRig()
      await publish(changes.slice(0, 1))
      const { first } = await subscribed({ channel: 'levels', depth: 10 })
      expect(first).to.deep.include({ type: 'snapshot', seq: 1, depth: 10 })
      expect((first.data as LevelsSnapshot).asks).to.deep.equal([
        { price: '0.01', size: '2', ui_price: '100', ui_size: '0.02' },
      ])
    })

    it('resumes by one update with what differs, also after a restart', async () => {
      rig = await startRig()
      await publish(changes.slice(0, 100))
      const { client } = await subscribed({ channel: 'levels', depth: 10 })
      await publish(changes.slice(100))
      await rig.restart()
      const { client: resumed, first } = await subscribed({
        channel: 'levels',
        depth: 10,
        since_seq: 100,
      })
      expect(first).to.include({ type: 'ack', message: 'resumed', seq: changes.length })
      expect(resumed.frames[0]).to.include({ prev_seq: 100, seq: changes.length, type: 'update' })
      const [snapshot] = client.frames
      client.frames.splice(
        0,
        client.frames.length,
        ...[snapshot, resumed.frames[0]].flatMap((one) => one ?? []),
      )
      shows(client, 10, changes.length)
    })

    it('answers a number that is no longer held, or not yet made, by a snapshot', async () => {
      rig = await startRig({ ringChanges: 8 })
      await publish(changes)
      for (const since_seq of [3, changes.length + 1]) {
        const { client } = await subscribed({ channel: 'levels', since_seq })
        await client.next(({ type }) => type === 'snapshot')
        expect(client.frames.map(({ type, code }) => code ?? type)).to.deep.equal([
          ...['resume_too_old', 'snapshot'],
        ])
        shows(client, 25, changes.length)
      }
    })

    it('ends one depth and keeps the other', async () => {
      rig = await startRig()
      const { client } = await subscribed({ channel: 'levels' })
      await subscribed({ channel: 'levels', depth: 10, req_id: 'first' }, client)
      client.send({ op: 'unsubscribe', channel: 'levels', market: MARKET, req_id: 'end' })
      await client.next(({ req_id }) => req_id === 'end')
      await publish(changes)
      await eventually(() => shows(client, 10, changes.length))
      expect(levelsOf(client, 25).seq()).to.equal(0)
    })
  })

  describe('candles', () => {
    it('has the candles of an interval, closed when their time is over (STR-047)', async () => {
      rig = await startRig({ nowMs: () => AFTER_THEM_MS })
      await publish(changes.slice(0, 150))
      const { client, first } = await subscribed({ channel: 'candles', interval: '1m' })
      expect(first).to.include({ type: 'snapshot', interval: '1m' })
      const candles = first.data as CandleState[]
      expect(candles.map(({ bucket_start, closed }) => [bucket_start, closed])).to.deep.equal([
        [MINUTE, true],
      ])
      expect(candles[0]).to.include({ trade_count: 30, open: '0.01', low: '0.009971' })
      await publish(changes.slice(150))
      await eventually(() => {
        const newest = new Map(
          client.frames
            .filter(({ type }) => type === 'update')
            .map(({ data }) => [(data as CandleState).bucket_start, data as CandleState]),
        )
        const counts = [...newest.values()].map(({ trade_count }) => trade_count)
        expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(60)
      })
    })

    it('resumes with each candle that was changed since, also after a restart', async () => {
      rig = await startRig({ nowMs: () => AFTER_THEM_MS })
      await publish(changes)
      const { first } = await subscribed({ channel: 'candles', interval: '1m' })
      await rig.restart()
      const { client } = await subscribed({
        channel: 'candles',
        interval: '1m',
        since_seq: 2,
      })
      await client.next(({ message }) => message === 'resumed')
      const updates = client.frames.filter(({ type }) => type === 'update')
      expect(updates.map(({ data }) => data)).to.deep.equal(first.data)
      expect(updates.map(({ prev_seq }) => prev_seq)).to.deep.equal([
        ...[2, ...updates.map(({ seq }) => seq).slice(0, -1)],
      ])
      const head = updates.at(-1)?.seq
      const { first: answer } = await subscribed({
        channel: 'candles',
        interval: '1m',
        since_seq: head,
      })
      expect(answer).to.include({ message: 'resumed', seq: head })
    })
  })

  it('keeps a ticker of any market, and answers a number of another connection by a snapshot', async () => {
    rig = await startRig({ nowMs: () => AFTER_THEM_MS })
    const { client, first } = await subscribed({ channel: 'ticker' })
    expect(first.data).to.deep.equal({ stats_24h: {} })
    await publish(changes)
    await eventually(() => {
      const { last_price, best_ask, stats_24h } = client.frames.at(-1)?.data as TickerState
      expect(last_price).to.equal('0.009941')
      expect(best_ask?.price).to.equal('0.009941')
      expect(stats_24h).to.include({ high: '0.01', low: '0.009941', volume: '120' })
    })
    const seqs = client.frames.map(({ seq = 0 }) => seq)
    expect(client.frames.slice(1).map(({ prev_seq }) => prev_seq)).to.deep.equal(seqs.slice(0, -1))
    const { client: other } = await subscribed({ channel: 'ticker', since_seq: 5 })
    await other.next(({ type }) => type === 'snapshot')
    expect(other.frames[0]?.code).to.equal('resume_too_old')
  })

  it('tells the status of a market and its reason, in an order that a restart keeps (STR-048)', async () => {
    rig = await startRig()
    let seq = 0
    const state = async (standing: MarketStanding) => {
      seq += 1
      const terms = { ...openingOf(rig.market), standing }
      const block = { market: MARKET, commandSeq: seq, commandIndex: 0, firstSeq: 1, changes: [] }
      await rig.bus.append(feedSubject(MARKET), encodeBlock({ ...block, terms }))
    }
    await state({ status: 'open' })
    const { client, first } = await subscribed({ channel: 'status' })
    expect(first).to.include({ type: 'snapshot', seq: 1 })
    expect(first.data).to.include({ trading_status: 'open', enabled: true })
    await state({ status: 'paused', reason: 'maintenance' })
    const update = await client.next(({ type }) => type === 'update')
    expect(update).to.include({ seq: 2, prev_seq: 1 })
    expect(update.data).to.include({
      trading_status: 'paused',
      trading_status_reason: 'maintenance',
    })
    await rig.restart()
    const { first: same } = await subscribed({ channel: 'status', since_seq: 2 })
    expect(same).to.include({ message: 'resumed', seq: 2 })
    const { client: old } = await subscribed({ channel: 'status', since_seq: 1 })
    const snapshot = await old.next(({ type }) => type === 'snapshot')
    expect((snapshot.data as StatusState).since).to.equal((update.data as StatusState).since)
  })

  it('gives tickers and statuses of all markets where none is named', async () => {
    rig = await startRig()
    const client = await rig.connect()
    for (const channel of ['ticker', 'status']) client.send({ op: 'subscribe', channel })
    await eventually(() => {
      const shown = client.frames.map(({ channel, market }) => `${channel} ${market}`)
      expect(shown).to.deep.equal([`ticker ${MARKET}`, `status ${MARKET}`])
    })
  })

  const refused: readonly [frame: object, answer: object][] = [
    ...[0, 11, -10, 1000, '10', null].map((depth): [object, object] => [
      { channel: 'levels', market: MARKET, depth },
      { code: 'bad_op', field: 'depth', message: 'depth must be one of 10, 25, 100, 500' },
    ]),
    ...['2m', '1M', 60, null].map((interval): [object, object] => [
      { channel: 'candles', market: MARKET, interval },
      {
        code: 'bad_op',
        field: 'interval',
        message: 'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d',
      },
    ]),
    [
      { channel: 'candles', market: MARKET },
      { code: 'bad_channel', field: 'interval', message: 'unknown channel' },
    ],
    ...['levels', 'candles'].map((channel): [object, object] => [
      { channel, interval: '1m' },
      { code: 'unknown_market', message: 'no such market' },
    ]),
    ...['levels', 'candles', 'ticker', 'status'].map((channel): [object, object] => [
      { channel, interval: '1m', market: 'cNGN-GOLD' },
      { code: 'unknown_market', message: 'no such market' },
    ]),
  ]
  it('refuses what it does not offer, with a reason (STR-044)', async () => {
    rig = await startRig()
    const client = await rig.connect()
    for (const [index, [frame, answer]] of refused.entries()) {
      client.send({ op: 'subscribe', req_id: `${index}`, ...frame })
      const error = await client.next(({ req_id }) => req_id === `${index}`)
      expect(error).to.deep.equal({ type: 'error', ...answer, req_id: `${index}` })
    }
  })
})
