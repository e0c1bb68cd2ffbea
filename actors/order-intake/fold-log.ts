import { decodeBlock } from '../../bus-schemas/blocks.js'
import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { INTAKE_SOURCE, termOf, type Command, type ObservedGap } from '../../core/model/command.js'
import type { Order } from '../../core/model/order.js'
import type { LogPosition } from '../../data/claim-writer.js'
import type { OrderClaim, IntakeRegistry } from '../../data/intake-registry.js'
import { claimOfTombstone } from '../../data/recent-claims.js'
import { numberIn } from '../../runtime/actor/last-numbers.js'
import { Fenced } from '../../runtime/actor/leadership.js'
import { stateOrEmpty, type Bus, type BusMessage } from '../../runtime/bus/bus.js'
import { listCheckpoints } from '../../runtime/bus/checkpoint-store.js'
import type { Logger } from '../../runtime/process/log.js'

/** The orders that a command brings into its market, each with a claim of its own. */
const ordersOf = (command: Command): readonly Order[] =>
  command.kind === 'PlaceOrder' ? [command.order] : []

/** Messages per read. */
const READ_CHUNK = 256

/** A market's log is not the one that the registry was folded from; taking orders of that market could accept an id twice. */
export class LogMismatch extends Error {
  override readonly name = 'LogMismatch'
  constructor(
    readonly market: string,
    message: string,
  ) {
    super(message)
  }
}

export interface LogFoldOptions extends LogMarket {
  readonly bus: Bus
  readonly registry: IntakeRegistry
  /** The claim of an order of this market. */
  readonly claimOf: (order: Order) => OrderClaim
  readonly log: Logger
}

/** What a fold stops at. */
interface FoldEnd {
  /** The term of this intake, once it has one. */
  readonly term: number | undefined
  /** Stops before the message with these bytes. */
  readonly sought?: Uint8Array
}

/**
 * Folds the claims of a market's log into the registry, from where it was folded up to its end, by the rule by which the
 * matcher takes commands. If the log's beginning is trimmed beyond that place, the claims before come from the feed. Resolves
 * with the sequence of the message that was sought, if it is there. Throws LogMismatch and Fenced.
 */
export async function foldLog(options: LogFoldOptions, end: FoldEnd): Promise<number | undefined> {
  const { bus, registry, market } = options
  const stream = commandsStream(market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  const known = registry.folded(market)
  if (lastSeq < known.streamSeq) {
    throw new LogMismatch(
      market,
      `${stream} ends at ${lastSeq}, but it once reached ${known.streamSeq}: it was rolled back`,
    )
  }
  const isTrimmed = firstSeq > known.streamSeq + 1
  const lastNo = isTrimmed ? await foldFeed(options) : known.lastNo
  const reached = (position: LogPosition): LogPosition => (isTrimmed ? known : position)
  let at: LogPosition = { streamSeq: Math.max(firstSeq - 1, known.streamSeq), lastNo: known.lastNo }
  while (at.streamSeq < lastSeq) {
    const messages = await bus.read(stream, at.streamSeq + 1, READ_CHUNK)
    if (messages.length === 0) break
    for (const message of messages) {
      const { seq, data } = message
      if (end.sought !== undefined && Buffer.compare(data, end.sought) === 0) return seq
      const found = readMessage(options, message, at.lastNo, end.term)
      at = { streamSeq: seq, lastNo: found.lastNo }
      fold(options, found.claims, reached(at), seq)
    }
  }
  // What was rebuilt counts from the moment at which it is complete.
  if (isTrimmed) fold(options, [], { ...at, lastNo: Math.max(at.lastNo, lastNo) })
  return undefined
}

/** A fingerprint that no signed action has: no repeat is answered by it. */
const NO_ACTION = new Uint8Array(32)

/** Claims of the nonces that the chain used in a gap, of orders that no log holds, under names that no client can send. */
const claimsOfGap = ({ used }: ObservedGap, registry: LogFoldOptions['registry']): OrderClaim[] =>
  used
    .filter(({ owner, nonce }) => registry.findNonce(owner, nonce) === undefined)
    .map(({ owner, nonce }) => ({
      orderId: `\u0000restored ${owner} ${nonce}`,
      owner,
      nonce,
      fingerprint: NO_ACTION,
    }))

/** The claims of a message, and the number of its last command that the market does not skip. */
function readMessage(
  { market, claimOf, registry, ...options }: LogFoldOptions,
  message: BusMessage,
  before: number,
  term: number | undefined,
) {
  let lastNo = before
  const claims: OrderClaim[] = []
  for (const { source, sourceNo, command } of commandMessages(options).take(message)) {
    if (command.kind === 'GapObserved') claims.push(...claimsOfGap(command.gap, registry))
    if (source !== INTAKE_SOURCE || sourceNo <= lastNo) continue
    if (term !== undefined && termOf(sourceNo) >= term) {
      throw new Fenced(`${commandsStream(market)} holds term ${termOf(sourceNo)} of another intake`)
    }
    lastNo = sourceNo
    for (const order of ordersOf(command)) claims.push(claimOf(order))
  }
  return { lastNo, claims }
}

function fold(
  { registry, market, log }: LogFoldOptions,
  claims: readonly OrderClaim[],
  position: LogPosition,
  heldAt = position.streamSeq,
): void {
  for (const { orderId, market: holding } of registry.fold(market, claims, position, heldAt)) {
    log.error(
      { market, holder: orderId, of: holding },
      'the log holds an order whose id or nonce is taken',
    )
  }
}

/**
 * Rebuilds the claims of a log whose beginning is trimmed from the feed, with its archive where it is trimmed too. It has no orders that the market
 * refused; such an order never rested, and its id and nonce are free again. Resolves with the greatest number of the intake
 * that the market has taken, from its newest checkpoint.
 */
async function foldFeed(options: LogFoldOptions): Promise<number> {
  const { bus, market, registry, claimOf, log } = options
  const stream = feedStream(market)
  log.warn({ market }, 'the log is trimmed beyond the registry, reading the claims from the feed')
  const { firstSeq, lastSeq } = await stateOrEmpty(bus, stream)
  if (firstSeq > 1 || lastSeq === 0) {
    throw new LogMismatch(
      market,
      `${stream} begins at ${firstSeq}: the claims cannot be rebuilt from it`,
    )
  }
  for (let next = firstSeq; next <= lastSeq;) {
    const messages = await bus.read(stream, next, READ_CHUNK)
    const claims = messages
      .flatMap(({ data }) => decodeBlock(data).changes)
      .flatMap((change) => {
        if (change.kind === 'OrderPlaced') return [claimOf(change.order)]
        const tombstone = change.kind === 'OrderForgotten' ? change.tombstone : undefined
        return tombstone === undefined ? [] : [claimOfTombstone(tombstone)]
      })
    fold(options, claims, registry.folded(market))
    next = (messages.at(-1)?.seq ?? lastSeq) + 1
  }
  return lastNoInCheckpoint(options)
}

async function lastNoInCheckpoint({ bus, ...market }: LogFoldOptions): Promise<number> {
  const checkpoints = await listCheckpoints(bus, market.market)
  const known = await numberIn(bus, market, checkpoints, INTAKE_SOURCE)
  if (known !== undefined) return known
  throw new LogMismatch(
    market.market,
    `no usable checkpoint of ${market.market} says what its log held`,
  )
}
