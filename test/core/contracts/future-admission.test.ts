import { expect } from 'chai'
import type { ObservedOrder } from '../../../core/contracts/contract.js'
import { BAND_AGE_MAX_MS, future } from '../../../core/contracts/future.js'
import {
  hideFutureAccount,
  type FutureAccountFacts,
  type FutureFacts,
} from '../../../core/contracts/future-facts.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { aFuture } from '../../support/builders.js'
import { futureAccount, futureFacts, observedFuture } from '../../support/future.js'
import { matcherOrder, START_MS } from '../../support/matching.js'

const { trading } = future
const price = (whole: number) => priceE18(BigInt(whole) * E18)
const usdc = (whole: number) => amountE18(BigInt(whole) * E18)
const MARKET = aFuture({ subId: BigInt(futureFacts().expirySec) })

/** An account with cNGN for any margin and this much USDC. */
const rich = (amount: bigint) => ({ usdc: amount, cngn: 10n ** 27n })

const anOrder = (fields: Partial<Order>): Order =>
  matcherOrder({ orderId: 'order', side: 'buy', ...fields })

interface Asking {
  readonly limit?: number
  readonly facts?: Partial<FutureFacts>
  readonly account?: Partial<FutureAccountFacts>
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
  const asked: ObservedOrder = {
    market: MARKET,
    order,
    observed: observedFuture(rest.facts),
    account: {
      subaccountId: 1n,
      facts: hideFutureAccount(futureAccount(rest.account)),
      custodyOwner: order.owner,
      leaving: false,
      blockNumber: 1n,
      blockTimeSec: START_MS / 1000,
    },
  }
  for (const check of trading.admission ?? []) {
    const refusal = check(asked)
    if (refusal !== undefined) return refusal.code
  }
  return undefined
}

describe('the hold of a series', () => {
  const { expirySec } = futureFacts()
  const lastTradeMs = (expirySec - 3_600) * 1_000
  const reasonAt = (facts: Partial<FutureFacts> | undefined, nowMs = START_MS, readAtMs = nowMs) =>
    trading.holdOf?.(facts && { ...observedFuture(facts), readAtMs }, nowMs)?.reason

  it('is open while the series trades, and names the most lasting reason that closes it (FUT-022)', () => {
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

  it('closes when the facts are older than two seconds (FUT-021)', () => {
    expect(reasonAt({}, START_MS + BAND_AGE_MAX_MS, START_MS)).to.equal(undefined)
    expect(reasonAt({ paused: true }, START_MS + BAND_AGE_MAX_MS + 1, START_MS)).to.equal(
      'band_stale',
    )
  })
})

describe('the admission of an order of a series refuses (FUT-018, FUT-020)', () => {
  const rows: readonly (readonly [string, string | undefined, Asking])[] = [
    ['nothing that the chain could settle', undefined, {}],
    ['while paused, first of all', 'trading_paused', { facts: { paused: true, indexStale: true } }],
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
    ['not with initial margin and the fee', undefined, { account: { usdc: 1_025n * (E18 / 10n) } }],
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
        side: 'sell',
        size: 2_000,
        reduceOnly: true,
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
      const asked = { market, order, account: undefined, observed: observedFuture({ expirySec }) }
      expect(trading.admission?.[0]?.(asked)?.code).to.equal(code)
    })
  }

  it('what cannot be read, with a text that says so (FUT-019)', () => {
    const order = anOrder({ limitPrice: price(1_500), desiredAmount: usdc(1) })
    const asked = { market: MARKET, order, account: undefined, observed: undefined }
    expect(trading.admission?.[0]?.(asked)).to.include({ status: 500, code: 'band_unreadable' })
  })

  it('what cannot be judged by margin, of an account or a market that was not read', () => {
    const order = anOrder({ limitPrice: price(1_500), desiredAmount: usdc(1) })
    const [, , byMargin] = trading.admission ?? []
    const account = {
      subaccountId: 1n,
      custodyOwner: order.owner,
      leaving: false,
      facts: hideFutureAccount(futureAccount()),
      blockNumber: 1n,
      blockTimeSec: 0,
    }
    const codeOf = (asked: Partial<ObservedOrder>) =>
      byMargin?.({ market: MARKET, order, account, observed: observedFuture(), ...asked })?.code
    expect(codeOf({})).to.equal(undefined)
    expect(codeOf({ account: undefined })).to.equal('margin_unreadable')
    expect(codeOf({ observed: undefined })).to.equal('margin_unreadable')
    // With cNGN in the account its worth is not known without an index.
    const owing = { ...account, facts: hideFutureAccount(futureAccount({ cngn: -E18 })) }
    const unpriced = observedFuture({ indexStale: true, index: priceE18(0n) })
    expect(codeOf({ account: owing, observed: unpriced })).to.equal('margin_unreadable')
  })

  it('what margin does not carry, with the prices and the one that judged (FUT-050)', () => {
    const [, , byMargin] = trading.admission ?? []
    const judged = (facts: Partial<FutureFacts>, side: 'buy' | 'sell', held = {}) => {
      const account = {
        subaccountId: 1n,
        custodyOwner: MARKET.assetAddress,
        leaving: false,
        facts: hideFutureAccount(futureAccount({ usdc: E18, ...held })),
        blockNumber: 1n,
        blockTimeSec: 0,
      }
      const order = anOrder({ side, limitPrice: price(1_560), desiredAmount: usdc(1_000) })
      return byMargin?.({ market: MARKET, order, account, observed: observedFuture(facts) })
    }
    const apart = { mark: price(1_500), index: price(1_600) }
    const detail = (by: 'mark' | 'index') => ({
      judged_by: by,
      mark_price: '1500',
      index_price: '1600',
    })
    expect(judged(apart, 'buy')).to.deep.include({
      status: 400,
      code: 'insufficient_margin',
      detail: detail('mark'),
    })
    expect(judged(apart, 'sell')?.detail).to.deep.equal(detail('index'))
    // What it holds counts as well: a short of two contracts loses at the index.
    expect(judged(apart, 'sell', { position: -2n * E18 })?.detail).to.deep.equal(detail('index'))
    // For its fee alone no price counts.
    expect(judged(apart, 'sell', { position: E18 })?.detail).to.equal(undefined)
  })

  it('with what is wrong, and the band in its detail (FUT-013)', () => {
    const order = anOrder({ limitPrice: price(2_000), desiredAmount: usdc(1) })
    const detail = {
      index_price: '1500',
      band_width: '0.1',
      fill_band_low: '1350',
      fill_band_high: '1650',
    }
    const refusalAt = (facts: Partial<FutureFacts>) => {
      const asked = { market: MARKET, order, account: undefined, observed: observedFuture(facts) }
      return trading.admission?.[0]?.(asked)
    }
    expect(refusalAt({})).to.deep.equal({
      status: 400,
      code: 'outside_fill_band',
      message: 'outside_fill_band',
      extra: { message: 'limit_price is outside of the fill band' },
      field: 'limit_price',
      detail,
    })
    expect(refusalAt({ indexStale: true })).to.deep.equal({
      status: 400,
      code: 'index_stale',
      message: 'index_stale',
      extra: { message: 'the index is stale: no new orders are taken until it updates' },
      detail,
    })
  })
})
