import type { Address } from '../../core/action.js'
import type { MarketView } from '../../core/engine/feed.js'
import { createOwnFills, legKey } from '../../core/engine/own-fills.js'
import type { LegEvent } from '../../core/model/match.js'
import { fillEventRecord, fillsUpdate } from '../../core/records/frames.js'
import type { FeedFold } from './feed-fold.js'
import { createOwnStream } from './own-stream.js'
import type { TopicStream } from './topic-stream.js'

/** Legs with an outcome in a snapshot; older ones are in `GET /v1/fills`. */
const SNAPSHOT_OUTCOMES = 50

/** How long a settled leg may be missing in what is read of the chain. */
const LATELY_MS = 30_000

/** The `fills` channel of one market: every match of an owner's orders, from its proposal to its end. */
export interface FillsChannel extends FeedFold {
  topic(owner: Address): TopicStream
  /** The owner's legs whose match awaits settlement. */
  pendingOf(owner: Address): Iterable<LegEvent>
  /** The owner's legs that were settled lately, in a later block than this. */
  settledAfter(owner: Address, blockNumber: bigint): LegEvent[]
}

/** Numbers the events of all owners in one order. The newest `held` ones can be resumed. */
export function createFillsChannel(view: MarketView, held: number): FillsChannel {
  const fills = createOwnFills((orderId) => view.live.get(orderId)?.order)
  const stream = createOwnStream<LegEvent>({
    capacity: held,
    frameOf: (event, numbering) => fillsUpdate(view.market, event, numbering),
  })

  function stateOf(owner: Address): Buffer {
    const legs = [...[...fills.pendingOf(owner)].reverse(), ...outcomesOf(stream.newest(), owner)]
    const newestFirst = legs.toSorted((a, b) => b.atMs - a.atMs)
    return Buffer.from(JSON.stringify(newestFirst.map((leg) => fillEventRecord(view.market, leg))))
  }

  return {
    before(change) {
      for (const event of fills.apply(change)) stream.push(event)
    },
    pendingOf: (owner) => fills.pendingOf(owner),
    settledAfter: (owner, blockNumber) =>
      [...recent(stream.newest())].filter(
        ({ owner: of, status, trade }) =>
          of === owner && status === 'settled' && (trade?.blockNumber ?? 0n) > blockNumber,
      ),
    topic: (owner) =>
      stream.topic({
        channel: 'fills',
        market: view.market.market,
        owner,
        state: () => stateOf(owner),
      }),
  }
}

function* recent(newest: Iterable<LegEvent>): Generator<LegEvent> {
  let sinceMs: number | undefined
  for (const event of newest) {
    sinceMs ??= event.atMs - LATELY_MS
    if (event.atMs < sinceMs) return
    yield event
  }
}

/** The newest outcome of each of the owner's legs, newest first. */
function outcomesOf(newest: Iterable<LegEvent>, owner: Address): LegEvent[] {
  const legs = new Map<string, LegEvent>()
  for (const event of newest) {
    if (legs.size === SNAPSHOT_OUTCOMES) break
    if (event.owner !== owner || event.status === 'pending') continue
    const key = legKey(event)
    if (!legs.has(key)) legs.set(key, event)
  }
  return [...legs.values()]
}
