import type { Address } from '../core/action.js'
import { address, oneOf, text, uint, whole } from '../core/wire/codec.js'
import { list, optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** What an owner's accounts hold: asked by the gateway, answered by the fan-out. */

/** A question on `askBalances`. */
export interface BalancesQuestion {
  readonly owner: Address
  /** Accounts that the owner names; absent: those that the venue knows to be the owner's. */
  readonly accounts?: readonly bigint[]
  /** What the answer has to include: the change of each market that the asker has shown last. */
  readonly after: readonly ShownSeq[]
}

export interface ShownSeq {
  readonly market: string
  readonly seq: number
}

/**
 * The answer: the body as JSON, or why there is none. `behind`: the fan-out does not show these changes in time.
 * `unreadable`: the chain gave no answer. `not_owned`: an account that the owner names is not theirs.
 */
export interface BalancesAnswer {
  readonly body?: string
  readonly failed?: 'behind' | 'unreadable' | 'not_owned'
}

export const { encode: encodeBalancesQuestion, decode: decodeBalancesQuestion } = message(
  'balances question',
  since(
    WIRE_VERSION,
    struct<BalancesQuestion>({
      owner: address,
      accounts: optional(list(uint)),
      after: list(struct<ShownSeq>({ market: text, seq: whole })),
    }),
  ),
)

export const { encode: encodeBalancesAnswer, decode: decodeBalancesAnswer } = message(
  'balances answer',
  since(
    WIRE_VERSION,
    struct<BalancesAnswer>({
      body: optional(text),
      failed: optional(
        oneOf<NonNullable<BalancesAnswer['failed']>>({
          behind: true,
          unreadable: true,
          not_owned: true,
        }),
      ),
    }),
  ),
)
