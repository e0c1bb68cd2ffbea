import { expect } from 'chai'
import { hideFuture } from '../../../core/contracts/future-facts.js'
import { indexLagAt } from '../../../core/contracts/index-lag.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import { addContract, contractOf } from '../../../core/contracts/registry.js'
import type { Market } from '../../../core/model/market.js'
import type { MarketObservation } from '../../../core/model/observation.js'
import { amountE18, E18, priceE18, quoteE18, type PriceE18 } from '../../../core/money.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { futureFacts } from '../../support/future.js'
import { START_MS } from '../../support/matching.js'
import { perpetualFacts } from '../../support/perpetual.js'

const delivered = aFuture({
  contractType: 'deliverable_fx_future',
  settlementType: 'physical_delivery',
})
const spot = aMarket()
const presentation = { ...spot.presentation, baseAssetSymbol: 'BASE', quoteAssetSymbol: 'QUOTE' }

const observed = (facts: MarketObservation['facts']): MarketObservation => ({
  facts,
  blockNumber: 1n,
  blockTimeSec: START_MS / 1_000,
  readAtMs: START_MS,
})

describe('the amount that a fill turns over', () => {
  const amount = amountE18(3n * E18 + 1n)
  const price = priceE18(E18 / 2n)
  const quoteOf = (market: Market) => contractOf(market).trading.quoteOf(market, price, amount)

  it('is price times size, rounded down, of everything that is quoted in money', () => {
    for (const market of [spot, aPerp(), delivered]) {
      expect(quoteOf(market), market.contractType).to.equal((3n * E18) / 2n)
    }
  })

  it('of a future is its size, which is in USDC (MON-024)', () => {
    expect(quoteOf(aFuture())).to.equal(amount)
  })

  it('is in the quote asset; a future, and a market that presents it inverted, show its base', () => {
    const symbolOf = (market: Market) =>
      contractOf(market).trading.quoteSymbol({ ...market, presentation })
    expect(symbolOf(spot)).to.equal('BASE')
    expect(symbolOf(aPerp({ contractType: 'spot' }))).to.equal('QUOTE')
    expect(symbolOf(aPerp())).to.equal('QUOTE')
    expect(symbolOf(delivered)).to.equal('QUOTE')
    expect(symbolOf(aFuture())).to.equal('BASE')
  })
})

describe('the fee of a taker', () => {
  const feeOf = (market: Market, price: PriceE18) =>
    contractOf(market).trading.takerFee({ ...market, takerFeeBps: 25 }, price, amountE18(4n * E18))

  it('is a share of price times size, of a future of its size alone (FUT-008)', () => {
    for (const market of [spot, aPerp(), delivered]) {
      expect(feeOf(market, priceE18(E18)), market.contractType).to.equal(E18 / 100n)
      expect(feeOf(market, priceE18(3n * E18)), market.contractType).to.equal((3n * E18) / 100n)
    }
    expect(feeOf(aFuture(), priceE18(1_500n * E18))).to.equal(E18 / 100n)
  })

  it('is compared with its bound for each unit, of a future for each contract (FUT-009)', () => {
    const perUnit = (market: Market, amount: bigint) =>
      contractOf(market).trading.feePerUnit(quoteE18(E18 / 100n), amountE18(amount))
    for (const market of [spot, aPerp(), delivered]) {
      expect(perUnit(market, 4n * E18), market.contractType).to.equal(E18 / 400n)
    }
    expect(perUnit(aFuture(), 2_000n * E18)).to.equal(E18 / 200n)
  })
})

describe('an order that the chain refused', () => {
  it('ends for the reason that the revert names, or for its refusal (SET-020)', () => {
    for (const market of [spot, delivered]) {
      const { cancelReason } = contractOf(market).trading
      expect(cancelReason('WERC_CannotBeNegative')).to.equal('insufficient_balance')
      expect(cancelReason('SRM_NoNegativeCash')).to.equal('insufficient_balance')
      expect(cancelReason('SRM_PortfolioBelowMargin')).to.equal('insufficient_margin')
      expect(cancelReason('OV_InvalidSignature')).to.equal('signature_revoked')
      expect(cancelReason('TM_FeeTooHigh')).to.equal('fee_bound_too_low')
      expect(cancelReason('TM_Other')).to.equal('settlement_refused')
    }
  })
})

describe('the entry of a market', () => {
  it('has no fields of its own on spot', () => {
    expect(contractOf(spot).present.marketEntry(spot)).to.deep.equal({})
  })

  it('shows the lag of a perpetual’s index where it is watched, also without a sample', () => {
    const perp = aPerp()
    const entryOf = (lag?: Parameters<typeof indexLagAt>[0]) =>
      contractOf(perp).present.marketEntry(
        perp,
        observed(hidePerpetual(perpetualFacts())),
        lag && indexLagAt(lag, START_MS),
      ).perp
    expect(entryOf()).not.to.have.property('index_lag')
    const gate = { enforced: true, maxBps: 50, maxAgeMs: 1_000 }
    expect(entryOf({ gate })?.index_lag).to.deep.equal({ enforced: true, max_bps: 50 })
    const sample = { atMs: START_MS, usdcPerCngn: priceE18(E18), isOk: true }
    expect(entryOf({ gate, sample })?.index_lag).to.include({ lag_bps: 0 })
  })

  it('states a fresh band of a series, and no price that the chain does not have', () => {
    const series = aFuture()
    const none = priceE18(0n)
    const entryOf = (facts: Parameters<typeof futureFacts>[0]) =>
      contractOf(series).present.marketEntry(series, observed(hideFuture(futureFacts(facts))))
        .future
    expect(entryOf({})).to.include({ band_status: 'ok', mark_price: '1500', index_price: '1500' })
    const unindexed = entryOf({ index: none })
    expect(unindexed).to.include({ mark_price: '1500', band_status: 'ok' })
    expect(unindexed).not.to.have.any.keys('index_price', 'band_width', 'fill_band_low')
    const created = entryOf({ mark: none })
    expect(created).not.to.have.any.keys('mark_price', 'band_status', 'index_price')
    expect(created).to.include({ initial_margin_rate: '0.1', paused: false })
  })

  it('says whether a perpetual trades: admitted, with a cap, neither paused nor disabled (PER-004)', () => {
    const perp = aPerp()
    const tradingOf = (facts: Parameters<typeof perpetualFacts>[0]) => {
      const seen = observed(hidePerpetual(perpetualFacts(facts)))
      return contractOf(perp).present.marketEntry(perp, seen).perp?.trading_enabled
    }
    expect(tradingOf({})).to.equal(true)
    expect(tradingOf({ moduleAllowed: false })).to.equal(false)
    expect(tradingOf({ positionCap: amountE18(0n) })).to.equal(false)
    expect(tradingOf({ paused: true })).to.equal(false)
    expect(tradingOf({ disabled: true })).to.equal(false)
  })
})

describe('a contract type that is added', () => {
  it('takes the place of the one of its name', () => {
    const before = contractOf(spot)
    const own = { ...before }
    addContract(own)
    try {
      expect(contractOf(spot)).to.equal(own)
      expect(contractOf(aPerp()).type).to.equal('perpetual')
    } finally {
      addContract(before)
    }
    expect(contractOf(spot)).to.equal(before)
  })
})
