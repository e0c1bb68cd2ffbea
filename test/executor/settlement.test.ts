import { expect } from 'chai'
import { encodeBatch, encodeMatch, type MatchCall } from '../../chain/contracts/calldata.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Action, Hex } from '../../core/action.js'
import { encodeTradeData } from '../../core/entry/read-action.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import type { OpenTransaction } from '../../core/transaction-journal.js'
import { termsOf, termsOfTransaction } from '../../executor/settlement.js'
import { aMarket } from '../support/builders.js'

const market = aMarket()
const BATCH = `0x${'bb'.repeat(20)}` as const
const OWNER = `0x${'aa'.repeat(20)}` as const
const signer = createTransactionSigner(`0x${'01'.repeat(32)}`, 1)

function anAction(subaccountId: bigint, isBid: boolean): Action {
  const { assetAddress: asset, tradeModuleAddress: module } = market
  const terms = { asset, subId: 0n, limitPrice: 3n, desiredAmount: 5n, worstFee: 1n }
  const data = encodeTradeData({ ...terms, recipientId: subaccountId, isBid })
  return { subaccountId, nonce: 1n, module, data, expiry: 9n, owner: OWNER, signer: OWNER }
}

/** A match of one taker with these makers. */
function aMatch(taker: bigint, makers: readonly bigint[]): MatchCall {
  const fillDetails = makers.map((filledAccount) => ({
    filledAccount,
    amountFilled: amountE18(5n),
    price: priceE18(3n),
    fee: quoteE18(0n),
  }))
  return {
    actions: [anAction(taker, true), ...makers.map((maker) => anAction(maker, false))],
    signatures: ['0x01', ...makers.map(() => '0x02' as const)],
    orderData: { takerAccount: taker, takerFee: quoteE18(1n), fillDetails, managerData: '0x' },
  }
}

function aTransaction(calls: readonly Hex[]): OpenTransaction {
  const attempts = calls.map((data) => {
    const fees = { gasLimit: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
    return { ...signer.sign({ to: BATCH, data, evmNonce: 4, ...fees }), ...fees }
  })
  return { from: OWNER, evmNonce: 4, intentIds: ['m:1'], attempts }
}

describe('what has to be known of a match', () => {
  it('is its call, each account that trades once, and what it takes of them', () => {
    const match = aMatch(7n, [8n, 7n, 9n, 8n])
    const terms = termsOf(match, '0xca', [market])
    expect(terms).to.deep.include({ call: '0xca', accountIds: [7n, 8n, 9n] })
    expect(terms.match?.market).to.equal(market)
  })

  it('of an unknown market, is that it may take anything', () => {
    expect(termsOf(aMatch(7n, [8n]), '0xca', []).match).to.equal(undefined)
  })

  it('of a transaction, is that of its matches, in their order', () => {
    const calls = [aMatch(7n, [8n]), aMatch(9n, [10n])].map(encodeMatch)
    const batch = encodeBatch(calls.map((call) => ({ call, gasLimit: 1n })))
    const terms = termsOfTransaction(aTransaction([batch]), [market])
    expect(terms.map(({ call }) => call)).to.deep.equal(calls)
    expect(terms.map(({ accountIds }) => accountIds)).to.deep.equal([
      [7n, 8n],
      [9n, 10n],
    ])
  })

  it('of a transaction that was sent again, is that of what was signed last', () => {
    // Empty since: the nonce is given up.
    expect(
      termsOfTransaction(aTransaction([encodeMatch(aMatch(7n, [8n])), '0x']), []),
    ).to.deep.equal([])
    expect(() => termsOfTransaction(aTransaction([]), [])).to.throw(
      'nothing was signed for nonce 4',
    )
  })
})
