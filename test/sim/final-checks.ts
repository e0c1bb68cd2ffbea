import type Database from 'better-sqlite3'
import { join } from 'node:path'
import { decodeBlock, encodeBlock } from '../../bus-schemas/blocks.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { formatDecimal } from '../../core/decimal.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import { checkBook } from '../../core/engine/check-state.js'
import { openingOf } from '../../core/contracts/market-terms.js'
import { emptyMatcherState } from '../../core/engine/state.js'
import { createProjection, HISTORY_MIGRATIONS, historyPath } from '../../data/history/project.js'
import { openReadModel, ReadModelAbsent, type ReadModel } from '../../data/history/read-model.js'
import { openDatabase } from '../../data/open.js'
import type { BusMessage } from '../../runtime/bus/bus.js'
import type { MemoryBus } from '../../runtime/bus/memory-bus.js'
import { wentThrough, type SimulatedChain } from './chain.js'
import { AT, balanceKey, FEE_ACCOUNT, fillKey } from './contracts.js'
import type { JournalReader } from './executor-journal.js'
import type { FeedAudit } from './feed-audit.js'
import type { Follower } from './followers.js'
import type { Traders } from './traders.js'
import { market } from './venue.js'
import { commandMessages } from '../../bus-schemas/commands.js'

/** A simulated venue that has come to rest. */
export interface RestingVenue {
  readonly server: MemoryBus
  readonly chain: SimulatedChain
  readonly audit: FeedAudit
  readonly traders: Traders
  readonly followers: readonly Follower[]
  readonly journal: JournalReader
  /** Where the processes have their files. */
  readonly directory: string
  readonly onFinding: (what: string, detail: unknown) => void
}

/** What must hold once everything that was under way has had its time. */
export async function checkAtRest(venue: RestingVenue): Promise<void> {
  const crossed = venue.audit.crossing()
  const status = venue.audit.status()
  if (status === 'held') venue.onFinding('I-24 the market is held without a fault', status)
  // Nothing crosses while an operator has paused the market, which may be so at the end.
  if (crossed !== undefined && status === 'open')
    venue.onFinding('I-6 the book is crossed at rest', crossed)
  checkAccepted(venue)
  checkChain(venue)
  checkPositions(venue)
  const messages = await venue.server.read(feedStream(market.market), 1, Number.MAX_SAFE_INTEGER)
  const blocks = messages.filter(({ data }) => decodeBlock(data).leader === undefined)
  await checkReplay(venue, blocks)
  checkReads(venue)
  checkRebuilt(venue, messages)
}

/** I-15: every acknowledged order is in the log, and every order in the log was signed. */
function checkAccepted({ traders, audit, onFinding }: RestingVenue): void {
  const known = new Set(traders.sent.map(({ orderId }) => orderId))
  for (const { orderId, accepted, forged } of traders.sent) {
    const it = audit.orders.get(orderId)
    if (accepted && it === undefined) onFinding(`I-15 ${orderId} was accepted and is lost`, orderId)
    if (forged && it !== undefined && it.filled > 0n) onFinding(`forged ${orderId} traded`, it)
    if (forged && accepted && it?.order.signatureStatus === 'checked') {
      onFinding(`forged ${orderId} was accepted`, it)
    }
  }
  for (const orderId of audit.orders.keys()) {
    if (!known.has(orderId)) onFinding(`${orderId} was never sent`, orderId)
  }
  for (const orderId of traders.cancelled) {
    const status = audit.orders.get(orderId)?.status
    if (status !== 'cancelled') onFinding(`cancelled ${orderId} is ${status ?? 'absent'}`, orderId)
  }
}

/** I-4, I-16 and I-18: the chain and the feed tell of the same trades. */
function checkChain({ chain, audit, journal, onFinding }: RestingVenue): void {
  const { state } = chain.head()
  for (const { order, filled } of audit.orders.values()) {
    const ours = filled - order.initialFilled
    const theirs = state.filled.get(fillKey(order.owner, order.nonce)) ?? 0n
    if (ours !== theirs) {
      onFinding(`I-18 ${order.orderId} filled ${ours} here and ${theirs} on chain`, order)
    }
  }
  const standing = audit.standing()
  const fees = standing.reduce((sum, { fee }) => sum + fee, 0n)
  const charged = state.balances.get(balanceKey(FEE_ACCOUNT, AT.quote)) ?? 0n
  if (fees !== charged) onFinding(`I-4 fees ${fees} here and ${charged} on chain`, charged)
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
  for (const { settlementId } of standing) {
    if (!successes.has(settlementId))
      onFinding(`I-16 ${settlementId} is not on chain`, settlementId)
  }
}

/** The position of each account is the sum of its fills. */
function checkPositions({ chain, audit, onFinding }: RestingVenue): void {
  const { perp, balances, owners } = chain.head().state
  if (perp === undefined) return
  for (const account of owners.keys()) {
    const ours = [...audit.orders.values()]
      .filter(({ order }) => order.subaccountId === account)
      .map(({ order, filled }) => {
        const settled = filled - order.initialFilled
        return order.side === 'buy' ? settled : -settled
      })
      .reduce((sum, size) => sum + size, 0n)
    const theirs = balances.get(balanceKey(account, AT.base)) ?? 0n
    if (ours !== theirs) onFinding(`position of ${account}: ${ours} here, ${theirs} there`, theirs)
  }
}

/** I-1: folding the commands again gives the same blocks, byte for byte; the book is sound after each. */
async function checkReplay(
  { server, onFinding }: RestingVenue,
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
function checkReads(venue: RestingVenue): void {
  const { directory, audit, followers, onFinding } = venue
  const reads = openReadModel(historyPath(join(directory, 'projector')))
  const seq = reads.projectedSeq(market.market)
  if (seq !== audit.seq()) onFinding(`reads are at ${seq}, the feed at ${audit.seq()}`, seq)
  checkReadOrders(venue, reads)
  const shown = shownBook(reads)
  for (const follower of followers) {
    const folded = [...follower.openAmounts()]
      .map(([id, open]) => `${id} ${open}`)
      .sort()
      .join()
    if (folded !== shown) onFinding('I-12 frames give another book than reads', { folded, shown })
    const since = follower.tradesSince() ?? 0
    const expected = audit.fills.map(({ tradeId }) => tradeId).filter((id) => id / 256 > since)
    if (expected.join() !== follower.tradeIds.join()) {
      onFinding('I-12 frames give other trades', { since, expected, got: follower.tradeIds })
    }
  }
  reads.close()
}

const shownBook = (reads: ReadModel): string =>
  reads
    .openOrders(market.market)
    .map(({ order, progress }) => `${order.orderId} ${formatDecimal(progress.open, 18)}`)
    .sort()
    .join()

/** Every order as reads show it stands where the feed left it. */
function checkReadOrders({ audit, onFinding }: Audited, reads: ReadModel): void {
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

type Audited = Pick<RestingVenue, 'audit' | 'directory' | 'onFinding'>

/** The same while things go on: whenever reads happen to be where the audit is. */
export function checkReadsMeanwhile(venue: Audited): void {
  const reads = openIfMade(historyPath(join(venue.directory, 'projector')))
  if (reads === undefined) return
  if (reads.projectedSeq(market.market) === venue.audit.seq()) checkReadOrders(venue, reads)
  reads.close()
}

/** How far reads have come; 0 while there is nothing to read. */
export function projectedSeq(directory: string): number {
  const reads = openIfMade(historyPath(join(directory, 'projector')))
  const seq = reads?.projectedSeq(market.market) ?? 0
  reads?.close()
  return seq
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
  { directory, onFinding }: RestingVenue,
  messages: readonly BusMessage[],
): void {
  const open = (path: string) =>
    openDatabase({ path, migrations: HISTORY_MIGRATIONS, synchronous: 'NORMAL' })
  const fresh = open(historyPath(directory))
  const live = open(historyPath(join(directory, 'projector')))
  const projection = createProjection(fresh, [market])
  projection.applyBatch(
    messages.map(({ seq, data }) => ({ streamSeq: seq, block: decodeBlock(data) })),
  )
  const [expected, actual] = [rowsOf(fresh), rowsOf(live)]
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
    tables.map(({ name }) => {
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
