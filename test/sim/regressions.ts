import type { Kind } from './markets.js'

/** A seed that once found something in the venue or in the simulator, and what: run for ever. */
export interface Regression {
  readonly seed: number
  readonly steps: number
  /** Of the markets; all by default. */
  readonly kinds?: readonly Kind[]
  readonly found: string
}

/**
 * A seed is only as good as the random numbers that follow from it: when the code draws others, it tells another story.
 * So whatever is found here also gets a test of its own beside the code that was wrong.
 */
export const REGRESSIONS: readonly Regression[] = [
  {
    seed: 23,
    steps: 200,
    kinds: ['spot'],
    found: 'a fault of the simulator: it took streams that no matcher had made yet for an error',
  },
  {
    seed: 103,
    steps: 200,
    kinds: ['spot'],
    found:
      'a fault of the simulator: it judged an executor that had died right after its result was on disk',
  },
  {
    seed: 110,
    steps: 200,
    kinds: ['spot'],
    found:
      'a fault of the simulator: a new life waited for questions to the node that the dead one had left',
  },
  {
    seed: 823,
    steps: 200,
    kinds: ['spot'],
    found:
      'two settlements of one account that cannot pay either, each waiting for the other for ever',
  },
  {
    seed: 414,
    steps: 200,
    kinds: ['perpetual'],
    found:
      'a fault of the audit: a fault of the venue left an order with the hold of an earlier refusal',
  },
]
