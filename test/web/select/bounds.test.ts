import { expect } from 'chai'
import fc from 'fast-check'
import { privateKeyToAccount } from 'viem/accounts'
import { signOrder, signTraderOrder, type OrderFrame } from '../../../client/index.js'
import { notionalFloor } from '../../../core/contracts/fees.js'
import { tradingOf } from '../../../core/contracts/registry.js'
import { formatDecimal } from '../../../core/decimal.js'
import type { Market } from '../../../core/model/market.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { marketTerms, type MarketArithmetic } from '../../../web/select/market-terms.js'
import { receiptOf, type TicketReceipt } from '../../../web/select/receipt.js'
import { planOf, type Plan } from '../../../web/select/ticket.js'
import { isWithin } from '../../../web/select/walk-book.js'
import { ticketCase, type TicketCase } from '../../support/arbitrary-tickets.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { runs } from '../../support/property-runs.js'

const MARKETS: Readonly<Record<string, Market>> = {
  'the spot market': aMarket(),
  'the perpetual': aPerp(),
  'a future': aFuture(),
}
const SIGNER = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const DOMAIN = { chainId: 1, matching: `0x${'22'.repeat(20)}` } as const
const FRAME = { orderId: 'a', subaccountId: '1', nonce: 1n, expirySec: 2_000_000_000 }

interface Filled {
  readonly base: bigint
  readonly quote: bigint
  readonly fee: bigint
}

interface Filling extends Pick<TicketCase, 'fills'> {
  readonly market: Market
  readonly terms: MarketArithmetic
  readonly plan: Plan
  /** The fee is the highest that passes the signed bound, instead of the venue's. */
  readonly isGreedy: boolean
}

/**
 * Fills a signed plan as a trade module takes it: at any price within the limit, split into steps in any way. What the
 * fee bound refuses does not fill.
 */
function fill({ market, terms, plan, fills, isGreedy }: Filling): Filled {
  const { takerFee, feePerUnit } = tradingOf(market)
  let left = plan.amountE18
  let [base, quote, fee] = [0n, 0n, 0n]
  for (const [at, [share, better]] of fills.entries()) {
    const part = at === fills.length - 1 ? left : (left * BigInt(share)) / 1_000n
    const amount = amountE18(part - (part % terms.stepE18))
    if (amount === 0n) continue
    const move = (plan.limitE18 * BigInt(better)) / 2_000n
    const price = priceE18(plan.side === 'buy' ? plan.limitE18 - move : plan.limitE18 + move)
    // The module rounds the fee of a unit down before it compares.
    const highest = ((plan.worstFeeE18 + 1n) * amount - 1n) / (terms.perSignedUnit * E18)
    const charged = isGreedy ? quoteE18(highest) : takerFee(market, price, amount)
    if (feePerUnit(charged, amount) > plan.worstFeeE18) continue
    left -= amount
    base += amount
    quote += notionalFloor(price, amount)
    fee += charged
  }
  return { base, quote, fee }
}

function expectWithin(receipt: TicketReceipt, plan: Plan, { base, quote, fee }: Filled): void {
  expect(fee <= receipt.feeMostE18, `fee ${fee} of ${receipt.feeMostE18}`).to.equal(true)
  expect(base <= plan.amountE18).to.equal(true)
  const { exchange } = receipt
  if (exchange === undefined) return
  const [gives, receives] = plan.side === 'buy' ? [quote + fee, base] : [base, quote - fee]
  expect(gives <= exchange.giveMostE18, `gives ${gives}`).to.equal(true)
  if (base === plan.amountE18)
    expect(receives >= exchange.receiveLeastE18, `receives ${receives}`).to.equal(true)
}

describe('web/select: what the words of a ticket promise', () => {
  for (const [name, market] of Object.entries(MARKETS)) {
    const entry = marketEntry(market)
    const terms = marketTerms(entry)
    const property = (cases: number, check: (plan: Plan, given: TicketCase) => void) =>
      fc.assert(
        fc.property(ticketCase(terms), (given) => {
          const plan = planOf(terms, given.ticket, given.book)
          if (typeof plan !== 'string') check(plan, given)
        }),
        { numRuns: runs(cases) },
      )

    it(`bounds what the owner gives and receives, however it fills: ${name}`, () => {
      property(500, (plan, { fills }) => {
        for (const isGreedy of [false, true]) {
          const filled = fill({ market, terms, plan, fills, isGreedy })
          expectWithin(receiptOf(terms, plan), plan, filled)
        }
      })
    })

    it(`is never worse than typed, on the grid, and meets what the walk says: ${name}`, () => {
      property(500, ({ side, limitE18, amountE18: amount, walk }, { ticket }) => {
        expect(limitE18 % terms.tickE18).to.equal(0n)
        expect(amount % terms.stepE18).to.equal(0n)
        expect(walk.amountE18 <= amount).to.equal(true)
        if (walk.worstE18 !== undefined)
          expect(isWithin(side, walk.worstE18, limitE18)).to.equal(true)
        const { priceE18: typed } = ticket
        if (typed === undefined || limitE18 === terms.tickE18) return
        if (!terms.isInverted) return void expect(isWithin(side, limitE18, typed)).to.equal(true)
        // The inverse of a trader's price lies on the better side of the limit, or on it.
        const product = limitE18 * typed
        expect(side === 'buy' ? product <= E18 * E18 : product >= E18 * E18).to.equal(true)
      })
    })

    it(`signs a fee bound that the best price does not break: ${name}`, () => {
      property(300, (plan, { book }) => {
        if (plan.walk.levels === 0) return
        const { takerFee, feePerUnit } = tradingOf(market)
        const best = (plan.side === 'buy' ? book.asks : book.bids)[0]?.priceE18 ?? 0n
        const amount = amountE18(plan.amountE18)
        const fee = takerFee(market, priceE18(best), amount)
        expect(feePerUnit(fee, amount) <= plan.worstFeeE18).to.equal(true)
      })
    })

    it(`says the fee bound that the client signs: ${name}`, async () => {
      const frame: OrderFrame = { ...FRAME, market: entry }
      await fc.assert(
        fc.asyncProperty(ticketCase(terms), async ({ ticket, book }) => {
          const plan = planOf(terms, ticket, book)
          if (typeof plan === 'string') return
          const body = await signOrder(SIGNER, DOMAIN, {
            ...frame,
            side: plan.side,
            worstFeeBps: plan.worstFeeBps,
            price: formatDecimal(plan.limitE18, 18),
            amount: formatDecimal(plan.amountE18, 18),
          })
          expect(body.worst_fee).to.equal(plan.worstFeeE18.toString())
        }),
        { numRuns: runs(20) },
      )
    })
  }

  it('gives the size that is asked for where the book is better than the limit', async () => {
    const entry = marketEntry(aMarket())
    const terms = marketTerms(entry)
    const exact = (E18 * E18) / (1_549n * E18)
    const best = { priceE18: exact - (exact % terms.tickE18), amountE18: 10n ** 24n }
    const book = { bids: [best], asks: [best] }
    const sized = (side: 'buy' | 'sell', price: bigint): Plan => {
      const ticket = { side, priceE18: price * E18, sizeE18: 10n * E18, guardBps: 100n }
      const plan = planOf(terms, ticket, book)
      if (typeof plan === 'string') throw new Error(plan)
      return plan
    }
    const buy = sized('buy', 1_800n)
    expect(buy.amountE18).to.equal(buy.walk.amountE18)
    expect(Number(buy.walk.quoteE18) / 1e18).to.be.closeTo(10, 0.01)
    expect(Number(sized('sell', 100n).walk.quoteE18) / 1e18).to.be.closeTo(10, 0.01)
    // Size × limit would have bought 11.62 USDC.
    const naive = await signTraderOrder(SIGNER, DOMAIN, {
      ...FRAME,
      market: entry,
      side: 'buy',
      price: '1800',
      size: '10',
    })
    expect((Number(naive.desired_amount) * 1e18) / Number(buy.amountE18)).to.be.above(1.16)
  })
})
