import { expect } from 'chai'
import { foreseeOrder } from '../../api-gateway/foresee-order.js'
import { judgedFacts } from '../../bus-schemas/order-verdict.js'
import { amountE18, feePerUnitE18, E18, priceE18 } from '../../core/money.js'
import { openReadModel } from '../../data/history/read-model.js'
import { aMarket, anOrder } from '../support/builders.js'
import { openHistory, streamed } from '../support/history.js'
import type { MarketAct } from '../support/market-commands.js'
import { feedOf } from '../support/market-feed.js'

const MARKET = aMarket()
const ask = (price: number): MarketAct => ({
  act: 'place',
  buy: false,
  price,
  size: 2,
  trader: 2,
  unchecked: false,
  livesSec: 86_400,
})

describe('what an order would do', () => {
  it('is foreseen by the book of the change that it names', () => {
    const history = openHistory([MARKET])
    const reads = openReadModel(history.path)
    try {
      const [first, ...more] = streamed(feedOf(MARKET, [ask(80), ask(70)]))
      if (first === undefined) throw new Error('no order was placed')
      history.projection.applyBatch([first])
      const readModel = {
        ...reads,
        projectedSeq(market: string) {
          const seq = reads.projectedSeq(market)
          history.projection.applyBatch(more)
          return seq
        },
      }
      const order = anOrder({
        limitPrice: priceE18(E18),
        desiredAmount: amountE18(E18),
        worstFee: feePerUnitE18(E18),
      })
      const facts = judgedFacts(MARKET).write({})
      const nowMs = () => Date.parse('2026-01-01T00:00:00Z')
      const { outcome } = foreseeOrder({ readModel, nowMs }, MARKET, {
        kind: 'valid',
        order,
        facts,
      })
      expect(reads.projectedSeq(MARKET.market)).to.equal(2)
      expect(outcome?.feed_seq).to.equal(1)
      expect(outcome?.fills).to.include({ average_price: '0.8', amount: '1' })
    } finally {
      reads.close()
      history.remove()
    }
  })
})
