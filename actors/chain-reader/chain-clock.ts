import type { ChainHead } from '../../chain/reads/blocks.js'
import { CLOCK_OFF_MAX_MS } from '../../core/model/limits.js'

/** A block that is the next after the last look counts as just arrived if that look was not longer ago, in milliseconds. */
const JUST_ARRIVED_MS = 15_000
/** A block's time counts as no later than this, so that every number that follows from it is exact. */
const LATEST_BLOCK_SEC = 8_000_000_000_000n

/**
 * The chain's time: that of its newest block, and what has passed since the block arrived. So a chain that stands still does
 * not look like a clock that is off: its newest block is old, and its time goes on.
 */
export interface ChainClock {
  /** Takes the head of a read. */
  saw(head: Pick<ChainHead, 'number' | 'timestamp'>): void
  /** The chain's time now, unix milliseconds; undefined before a block was seen to arrive. */
  chainMs(): number | undefined
  /** How far our clock is ahead of the chain's, in milliseconds, negative behind it; undefined as long as `chainMs`. */
  aheadMs(): number | undefined
}

export interface ChainClockOptions {
  /** Our clock, unix milliseconds. */
  readonly nowMs: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
}

/**
 * A block that is there at the first look may be old because the chain stands still, so it says something only if it agrees
 * with our clock. The same holds after a while without a look.
 */
export function createChainClock({ nowMs, elapsedMs }: ChainClockOptions): ChainClock {
  let last: { readonly number: bigint; readonly lookedAtMs: number } | undefined
  let arrived: { readonly blockMs: number; readonly atMs: number } | undefined
  const chainMs = (): number | undefined =>
    arrived && Math.round(arrived.blockMs + elapsedMs() - arrived.atMs)
  return {
    chainMs,
    aheadMs() {
      const chain = chainMs()
      return chain === undefined ? undefined : nowMs() - chain
    },
    saw({ number, timestamp }) {
      const atMs = elapsedMs()
      const sec = timestamp < LATEST_BLOCK_SEC ? timestamp : LATEST_BLOCK_SEC
      const blockMs = Number(sec) * 1_000
      const isNext = last !== undefined && number > last.number
      const isNew = isNext && atMs - (last?.lookedAtMs ?? 0) <= JUST_ARRIVED_MS
      const agrees = last?.number !== number && Math.abs(nowMs() - blockMs) <= CLOCK_OFF_MAX_MS
      if (isNew || agrees) arrived = { blockMs, atMs }
      last = { number, lookedAtMs: atMs }
    },
  }
}
