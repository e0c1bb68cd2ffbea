import { expect } from 'chai'
import { hideFuture } from '../../../core/contracts/future-facts.js'
import { hideFutureFunds } from '../../../core/contracts/future-funds.js'
import type { Claims, OpenClaim } from '../../../core/contracts/funds.js'
import type { Side } from '../../../core/model/order.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { orderNeeds, type ClaimsIn, type SeenFunds } from '../../../core/records/balances-record.js'
import { aFuture, aMarket } from '../../support/builders.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { e18 } from '../../support/perpetual.js'

const spot = aMarket()
const future = aFuture()
const SEEN_MS = 1_790_000_020_000
const chain = { blockNumber: 9n, blockTimeSec: 1_790_000_000, readAtMs: SEEN_MS }

const rest = (side: Side, amount: string, price: string): OpenClaim => ({
  side,
  amount: amountE18(e18(amount)),
  price: priceE18(e18(price)),
})
const matched = (side: Side, amount: string, price: string, fee = '0') => ({
  ...rest(side, amount, price),
  fee: quoteE18(e18(fee)),
})

/** An account with 100 cNGN and 2 USDC, in the spot market. */
const ofSpot: SeenFunds = {
  ...chain,
  subaccountId: 7n,
  manager: spot.marginManagerAddress,
  holdings: [
    { asset: spot.assetAddress, subId: 0n, balance: e18('100') },
    { asset: spot.quoteAssetAddress, subId: 0n, balance: e18('2') },
  ],
  markets: [{ market: spot, observed: undefined, facts: {} }],
}

/** The same account, in a future as well. */
const ofBoth = (indexStale = false): SeenFunds => {
  const account = futureAccount({ position: e18('2'), usdc: e18('1000') })
  const inFuture = {
    market: future,
    observed: { ...chain, facts: hideFuture(futureFacts({ indexStale })) },
    facts: hideFutureFunds({ account, cngnBalance: 0n }),
  }
  return { ...ofSpot, markets: [inFuture, ...ofSpot.markets] }
}

const claiming =
  (claims: Partial<Claims>): ClaimsIn =>
  (name) =>
    name === spot.market ? { orders: [], matches: [], ...claims } : undefined
const nothing = claiming({})

describe('needs of an order', () => {
  const needs = (order: OpenClaim, claimsIn: ClaimsIn = nothing, seen = ofSpot) =>
    orderNeeds(seen, claimsIn, { market: spot.market, rest: order }).needs

  it('are what it takes of the one asset that it gives, and what of that is missing', () => {
    expect(needs(rest('sell', '100', '0.01'))).to.deep.equal([
      { token: 'cNGN', asset_address: spot.assetAddress, needed: '100', missing: '0' },
    ])
    expect(needs(rest('sell', '100.5', '0.01'))).to.deep.equal([
      { token: 'cNGN', asset_address: spot.assetAddress, needed: '100.5', missing: '0.5' },
    ])
    expect(needs(rest('buy', '500', '0.01'))).to.deep.equal([
      { token: 'USDC', asset_address: spot.quoteAssetAddress, needed: '5', missing: '3' },
    ])
  })

  it('are none once nothing is left of it', () => {
    expect(needs(rest('sell', '0', '0.01'))).to.deep.equal([])
  })

  it('count what awaits settlement as gone, and other open orders not', () => {
    const claimsIn = claiming({
      orders: [rest('sell', '60', '0.01')],
      matches: [matched('sell', '30', '0.01')],
    })
    expect(needs(rest('sell', '75', '0.01'), claimsIn)[0]).to.include({
      needed: '75',
      missing: '5',
    })
    expect(needs(rest('sell', '70', '0.01'), claimsIn)[0]).to.include({ missing: '0' })
  })

  it('are missing whole where the account has none of the asset', () => {
    const empty = {
      ...ofSpot,
      holdings: [{ asset: spot.assetAddress, subId: 5n, balance: e18('9') }],
    }
    expect(needs(rest('sell', '8', '0.01'), nothing, empty)[0]).to.include({ missing: '8' })
  })

  it('are of its own market alone', () => {
    expect(needs(rest('sell', '1', '0.01'), nothing, ofBoth())).to.deep.equal([
      { token: 'cNGN', asset_address: spot.assetAddress, needed: '1', missing: '0' },
    ])
  })

  it('are initial margin on a market with positions', () => {
    const order = { market: future.market, rest: rest('buy', '1000', '1500') }
    // A position of three contracts instead of two, at a tenth each.
    expect(orderNeeds(ofBoth(), nothing, order)).to.deep.equal({
      needs: [],
      initial_margin_needed: '100',
    })
    expect(orderNeeds(ofBoth(true), nothing, order)).to.deep.equal({
      needs: [],
      initial_margin_needed: '',
    })
  })

  it('are no margin on spot, nor in a market that the account may not trade', () => {
    const order = { rest: rest('sell', '1', '0.01') }
    const onSpot = orderNeeds(ofBoth(), nothing, { ...order, market: spot.market })
    expect(onSpot).not.to.have.property('initial_margin_needed')
    const elsewhere = orderNeeds(ofSpot, nothing, { ...order, market: future.market })
    expect(elsewhere).to.deep.equal({ needs: [] })
  })
})
