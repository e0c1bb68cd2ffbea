import { expect } from 'chai'
import fc from 'fast-check'
import type { Admitted, MarketObservation } from '../../../core/contracts/contract.js'
import { future, BAND_AGE_MAX_MS } from '../../../core/contracts/future.js'
import {
  hideFuture,
  hideFutureAccount,
  type FutureAccount,
  type FutureFacts,
} from '../../../core/contracts/future-facts.js'
import {
  cngnValue,
  futureModel,
  initialTerms,
  surplusOf,
  variationOf,
} from '../../../core/contracts/future-margin.js'
import type { Order } from '../../../core/engine/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { aFuture } from '../../support/builders.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { matcherOrder, START_MS } from '../../support/matching.js'

const { trading, present } = future
const price = (whole: number) => priceE18(BigInt(whole) * E18)
const usdc = (whole: number) => amountE18(BigInt(whole) * E18)
const MARKET = aFuture({ subId: BigInt(futureFacts().expirySec) })

const observed = (facts: Partial<FutureFacts> = {}): MarketObservation => ({
  ...{ facts: hideFuture(futureFacts(facts)), blockNumber: 1n },
  ...{ blockTimeSec: START_MS / 1000, readAtMs: START_MS },
})

/** An account with cNGN for any margin and this much USDC. */
const rich = (amount: bigint) => ({ usdc: amount, cngn: 10n ** 27n })

const anOrder = (fields: Partial<Order>): Order =>
  matcherOrder({ orderId: 'order', side: 'buy', ...fields })

interface Asking {
  readonly limit?: number
  readonly facts?: Partial<FutureFacts>
  readonly account?: Partial<FutureAccount>
  readonly side?: 'buy' | 'sell'
  readonly reduceOnly?: boolean
  readonly size?: number
}

/** The code of the first refusal of an order for 1,000 USDC at 1,500. */
function refusedAs({ limit = 1_500, side = 'buy', size = 1_000, ...rest }: Asking = {}) {
  const order = {
    ...anOrder({ side, limitPrice: price(limit), desiredAmount: usdc(size) }),
    ...(rest.reduceOnly === true && { reduceOnly: true as const }),
  }
  const asked: Admitted = {
    ...{ market: MARKET, order, observed: observed(rest.facts) },
    account: {
      ...{ subaccountId: 1n, facts: hideFutureAccount(futureAccount(rest.account)) },
      ...{ custodyOwner: order.owner, leaving: false },
      ...{ blockNumber: 1n, blockTimeSec: START_MS / 1000 },
    },
  }
  for (const check of trading.admission ?? []) {
    const refusal = check(asked)
    if (refusal !== undefined) return refusal.code
  }
  return undefined
}

describe('the gate of a series', () => {
  const { expirySec } = futureFacts()
  const lastTradeMs = (expirySec - 3_600) * 1_000
  const reasonAt = (facts: Partial<FutureFacts> | undefined, nowMs = START_MS, readAtMs = nowMs) =>
    trading.gate?.(facts && { ...observed(facts), readAtMs }, nowMs)?.reason

  it('is open while the series trades, and names the most lasting reason that closes it', () => {
    const all = { paused: true, moduleAllowed: false, indexStale: true }
    expect(reasonAt({})).to.equal(undefined)
    expect(reasonAt(undefined)).to.equal('market_unread')
    expect(reasonAt(all, lastTradeMs, 0)).to.equal('trading_ended')
    expect(reasonAt({}, lastTradeMs - 1)).to.equal(undefined)
    expect(reasonAt(all)).to.equal('trading_paused')
    expect(reasonAt({ ...all, paused: false })).to.equal('trading_disabled')
    expect(reasonAt({ positionCap: amountE18(0n) })).to.equal('trading_disabled')
    expect(reasonAt({ indexStale: true })).to.equal('index_stale')
  })

  it('closes when the facts are older than two seconds', () => {
    expect(reasonAt({}, START_MS + BAND_AGE_MAX_MS, START_MS)).to.equal(undefined)
    expect(reasonAt({ paused: true }, START_MS + BAND_AGE_MAX_MS + 1, START_MS)).to.equal(
      'band_stale',
    )
  })
})

describe('the record of dated futures', () => {
  it('charges 25 bps of the size in USDC at any price, and compares it per contract', () => {
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

  it('cancels for the reason that the chain named, or for its refusal', () => {
    expect(trading.cancelReason('SRM_PortfolioBelowMargin')).to.equal('insufficient_margin')
    expect(trading.cancelReason('TM_FillLimitCrossed')).to.equal('settlement_refused')
  })

  it('states variation margin of a fill, positive for the side that receives it', () => {
    const fill = { price: price(1_495), amount: usdc(2_000), markPrice: price(1_500) }
    expect(present.fill?.({ ...fill, side: 'buy' })).to.deep.equal({
      ...{ mark_price: '1500', vm_cngn: '10000' },
    })
    expect(present.fill?.({ ...fill, side: 'sell' })?.vm_cngn).to.equal('-10000')
    // Exact for the smallest size and the smallest move.
    const least = { price: price(1), amount: usdc(1), markPrice: priceE18(E18 - 1n) }
    expect(present.fill?.({ ...least, side: 'buy' })?.vm_cngn).to.equal('-0.000000000000000001')
  })

  describe('refuses', () => {
    const rows: readonly (readonly [string, string | undefined, Asking])[] = [
      ['nothing that the chain could settle', undefined, {}],
      [
        'while paused, first of all',
        'trading_paused',
        { facts: { paused: true, indexStale: true } },
      ],
      [
        'after the last trade time, before the band',
        'trading_ended',
        { facts: {}, limit: 1, side: 'sell' },
      ],
      ['while the index is stale', 'index_stale', { facts: { indexStale: true }, limit: 1 }],
      ['above the band', 'outside_fill_band', { limit: 1_651 }],
      ['below the band', 'outside_fill_band', { limit: 1_349, side: 'sell' }],
      ['reduce-only without a position', 'reduce_only_no_position', { reduceOnly: true }],
      [
        'reduce-only on the side of the position',
        'reduce_only_same_side',
        { reduceOnly: true, account: { position: E18 } },
      ],
      ['beyond initial margin', 'insufficient_margin', { account: { usdc: 102n * E18 } }],
      [
        'not with initial margin and the fee',
        undefined,
        { account: { usdc: 1_025n * (E18 / 10n) } },
      ],
      [
        'without USDC for the fee, however much cNGN there is',
        'insufficient_margin',
        { account: rich((25n * E18) / 10n - 1n) },
      ],
      ['not with USDC for the fee alone', undefined, { account: rich((25n * E18) / 10n) }],
      [
        'a reduction without USDC for the fee',
        'insufficient_margin',
        { side: 'sell', account: { position: E18, usdc: 0n } },
      ],
      [
        'no reduction for its margin',
        undefined,
        { side: 'sell', account: { position: E18, usdc: (25n * E18) / 10n, cngn: -(10n ** 27n) } },
      ],
      [
        'no reduce-only order for the fee of more than there is to reduce',
        undefined,
        {
          ...{ side: 'sell', size: 2_000, reduceOnly: true },
          account: { position: E18, usdc: (25n * E18) / 10n },
        },
      ],
    ]
    for (const [what, code, asking] of rows) {
      it(what, () => {
        if (code !== 'trading_ended') {
          expect(refusedAs(asking)).to.equal(code)
          return
        }
        const expirySec = START_MS / 1000 + 3_600
        const market = aFuture({ subId: BigInt(expirySec) })
        const order = anOrder({ limitPrice: price(1), desiredAmount: usdc(1) })
        const asked = { market, order, account: undefined, observed: observed({ expirySec }) }
        expect(trading.admission?.[0]?.(asked)?.code).to.equal(code)
      })
    }

    it('what cannot be read, with a text that says so', () => {
      const order = anOrder({ limitPrice: price(1_500), desiredAmount: usdc(1) })
      const asked = { market: MARKET, order, account: undefined, observed: undefined }
      expect(trading.admission?.[0]?.(asked)).to.include({ status: 500, code: 'band_unreadable' })
    })

    it('what cannot be judged by margin, of an account or a market that was not read', () => {
      const order = anOrder({ limitPrice: price(1_500), desiredAmount: usdc(1) })
      const [, , byMargin] = trading.admission ?? []
      const account = {
        ...{ subaccountId: 1n, custodyOwner: order.owner, leaving: false },
        ...{ facts: hideFutureAccount(futureAccount()), blockNumber: 1n, blockTimeSec: 0 },
      }
      const codeOf = (asked: Partial<Admitted>) =>
        byMargin?.({ market: MARKET, order, account, observed: observed(), ...asked })?.code
      expect(codeOf({})).to.equal(undefined)
      expect(codeOf({ account: undefined })).to.equal('margin_unreadable')
      expect(codeOf({ observed: undefined })).to.equal('margin_unreadable')
      // With cNGN in the account its worth is not known without an index.
      const owing = { ...account, facts: hideFutureAccount(futureAccount({ cngn: -E18 })) }
      const unpriced = observed({ indexStale: true, index: priceE18(0n) })
      expect(codeOf({ account: owing, observed: unpriced })).to.equal('margin_unreadable')
    })

    it('with what is wrong, and the band in its detail', () => {
      const order = anOrder({ limitPrice: price(2_000), desiredAmount: usdc(1) })
      const detail = {
        ...{ index_price: '1500', band_width: '0.1' },
        ...{ fill_band_low: '1350', fill_band_high: '1650' },
      }
      const refusalAt = (facts: Partial<FutureFacts>) => {
        const asked = { market: MARKET, order, account: undefined, observed: observed(facts) }
        return trading.admission?.[0]?.(asked)
      }
      expect(refusalAt({})).to.deep.equal({
        ...{ status: 400, code: 'outside_fill_band', message: 'outside_fill_band' },
        extra: { message: 'limit_price is outside of the fill band' },
        ...{ field: 'limit_price', detail },
      })
      expect(refusalAt({ indexStale: true })).to.deep.equal({
        ...{ status: 400, code: 'index_stale', message: 'index_stale' },
        extra: { message: 'the index is stale: no new orders are taken until it updates' },
        detail,
      })
    })
  })

  it('closes the market on a band older than two seconds', () => {
    expect(trading.gate?.(observed(), START_MS + BAND_AGE_MAX_MS)).to.equal(undefined)
    const late = START_MS + BAND_AGE_MAX_MS + 1
    expect(trading.gate?.(observed(), late)).to.deep.equal({ reason: 'band_stale' })
    expect(trading.gate?.(undefined, START_MS)).to.deep.equal({ reason: 'market_unread' })
  })

  it('judges fills with the band of a minute later', () => {
    expect(trading.fillRange?.(undefined, START_MS)).to.equal(undefined)
    const week = { expirySec: START_MS / 1000 + 7 * 86_400 + 60 }
    const range = trading.fillRange?.(observed(week), START_MS)
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
    expect(present.marketEntry(MARKET, observed({ indexStale: true }))).to.deep.equal({
      expiry_timestamp: futureFacts().expirySec,
      future: {
        ...unread,
        ...{ index_price: '1500', mark_price: '1500', band_width: '0.1' },
        ...{ fill_band_low: '1350', fill_band_high: '1650', band_status: 'index_stale' },
        ...{ initial_margin_rate: '0.1', maintenance_margin_rate: '0.07', paused: false },
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
      ...{ usdc: funds, cngn: amounts, position: positions },
      ...{ mark: prices, newMark: prices, index: prices },
    })
    fc.assert(
      fc.property(drawn, ({ newMark, index, ...kept }) => {
        const facts = futureFacts({ mark: newMark, index })
        const account = futureAccount(kept)
        const { usdc: cash, cngn, position, mark } = account
        const standing = futureModel.standing(account, facts)
        const required = futureModel.requirement(facts, futureModel.positionOf(account))
        const owned = cngn + variationOf(position, mark, newMark)
        const size = position < 0n ? -position : position
        const said = surplusOf({ usdc: cash, cngn: owned, size }, index, initialTerms(facts))
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

  it('never overstates what a trade leaves', () => {
    const drawn = fc.record({
      ...{ cngn: amounts, size: positions },
      ...{ mark: prices, fill: prices, index: prices },
    })
    fc.assert(
      fc.property(drawn, ({ cngn, size, mark, fill, index }) => {
        const facts = futureFacts({ mark, index })
        const { factor } = initialTerms(facts)
        const vm = variationOf(size, fill, mark)
        const leg = { size: size * 1_000n, worth: fill * size * 1_000n, fee: 0n }
        const before = cngnValue(cngn, index, factor)
        const after = cngnValue(cngn + vm, index, factor)
        // Two divisions of each value are rounded.
        expect(before + futureModel.resultOf(facts, leg) <= after + 2n).to.equal(true)
      }),
    )
  })
})
