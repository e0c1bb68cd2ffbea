import type { Refusal } from './refusals.js'

/** What a check answers: what it read, or why it refuses. */
export type Checked<T> = T | { readonly refusal: Refusal }

/** A fact that must hold, and the refusal when it does not. */
export type Rule = readonly [holds: boolean, otherwise: Refusal]

/** The refusal of the first rule that does not hold; the order of the rules is their precedence. */
export function firstBroken(rules: readonly Rule[]): Refusal | undefined {
  return rules.find(([holds]) => !holds)?.[1]
}
