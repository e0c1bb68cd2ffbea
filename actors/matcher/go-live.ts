import { assert } from '../../core/assert.js'
import { knownOrder } from '../../core/matcher-state.js'
import { executePayload } from './execute-payload.js'
import { createOwnCommands, type OwnCommands } from './own-commands.js'
import type { Run } from './run.js'
import { createSettler, type Settler } from './settle.js'
import { watchReversals, type ReversalWatch } from './watch-reversals.js'

/** What only the leader does, and only once it has caught up with the log. */
export interface Live {
  readonly own: OwnCommands
  readonly settler: Settler
  readonly reversals: ReversalWatch
  readonly ticks: NodeJS.Timeout
}

/** Takes up what the log left open: matches without a result, sweeps that had stopped, the clock. */
export function goLive(run: Run): void {
  const { options, state, feed, leader } = run
  const { bus, market, facts, nowMs, onFatal } = options
  assert(leader !== undefined, 'only the leader goes live')
  assert(state.seq === feed.changeSeq, `log gives seq ${state.seq}, feed holds ${feed.changeSeq}`)
  const own = createOwnCommands({
    bus,
    market: market.market,
    term: leader.term,
    nowMs,
    onUnknown: (error) => facts.appendUnknown('commands', error),
  })
  const order = (orderId: string) => knownOrder(state, orderId).order
  const settler = createSettler({
    ask: options.ask,
    payloadOf: (match) =>
      state.matches.has(match.settlementId)
        ? executePayload(market, match, order(match.makerOrderId), order(match.takerOrderId))
        : undefined,
    report: (settlementId, outcome) =>
      own.submit({ kind: 'SettlementReported', settlementId, outcome }),
    facts,
    unanswered: run.unanswered,
    onFatal,
  })
  const reversals = watchReversals(run, own)
  run.live = { own, settler, reversals, ticks: startTicks(own, run) }
  run.appliedAtMs = options.elapsedMs()
  for (const match of state.matches.values()) settler.add(match)
  for (const live of state.orders.values()) {
    const { orderId } = live.order
    if (live.hold?.reason === 'continuing' && live.hold.untilMs === undefined) {
      own.submit({ kind: 'ContinueOrder', orderId }).catch(onFatal)
    }
  }
  facts.caughtUp({ command_seq: run.commandSeq, feed_seq: feed.changeSeq }, state.matches.size)
}

/** One tick at a time: while one is on its way, the clock has nothing new to say. */
function startTicks(own: OwnCommands, { options }: Run): NodeJS.Timeout {
  const { tickMs, onFatal } = options
  let underWay = false
  return setInterval(() => {
    if (underWay) return
    underWay = true
    own
      .submit({ kind: 'Tick' })
      .catch(onFatal)
      .finally(() => (underWay = false))
  }, tickMs)
}

export async function stopLive(live: Live | undefined): Promise<void> {
  clearInterval(live?.ticks)
  // Together: a settlement may be waiting for its report to become durable.
  await Promise.all([live?.settler.stop(), live?.reversals.stop(), live?.own.stop()])
}
