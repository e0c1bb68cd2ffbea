import type { Hex } from '../core/action.js'
import type { OrderSums } from '../core/engine/order-sums.js'
import { amountE18, quoteE18 } from '../core/money.js'
import { numberIn, withOrdinal } from '../core/engine/trade-id.js'

/** The bytes of a hex string, as blobs are stored. */
export function blobOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

/** A stored blob as lower-case hex. */
export function hexOf(blob: Buffer): Hex {
  return `0x${blob.toString('hex')}`
}

/** A log position as one integer: the change's seq with its market's ordinal. Unique in the venue, increasing within a market. */
export const logKey: (seq: number, ordinal: number) => number = withOrdinal

/** The seq of a key. */
export const seqOfKey: (key: number) => number = numberIn

/** The columns of an order's figures, integers in decimal text; each is null before its first fill. */
export type SumColumns = Readonly<
  Record<'fillsAmount' | 'filledQuote' | 'filledProduct' | 'feePaid', string | null>
>

/** What these columns say; undefined before the first fill. */
export function sumsOfColumns(columns: SumColumns): OrderSums | undefined {
  const { fillsAmount: amount, filledQuote: quote, filledProduct: product, feePaid: fee } = columns
  if (amount === null || quote === null || product === null || fee === null) return undefined
  return {
    amount: amountE18(BigInt(amount)),
    quote: quoteE18(BigInt(quote)),
    product: BigInt(product),
    fee: quoteE18(BigInt(fee)),
  }
}
