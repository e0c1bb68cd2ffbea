import { CLOCK_OFF_MAX_MS } from '../../core/model/limits.js'
import { createChainClock, type ChainClock, type ChainClockOptions } from './chain-clock.js'
import type { PublishFacts } from './publish-facts.js'

/**
 * How often each market is told the chain's time, in milliseconds: more often than a tick is due in an idle log (TICK_AFTER_MS), so
 * that a comparison is all that it gets.
 */
const TELL_EVERY_MS = 20_000

/**
 * Tells each market the chain's time: at once when the clocks begin or cease to agree, or ours has jumped as far as the time between
 * two comparisons; else after that time.
 */
export interface ClockTeller extends Pick<ChainClock, 'saw' | 'aheadMs'> {
  /** Tells one market more. */
  add(publish: PublishFacts['clock']): void
  /** Tells what is due; nothing before a block was seen to arrive. Rejects when a log does not take it. */
  tell(): Promise<void>
}

interface ToldTime {
  /** Milliseconds of the monotonic clock. */
  readonly atMs: number
  /** Our clock then, unix milliseconds: it goes on while a machine is suspended, the monotonic one does not. */
  readonly clockMs: number
  readonly isOff: boolean
}

export function createClockTeller(options: ChainClockOptions): ClockTeller {
  const { elapsedMs, nowMs } = options
  const clock = createChainClock(options)
  const markets = new Map<PublishFacts['clock'], ToldTime | undefined>()
  return {
    saw: (head) => clock.saw(head),
    aheadMs: () => clock.aheadMs(),
    add: (publish) => void markets.set(publish, undefined),
    async tell() {
      for (const [publish, told] of markets) {
        const aheadMs = clock.aheadMs()
        const chainMs = clock.chainMs()
        const atMs = elapsedMs()
        if (aheadMs === undefined || chainMs === undefined) return
        const isOff = isClockOff(aheadMs)
        const clockMs = nowMs()
        if (told?.isOff === isOff) {
          const passedMs = Math.max(atMs - told.atMs, Math.abs(clockMs - told.clockMs))
          if (passedMs < TELL_EVERY_MS) continue
        }
        await publish(chainMs)
        markets.set(publish, { atMs, clockMs, isOff })
      }
    },
  }
}

const isClockOff = (aheadMs: number): boolean => Math.abs(aheadMs) > CLOCK_OFF_MAX_MS

/** Words for a clock that is off; none for one that is not, or that is not known. */
export function skewInWords(aheadMs: number | undefined): string[] {
  if (aheadMs === undefined || !isClockOff(aheadMs)) return []
  const sec = Math.round(Math.abs(aheadMs) / 1_000)
  const side = aheadMs > 0 ? 'ahead of' : 'behind'
  return [
    `the clock is ${sec} s ${side} the newest block (clock_skew): nothing matches or expires until it is right`,
  ]
}
