import { numberToHex } from 'viem'
import type { AccountOverride } from './state-client.js'

/**
 * Fees that make a call look like a transaction, in wei. With a fee a node keeps the base fee of its block, and the price that code
 * sees is the base fee with the tip, as in a block; without one both are 0, or the price is. The most is above what blocks ask,
 * since a node refuses less; the tip is what nodes of the target chain suggest.
 */
export const PAID = {
  maxFeePerGas: numberToHex(10n ** 12n),
  maxPriorityFeePerGas: numberToHex(10n ** 6n),
} as const

/** Who pays for a call: a thousand ether, for any gas that a node allows at the highest fee. */
export const PAYER: AccountOverride = { balance: numberToHex(10n ** 21n) }
