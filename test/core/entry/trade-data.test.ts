import { expect } from 'chai'
import fc from 'fast-check'
import { decodeAbiParameters, encodeAbiParameters } from 'viem'
import type { Address, Hex, TradeData } from '../../../core/action.js'
import { decodeTradeData, encodeTradeData } from '../../../core/entry/read-action.js'

const abi = [
  { type: 'address' },
  { type: 'uint256' },
  { type: 'int256' },
  { type: 'int256' },
  { type: 'uint256' },
  { type: 'uint256' },
  { type: 'bool' },
] as const

const uint256 = fc.bigInt(0n, 2n ** 256n - 1n)
const int256 = fc.bigInt(-(2n ** 255n), 2n ** 255n - 1n)
const anyTradeData: fc.Arbitrary<TradeData> = fc.record({
  asset: fc
    .bigInt(0n, 2n ** 160n - 1n)
    .map((n): Address => `0x${n.toString(16).padStart(40, '0')}`),
  subId: uint256,
  limitPrice: int256,
  desiredAmount: int256,
  worstFee: uint256,
  recipientId: uint256,
  isBid: fc.boolean(),
})

const sample: TradeData = {
  asset: `0x${'c1'.repeat(20)}`,
  subId: 0n,
  limitPrice: 650_000_000_000_000n,
  desiredAmount: 10n ** 18n,
  worstFee: 5n,
  recipientId: 7n,
  isBid: true,
}
const words = (data: Hex): string[] => data.slice(2).match(/.{64}/g) ?? []
const withWord = (index: number, word: string): Hex =>
  `0x${words(encodeTradeData(sample)).with(index, word).join('')}`

describe('trade data', () => {
  it('is encoded as the chain encodes it, and decoded back', () => {
    fc.assert(
      fc.property(anyTradeData, (data) => {
        const { asset, subId, limitPrice, desiredAmount, worstFee, recipientId, isBid } = data
        const encoded = encodeTradeData(data)
        expect(encoded).to.equal(
          encodeAbiParameters(abi, [
            asset,
            subId,
            limitPrice,
            desiredAmount,
            worstFee,
            recipientId,
            isBid,
          ]),
        )
        expect(decodeTradeData(encoded)).to.deep.equal({ data })
      }),
    )
  })

  it('accepts upper-case digits', () => {
    const encoded = encodeTradeData(sample)
    expect(decodeTradeData(`0x${encoded.slice(2).toUpperCase()}`)).to.deep.equal({ data: sample })
  })

  const refused: readonly (readonly [string, string, string])[] = [
    ['no words', '0x', 'expected encoded TradeData tuple'],
    ['six words', encodeTradeData(sample).slice(0, -64), 'expected encoded TradeData tuple'],
    [
      'eight words',
      `${encodeTradeData(sample)}${'0'.repeat(64)}`,
      'expected encoded TradeData tuple',
    ],
    ['no prefix', encodeTradeData(sample).slice(2), 'decode action_json.data: missing 0x prefix'],
    ['odd digits', '0x123', 'decode action_json.data: odd number of hex digits'],
    ['letters', '0xzz', 'decode action_json.data: not a hex digit'],
    ['seven words of letters', `0x${'zz'.repeat(224)}`, 'decode action_json.data: not a hex digit'],
    [
      'dirty address bytes',
      withWord(0, `1${'0'.repeat(23)}${'c1'.repeat(20)}`),
      'action_json.data invariant check failed: asset is not an address',
    ],
    [
      'a flag of 2',
      withWord(6, '2'.padStart(64, '0')),
      'action_json.data invariant check failed: isBid is neither 0 nor 1',
    ],
  ]
  for (const [name, data, message] of refused) {
    it(`refuses ${name} (ORD-037)`, () => {
      expect(decodeTradeData(data)).to.have.nested.property('refusal.message', message)
    })
  }

  it('decodes random seven words exactly when the chain decoder does (ORD-038)', () => {
    const word = fc.oneof(uint256, fc.bigInt(0n, 3n), fc.bigInt(0n, 2n ** 160n))
    fc.assert(
      fc.property(fc.array(word, { minLength: 7, maxLength: 7 }), (values) => {
        const data: Hex = `0x${values.map((value) => value.toString(16).padStart(64, '0')).join('')}`
        const [asset = 0n, , , , , , flag = 0n] = values
        const decoded = decodeTradeData(data)
        if (asset >= 2n ** 160n || flag > 1n) {
          expect(decoded).to.have.property('refusal')
          return
        }
        const chain = decodeAbiParameters(abi, data)
        expect(decoded).to.have.nested.property('data.limitPrice', chain[2])
        expect(decoded).to.have.nested.property('data.isBid', chain[6])
      }),
    )
  })
})
