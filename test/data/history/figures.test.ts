import { expect } from 'chai'
import fc from 'fast-check'
import { notionalFloor } from '../../../core/contracts/fees.js'
import { parseDecimal } from '../../../core/decimal.js'
import type { Change } from '../../../core/model/change.js'
import { amountE18, priceE18 } from '../../../core/money.js'
import { orderRecordJson } from '../../../core/records/order-record.js'
import { fillRecord } from '../../../core/records/trade-record.js'
import { openReadModel } from '../../../data/history/read-model.js'
import type { OrderRecord } from '../../../interface/order.js'
import { aMarket } from '../../support/builders.js'
import { daysOfFigures } from '../../support/days-of-figures.js'
import { openHistory, streamed } from '../../support/history.js'
import { feedOf, feedOwner } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'

const MARKET = aMarket()
const ALL = { limit: 10_000 }

const e18 = (text: string | undefined): bigint => parseDecimal(text ?? '0', 18) ?? -1n

/** Amount, quote and fee. */
type Totals = readonly [bigint, bigint, bigint]
const sum = (all: readonly Totals[]): Totals =>
  all.reduce<Totals>(([a, b, c], [x, y, z]) => [a + x, b + y, c + z], [0n, 0n, 0n])

/** What the chain has moved for both sides of the matches that stand. */
function ofChain(changes: readonly Change[]): Totals {
  const settled = new Map<string, Totals>()
  for (const change of changes) {
    if (change.kind === 'FillReversed') settled.delete(change.fill.settlementId)
    if (change.kind !== 'OrderFilled') continue
    const { settlementId, price, amount, takerFee } = change.fill
    settled.set(settlementId, [2n * amount, 2n * notionalFloor(price, amount), takerFee])
  }
  return sum([...settled.values()])
}

describe('the figures of orders in the histories', () => {
  it('add up to the fills that stand, of each order and of all, and to what the chain has moved (MON-031)', () => {
    const seen = { fills: 0, replaced: 0, resized: 0, reversed: 0 }
    fc.assert(
      fc.property(daysOfFigures, (acts) => {
        const blocks = feedOf(MARKET, acts)
        const history = openHistory([MARKET])
        const reads = openReadModel(history.path)
        try {
          history.projection.applyBatch(streamed(blocks))
          const owner = feedOwner(MARKET)
          const fills = reads
            .fills(owner, ALL)
            .map((fill) => fillRecord(MARKET, fill))
            .filter(({ reversed }) => reversed !== true)
          const ofFills = (orderId?: string) =>
            sum(
              fills
                .filter(({ order_id }) => orderId === undefined || order_id === orderId)
                .map(({ price, size, fee }) => {
                  const quote = notionalFloor(priceE18(e18(price)), amountE18(e18(size)))
                  return [e18(size), quote, e18(fee)]
                }),
            )
          const orders = reads.orderHistory(owner, ALL).map((stored) => {
            const record = JSON.parse(orderRecordJson(MARKET, stored)) as OrderRecord
            const { order_id, filled_amount, filled_quote, fee_paid } = record
            const totals: Totals = [e18(filled_amount), e18(filled_quote), e18(fee_paid)]
            expect(totals, order_id).to.deep.equal(ofFills(order_id))
            return totals
          })
          expect(sum(orders)).to.deep.equal(ofFills())
          const changes = blocks.flatMap((block) => block.changes)
          expect(sum(orders)).to.deep.equal(ofChain(changes))
          seen.fills += fills.length
          for (const change of changes) {
            if (change.kind === 'OrderPlaced' && change.order.initialFilled > 0n) seen.replaced += 1
            if (change.kind === 'OrderResized') seen.resized += 1
            if (change.kind === 'FillReversed') seen.reversed += 1
          }
        } finally {
          reads.close()
          history.remove()
        }
      }),
      { numRuns: runs(150) },
    )
    for (const [what, times] of Object.entries(seen)) expect(times, what).to.be.greaterThan(5)
  })
})
