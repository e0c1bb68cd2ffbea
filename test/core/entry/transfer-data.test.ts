import { expect } from 'chai'
import fc from 'fast-check'
import { decodeAbiParameters, encodeAbiParameters, parseAbiParameters } from 'viem'
import type { Hex } from '../../../core/action.js'
import {
  decodeDepositData,
  decodeWithdrawalData,
  encodeDepositData,
  encodeWithdrawalData,
} from '../../../core/entry/read-action.js'
import { anyAddress, anyUint } from '../../support/arbitraries.js'

const depositWords = parseAbiParameters('uint256 amount, address asset, address manager')
const withdrawalWords = parseAbiParameters('address asset, uint256 amount')

const anyDeposit = fc.record({
  amount: anyUint,
  asset: anyAddress,
  managerForNewAccount: anyAddress,
})
const anyWithdrawal = fc.record({ asset: anyAddress, amount: anyUint })
/** Whole bytes around the lengths of both kinds. */
const anyData = fc
  .oneof(
    fc.uint8Array({ minLength: 64, maxLength: 64 }),
    fc.uint8Array({ minLength: 96, maxLength: 96 }),
    fc.uint8Array({ maxLength: 130 }),
  )
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)

/** What another decoder makes of the data; undefined when it is not exactly these words. */
function decodedElsewhere(words: typeof depositWords | typeof withdrawalWords, data: Hex) {
  if (data.length !== 2 + 64 * words.length) return undefined
  const values = decodeAbiParameters(words as typeof depositWords, data)
  const same = encodeAbiParameters(words as typeof depositWords, values) === data
  return same ? values.map((value) => value.toString().toLowerCase()) : undefined
}

const texts = (value: object | undefined): string[] | undefined =>
  value === undefined ? undefined : Object.values(value).map(String)

describe('data of deposits and withdrawals', () => {
  it('gives the words back that were written, as the chain would encode them', () => {
    fc.assert(
      fc.property(anyDeposit, (data) => {
        const { amount, asset, managerForNewAccount } = data
        const written = encodeDepositData(data)
        expect(decodeDepositData(written)).to.deep.equal(data)
        const expected = encodeAbiParameters(depositWords, [amount, asset, managerForNewAccount])
        expect(written).to.equal(expected)
      }),
    )
    fc.assert(
      fc.property(anyWithdrawal, (data) => {
        const written = encodeWithdrawalData(data)
        expect(decodeWithdrawalData(written)).to.deep.equal(data)
        const expected = encodeAbiParameters(withdrawalWords, [data.asset, data.amount])
        expect(written).to.equal(expected)
      }),
    )
  })

  it('reads nothing but whole clean words', () => {
    fc.assert(
      fc.property(anyData, (data) => {
        const deposit = texts(decodeDepositData(data))
        expect(deposit).to.deep.equal(decodedElsewhere(depositWords, data))
        const withdrawal = texts(decodeWithdrawalData(data))
        expect(withdrawal).to.deep.equal(decodedElsewhere(withdrawalWords, data))
      }),
    )
  })

  it('refuses dirty high bytes of either address, digits in another alphabet and a missing prefix', () => {
    const good = encodeDepositData({
      amount: 1n,
      asset: `0x${'11'.repeat(20)}`,
      managerForNewAccount: `0x${'22'.repeat(20)}`,
    })
    const broken = (at: number, digit: string): string =>
      good.slice(0, at) + digit + good.slice(at + 1)
    expect(decodeDepositData(good)).to.not.equal(undefined)
    for (const data of [broken(2 + 64, '1'), broken(2 + 128 + 23, '1'), broken(80, 'g')]) {
      expect(decodeDepositData(data), data).to.equal(undefined)
    }
    expect(decodeDepositData(`00${good.slice(2)}`)).to.equal(undefined)
    expect(decodeWithdrawalData(`0x${'ff'.repeat(64)}`)).to.equal(undefined)
  })
})
