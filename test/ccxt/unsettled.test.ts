import { NetworkError, OrderNotFound } from 'ccxt'
import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { Venue } from '../../ccxt/index.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { aMarket } from '../support/builders.js'

const SYMBOL = 'CNGN/USDC'

const { address: OWNER } = privateKeyToAccount(`0x${'11'.repeat(32)}`)

const row = (order_id: string, { status = 'cancelled', pending = '0', owner = OWNER } = {}) => ({
  order_id,
  owner_address: owner as string,
  market: aMarket().market,
  side: 'buy',
  status,
  final: pending === '0' && status !== 'active',
  desired_amount: '10',
  limit_price: '0.0006',
  filled_amount: '0',
  pending_amount: pending,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:01.000Z',
})
type Row = ReturnType<typeof row>

/** A class of a venue whose newest orders are `newest`, which lists none as resting, and has the others one by one. */
class Busy extends Venue {
  newest: Row[] = []
  readonly rows = new Map<string, Row>()
  readonly asked: string[] = []
  /** Questions for single orders that wait for their answers, and the most that did at once. */
  waiting = 0
  mostWaiting = 0
  /** Whether it answers no look-up. */
  isSilent = false
  constructor() {
    super({ privateKey: `0x${'11'.repeat(32)}` })
    this.setMarkets(this.parseMarkets([marketEntry(aMarket())]))
    this.privateGetOrders = ({ status }: { readonly status?: string }) =>
      Promise.resolve({ orders: status === 'open' ? [] : this.newest })
    this.publicGetOrdersOrderId = async ({ order_id: id }: { readonly order_id: string }) => {
      this.asked.push(id)
      this.waiting += 1
      this.mostWaiting = Math.max(this.mostWaiting, this.waiting)
      await new Promise(setImmediate)
      this.waiting -= 1
      if (this.isSilent) throw new NetworkError('no answer')
      const order = this.rows.get(id)
      if (order === undefined) throw new OrderNotFound('no such order')
      return order
    }
  }
}

describe('an order of the CCXT class that has ended before its matches are settled', () => {
  let venue: Busy
  const open = async () => (await venue.fetchOpenOrders(SYMBOL)).map(({ id }) => id)
  beforeEach(() => (venue = new Busy()))

  it('is open, however many came after it, until its matches are settled', async () => {
    const unsettled = row('first', { pending: '4' })
    venue.rows.set('first', unsettled)
    venue.parseOrder(unsettled)
    venue.parseCancelled({
      orders: [{ order_id: 'second', outcome: 'cancelled', pending_amount: '2' }],
    })
    venue.rows.set('second', row('second', { pending: '2' }))
    expect(await open()).to.have.members(['first', 'second'])
    venue.rows.set('first', row('first'))
    expect(await open()).to.deep.equal(['second'])
    venue.asked.length = 0
    venue.newest = [row('second')]
    expect(await open()).to.deep.equal([])
    expect(venue.asked).to.deep.equal([])
    expect(venue.unsettled()).to.deep.equal({})
  })

  it('is open as well where it has expired', async () => {
    const expired = row('late', { status: 'expired', pending: '4' })
    venue.rows.set('late', expired)
    venue.parseOrder(expired)
    expect(await open()).to.deep.equal(['late'])
  })

  it('is neither left out nor forgotten where it cannot be looked up: the read fails', async () => {
    const unsettled = row('first', { pending: '4' })
    venue.parseOrder(unsettled)
    venue.isSilent = true
    expect(await open().catch((error: unknown) => error)).to.be.instanceOf(NetworkError)
    venue.isSilent = false
    venue.rows.set('first', unsettled)
    expect(await open()).to.deep.equal(['first'])
  })

  it('is not listed where it was looked up and is of another owner', async () => {
    const strange = row('strange', { pending: '4', owner: `0x${'ab'.repeat(20)}` })
    venue.rows.set('strange', strange)
    await venue.fetchOrder('strange')
    expect(await open()).to.deep.equal([])
    expect(venue.unsettled()).to.deep.equal({})
  })

  it('is asked for with nine others at once', async () => {
    for (let n = 0; n < 25; n += 1) {
      const unsettled = row(`order-${n}`, { pending: '1' })
      venue.rows.set(unsettled.order_id, unsettled)
      venue.parseOrder(unsettled)
    }
    expect(await open()).to.have.members([...venue.rows.keys()])
    expect([venue.asked.length, venue.mostWaiting]).to.deep.equal([25, 10])
  })

  it('is forgotten where the venue has it no longer, and beyond two hundred', async () => {
    venue.parseOrder(row('gone', { pending: '4' }))
    expect(await open()).to.deep.equal([])
    expect(venue.unsettled()).to.deep.equal({})
    for (let n = 0; n <= 200; n += 1) venue.parseOrder(row(`order-${n}`, { pending: '1' }))
    expect(Object.keys(venue.unsettled())).to.have.length(200)
    expect(venue.unsettled()).to.not.have.property('order-0')
  })
})
