import type { Hex, TradeData } from './action.js'
import { dataInvariant, dataNotHex, refusals } from './refusals.js'
import type { Refusal } from './refusals.js'
import { addressAt, isHexText, isWords, wordAt, writeWords } from './words.js'

const WORDS = 7

/**
 * Reads the seven words of a trade action's data as the chain's decoder would: addresses without dirty high bytes,
 * prices and amounts as signed integers, the flag 0 or 1. Refuses whatever the chain would not decode.
 */
export function decodeTradeData(data: string): { data: TradeData } | { refusal: Refusal } {
  if (!data.startsWith('0x')) return { refusal: dataNotHex('missing 0x prefix') }
  if (data.length % 2 !== 0) return { refusal: dataNotHex('odd number of hex digits') }
  if (!isWords(data, WORDS)) {
    return { refusal: isHexText(data) ? refusals.tradeDataWords : dataNotHex('not a hex digit') }
  }
  const asset = addressAt(data, 0)
  if (asset === undefined) return { refusal: dataInvariant('asset is not an address') }
  const flag = wordAt(data, 6)
  if (flag > 1n) return { refusal: dataInvariant('isBid is neither 0 nor 1') }
  return {
    data: {
      asset,
      subId: wordAt(data, 1),
      limitPrice: BigInt.asIntN(256, wordAt(data, 2)),
      desiredAmount: BigInt.asIntN(256, wordAt(data, 3)),
      worstFee: wordAt(data, 4),
      recipientId: wordAt(data, 5),
      isBid: flag === 1n,
    },
  }
}

/** Writes trade data as its seven words; the inverse of decodeTradeData. Every field must fit its word. */
export function encodeTradeData(data: TradeData): Hex {
  return writeWords([
    BigInt(data.asset),
    data.subId,
    data.limitPrice,
    data.desiredAmount,
    data.worstFee,
    data.recipientId,
    data.isBid ? 1n : 0n,
  ])
}
