import { assert } from '../assert.js'

/** Source of the intake's commands. */
export const INTAKE_SOURCE = 'intake'

/** Source of what a restore puts into a log before the first process starts; it needs no term. */
export const RESTORE_SOURCE = 'restore'

/** Numbers of one term, enough for 49 days of a thousand commands a second. A restart begins another term. */
const NUMBERS_PER_TERM = 2 ** 32
/** Terms whose numbers are exact. */
const TERMS_MAX = 2 ** 21

/** The term that the number of a command belongs to. */
export const termOf = (sourceNo: number): number => Math.floor(sourceNo / NUMBERS_PER_TERM)

/** The numbers of one writer's commands in one of its terms. */
export interface Numbering {
  readonly term: number
  next(): number
}

/**
 * Counts the commands of a term. All numbers are above those of any earlier term, so that a command of an earlier process
 * of the same writer that reaches the log late is skipped, whatever their clocks show.
 */
export function createNumbering(term: number): Numbering {
  assert(term < TERMS_MAX, `there is no term ${term}`)
  let last = term * NUMBERS_PER_TERM
  return {
    term,
    next: () => {
      last += 1
      assert(termOf(last) === term, `the numbers of term ${term} are used up`)
      return last
    },
  }
}
