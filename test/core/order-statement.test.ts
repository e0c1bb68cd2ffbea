import { expect } from 'chai'
import fc from 'fast-check'
import { InvariantBroken } from '../../core/assert.js'
import { MAX_SIGNATURE_BYTES } from '../../core/limits.js'
import {
  MAX_STATEMENT_LENGTH,
  asStatement,
  readStatement,
  signerOf,
  writeStatement,
} from '../../core/order-statement.js'
import { UINT256_MAX } from '../../core/limits.js'
import { feePerUnitE18 } from '../../core/money.js'
import { anyStatedTerms } from '../support/arbitraries.js'

describe('order statements', () => {
  it('give back what they state, and who signed without reading the rest', () => {
    fc.assert(
      fc.property(anyStatedTerms, (terms) => {
        const statement = writeStatement(terms)
        expect(readStatement(statement)).to.deep.equal(terms)
        expect(signerOf(statement)).to.equal(terms.signer)
      }),
    )
  })

  it('are one line of ASCII, the same for equal terms', () => {
    fc.assert(
      fc.property(anyStatedTerms, (terms) => {
        const statement = writeStatement(terms)
        expect(statement).to.match(/^[\x20-\x7e]*$/)
        const reversed = Object.fromEntries(Object.entries(terms.action).reverse())
        expect(writeStatement({ ...terms, action: { ...terms.action, ...reversed } })).to.equal(
          statement,
        )
        expect(asStatement(statement)).to.equal(statement)
      }),
    )
  })

  it('have room for the longest order that the checks let through, and no more', () => {
    const [sample] = fc.sample(anyStatedTerms, 1)
    const digits = UINT256_MAX.toString()
    const longest = {
      ...sample!,
      ...{ recipientId: UINT256_MAX, subId: UINT256_MAX, worstFee: feePerUnitE18(UINT256_MAX) },
      expirySec: Number.MAX_SAFE_INTEGER,
      action: {
        ...{ subaccount_id: digits, nonce: digits, expiry: digits },
        ...{ module: sample!.signer, owner: sample!.signer, signer: sample!.signer },
        data: `0x${'f'.repeat(7 * 64)}`,
      },
      warnings: ['worst_fee_below_taker_schedule'],
    }
    const signed = (bytes: number) => ({
      ...longest,
      signature: `0x${'ab'.repeat(bytes)}` as const,
    })
    const statement = writeStatement(signed(MAX_SIGNATURE_BYTES))
    expect(statement.length).to.be.below(MAX_STATEMENT_LENGTH)
    expect(() => writeStatement(signed(MAX_STATEMENT_LENGTH / 2))).to.throw(InvariantBroken)
  })

  it('are told from other texts by their length and their ends', () => {
    const [terms] = fc.sample(anyStatedTerms, 1)
    const statement = writeStatement(terms!)
    const padded = `${statement.slice(0, -1)}${' '.repeat(MAX_STATEMENT_LENGTH)}}`
    for (const bad of [
      '',
      '{}',
      ` ${statement}`,
      `${statement}\n`,
      statement.slice(0, -1),
      padded,
    ]) {
      expect(asStatement(bad), bad).to.equal(undefined)
    }
  })
})
