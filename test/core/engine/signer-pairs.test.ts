import { expect } from 'chai'
import type { Address } from '../../../core/action.js'
import type { Order } from '../../../core/model/order.js'
import { knownOrder } from '../../../core/engine/state.js'
import {
  CODE_SIGNERS_MAX,
  FAILED_PAIRS_MAX,
  PAIR_FORGOTTEN_MS,
  PAIR_HIDDEN_MS,
  PAIR_WAIT_MAX_MS,
  PAIR_WAIT_MS,
  PASSED_OVER_MAX,
  PASSED_OVER_MAX_PER_STEP,
} from '../../../core/model/limits.js'
import { barredOf, failedPairsOf, noteFailedPair } from '../../../core/engine/signer-pairs.js'
import { restoreSnapshot } from '../../../core/engine/snapshot.js'
import { matcherOrder, testMatcher, type TestMatcher } from '../../support/matching.js'
import { takeSnapshot } from '../../support/snapshots.js'

const signer = (no: number): Address => `0x${no.toString(16).padStart(40, '0')}`

/** A market with an ask and a bid that do not cross, of two signers. */
function twoOrders() {
  const market = testMatcher()
  const place = (orderId: string, side: 'buy' | 'sell', no: number, limitPrice: bigint) =>
    market.apply({
      kind: 'PlaceOrder',
      order: matcherOrder({
        orderId,
        side,
        subaccountId: BigInt(no),
        signer: signer(no),
        limitPrice: limitPrice as never,
        goodUntilSec: market.nowMs() / 1000 + 86_400,
      }),
    })
  place('ask', 'sell', 1, 20n ** 18n)
  place('bid', 'buy', 2, 10n ** 18n)
  return market
}

const both = ({ state }: TestMatcher) =>
  [knownOrder(state, 'ask'), knownOrder(state, 'bid')] as const

/** For how long the two are barred from now on, by seconds that are tried. */
function waitOf(market: TestMatcher): number {
  const [ask, bid] = both(market)
  for (let waited = 0; ; waited += 1_000) {
    const then = { ...market.state, nowMs: market.state.nowMs + waited }
    if (barredOf(then, ask, bid) === undefined) return waited
  }
}

function advance(market: TestMatcher, ms: number): void {
  market.advance(ms)
  market.apply({ kind: 'Tick' })
}

describe('two signers whose match failed without proof', () => {
  it('wait for half a minute, doubling to an hour, and begin anew after two quiet hours (SET-026, SET-027)', () => {
    const market = twoOrders()
    const waits: number[] = []
    for (let times = 0; times < 9; times += 1) {
      noteFailedPair(market.state, ...both(market))
      waits.push(waitOf(market))
      advance(market, waits.at(-1) ?? 0)
    }
    const minutes = [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    expect(waits).to.deep.equal(minutes.map((each) => each * 60_000))
    expect(waits.at(-1)).to.equal(PAIR_WAIT_MAX_MS)
    advance(market, PAIR_FORGOTTEN_MS - PAIR_WAIT_MAX_MS - 1)
    expect(market.state.failedPairs.byKey.size).to.equal(1)
    advance(market, 1)
    expect(market.state.failedPairs.byKey.size).to.equal(0)
    noteFailedPair(market.state, ...both(market))
    expect(waitOf(market)).to.equal(PAIR_WAIT_MS)
  })

  it('are kept in a snapshot, with the signers that are code', () => {
    const market = twoOrders()
    market.apply({ kind: 'SignerCodeObserved', signer: signer(1) })
    noteFailedPair(market.state, ...both(market))
    const restored = restoreSnapshot(takeSnapshot(market.state))
    expect(restored.failedPairs).to.deep.equal(market.state.failedPairs)
    expect([...restored.codeSigners]).to.deep.equal([signer(1)])
    const barred = barredOf(restored, knownOrder(restored, 'ask'), knownOrder(restored, 'bid'))
    expect(barred?.live.orderId, 'the one whose signer is code').to.equal('ask')
  })

  it('are as many as the table holds: the pair that failed longest ago goes first (SET-028)', () => {
    const market = twoOrders()
    const { state } = market
    const kept = failedPairsOf(
      Array.from({ length: FAILED_PAIRS_MAX }, (_, i) => ({
        signers: [signer(1_000 + i), signer(900_000)] as const,
        failedAtMs: state.nowMs + i,
        waitMs: PAIR_WAIT_MS,
      })),
    )
    Object.assign(state, { failedPairs: kept })
    noteFailedPair(state, ...both(market))
    expect(kept.byKey.size).to.equal(FAILED_PAIRS_MAX)
    expect(kept.bySigner.get(signer(900_000))).to.equal(FAILED_PAIRS_MAX - 1)
    expect(kept.bySigner.has(signer(1_000))).to.equal(false)
    expect(kept.bySigner.has(signer(1))).to.equal(true)
  })
})

describe('an order before many of a signer that it may not match now', () => {
  /** So many asks of signer 1 at the best price, and one of signer 3 behind them; the signers 1 and 2 wait. */
  function crowded(barred: number) {
    const market = testMatcher()
    const place = (
      side: 'buy' | 'sell',
      no: number,
      price: bigint,
      fields: Partial<Order> = {},
    ) => {
      const orderId = `o${market.state.rank + 1}`
      const limitPrice = (price * 10n ** 18n) as never
      const signed = { orderId, side, subaccountId: BigInt(no), signer: signer(no), limitPrice }
      market.apply({ kind: 'PlaceOrder', order: matcherOrder({ ...signed, ...fields }) })
      return market.state.orders.get(orderId) ?? market.changes.at(-1)
    }
    for (let at = 0; at < barred; at += 1) place('sell', 1, 10n)
    place('sell', 3, 11n)
    const ask = knownOrder(market.state, 'o1')
    const bid = place('buy', 2, 1n)
    noteFailedPair(market.state, ask, bid as typeof ask)
    return { market, place }
  }

  it('meets what stands behind as many as it passes over (SET-031)', () => {
    const { place } = crowded(PASSED_OVER_MAX)
    expect(place('buy', 2, 11n)).to.include({ pending: 10n ** 19n })
  })

  it('meets nothing behind more, and is hidden; one that does not wait ends (SET-031)', () => {
    const { place } = crowded(PASSED_OVER_MAX + 1)
    expect(place('buy', 2, 11n)).to.have.nested.include({
      pending: 0n,
      'hold.reason': 'pair_waits',
    })
    const ended = { status: 'cancelled', pending: 0n }
    const ioc = place('buy', 2, 11n, { timeInForce: 'IOC' })
    expect(ioc).to.include({ ...ended, cancelReason: 'ioc_remainder' })
    const fok = place('buy', 2, 11n, { timeInForce: 'FOK' })
    expect(fok).to.include({ ...ended, cancelReason: 'fok_unfillable' })
  })

  it('passes over each once, however many others it meets between them', () => {
    const { market, place } = crowded(PASSED_OVER_MAX / 2)
    const desiredAmount = (10n ** 18n) as never
    for (let times = 0; times < 4; times += 1) place('sell', 3, 10n, { desiredAmount })
    for (let times = 0; times < PASSED_OVER_MAX / 2; times += 1) place('sell', 1, 10n)
    expect(place('buy', 2, 11n)).to.include({ pending: 10n ** 19n })
    expect(market.state.matches.size).to.equal(5)
  })

  it('leaves further hidden orders to the next step once a step has passed over many', () => {
    const { market, place } = crowded(PASSED_OVER_MAX)
    const perStep = PASSED_OVER_MAX_PER_STEP / PASSED_OVER_MAX
    for (let placed = 0; placed < 2 * perStep; placed += 1) place('buy', 2, 10n)
    market.advance(PAIR_HIDDEN_MS)
    const moreIsDue = () => market.apply({ kind: 'Tick' }).moreIsDue
    expect([moreIsDue(), moreIsDue(), moreIsDue()]).to.deep.equal([true, false, false])
  })
})

describe('the signers that are known to be code', () => {
  it('are so many at most: the longest known goes first', () => {
    const market = testMatcher()
    const { codeSigners } = market.state
    for (let no = 0; no < CODE_SIGNERS_MAX; no += 1) codeSigners.add(signer(no))
    market.apply({ kind: 'SignerCodeObserved', signer: signer(CODE_SIGNERS_MAX) })
    expect(codeSigners.size).to.equal(CODE_SIGNERS_MAX)
    expect(codeSigners.has(signer(0))).to.equal(false)
    expect(codeSigners.has(signer(CODE_SIGNERS_MAX))).to.equal(true)
  })
})
