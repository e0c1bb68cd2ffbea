import { FACTS_AGE_MAX_MS } from '../../../core/contracts/perpetual.js'
import { hideFuture } from '../../../core/contracts/future-facts.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import type { AppliedCommand } from '../../../core/engine/apply-command.js'
import type { Change } from '../../../core/model/change.js'
import type { Command } from '../../../core/model/command.js'
import { FACTS_SPARE_MS } from '../../../core/model/limits.js'
import { statusOf } from '../../../core/model/live-order.js'
import { nextDeadlineMs } from '../../../core/engine/state.js'
import { isTickDue } from '../../../core/engine/tick-due.js'
import { futureFacts } from '../../support/future.js'
import { commandOf, type MarketAct } from '../../support/market-commands.js'
import { START_MS, testMatcher } from '../../support/matching.js'
import { perpetualFacts } from '../../support/perpetual.js'

const SECOND_MS = 1_000
/** A step that asks for the next one so often goes round in circles. */
const STEPS_MAX = 10_000

export type Kind = 'spot' | 'perpetual' | 'future'

/** What happens beside orders: the chain shows something, clocks are compared, time goes by. */
export type QuietAct =
  | { readonly act: 'facts'; readonly isPaused: boolean; readonly ageMs: number }
  | { readonly act: 'fault'; readonly stands: boolean }
  | { readonly act: 'compare'; readonly aheadMs: number }
  | { readonly act: 'elapse'; readonly ms: number }
  /** All clocks jump, and a second passes. */
  | { readonly act: 'jump'; readonly ms: number }

export type TickedAct = MarketAct | QuietAct

/** A change of the standing, or of an order, with the number of the act by which it was made. */
export interface Published {
  readonly at: string
  readonly what: string
}

/** A market whose shell sends a tick each second, or asks each second whether one is due. */
export class TickedMarket {
  readonly market
  readonly published: Published[] = []
  readonly settlementIds: string[] = []
  ticks = 0
  private readonly kind: Kind
  private readonly always: boolean
  private standing = ''

  constructor(kind: Kind, { always }: { readonly always: boolean }) {
    this.kind = kind
    this.always = always
    this.market = testMatcher(25, kind)
    this.note(undefined)
  }

  get nowMs(): number {
    return this.market.nowMs()
  }

  get changes(): readonly Change[] {
    return this.market.changes
  }

  /** Applies a command, and what the shell sends because of it. */
  send(command: Command): void {
    const left = [command]
    for (let steps = 0; ; steps += 1) {
      const next = left.shift()
      if (next === undefined) return
      if (steps > STEPS_MAX) throw new Error('the steps do not end')
      const applied = this.market.apply(next)
      this.note(applied)
      left.push(...applied.continueOrderIds.map((orderId) => continued(orderId)))
      if (applied.moreIsDue && !left.some(({ kind }) => kind === 'Tick'))
        left.push({ kind: 'Tick' })
    }
  }

  /** Lets time pass; at each full second the shell looks at its clock. */
  elapse(ms: number): void {
    const endMs = this.nowMs + ms
    for (;;) {
      const secondMs = (Math.floor(this.nowMs / SECOND_MS) + 1) * SECOND_MS
      if (secondMs > endMs) break
      this.market.advance(secondMs - this.nowMs)
      this.look()
    }
    this.market.advance(endMs - this.nowMs)
  }

  look(): void {
    if (!this.always && !isTickDue(this.market.state, this.nowMs)) return
    this.ticks += 1
    this.send({ kind: 'Tick' })
  }

  jump(ms: number): void {
    this.market.advance(ms)
    this.elapse(SECOND_MS)
  }

  /** The command of an act; its context is that of the market that it is first asked of. */
  commandOf(act: Exclude<TickedAct, { act: 'elapse' | 'jump' }>): Command {
    switch (act.act) {
      case 'facts':
        return this.observation(act)
      case 'fault':
        return act.stands
          ? { kind: 'ChainFaultObserved', revert: 'BM_AdjustmentsPaused' }
          : { kind: 'ChainFaultObserved' }
      case 'compare':
        return { kind: 'ClockObserved', chainMs: this.nowMs - act.aheadMs }
      default:
        return commandOf(act, {
          placed: this.changes.filter(({ kind }) => kind === 'OrderPlaced').length,
          nowMs: Math.floor(this.nowMs / SECOND_MS) * SECOND_MS,
          settlementIds: this.settlementIds,
          changes: this.changes,
        })
    }
  }

  private observation({ isPaused, ageMs }: Extract<QuietAct, { act: 'facts' }>): Command {
    const readAtMs = this.nowMs - Math.min(ageMs, FACTS_AGE_MAX_MS)
    const expirySec = START_MS / SECOND_MS + 86_400
    const facts =
      this.kind === 'future'
        ? hideFuture(futureFacts({ paused: isPaused, expirySec }))
        : hidePerpetual(perpetualFacts({ paused: isPaused }))
    const place = { blockNumber: 1n, blockTimeSec: Math.floor(readAtMs / SECOND_MS), readAtMs }
    return { kind: 'MarketObserved', observation: { facts, ...place } }
  }

  private note(applied: AppliedCommand | undefined): void {
    const at = `${this.nowMs}`
    for (const change of applied?.changes ?? []) {
      if (change.kind === 'OrderMatched') this.settlementIds.push(change.match.settlementId)
      const what = JSON.stringify(change, (_, value: unknown) =>
        typeof value === 'bigint' ? `${value}n` : value,
      )
      this.published.push({ at, what })
    }
    const standing = JSON.stringify(this.market.state.standing)
    if (standing !== this.standing) this.published.push({ at, what: standing })
    this.standing = standing
  }
}

const continued = (orderId: string): Command => ({ kind: 'ContinueOrder', orderId })

/**
 * What time should have done by now and has not, by looking at everything. Of a market that stands still for its clock nothing is
 * due.
 */
export function overdue({ market }: TickedMarket): string[] {
  const { state } = market
  const nowMs = market.nowMs()
  if (state.holds.has('clock') || nowMs < state.nowMs) return []
  const found: string[] = []
  for (const live of state.orders.values()) {
    const atMs = nextDeadlineMs(live)
    // An order wholly in settlement waits for its outcome.
    if (statusOf(live) === 'active' && atMs !== undefined && atMs <= nowMs) {
      found.push(`${live.orderId} since ${atMs}`)
    }
  }
  for (const [key, { endsAtMs }] of state.leases.byKey) {
    if (endsAtMs <= nowMs) found.push(`lease ${key} since ${endsAtMs}`)
  }
  for (const [cause, { untilMs }] of state.holds) {
    if (untilMs !== undefined && untilMs <= nowMs) found.push(`hold ${cause} since ${untilMs}`)
  }
  const spareMs = state.orders.size === 0 ? FACTS_SPARE_MS : 0
  const hold = state.trading.holdOf?.(state.observed, nowMs, spareMs)
  if (hold?.reason !== state.holds.get('facts')?.reason) found.push(`hold by facts ${hold?.reason}`)
  if (state.massCancels.size + state.reviews.size + state.cancelUpToRank > 0) found.push('a rest')
  if (state.closed && state.enabled && state.holds.size === 0) found.push('crossed orders')
  return found
}
