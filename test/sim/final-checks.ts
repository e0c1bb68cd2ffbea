import type Database from 'better-sqlite3'
import { join } from 'node:path'
import { decodeBlock, encodeBlock } from '../../bus-schemas/blocks.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { formatDecimal } from '../../core/decimal.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import { checkBook } from '../../core/engine/check-state.js'
import { fillBand, FIXING_SEC, isInBand } from '../../core/contracts/future-prices.js'
import type { Market } from '../../core/model/market.js'
import { openingOf } from '../../core/model/market-terms.js'
import { E18, priceE18 } from '../../core/money.js'
import { isFromFeeds } from '../../data/history/compare-histories.js'
import { createProjection, HISTORY_MIGRATIONS, historyPath } from '../../data/history/project.js'
import { openReadModel, ReadModelAbsent, type ReadModel } from '../../data/history/read-model.js'
import { openDatabase } from '../../data/open.js'
import type { BusMessage } from '../../runtime/bus/bus.js'
import type { MemoryBus } from '../../runtime/bus/memory-bus.js'
import { wentThrough, type SimulatedChain } from './chain.js'
import { checkBalances, checkMarks } from './balance-checks.js'
import { fillKey } from './contracts.js'
import type { JournalReader } from './executor-journal.js'
import type { AuditedOrder, FeedAudit } from './feed-audit.js'
import type { Follower } from './followers.js'
import type { Traders } from './traders.js'
import { commandMessages } from '../../bus-schemas/commands.js'
import { emptyMatcherState } from '../../core/engine/empty-state.js'

/** A simulated venue that has come to rest. */
export interface RestingVenue {
  readonly server: MemoryBus
  readonly chain: SimulatedChain
  readonly audits: readonly FeedAudit[]
  readonly traders: Traders
  readonly followers: readonly Follower[]
  readonly journal: JournalReader
  /** Where the processes have their files. */
  readonly directory: string
  readonly onFinding: (what: string, detail: unknown) => void
}

/** What must hold once everything that was under way has had its time. */
export async function checkAtRest(venue: RestingVenue): Promise<void> {
  for (const audit of venue.audits) checkStanding(venue, audit)
  checkAccepted(venue)
  checkDooms(venue)
  checkChain(venue)
  checkBalances(venue)
  checkMarks(venue)
  const logs: BusMessage[] = []
  for (const audit of venue.audits) {
    const feed = feedStream(audit.market.market)
    const messages = await venue.server.read(feed, 1, Number.MAX_SAFE_INTEGER)
    const blocks = messages.filter(({ data }) => decodeBlock(data).leader === undefined)
    await checkReplay(venue, audit.market, blocks)
    checkReads(venue, audit)
    logs.push(...messages)
  }
  checkRebuilt(venue, logs)
}

/** A market is held for a fault alone, and nothing crosses while it trades. */
function checkStanding({ chain, onFinding }: RestingVenue, audit: FeedAudit): void {
  const { market } = audit.market
  const { state, timestampSec } = chain.head()
  const { future } = state
  const isFuture = audit.market.contractType === 'future' && future !== undefined
  const isOver = isFuture && timestampSec >= future.expirySec - FIXING_SEC
  const status = audit.status()
  if (status === 'held' && !isOver) {
    onFinding(`I-24 ${market} is held without a fault`, status)
  }
  // Nothing crosses while an operator has paused the market, which may be so at the end.
  if (status !== 'open') return
  const soonSec = timestampSec + NARROWING_SEC
  const band = isFuture && fillBand(priceE18(future.index), future.expirySec, soonSec)
  const crossed = audit.crossing((price) => !band || isInBand(band, priceE18(price)))
  if (crossed !== undefined) onFinding(`I-6 the book of ${market} is crossed at rest`, crossed)
}

/** More than the venue looks ahead for. */
const NARROWING_SEC = 120

const auditOf = ({ audits }: RestingVenue, orderId: string): AuditedOrder | undefined =>
  audits.map(({ orders }) => orders.get(orderId)).find((it) => it !== undefined)

/** I-15: every acknowledged order is in the log, and every order in the log was signed. */
function checkAccepted(venue: RestingVenue): void {
  const { traders, audits, onFinding } = venue
  const known = new Set(traders.sent.map(({ orderId }) => orderId))
  for (const { orderId, accepted, refused, forged } of traders.sent) {
    const it = auditOf(venue, orderId)
    if (refused && it !== undefined) onFinding(`${orderId} was refused and is in the log`, it)
    if (accepted && it === undefined) onFinding(`I-15 ${orderId} was accepted and is lost`, orderId)
    if (!forged || it === undefined || venue.chain.hasDelegated(it.order.signer)) continue
    if (it.filled > 0n) onFinding(`forged ${orderId} traded`, it)
    if (accepted && it.order.signatureStatus === 'checked') {
      onFinding(`forged ${orderId} was accepted`, it)
    }
  }
  for (const orderId of audits.flatMap(({ orders }) => [...orders.keys()])) {
    if (!known.has(orderId)) onFinding(`${orderId} was never sent`, orderId)
  }
  for (const orderId of traders.cancelled) {
    const status = auditOf(venue, orderId)?.status
    if (status !== 'cancelled') onFinding(`cancelled ${orderId} is ${status ?? 'absent'}`, orderId)
  }
}

/** More than clocks differ, and than a matcher takes from one tick to the next. */
const DOOM_SLACK_MS = 30_000

/** I-25: what was cancelled with others, or under a lease that has ended, is not active. */
function checkDooms(venue: RestingVenue): void {
  const { traders, onFinding } = venue
  for (const { orderId, fromMs, why } of traders.mass.dooms()) {
    const status = auditOf(venue, orderId)?.status
    const isDue = fromMs + DOOM_SLACK_MS < venue.chain.head().timestampSec * 1_000
    if (isDue && status === 'active') onFinding(`I-25 ${orderId} is active: ${why}`, orderId)
  }
}

/** I-16 and I-18: the chain and the feeds tell of the same trades. */
function checkChain({ chain, audits, journal, onFinding }: RestingVenue): void {
  const { state } = chain.head()
  for (const { market, orders } of audits) {
    for (const { order, filled } of orders.values()) {
      const ours = filled - order.initialFilled
      const signed = state.filled.get(fillKey(order.owner, order.nonce)) ?? 0n
      const theirs = (signed * E18) / market.amountScale
      if (ours !== theirs) {
        onFinding(`I-18 ${order.orderId} filled ${ours} here and ${theirs} on chain`, order)
      }
    }
  }
  const successes = new Map<string, number>()
  for (const { intent, hash, position } of journal.attempts()) {
    const receipt = chain.find(hash)?.receipt
    if (receipt === undefined || !wentThrough(receipt, position)) continue
    const [settlementId = ''] = intent.split(' ')
    successes.set(settlementId, (successes.get(settlementId) ?? 0) + 1)
  }
  for (const [intent, count] of successes) {
    if (count > 1) onFinding(`I-16 ${intent} settled ${count} times`, intent)
  }
  for (const { settlementId } of audits.flatMap((audit) => audit.standing())) {
    if (!successes.has(settlementId))
      onFinding(`I-16 ${settlementId} is not on chain`, settlementId)
  }
}

/** I-1: folding the commands again gives the same blocks, byte for byte; the book is sound after each. */
async function checkReplay(
  { server, onFinding }: RestingVenue,
  market: Market,
  stored: readonly BusMessage[],
): Promise<void> {
  const commands = await server.read(commandsStream(market.market), 1, Number.MAX_SAFE_INTEGER)
  const state = emptyMatcherState(openingOf(market))
  const log = commandMessages(market)
  // A block that only names who leads from there on follows from no command.
  const made = stored.filter(({ data }) => decodeBlock(data).leader === undefined)
  let at = 0
  for (const message of commands) {
    for (const { block } of applyMessage(state, message.seq, log.take(message))) {
      checkBook(state)
      if (block === undefined) continue
      const held = made[at++]
      // The newest commands may not have their block yet: time does not stand still.
      if (held === undefined) continue
      if (!Buffer.from(encodeBlock(block)).equals(held.data)) {
        onFinding(`I-1 replay gives another block at ${block.firstSeq}`, block)
        return
      }
    }
  }
  if (at < made.length) onFinding(`I-1 replay gives ${at} of ${made.length} blocks`, at)
}

/** I-12: reads and sockets show the same book. */
function checkReads({ directory, followers, onFinding }: RestingVenue, audit: FeedAudit): void {
  const { market } = audit.market
  const reads = openReadModel(historyPath(join(directory, 'projector')))
  const seq = reads.projectedSeq(market)
  if (seq !== audit.seq()) onFinding(`reads are at ${seq}, the feed at ${audit.seq()}`, seq)
  checkReadOrders({ audit, onFinding }, reads)
  const shown = shownBook(reads, market)
  for (const follower of followers.filter((one) => one.market === market)) {
    const folded = [...follower.openAmounts()]
      .map(([id, open]) => `${id} ${open}`)
      .sort()
      .join()
    if (folded !== shown) onFinding('I-12 frames give another book than reads', { folded, shown })
    const since = follower.tradesSince() ?? 0
    const expected = audit.fills.flatMap(({ tradeId, seq }) => (seq > since ? [tradeId] : []))
    if (expected.join() !== follower.tradeIds.join()) {
      onFinding('I-12 frames give other trades', { since, expected, got: follower.tradeIds })
    }
  }
  reads.close()
}

const shownBook = (reads: ReadModel, market: string): string =>
  reads
    .openOrders(market)
    .map(({ order, progress }) => `${order.orderId} ${formatDecimal(progress.open, 18)}`)
    .sort()
    .join()

/** Every order as reads show it stands where the feed left it. */
function checkReadOrders({ audit, onFinding }: Judged, reads: ReadModel): void {
  for (const { order, status, filled, pending, open } of audit.orders.values()) {
    const progress = reads.order(order.orderId)?.progress
    const agrees =
      progress?.status === status &&
      progress.filled === filled &&
      progress.pending === pending &&
      progress.open === open
    if (!agrees) onFinding(`I-12 reads show another ${order.orderId} than the feed`, progress)
  }
}

interface Judged extends Pick<RestingVenue, 'onFinding'> {
  readonly audit: FeedAudit
}

type Audited = Pick<RestingVenue, 'audits' | 'directory' | 'onFinding'>

/** The same while things go on: whenever reads happen to be where the audit is. */
export function checkReadsMeanwhile({ audits, directory, onFinding }: Audited): void {
  const reads = openIfMade(historyPath(join(directory, 'projector')))
  if (reads === undefined) return
  for (const audit of audits) {
    const { market } = audit.market
    if (reads.projectedSeq(market) === audit.seq()) checkReadOrders({ audit, onFinding }, reads)
  }
  reads.close()
}

/** Whether reads have come as far as the feeds. */
export function areReadsLevel(directory: string, audits: readonly FeedAudit[]): boolean {
  const reads = openIfMade(historyPath(join(directory, 'projector')))
  const isLevel = audits.every(
    (audit) => (reads?.projectedSeq(audit.market.market) ?? 0) === audit.seq(),
  )
  reads?.close()
  return isLevel
}

/** Undefined while the projector has not finished making the file, at which it may die. */
function openIfMade(path: string): ReadModel | undefined {
  try {
    return openReadModel(path)
  } catch (error) {
    if (error instanceof ReadModelAbsent) return undefined
    throw error
  }
}

/** I-11: a projection made afresh has the same rows. */
function checkRebuilt(
  { directory, audits, onFinding }: RestingVenue,
  messages: readonly BusMessage[],
): void {
  const open = (path: string) =>
    openDatabase({ path, migrations: HISTORY_MIGRATIONS, synchronous: 'NORMAL' })
  const fresh = open(historyPath(directory))
  const live = open(historyPath(join(directory, 'projector')))
  const markets = audits.map(({ market }) => market)
  const projection = createProjection(fresh, markets)
  projection.applyBatch(
    messages.map(({ seq, data }) => ({ streamSeq: seq, block: decodeBlock(data) })),
  )
  const expected = rowsOf(fresh)
  const actual = rowsOf(live)
  for (const [table, rows] of expected) {
    if (rows !== actual.get(table)) {
      onFinding(`I-11 ${table} is not what the feed gives`, { rows, live: actual.get(table) })
    }
  }
  fresh.close()
  live.close()
}

function rowsOf(db: Database.Database): Map<string, string> {
  const tables = db
    .prepare<[], { name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    )
    .all()
  return new Map(
    tables
      .filter(({ name }) => isFromFeeds(name))
      .map(({ name }) => {
        const rows = db.prepare<[], Record<string, unknown>>(`SELECT * FROM "${name}"`).all()
        return [name, rows.map(textOf).sort().join('\n')]
      }),
  )
}

const textOf = (row: Record<string, unknown>): string =>
  Object.entries(row)
    .map(
      ([name, value]) =>
        `${name}=${value instanceof Buffer ? value.toString('hex') : String(value)}`,
    )
    .join(' ')
