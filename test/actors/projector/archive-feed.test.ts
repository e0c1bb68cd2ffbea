import { expect } from 'chai'
import fc from 'fast-check'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { createOrderLedger } from '../../../actors/auditor/order-ledger.js'
import {
  archiveFeed,
  forgetOrders,
  type ArchiveOptions,
  type ArchiveSettings,
} from '../../../actors/projector/archive-feed.js'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { feedStream, feedSubject } from '../../../bus-schemas/subjects.js'
import type { Block, Change } from '../../../core/model/change.js'
import { applyChange, emptyView } from '../../../core/engine/feed.js'
import { withArchive } from '../../../data/archived-bus.js'
import { ArchiveDamaged, listSegment, openFeedArchive } from '../../../data/feed-archive.js'
import type { StreamedBlock } from '../../../data/history/project.js'
import { createKeptOrders } from '../../../data/history/kept-orders.js'
import { claimOf, claimOfTombstone } from '../../../data/recent-claims.js'
import type { Bus, BusMessage } from '../../../runtime/bus/bus.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { allRows, openHistory, streamed, type TestHistory } from '../../support/history.js'
import { marketActs, type MarketAct } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'
import { tempDir } from '../../support/temp-dir.js'

const market = aMarket()
const SPOT = { market: market.market, ordinal: market.ordinal }
const stream = feedStream(market.market)
const MONTH_SEC = 30 * 86_400
const DATED = { buy: true, price: 95, size: 1, trader: 1, livesSec: 20 * 86_400, unchecked: false }
const place = (over: Partial<Extract<MarketAct, { act: 'place' }>> = {}): MarketAct => ({
  act: 'place',
  ...DATED,
  ...over,
})
const wait = (sec: number): MarketAct => ({ act: 'wait', sec })
/** Orders expire, and then this many months pass. */
const months = (count: number): MarketAct[] => [wait(21 * 86_400), wait(count * MONTH_SEC)]

/** Enough blocks for the history to remove everything that is due. */
const flush = (orders: number): MarketAct[] => Array.from({ length: orders }, () => place())

describe('the archive of a feed', () => {
  const opened: { remove(): void }[] = []
  afterEach(() => opened.splice(0).forEach((each) => each.remove()))

  /** A feed on a bus, the history of it, and what archives it. */
  async function archived(blocks: readonly Block[], over: Partial<ArchiveSettings> = {}) {
    const lastMs = blocks.at(-1)?.changes.at(-1)?.atMs ?? 0
    const bus = createMemoryBus({ nowMs: () => lastMs })
    await bus.declareStream({ stream, subject: feedSubject(market.market), description: 'test' })
    for (const block of blocks) await bus.append(feedSubject(market.market), encodeBlock(block))
    const dir = tempDir()
    const history = openHistory([SPOT])
    opened.push(dir, history)
    history.projection.applyBatch(streamed(blocks))
    const settings = {
      dir: dir.path,
      keepMs: 0,
      keepChanges: 5,
      leastMessages: 1,
      segmentMessages: 7,
      reviewEveryMs: 0,
      ...over,
    }
    const kept = createKeptOrders(history.db)
    const options: ArchiveOptions = { bus, history: kept, market, settings, nowMs: () => lastMs }
    return { bus, dir: dir.path, history, options, feed: withArchive(bus, dir.path) }
  }

  const messagesOf = async (bus: Bus): Promise<BusMessage[]> => {
    const { firstSeq, lastSeq } = await bus.streamState(stream)
    const messages: BusMessage[] = []
    while (firstSeq + messages.length <= lastSeq)
      messages.push(...(await bus.read(stream, firstSeq + messages.length, 4)))
    return messages
  }
  const changesOf = (messages: readonly BusMessage[]): Change[] =>
    messages.flatMap(({ data }) => decodeBlock(data).changes)

  const viewOf = (changes: readonly Change[]) => {
    const view = emptyView(market)
    for (const change of changes) applyChange(view, change)
    return view
  }

  const textOf = (dir: string): string =>
    readdirSync(join(dir, stream))
      .filter((name) => name.endsWith('.gz'))
      .map((name) => gunzipSync(readFileSync(join(dir, stream, name))).toString())
      .join('')

  const rebuilt = async (feed: Bus, toSeq: number): Promise<TestHistory> => {
    const history = openHistory([SPOT])
    opened.push(history)
    const blocks: StreamedBlock[] = []
    const reader = await feed.follow({
      stream,
      fromSeq: 1,
      onMessage: ({ seq, data }) => void blocks.push({ streamSeq: seq, block: decodeBlock(data) }),
      onError: (error) => expect.fail(String(error)),
    })
    await eventually(() => blocks.length === toSeq)
    await reader.stop()
    history.projection.applyBatch(blocks)
    return history
  }

  it('and the rest of its stream are read as one feed, byte for byte', async () => {
    const blocks = feedOf(SPOT, flush(40))
    const { bus, options, feed } = await archived(blocks)
    const whole = await messagesOf(bus)
    expect(await archiveFeed(options)).to.equal(35)
    expect(await archiveFeed(options)).to.equal(0)
    await bus.trim(stream, 30)
    expect(await feed.streamState(stream)).to.deep.equal({ firstSeq: 1, lastSeq: 40 })
    expect(await messagesOf(feed)).to.deep.equal(whole)
    const seqsFrom = async (seq: number) =>
      (await feed.read(stream, seq, 100)).map((message) => message.seq)
    expect(await seqsFrom(33)).to.deep.equal([33, 34, 35])
    expect(await seqsFrom(36)).to.deep.equal([36, 37, 38, 39, 40])
    const seen: number[] = []
    const following = await feed.follow({
      stream,
      fromSeq: 3,
      onMessage: ({ seq }) => void seen.push(seq),
      onError: (error) => expect.fail(String(error)),
    })
    await eventually(() => expect(seen).to.deep.equal(whole.slice(2).map(({ seq }) => seq)))
    const next = feedOf(SPOT, flush(41)).at(-1)
    if (next !== undefined) await bus.append(feedSubject(market.market), encodeBlock(next))
    await eventually(() => expect(seen.at(-1)).to.equal(41))
    await following.stop()
  })

  it('keeps what is young, and the newest changes, in the stream alone', async () => {
    const { options, bus } = await archived(feedOf(SPOT, flush(40)), { keepMs: 1, keepChanges: 0 })
    expect(await archiveFeed(options)).to.equal(0)
    expect((await bus.streamState(stream)).firstSeq).to.equal(1)
    const old = { ...options, nowMs: () => options.nowMs() + 1 }
    expect(
      await archiveFeed({ ...old, settings: { ...old.settings, leastMessages: 41 } }),
    ).to.equal(0)
    expect(await archiveFeed(old)).to.equal(40)
  })

  it('forgets what the history has removed but for its claim, and gives the same history', async () => {
    const acts = [place(), place({ trader: 2 }), ...months(2), ...flush(20)]
    const { bus, dir, options, history, feed } = await archived(feedOf(SPOT, acts))
    const before = changesOf(await messagesOf(bus))
    await archiveFeed(options)
    const [first] = before
    if (first?.kind !== 'OrderPlaced') throw new Error('the feed does not begin with an order')
    const signatures = () => textOf(dir).split(first.order.signature).length - 1
    const signed = signatures()
    expect(await forgetOrders(options)).to.be.above(0)
    expect(signatures()).to.equal(signed - 2)
    await bus.trim(stream, 12)
    const after = changesOf(await messagesOf(feed))
    expect(after.map(({ seq, atMs }) => [seq, atMs])).to.deep.equal(
      before.map(({ seq, atMs }) => [seq, atMs]),
    )
    const [tombstone] = after
    if (tombstone?.kind !== 'OrderForgotten' || tombstone.tombstone === undefined)
      throw new Error('there is no tombstone')
    const claim = claimOf(market, first.order)
    expect(claimOfTombstone(tombstone.tombstone)).to.deep.equal({
      ...claim,
      fingerprint: Buffer.from(claim.fingerprint),
    })
    const again = await rebuilt(feed, history.projection.position(market.market).streamSeq)
    expect(allRows(again.db)).to.deep.equal(allRows(history.db))
  })

  it('forgets no end whose placement stays: of orders that were gone before they were archived', async () => {
    const segment = 7
    const { bus, options, feed } = await archived(
      feedOf(SPOT, [...flush(segment), ...months(2), ...flush(20)]),
    )
    const live = viewOf(changesOf(await messagesOf(bus))).live
    await archiveFeed(options)
    expect(await forgetOrders(options)).to.equal(2)
    await bus.trim(stream, 2 * segment)
    expect(viewOf(changesOf(await messagesOf(feed))).live).to.deep.equal(live)
  })

  it('forgets nothing of an order whose placement is where an earlier build saw nothing to forget', async () => {
    const { bus, dir, options, feed } = await archived(
      feedOf(SPOT, [...flush(7), ...months(2), ...flush(20)]),
    )
    const whole = changesOf(await messagesOf(bus))
    await archiveFeed(options)
    const archive = openFeedArchive(dir)
    const [first] = await archive.segments(stream)
    if (first === undefined) throw new Error('there is no segment')
    await listSegment(dir, stream, { ...first, waiting: 0 })
    expect(await forgetOrders(options)).to.equal(0)
    await bus.trim(stream, 14)
    expect(changesOf(await messagesOf(feed))).to.deep.equal(whole)
  })

  it('gives, of any market day, the same history, the same book and no finding', async () => {
    const day = fc.tuple(marketActs(60), fc.nat(3), fc.integer({ min: 1, max: 60 }))
    await fc.assert(
      fc.asyncProperty(day, async ([acts, passed, trimTo]) => {
        const later = [...months(passed), ...flush(70)]
        const blocks = feedOf(SPOT, [...acts, ...later])
        const { bus, options, history, feed } = await archived(blocks)
        const whole = changesOf(await messagesOf(bus))
        await archiveFeed(options)
        await forgetOrders(options)
        await forgetOrders(options)
        await bus.trim(stream, Math.min(trimTo, blocks.length - 10))
        const read = await messagesOf(feed)
        const changes = changesOf(read)
        expect(viewOf(changes)).to.deep.equal(viewOf(whole))
        const findings: string[] = []
        const ledger = createOrderLedger(aMarket({ takerFeeBps: 25 }), (_, what) => {
          findings.push(what)
        })
        const known: string[] = []
        const ofWhole = createOrderLedger(aMarket({ takerFeeBps: 25 }), (_, what) => {
          known.push(what)
        })
        ledger.apply({ changes })
        ofWhole.apply({ changes: whole })
        expect(findings).to.deep.equal(known)
        const again = await rebuilt(feed, blocks.length)
        expect(allRows(again.db)).to.deep.equal(allRows(history.db))
        opened.splice(0).forEach((each) => each.remove())
      }),
      { numRuns: runs(6), endOnFailure: true },
    )
  })

  it('is not touched while the history still has orders to remove', async () => {
    const many = Array.from({ length: 12 }, () => place())
    const acts = [...many, ...months(2), place({ livesSec: MONTH_SEC })]
    const { options } = await archived(feedOf(SPOT, acts), { keepChanges: 0 })
    await archiveFeed(options)
    expect(options.history.isBehind(market.market, options.nowMs())).to.equal(true)
    expect(await forgetOrders(options)).to.equal(0)
  })

  it('is copied whole while its segments are written anew, and not with a missing one', async () => {
    const lasting = Array.from({ length: 6 }, () => place({ livesSec: 2 * MONTH_SEC }))
    const acts = [place(), ...lasting, place(), ...lasting, ...months(1), ...flush(20)]
    const { bus, dir, options, feed } = await archived(feedOf(SPOT, acts))
    await archiveFeed(options)
    const copy = tempDir()
    opened.push(copy)
    mkdirSync(join(copy.path, stream))
    expect(await openFeedArchive(dir).streams()).to.deep.equal([stream])
    let rewritten = 0
    for await (const { name, bytes } of openFeedArchive(dir).files(stream)) {
      if (rewritten === 0) rewritten = await forgetOrders(options)
      writeFileSync(join(copy.path, stream, name), bytes)
    }
    expect(rewritten).to.be.above(1)
    await bus.trim(stream, 12)
    const whole = await messagesOf(feed)
    const copied = await messagesOf(withArchive(bus, copy.path))
    expect(copied.map(({ seq }) => seq)).to.deep.equal(whole.map(({ seq }) => seq))
    // The first was copied before it was written anew.
    expect(textOf(copy.path)).to.not.equal(textOf(dir))

    const [first = ''] = readdirSync(join(dir, stream)).filter((name) => name.startsWith('1-'))
    rmSync(join(dir, stream, first))
    const error: unknown = await openFeedArchive(dir)
      .files(stream)
      .next()
      .catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ArchiveDamaged)
  })

  it('is refused when a file is damaged or gone, and when the stream is trimmed beyond it', async () => {
    const { options, bus, dir, feed } = await archived(feedOf(SPOT, flush(40)))
    await archiveFeed(options)
    await bus.trim(stream, 30)
    const [file = ''] = readdirSync(join(dir, stream)).filter((name) => name.startsWith('1-'))
    const path = join(dir, stream, file)
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.subarray(1))
    const damaged = await withArchive(bus, dir).read(stream, 1, 1).catch(String)
    expect(damaged).to.match(/ArchiveDamaged: .* is not the file that its manifest names/)
    writeFileSync(path, bytes)
    expect(await feed.read(stream, 1, 1)).to.have.length(1)
    await bus.trim(stream, 38)
    const error: unknown = await archiveFeed(options).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ArchiveDamaged)
    expect((await feed.streamState(stream)).firstSeq).to.equal(38)
  })
})
