import { InvalidOrder, RequestTimeout } from 'ccxt'
import { expect } from 'chai'
import { Venue } from '../../ccxt/index.js'

/** An order as the class signs one; its terms are those of the calls below. */
const TERMS = { asset_address: '0xaa', sub_id: '0', side: 'buy', desired_amount: '10' }

/** A class whose requests have no answer; `sent` has each with its endpoint, `signed` how many orders were signed. */
class Silent extends Venue {
  readonly sent: [endpoint: string, id: string][] = []
  signed = 0
  override loadMarkets(): any {
    return Promise.resolve({})
  }
  override market(): any {
    return { info: TERMS }
  }
  override amountToPrecision(): string {
    return TERMS.desired_amount
  }
  override orderBody(...args: any[]): any {
    this.signed += 1
    return Promise.resolve({ ...TERMS, order_id: args[5].clientOrderId })
  }
  override callEndpoint(endpoint: string, body: any): any {
    this.sent.push([endpoint, body.order_id])
    return Promise.reject(new RequestTimeout('no answer'))
  }
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('an order of the CCXT class without an outcome', () => {
  const own = { clientOrderId: 'mine' }
  let venue: Silent
  beforeEach(() => {
    venue = new Silent({ options: { resends: 0 } })
    // CCXT makes the endpoints members of each exchange.
    venue.privatePostOrdersBatch = () => venue.callEndpoint('privatePostOrdersBatch', {})
  })

  it('is sent again as it was signed', async () => {
    for (let n = 0; n < 2; n += 1) {
      const failed = await failureOf(venue.createOrder('CNGN/USDC', 'limit', 'buy', 10, 1, own))
      expect(failed).to.be.instanceOf(RequestTimeout)
    }
    expect(venue.signed).to.equal(1)
    expect(venue.sent).to.deep.equal(Array(2).fill(['privatePostOrders', 'mine']))
  })

  it('of a batch is sent again as it was signed', async () => {
    const orders = ['mine', 'other'].map((clientOrderId) => ({
      symbol: 'CNGN/USDC',
      type: 'limit',
      side: 'buy',
      amount: 10,
      price: 1,
      params: { clientOrderId },
    }))
    for (let n = 0; n < 2; n += 1)
      expect(await failureOf(venue.createOrders(orders))).to.be.instanceOf(RequestTimeout)
    expect(venue.signed).to.equal(2)
    await failureOf(venue.createOrder('CNGN/USDC', 'limit', 'buy', 10, 1, own))
    expect(venue.signed).to.equal(2)
    expect(venue.sent.map(([endpoint]) => endpoint)).to.deep.equal([
      ...['privatePostOrdersBatch', 'privatePostOrdersBatch', 'privatePostOrders'],
    ])
  })

  it('of a batch has no status while it is not known, beside those that have theirs', async () => {
    venue.privatePostOrdersBatch = () =>
      Promise.resolve({ results: [{ status: 500 }, { status: 422, code: 'x' }] })
    const bodies = ['mine', 'other'].map((order_id) => ({ ...TERMS, order_id }))
    venue.symbols = []
    const [unknown, refused] = await venue.placeBatch(bodies)
    expect([unknown?.id, unknown?.status]).to.deep.equal(['mine', undefined])
    expect([refused?.id, refused?.status]).to.deep.equal(['other', 'rejected'])
    expect(Object.keys(venue.unanswered())).to.deep.equal(['mine'])
  })

  it('is sent again as a replacement where it replaces another order', async () => {
    const edit = (id: string) => venue.editOrder(id, 'CNGN/USDC', 'limit', 'buy', 10, 1, own)
    for (let n = 0; n < 2; n += 1)
      expect(await failureOf(edit('first'))).to.be.instanceOf(RequestTimeout)
    // An order of this id alone would rest beside the one that it was to replace.
    await failureOf(venue.createOrder('CNGN/USDC', 'limit', 'buy', 10, 1, own))
    expect(venue.sent).to.deep.equal(Array(3).fill(['privatePostOrdersReplace', 'mine']))
    expect(venue.signed).to.equal(1)
    expect(await failureOf(edit('another'))).to.be.instanceOf(InvalidOrder)
    expect(venue.sent).to.have.length(3)
  })
})
