import { assert } from '../../core/assert.js'

/** Source of everything that a market's matcher itself puts into the log. */
export const MATCHER_SOURCE = 'matcher'

/** Numbers of one term: 49 days of a thousand commands a second; whoever uses them up begins another term. */
const NUMBERS_PER_TERM = 2 ** 32
/** Terms whose numbers are exact. */
const TERMS_MAX = 2 ** 21

/** The term that a number of a matcher's command belongs to. */
export const termOf = (sourceNo: number): number => Math.floor(sourceNo / NUMBERS_PER_TERM)

/**
 * Counts the commands of a term. All of them are above those of any earlier term, so that what a former leader sent and
 * the log takes late is skipped, whatever the clocks of the two say.
 */
export function createNumbering(term: number): { next(): number } {
  assert(term < TERMS_MAX, `there is no term ${term}`)
  let last = term * NUMBERS_PER_TERM
  return {
    next: () => {
      last += 1
      assert(termOf(last) === term, `the numbers of term ${term} are used up`)
      return last
    },
  }
}
