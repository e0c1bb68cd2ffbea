import type { Address, Hex, TradeData } from './action.js'
import { dataInvariant, dataNotHex, refusals } from './refusals.js'
import type { Refusal } from './refusals.js'

const WORDS = 7
const WORD_DIGITS = 64
const TWO_256 = 2n ** 256n

/**
 * Reads the seven words of a trade action's data as the chain's decoder would: addresses without dirty high bytes,
 * prices and amounts as signed integers, the flag 0 or 1. Refuses whatever the chain would not decode.
 */
export function decodeTradeData(data: string): { data: TradeData } | { refusal: Refusal } {
  if (!data.startsWith('0x')) return { refusal: dataNotHex('missing 0x prefix') }
  if (data.length % 2 !== 0) return { refusal: dataNotHex('odd number of hex digits') }
  // Length before pattern: a body may carry tens of kilobytes here.
  if (data.length !== 2 + WORDS * WORD_DIGITS) {
    return { refusal: isHex(data) ? refusals.tradeDataWords : dataNotHex('not a hex digit') }
  }
  if (!isHex(data)) return { refusal: dataNotHex('not a hex digit') }
  const word = (index: number): bigint =>
    BigInt(`0x${data.slice(2 + index * WORD_DIGITS, 2 + (index + 1) * WORD_DIGITS)}`)

  const asset = word(0)
  const flag = word(6)
  if (asset >= 2n ** 160n) return { refusal: dataInvariant('asset is not an address') }
  if (flag > 1n) return { refusal: dataInvariant('isBid is neither 0 nor 1') }
  return {
    data: {
      asset: `0x${asset.toString(16).padStart(40, '0')}`,
      subId: word(1),
      limitPrice: BigInt.asIntN(256, word(2)),
      desiredAmount: BigInt.asIntN(256, word(3)),
      worstFee: word(4),
      recipientId: word(5),
      isBid: flag === 1n,
    },
  }
}

const isHex = (text: string): boolean => /^0x[0-9a-fA-F]*$/.test(text)

/** Writes trade data as its seven words; the inverse of decodeTradeData. Every field must fit its word. */
export function encodeTradeData(data: TradeData): Hex {
  const words = [
    addressWord(data.asset),
    data.subId,
    data.limitPrice,
    data.desiredAmount,
    data.worstFee,
    data.recipientId,
    data.isBid ? 1n : 0n,
  ]
  return `0x${words.map(wordDigits).join('')}`
}

const addressWord = (address: Address): bigint => BigInt(address)

/** Two's complement in 256 bits. */
const wordDigits = (value: bigint): string =>
  ((value + TWO_256) % TWO_256).toString(16).padStart(WORD_DIGITS, '0')
