import { expect } from 'chai'
import { createOrderLedger } from '../../../actors/auditor/order-ledger.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { anObservation } from '../../support/funded-acts.js'
import { aMarket } from '../../support/builders.js'
import { matcherOrder, testMatcher, type OrderFields } from '../../support/matching.js'

const price = (hundredths: bigint) => priceE18((hundredths * E18) / 100n)

/** What the auditor finds in the feed of the real step. */
describe('the ledger of an audited feed', () => {
  /** A sell order that waits out a refusal, while a buy order above its price rests; then it comes back. */
  function returnedSeller() {
    const matcher = testMatcher(25)
    const place = (fields: OrderFields) => {
      const order = matcherOrder({ worstFee: aWideBound, ...fields })
      const account = anObservation(order.subaccountId, 1_000n * E18)
      matcher.apply({ kind: 'PlaceOrder', order, account })
    }
    place({ orderId: 'seller', side: 'sell', subaccountId: 1n, limitPrice: price(100n) })
    place({ orderId: 'buyer', side: 'buy', subaccountId: 2n, limitPrice: price(102n) })
    const matched = matcher.changes.find((change) => change.kind === 'OrderMatched')
    if (matched?.kind !== 'OrderMatched') throw new Error('nothing was matched')
    const { settlementId } = matched.match
    const outcome = { kind: 'reverted', revert: 'OV_InvalidSignature', guilty: 'maker' } as const
    matcher.apply({ kind: 'SettlementReported', settlementId, outcome })
    matcher.advance(31_000)
    matcher.apply({ kind: 'Tick' })
    return matcher
  }
  const aWideBound = matcherOrder({ orderId: 'any', side: 'buy' }).worstFee

  function findingsOf(changes: ReturnType<typeof testMatcher>['changes']): string[] {
    const found: string[] = []
    const ledger = createOrderLedger(aMarket({ takerFeeBps: 25 }), (check, what) => {
      found.push(`${check}: ${what}`)
    })
    ledger.apply({ changes })
    return found
  }

  it('lets an order that comes back be the maker of a later one that rests', () => {
    const { changes } = returnedSeller()
    const second = changes.findLast((change) => change.kind === 'OrderMatched')
    if (second?.kind !== 'OrderMatched') throw new Error('nothing was matched')
    expect([second.orderId, second.match.makerOrderId]).to.deep.equal(['buyer', 'seller'])
    expect(second.match.price).to.equal(price(100n))
    expect(findingsOf(changes)).to.deep.equal([])
  })

  it('takes the fee of the rules before for what was due when others were set, and in that block alone', () => {
    const matcher = testMatcher(25)
    const found: string[] = []
    const ledger = createOrderLedger(aMarket({ takerFeeBps: 25 }), (check, what) => {
      found.push(`${check}: ${what}`)
    })
    const by = { by: 'ada', reason: 'maintenance' }
    const apply = (...commands: Parameters<typeof matcher.apply>[0][]) => {
      for (const command of commands) ledger.apply(matcher.apply(command))
    }
    const place = (orderId: string, side: 'buy' | 'sell') => {
      const subaccountId = side === 'buy' ? 1n : 2n
      const order = matcherOrder({ worstFee: aWideBound, orderId, side, subaccountId })
      return { kind: 'PlaceOrder', order } as const
    }
    apply({ kind: 'MarketPaused', ...by }, place('ask', 'sell'), place('bid', 'buy'))
    apply({ kind: 'MarketResumed', ...by })
    expect(matcher.state.matches.size).to.equal(0)
    apply({ kind: 'MarketRulesSet', rules: { takerFeeBps: 0 }, ...by })
    const [match] = matcher.state.matches.values()
    expect(match?.takerFee).not.to.equal(0n)
    expect(found).to.deep.equal([])
    const again = matcher.changes.find((change) => change.kind === 'OrderMatched')
    if (again !== undefined) ledger.apply({ changes: [again] })
    expect(found.join()).to.contain("is not the schedule's")
  })

  it('finds a match of other orders than its change, and one that is not at the maker’s price', () => {
    const { changes } = returnedSeller()
    const at = changes.findLastIndex((change) => change.kind === 'OrderMatched')
    const second = changes[at]
    if (second?.kind !== 'OrderMatched') throw new Error('nothing was matched')
    const { seq } = second
    const found = (match: Partial<typeof second.match>) =>
      findingsOf(changes.with(at, { ...second, match: { ...second.match, ...match } }))
    expect(found({ price: price(101n) })).to.include(
      `fills: cNGN-USDC:${seq} is not at its maker's price`,
    )
    expect(found({ takerOrderId: 'elsewhere' })).to.include(
      `fills: cNGN-USDC:${seq} is of other orders than its change`,
    )
    expect(found({ amount: amountE18(1n) })).to.include(
      `orders: buyer at change ${seq}: pending is ${second.pending}, its matches say 1`,
    )
  })
})
