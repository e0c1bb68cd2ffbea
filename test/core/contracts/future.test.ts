import { expect } from 'chai'
import fc from 'fast-check'
import { future, BAND_AGE_MAX_MS } from '../../../core/contracts/future.js'
import {
  cngnValue,
  futureModel,
  initialTerms,
  surplusOf,
  variationOf,
} from '../../../core/contracts/future-margin.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { aFuture } from '../../support/builders.js'
import { futureAccount, futureFacts, observedFuture } from '../../support/future.js'
import { START_MS } from '../../support/matching.js'

const { trading, present } = future
const price = (whole: number) => priceE18(BigInt(whole) * E18)
const usdc = (whole: number) => amountE18(BigInt(whole) * E18)
const MARKET = aFuture({ subId: BigInt(futureFacts().expirySec) })

describe('the record of dated futures', () => {
  it('charges 25 bps of the size in USDC at any price, and compares it per contract (FUT-008, FUT-009)', () => {
    for (const at of [1, 1_500, 9_999]) {
      const fee = trading.takerFee(MARKET, price(at), usdc(2_000))
      expect(fee).to.equal(5n * E18)
      expect(trading.feePerUnit(fee, usdc(2_000))).to.equal((25n * E18) / 10n)
    }
    // One unit less than a whole: rounded down, at both divisions.
    expect(trading.takerFee(MARKET, price(1), amountE18(399n))).to.equal(0n)
    expect(trading.feePerUnit(quoteE18(1n), usdc(3))).to.equal(333n)
    expect(trading.quoteOf(MARKET, price(1_500), usdc(7))).to.equal(7n * E18)
  })

  it('judges nothing by an index that has no price, and does not fail by it', () => {
    const market = futureFacts({ index: priceE18(0n), indexStale: true })
    const leg = { size: 1_000n * E18, worth: 1_500_000n * E18 * E18, fee: 5n }
    expect(futureModel.standing(futureAccount({ cngn: E18 }), market)).to.equal(undefined)
    expect(futureModel.resultOf(market, leg)).to.equal(-5n)
  })

  it('cancels for the reason that the chain named, or for its refusal (SET-020)', () => {
    expect(trading.cancelReason('SRM_PortfolioBelowMargin')).to.equal('insufficient_margin')
    expect(trading.cancelReason('TM_FillLimitCrossed')).to.equal('settlement_refused')
  })

  it('states variation margin of a fill, positive for the side that receives it (FUT-029)', () => {
    const fill = { price: price(1_495), amount: usdc(2_000), markPrice: price(1_500) }
    expect(present.fill?.({ ...fill, side: 'buy' })).to.deep.equal({
      mark_price: '1500',
      vm_cngn: '10000',
    })
    expect(present.fill?.({ ...fill, side: 'sell' })?.vm_cngn).to.equal('-10000')
    // Exact for the smallest size and the smallest move.
    const least = { price: price(1), amount: usdc(1), markPrice: priceE18(E18 - 1n) }
    expect(present.fill?.({ ...least, side: 'buy' })?.vm_cngn).to.equal('-0.000000000000000001')
  })

  it('closes the market on a band older than two seconds (FUT-021)', () => {
    expect(trading.holdOf?.(observedFuture(), START_MS + BAND_AGE_MAX_MS)).to.equal(undefined)
    const late = START_MS + BAND_AGE_MAX_MS + 1
    expect(trading.holdOf?.(observedFuture(), late)).to.deep.equal({ reason: 'band_stale' })
    expect(trading.holdOf?.(undefined, START_MS)).to.deep.equal({ reason: 'market_unread' })
  })

  it('judges fills with the band of a minute later (FUT-015)', () => {
    expect(trading.fillRange?.(undefined, START_MS)).to.equal(undefined)
    const week = { expirySec: START_MS / 1000 + 7 * 86_400 + 60 }
    const range = trading.fillRange?.(observedFuture(week), START_MS)
    expect(range).to.include({ low: 14_175n * (E18 / 10n), high: 15_825n * (E18 / 10n) })
  })

  it('shows the series with its band, and without what was not read', () => {
    const unread = present.marketEntry(MARKET).future
    expect(unread).to.deep.equal({
      last_trade_time: futureFacts().expirySec - 3_600,
      amount_scale: '1000000000000000',
      trade_module_address: MARKET.tradeModuleAddress,
      margin_manager_address: MARKET.marginManagerAddress,
    })
    expect(present.marketEntry(MARKET, observedFuture({ indexStale: true }))).to.deep.equal({
      expiry_timestamp: futureFacts().expirySec,
      future: {
        ...unread,
        index_price: '1500',
        mark_price: '1500',
        band_width: '0.1',
        fill_band_low: '1350',
        fill_band_high: '1650',
        band_status: 'index_stale',
        initial_margin_rate: '0.1',
        maintenance_margin_rate: '0.07',
        paused: false,
        updated_at: START_MS / 1000,
      },
    })
  })
})

describe('margin of dated futures', () => {
  const amounts = fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n })
  const positions = fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }).map((n) => n * 10n ** 15n)
  const prices = fc.bigInt({ min: E18, max: 10_000n * E18 }).map(priceE18)
  const funds = fc.bigInt({ min: 0n, max: 10n ** 24n })

  it('is what the manager says, at the newest mark, for any account', () => {
    const drawn = fc.record({
      usdc: funds,
      cngn: amounts,
      position: positions,
      mark: prices,
      newMark: prices,
      index: prices,
    })
    fc.assert(
      fc.property(drawn, ({ newMark, index, ...kept }) => {
        const facts = futureFacts({ mark: newMark, index })
        const account = futureAccount(kept)
        const { usdc: cash, cngn, position, mark } = account
        const standing = futureModel.standing(account, facts)
        const required = futureModel.requirement(facts, futureModel.positionOf(account))
        const size = position < 0n ? -position : position
        const [atMark = 0n, atIndex = 0n] = [newMark, index].map((price) => {
          const owned = cngn + variationOf(position, mark, price)
          return surplusOf({ usdc: cash, cngn: owned, size }, index, initialTerms(facts))
        })
        const said = atMark < atIndex ? atMark : atIndex
        expect((standing?.equity ?? 0n) - required).to.equal(said)
      }),
    )
  })

  it('counts a debt as more than an equal asset, and is rounded against the account', () => {
    fc.assert(
      fc.property(amounts, prices, (cngn, index) => {
        const factor = (9n * E18) / 10n
        expect(cngnValue(cngn, index, factor) + cngnValue(-cngn, index, factor) <= 0n).to.equal(
          true,
        )
        // value × index stays at or below cngn × factor, or cngn / factor for a debt.
        const value = cngnValue(cngn, index, factor)
        const atMost =
          cngn >= 0n ? value * index <= cngn * factor : value * index * factor <= cngn * E18 ** 2n
        expect(atMost).to.equal(true)
      }),
    )
  })

  it('never overstates what a trade leaves (FUT-025)', () => {
    const drawn = fc.record({
      cngn: amounts,
      size: positions,
      mark: prices,
      fill: prices,
      index: prices,
    })
    fc.assert(
      fc.property(drawn, ({ cngn, size, mark, fill, index }) => {
        const facts = futureFacts({ mark, index })
        const { factor } = initialTerms(facts)
        const gains = [variationOf(size, fill, mark), variationOf(size, fill, index)] as const
        const vm = gains[0] < gains[1] ? gains[0] : gains[1]
        const leg = { size: size * 1_000n, worth: fill * size * 1_000n, fee: 0n }
        const before = cngnValue(cngn, index, factor)
        const after = cngnValue(cngn + vm, index, factor)
        // Two divisions of each value are rounded.
        expect(before + futureModel.resultOf(facts, leg) <= after + 2n).to.equal(true)
      }),
    )
  })
})
