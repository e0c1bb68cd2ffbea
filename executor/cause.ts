import type { GasFacts } from '../chain/sender/gas.js'
import { E18, mulDivCeil, quoteE18, type QuoteE18 } from '../core/money.js'
import type { Settlement } from './settlement.js'

/**
 * Of a match of plain keys on any market, where its accounts have traded before: between what it uses alone and behind
 * others (docs/FUTURES.md). A constant, so that no trader moves the bound between what pays and what does not.
 */
export const GAS_OF_A_MATCH = 500_000n

/** What the gas of a match costs now, in USDC at 1e18, rounded up. `tokenPrice`: USDC at 1e18 for 1e18 wei. */
export function costOfMatch(
  { baseFeePerGas, maxPriorityFeePerGas }: Pick<GasFacts, 'baseFeePerGas' | 'maxPriorityFeePerGas'>,
  tokenPrice: QuoteE18,
): QuoteE18 {
  const wei = GAS_OF_A_MATCH * (baseFeePerGas + maxPriorityFeePerGas)
  return quoteE18(mulDivCeil(wei, tokenPrice, E18))
}

/** Who causes a settlement, and whether it pays for its gas. */
export interface Cause {
  readonly owner: string
  readonly isDust: boolean
}

/**
 * A match whose fee is below what its gas costs is dust, and the owner of its smaller order causes it; any other is caused
 * by the taker's owner. The fee of an unknown market is not known: its matches pay.
 */
export function causeOf(
  { match, parties }: Pick<Settlement, 'match' | 'parties'>,
  cost: QuoteE18,
): Cause {
  const [taker, ...makers] = parties
  const isDust = match !== undefined && match.terms.takerFee < cost
  const smaller = makers.find(({ desired }) => desired < (taker?.desired ?? 0n))
  const causing = isDust && smaller !== undefined ? smaller : taker
  return { owner: causing?.owner ?? '', isDust }
}
