import type { PriceE18 } from '../money.js'
import { int, priceE18, uint } from '../wire/codec.js'
import { struct } from '../wire/compound.js'
import { cngnValue } from './future-margin.js'

/**
 * What binds the balances of a trading account that has a position in futures or owes cNGN, at one block. An account
 * without either has none, and spends what it holds (decision F1).
 */
export interface Exposure {
  /** Wrapped cNGN with all variation margin, accrued or not, at 1e18; negative when the account owes. */
  readonly cngn: bigint
  /** Initial margin of all its positions, in USD at 1e18. */
  readonly required: bigint
  /** cNGN per USDC; 0 while the index is stale. */
  readonly index: PriceE18
  /** The share with which cNGN counts as initial margin, at 1e18. */
  readonly factor: bigint
}

export const exposureCodec = struct<Exposure>({
  cngn: int,
  required: uint,
  index: priceE18,
  factor: uint,
})

/** Initial margin surplus in USD at 1e18; undefined where it depends on an index that is stale. */
export function exposedSurplus(
  { required, index, factor }: Omit<Exposure, 'cngn'>,
  { usdc, cngn }: { readonly usdc: bigint; readonly cngn: bigint },
): bigint | undefined {
  if (cngn === 0n) return usdc - required
  return index === 0n ? undefined : usdc - required + cngnValue(cngn, index, factor)
}

/** Whether the manager accepts that the account is left with this: flat without a debt, or with its initial margin. */
export function isMarginKept(
  exposure: Exposure,
  left: { readonly usdc: bigint; readonly cngn: bigint },
): boolean {
  if (exposure.required === 0n && left.cngn >= 0n) return true
  const surplus = exposedSurplus(exposure, left)
  return surplus !== undefined && surplus >= 0n
}
