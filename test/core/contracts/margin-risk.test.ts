import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import type { SettledMatch } from '../../../core/contracts/contract.js'
import { marginMeans } from '../../../core/contracts/margin.js'
import {
  expectedPosition,
  isInFlight,
  legOf,
  reducible,
  type FlightLeg,
  type MarginModel,
  type MarginRiskAccount,
} from '../../../core/contracts/margin-risk.js'
import type { Hold } from '../../../core/model/hold.js'
import type { LiveOrder } from '../../../core/model/live-order.js'
import { REORG_BLOCKS } from '../../../core/model/limits.js'
import type { Match } from '../../../core/model/match.js'
import type { MarketObservation, AccountObservation } from '../../../core/model/observation.js'
import type { Side } from '../../../core/model/order.js'

interface Account {
  readonly position: bigint
  readonly cash: bigint
  readonly isFrozen?: boolean
  readonly isValued?: boolean
}
interface Market {
  readonly mark: bigint
}
type RiskAccount = MarginRiskAccount<Account, Market>

/** A unit of position requires a unit of margin; a leg gains or loses against the mark, in cash. */
const resultOf = ({ mark }: Market, leg: Pick<FlightLeg, 'size' | 'worth' | 'fee'>) =>
  mark * leg.size - leg.worth - leg.fee
const model: MarginModel<Account, Market> = {
  positionOf: ({ position }) => position,
  isFrozen: ({ isFrozen = false }) => isFrozen,
  isValued: ({ isValued = true }) => isValued,
  standing: ({ cash }) => ({ cash, equity: cash }),
  requirement: (_, position) => (position < 0n ? -position : position),
  resultOf,
  cashOf: resultOf,
  legAtBest: ({ mark }, { side }, amount) => legOf(side, mark, amount),
  mayBorrow: () => true,
  reducesFreely: () => true,
}
const means = marginMeans(model)

const observed = (account: Account, block = 10n) =>
  ({ facts: account, blockNumber: block }) as AccountObservation<Account>
const at = (mark: bigint) => ({ facts: { mark } }) as MarketObservation<Market>

const anOrder = (side: Side, unmatched = 5n, reduceOnly = false) =>
  ({
    side,
    unmatched,
    orderId: side,
    limitPrice: 3n,
    order: { reduceOnly },
  }) as LiveOrder
const BUY = anOrder('buy')
const SELL = anOrder('sell')
/** What a match takes stands in its cost. */
const ANY = {} as Match

const aMatch = (settlementId: string, amount: bigint, price: bigint, takerFee = 0n) =>
  ({ settlementId, amount, price, takerFee, takerOrderId: 'buy' }) as Match
const costOf = (order: LiveOrder, ...match: Parameters<typeof aMatch>) =>
  means.costOf(order, aMatch(...match))

describe('what is kept of an account with margin', () => {
  let riskAccount: RiskAccount
  beforeEach(() => {
    riskAccount = means.openRiskAccount(at(3n))
    means.observe(riskAccount, observed({ position: 4n, cash: 100n }))
  })

  const settle = (order: LiveOrder, blockNumber: bigint, ...match: Parameters<typeof aMatch>) => {
    const settled: SettledMatch = { match: aMatch(...match), blockNumber }
    means.settle(riskAccount, order, settled)
    return settled
  }
  const kept = ({ position, standing }: RiskAccount) => [position, standing?.cash, standing?.equity]

  it('is a cost of its signed size and worth, with the fee of the taker alone', () => {
    expect(costOf(BUY, 's1', 2n, 3n, 7n)).to.deep.equal({
      settlementId: 's1',
      size: 2n,
      worth: 6n,
      fee: 7n,
    })
    expect(costOf(SELL, 's1', 2n, 3n, 7n)).to.deep.equal({
      settlementId: 's1',
      size: -2n,
      worth: -6n,
      fee: 0n,
    })
  })

  it('counts what was settled behind the observed block, and takes back what the chain lost', () => {
    expect(kept(riskAccount)).to.deep.equal([4n, 100n, 100n])
    settle(BUY, 10n, 's0', 1n, 3n)
    expect(kept(riskAccount)).to.deep.equal([4n, 100n, 100n])
    const settled = settle(BUY, 11n, 's1', 2n, 4n, 5n)
    expect(kept(riskAccount)).to.deep.equal([6n, 93n, 93n])
    settle(SELL, 11n, 's2', 1n, 3n)
    expect(kept(riskAccount)).to.deep.equal([5n, 93n, 93n])
    means.unsettle(riskAccount, BUY, settled)
    expect(kept(riskAccount)).to.deep.equal([3n, 100n, 100n])
    means.observe(riskAccount, observed({ position: 3n, cash: 100n }, 11n))
    expect(kept(riskAccount)).to.deep.equal([3n, 100n, 100n])
  })

  it('keeps what was settled until no observation of an earlier block can come', () => {
    settle(BUY, 11n, 's1', 2n, 3n)
    means.observe(riskAccount, observed({ position: 6n, cash: 100n }, 11n))
    means.observe(riskAccount, observed({ position: 4n, cash: 100n }, 10n))
    expect(riskAccount.position).to.equal(6n)
    means.observe(riskAccount, observed({ position: 6n, cash: 100n }, 11n + REORG_BLOCKS))
    expect(riskAccount.settled).to.deep.equal([])
    settle(BUY, 11n, 's2', 2n, 3n)
    expect(riskAccount.settled).to.deep.equal([])
  })

  it('has no position before it was observed, and no standing without a market', () => {
    const empty = means.openRiskAccount(undefined)
    expect(kept(empty)).to.deep.equal([undefined, undefined, undefined])
    means.settle(empty, BUY, { match: aMatch('s1', 2n, 3n), blockNumber: 5n })
    expect(kept(empty)).to.deep.equal([undefined, undefined, undefined])
    means.observe(empty, observed({ position: 4n, cash: 100n }, 4n))
    expect(kept(empty)).to.deep.equal([6n, undefined, undefined])
    means.revalue?.(empty, at(4n))
    expect(kept(empty)).to.deep.equal([6n, 102n, 102n])
  })

  it('counts the losses of what is in flight at the market’s prices, not its gains', () => {
    means.reserve(riskAccount, BUY, costOf(BUY, 's1', 2n, 5n))
    means.reserve(riskAccount, SELL, costOf(SELL, 's2', 3n, 5n))
    expect([riskAccount.buy.losses, riskAccount.sell.losses]).to.deep.equal([-4n, 0n])
    means.revalue?.(riskAccount, at(6n))
    expect([riskAccount.buy.losses, riskAccount.sell.losses]).to.deep.equal([0n, -3n])
    expect([riskAccount.buy.cash, riskAccount.sell.cash]).to.deep.equal([0n, -3n])
    means.release(riskAccount, SELL, costOf(SELL, 's2', 3n, 5n))
    expect([riskAccount.sell.size, riskAccount.sell.losses, riskAccount.sell.cash]).to.deep.equal([
      0n,
      0n,
      0n,
    ])
    expect(riskAccount.buy.size).to.equal(2n)
  })

  it('is the same after a snapshot', () => {
    means.reserve(riskAccount, BUY, costOf(BUY, 's1', 2n, 5n))
    means.reserve(riskAccount, SELL, costOf(SELL, 's2', 3n, 5n))
    settle(BUY, 11n, 's3', 2n, 4n)
    const account = observed({ position: 4n, cash: 100n })
    const again = means.restore(means.snapshot(riskAccount), { observed: account, market: at(3n) })
    expect(again).to.deep.equal(riskAccount)
    const unseen = means.restore(means.snapshot(riskAccount), {
      observed: undefined,
      market: undefined,
    })
    expect([unseen.observedBlock, unseen.position, unseen.buy.size]).to.deep.equal([
      ...[0n, undefined, 2n],
    ])
  })

  it('adds up, or is a broken invariant', () => {
    const legs = [costOf(BUY, 's1', 2n, 5n), costOf(SELL, 's2', 3n, 2n)]
    const reserved = () => [
      { order: BUY, cost: legs[0] ?? costOf(BUY, 's1', 0n, 0n) },
      { order: SELL, cost: legs[1] ?? costOf(SELL, 's2', 0n, 0n) },
    ]
    const restored = () => {
      const again = means.openRiskAccount(at(3n))
      means.observe(again, observed({ position: 4n, cash: 100n }))
      for (const { order, cost } of reserved()) means.reserve(again, order, cost)
      return again
    }
    expect(() => means.check(restored(), reserved())).to.not.throw()
    const other = { ...reserved()[0], order: BUY, cost: costOf(BUY, 's9', 2n, 5n) }
    const more = { order: BUY, cost: costOf(BUY, 's1', 3n, 5n) }
    for (const wrong of [
      reserved().slice(1),
      [other, ...reserved().slice(1)],
      [more, ...reserved().slice(1)],
    ]) {
      expect(() => means.check(restored(), wrong)).to.throw(InvariantBroken)
    }
    const standing = { cash: 100n, equity: 100n }
    for (const damage of [
      { position: 5n },
      { standing: undefined },
      { standing: { ...standing, cash: 99n } },
      { standing: { ...standing, equity: 99n } },
    ]) {
      const damaged = Object.assign(restored(), damage)
      expect(() => means.check(damaged, reserved())).to.throw(InvariantBroken)
    }
    for (const side of ['buy', 'sell'] as const) {
      for (const field of ['losses', 'cash'] as const) {
        const damaged = restored()
        damaged[side][field] -= 1n
        expect(() => means.check(damaged, reserved())).to.throw(InvariantBroken)
      }
    }
  })

  it('is reducible by what is left of the position, beside what is in flight against it', () => {
    const sealed = riskAccount as never
    expect([reducible(sealed, SELL), reducible(sealed, BUY)]).to.deep.equal([4n, 0n])
    means.reserve(riskAccount, SELL, costOf(SELL, 's1', 3n, 3n))
    means.reserve(riskAccount, BUY, costOf(BUY, 's2', 9n, 3n))
    expect([reducible(sealed, SELL), reducible(sealed, BUY)]).to.deep.equal([1n, 0n])
    expect(expectedPosition(sealed)).to.equal(10n)
    expect(isInFlight(sealed, SELL)).to.equal(true)
    means.release(riskAccount, SELL, costOf(SELL, 's1', 3n, 3n))
    expect(isInFlight(sealed, SELL)).to.equal(false)
    expect(reducible(means.openRiskAccount(at(3n)) as never, SELL)).to.equal(undefined)
    expect(expectedPosition(means.openRiskAccount(at(3n)) as never)).to.equal(0n)
  })
})

describe('whether an order may go on', () => {
  const riskSnapshotOf = (account: Account) => {
    const riskAccount = means.openRiskAccount(at(3n))
    means.observe(riskAccount, observed(account))
    return riskAccount
  }
  const MARGIN = { reason: 'insufficient_margin' } as const

  it('is not while its account is being liquidated (PER-030)', () => {
    const riskAccount = riskSnapshotOf({ position: 0n, cash: 100n, isFrozen: true })
    const frozen: Hold = { reason: 'under_liquidation' }
    expect(means.shortToOpen(riskAccount, BUY)).to.deep.equal(frozen)
    expect(means.shortToStay(riskAccount, BUY)).to.deep.equal(frozen)
    expect(means.shortOfMatch(riskAccount, BUY, costOf(BUY, 's1', 1n, 3n), ANY)).to.deep.equal(
      frozen,
    )
    expect(means.hasEnough(riskAccount, BUY, frozen)).to.equal(false)
    expect(means.hasEnough(riskSnapshotOf({ position: 0n, cash: 100n }), BUY, frozen)).to.equal(
      true,
    )
  })

  it('is as far as margin reaches; what is in flight counts against opening, not against staying', () => {
    const riskAccount = riskSnapshotOf({ position: 0n, cash: 6n })
    expect(means.shortToOpen(riskAccount, BUY)).to.equal(undefined)
    means.reserve(riskAccount, BUY, costOf(BUY, 's1', 2n, 3n))
    expect(means.shortToOpen(riskAccount, BUY)).to.deep.equal({ ...MARGIN, needed: 5n })
    expect(means.shortToOpen(riskAccount, anOrder('buy', 4n))).to.equal(undefined)
    expect(means.shortToStay(riskAccount, BUY)).to.equal(undefined)
    expect(means.shortToStay(riskAccount, anOrder('sell', 7n))).to.deep.equal({
      ...MARGIN,
      needed: 7n,
    })
    const cost = costOf(BUY, 's2', 5n, 3n)
    expect(means.shortOfMatch(riskAccount, BUY, cost, ANY)).to.deep.equal({ ...MARGIN, needed: 5n })
    expect(means.shortOfMatch(riskAccount, BUY, costOf(BUY, 's2', 4n, 3n), ANY)).to.equal(undefined)
  })

  it('is while nothing is known of its account or of the market', () => {
    const empty = means.openRiskAccount(at(3n))
    expect(means.shortToOpen(empty, BUY)).to.equal(undefined)
    expect(means.hasEnough(empty, BUY, { ...MARGIN, needed: 5n })).to.equal(true)
    const noMarket = means.openRiskAccount(undefined)
    means.observe(noMarket, observed({ position: 0n, cash: 0n }))
    expect(means.shortToOpen(noMarket, BUY)).to.equal(undefined)
    expect(means.hasEnough(noMarket, BUY, { ...MARGIN, needed: 5n })).to.equal(true)
  })

  it('is for reductions alone while the chain cannot value its account', () => {
    const riskAccount = riskSnapshotOf({ position: 4n, cash: 1_000n, isValued: false })
    expect(means.shortToOpen(riskAccount, anOrder('sell', 4n))).to.equal(undefined)
    const unreadable = { reason: 'margin_unreadable', needed: 5n } as const
    expect(means.shortToOpen(riskAccount, SELL)).to.deep.equal(unreadable)
    expect(means.hasEnough(riskAccount, SELL, unreadable)).to.equal(false)
    means.reserve(riskAccount, SELL, costOf(SELL, 's1', 1n, 3n))
    const cost = (amount: bigint) => costOf(SELL, 's2', amount, 3n)
    expect(means.shortOfMatch(riskAccount, SELL, cost(3n), ANY)).to.equal(undefined)
    expect(means.shortOfMatch(riskAccount, SELL, cost(4n), ANY)).to.deep.equal({
      reason: 'margin_unreadable',
      needed: 4n,
    })
  })

  it('is again when margin reaches for what was needed, or for what is left of the order', () => {
    const riskAccount = riskSnapshotOf({ position: 0n, cash: 4n })
    expect(means.hasEnough(riskAccount, BUY, { ...MARGIN, needed: 4n })).to.equal(true)
    expect(means.hasEnough(riskAccount, BUY, { ...MARGIN, needed: 5n })).to.equal(false)
    expect(means.hasEnough(riskAccount, BUY, MARGIN)).to.equal(false)
    expect(means.hasEnough(riskAccount, anOrder('buy', 4n), { ...MARGIN, needed: 9n })).to.equal(
      true,
    )
    expect(means.hasEnough(riskAccount, BUY, { reason: 'open_interest_cap', needed: 9n })).to.equal(
      true,
    )
  })

  it('is for a reduce-only order as far as it reduces', () => {
    const riskAccount = riskSnapshotOf({ position: 4n, cash: 0n })
    const order = anOrder('sell', 9n, true)
    expect(means.shortToOpen(riskAccount, order)).to.equal(undefined)
    expect(means.hasEnough(riskAccount, order, { reason: 'reduce_only' })).to.equal(true)
    means.reserve(riskAccount, SELL, costOf(SELL, 's1', 4n, 3n))
    expect(means.hasEnough(riskAccount, order, { reason: 'reduce_only' })).to.equal(false)
    expect(means.shortToOpen(riskAccount, anOrder('sell', 9n))).to.deep.equal({
      ...MARGIN,
      needed: 9n,
    })
  })
})
