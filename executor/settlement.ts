import { decodeMatch, matchCallsOf } from '../chain/decode-match.js'
import type { MatchCall } from '../chain/encode-match.js'
import { paymentsOf } from '../chain/match-payments.js'
import type { Payment } from '../chain/match-payments.js'
import type { OpenTransaction } from '../chain/transaction-journal.js'
import type { Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import type { Market } from '../core/market.js'

/** What has to be known of a match to tell whether two of them get in each other's way. */
export interface MatchTerms {
  /** Calldata of verifyAndMatch. */
  readonly call: Hex
  /** The subaccounts it touches, that of the fees aside, which nobody spends from. */
  readonly accountIds: readonly bigint[]
  /** What it takes out of them; undefined where that does not follow from the match alone, as with margin. */
  readonly payments: readonly Payment[] | undefined
}

/** A match that somebody wants settled, as the journal will know it. */
export interface Settlement extends MatchTerms {
  readonly intentId: string
  readonly fingerprint: Hex
}

export function termsOf(match: MatchCall, call: Hex, markets: readonly Market[]): MatchTerms {
  const accountIds = [...new Set(match.actions.map(({ subaccountId }) => subaccountId))]
  const module = match.actions[0]?.module
  const market = markets.find((candidate) => candidate.tradeModuleAddress === module)
  const isSpot = market?.contractType === 'spot'
  return {
    call,
    accountIds,
    payments: isSpot ? paymentsOf(match, market.quoteAssetAddress) : undefined,
  }
}

/** The matches that a transaction of the journal carries out, read from its signed bytes. */
export function termsOfTransaction(
  { attempts, evmNonce }: OpenTransaction,
  markets: readonly Market[],
): MatchTerms[] {
  const newest = attempts.at(-1)
  assert(newest !== undefined, `nothing was signed for nonce ${evmNonce}`)
  return matchCallsOf(newest.raw).map((call) => termsOf(decodeMatch(call), call, markets))
}
