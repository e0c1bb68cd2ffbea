import { expect } from 'chai'
import type { MatchCall } from '../../../chain/contracts/calldata.js'
import { readMatch } from '../../../chain/contracts/registry.js'
import type { Address } from '../../../core/action.js'
import { encodeTradeData } from '../../../core/entry/read-action.js'
import type { Market } from '../../../core/model/market.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { termsOf } from '../../../executor/settlement.js'
import { aMarket } from '../../support/builders.js'
import { claimsOfTerms } from '../../support/claims.js'

const E18 = 10n ** 18n
const address = (byte: string): Address => `0x${byte.repeat(20)}`

/** A market with the asset, on a trade module that others may have too. */
const marketWith = (market: string, asset: Address, more: Partial<Market> = {}): Market =>
  aMarket({ market, assetAddress: asset, tradeModuleAddress: address('d1'), ...more })

/** A match in which both sides have signed the asset and the sub id. */
function matchOf(asset: Address, subId = 0n, module = address('d1')): MatchCall {
  const actionOf = (subaccountId: bigint, isBid: boolean) => ({
    subaccountId,
    nonce: 1n,
    module,
    expiry: 9n,
    owner: address('aa'),
    signer: address('aa'),
    data: encodeTradeData({
      asset,
      subId,
      limitPrice: E18,
      desiredAmount: E18,
      worstFee: 1n,
      recipientId: subaccountId,
      isBid,
    }),
  })
  const fill = { filledAccount: 8n, amountFilled: amountE18(E18), price: priceE18(E18) }
  return {
    actions: [actionOf(7n, true), actionOf(8n, false)],
    signatures: ['0x01', '0x02'],
    orderData: {
      takerAccount: 7n,
      takerFee: quoteE18(3n),
      managerData: '0x',
      fillDetails: [{ ...fill, fee: quoteE18(0n) }],
    },
  }
}

describe('the market of a match', () => {
  const first = marketWith('A-USDC', address('c1'))
  const second = marketWith('B-USDC', address('c2'), { marginManagerAddress: address('e2') })
  const markets = [first, second]

  it('is found by the trade module and the instrument', () => {
    expect(readMatch(matchOf(address('c1')), markets)?.market).to.equal(first)
    expect(readMatch(matchOf(address('c2')), markets)?.market).to.equal(second)
    const dated = marketWith('C-USDC', address('c2'), { subId: 5n })
    expect(readMatch(matchOf(address('c2'), 5n), [...markets, dated])?.market).to.equal(dated)
  })

  it('gives the match its claims, on the assets of its own row', () => {
    const claims = claimsOfTerms(termsOf(matchOf(address('c2')), '0x', markets))
    expect(claims?.map(({ key, debit }) => [key.balance?.asset, debit])).to.have.deep.members([
      [address('c2'), E18],
      [second.quoteAssetAddress, E18 + 3n],
    ])
  })

  it('is unknown for another module, another instrument or data that cannot be read', () => {
    const unknown = [matchOf(address('c3')), matchOf(address('c1'), 1n)]
    unknown.push(matchOf(address('c1'), 0n, address('d2')))
    const garbled = matchOf(address('c1'))
    unknown.push({ ...garbled, actions: garbled.actions.map((it) => ({ ...it, data: '0x' })) })
    for (const match of unknown) {
      expect(readMatch(match, markets)).to.equal(undefined)
      expect(termsOf(match, '0x', markets)).to.deep.equal({
        call: '0x',
        accountIds: [7n, 8n],
        match: undefined,
      })
    }
  })
})
