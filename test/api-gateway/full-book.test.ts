import { expect } from 'chai'
import { createFullBook } from '../../api-gateway/full-book.js'
import { bookRecordJson, type OpenOrder } from '../../core/records/book-record.js'
import { aMarket, anOrder, progressOf } from '../support/builders.js'

const market = aMarket()
const order = anOrder()
const openOrder: OpenOrder = { order, progress: progressOf(order), rank: 1 }

/** A read model that counts how often the orders are read. */
function countedModel() {
  const orders: OpenOrder[] = [openOrder]
  const model = {
    seq: 1,
    reads: 0,
    orders,
    projectedSeq: () => model.seq,
    lastTradeSec: () => 1_700_000_000,
    openOrders: () => {
      model.reads += 1
      return model.orders
    },
  }
  return model
}

const presented = (orders: readonly OpenOrder[]): string =>
  bookRecordJson(market, orders, { lastTradeSec: 1_700_000_000 })

describe('the full book', () => {
  it('is presented once for each projected seq, and always as it is', () => {
    const model = countedModel()
    const fullBook = createFullBook(model)
    for (let read = 0; read < 3; read++) {
      expect(fullBook(market).toString()).to.equal(presented(model.orders))
    }
    expect(model.reads).to.equal(1)
    model.seq = 2
    model.orders = []
    expect(fullBook(market).toString()).to.equal(presented([]))
    expect(model.reads).to.equal(2)
  })

  it('is not kept under a seq that it has left behind', () => {
    const model = countedModel()
    const { openOrders } = model
    const fullBook = createFullBook({
      ...model,
      projectedSeq: () => model.seq,
      openOrders: () => {
        model.seq = 2
        return openOrders()
      },
    })
    fullBook(market)
    fullBook(market)
    expect(model.reads).to.equal(2)
  })

  it('is presented afresh when it is too large to keep', () => {
    const model = countedModel()
    const fullBook = createFullBook(model, 100)
    expect(fullBook(market).equals(fullBook(market))).to.equal(true)
    expect(model.reads).to.equal(2)
  })
})
