import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { OutcomeUnknown, type RestClient } from '../../client/index.js'
import { marketEntry } from '../../core/records/market-entry.js'
import type { NewOrder } from '../../interface/order.js'
import type { KnownPrices } from '../../mcp/budget.js'
import { orderToolsOf } from '../../mcp/order-tools.js'
import { refusalOf } from '../../mcp/refusals.js'
import { createSentOrders } from '../../mcp/sent-orders.js'
import type { Arguments } from '../../mcp/tool.js'
import { aMarket, testDomain, testPrivateKey } from '../support/builders.js'

const E18 = 10n ** 18n
const SPOT = marketEntry(aMarket())
const ORDER = { market: SPOT.market, side: 'buy', price: '0.5', amount: '4', subaccount_id: '7' }

/** A venue that finds every order valid, and never says what became of one. */
function aSilentVenue(prices: KnownPrices) {
  const sent: NewOrder[] = []
  const of = { market: SPOT.market, seq: 0, ts: '', stats_24h: {} }
  const venue = {
    markets: () => Promise.resolve([SPOT]),
    marketTickers: () => Promise.resolve([{ ...of, ...prices }]),
    time: () => Promise.resolve({ now: '', unix_ms: 1_000_000 }),
    validateOrder: () => Promise.resolve({ valid: true }),
    placeOrder: (body: NewOrder) => {
      sent.push(body)
      return Promise.reject(new OutcomeUnknown('no answer from /v1/orders'))
    },
  } as Partial<RestClient> as RestClient
  return { venue, sent }
}

function aTrader(prices: KnownPrices = {}) {
  const { venue, sent } = aSilentVenue(prices)
  const signer = privateKeyToAccount(testPrivateKey)
  const { chainId, verifyingContract: matching } = testDomain
  const frames = { domain: 'venue.test', product: 'service' }
  const tools = orderToolsOf({
    venue,
    owner: {
      signer,
      address: signer.address,
      domain: { chainId, matching, frames },
      frame: () => Promise.resolve(''),
    },
    bounds: { largestE18: 10n * E18, totalE18: 10n * E18 },
    sent: createSentOrders(() => undefined),
  })
  const place = tools.find(({ name }) => name === 'placeOrder')
  /** What a placement that is refused says. */
  const refusal = async (given: Arguments) =>
    refusalOf(await place?.call(given).catch((error: unknown) => error))
  return { refusal, sent }
}

describe('an order of venue-mcp', () => {
  it('is named where the venue does not say what became of it, and counts as sent', async () => {
    const { refusal, sent } = aTrader()
    const open = await refusal({ ...ORDER, amount: '12' })
    expect(open).to.deep.include({ code: 'no_answer', order_id: sent[0]?.order_id })
    expect(open?.cure).to.include('same order_id')
    expect((await refusal({ ...ORDER, amount: '10' }))?.code).to.equal('above_max_total')
    expect(sent).to.have.length(1)
  })

  it('is not sent where a low limit sells what the last trade paid more for', async () => {
    const { refusal, sent } = aTrader({ last_price: '0.5' })
    const sale = { ...ORDER, side: 'sell', price: '0.000001', amount: '21' }
    expect((await refusal(sale))?.code).to.equal('above_max_notional')
    const all = { ...sale, terms: 'trader', side: 'buy', price: '1000000', amount: '0.000021' }
    expect((await refusal(all))?.code).to.equal('above_max_notional')
    expect(sent).to.deep.equal([])
    expect((await refusal({ ...sale, amount: '20' }))?.code).to.equal('no_answer')
    expect(sent).to.have.length(1)
  })

  it('is not sent that sells where nothing shows a price', async () => {
    const { refusal, sent } = aTrader()
    expect((await refusal({ ...ORDER, side: 'sell' }))?.code).to.equal('worth_unknown')
    expect(sent).to.deep.equal([])
  })
})
