import type { Hex, TradeData } from './action.js'
import { dataInvariant, dataNotHex, refusals } from './refusals.js'
import type { Refusal } from './refusals.js'
import { addressOfWord, isHexText, readWords, writeWords } from './words.js'

const WORDS = 7

/**
 * Reads the seven words of a trade action's data as the chain's decoder would: addresses without dirty high bytes,
 * prices and amounts as signed integers, the flag 0 or 1. Refuses whatever the chain would not decode.
 */
export function decodeTradeData(data: string): { data: TradeData } | { refusal: Refusal } {
  if (!data.startsWith('0x')) return { refusal: dataNotHex('missing 0x prefix') }
  if (data.length % 2 !== 0) return { refusal: dataNotHex('odd number of hex digits') }
  const words = readWords(data, WORDS)
  if (words === undefined) {
    return { refusal: isHexText(data) ? refusals.tradeDataWords : dataNotHex('not a hex digit') }
  }
  const [asset = 0n, subId = 0n, limitPrice = 0n, desiredAmount = 0n] = words
  const [worstFee = 0n, recipientId = 0n, flag = 0n] = words.slice(4)
  const assetAddress = addressOfWord(asset)
  if (assetAddress === undefined) return { refusal: dataInvariant('asset is not an address') }
  if (flag > 1n) return { refusal: dataInvariant('isBid is neither 0 nor 1') }
  return {
    data: {
      asset: assetAddress,
      subId,
      limitPrice: BigInt.asIntN(256, limitPrice),
      desiredAmount: BigInt.asIntN(256, desiredAmount),
      worstFee,
      recipientId,
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
