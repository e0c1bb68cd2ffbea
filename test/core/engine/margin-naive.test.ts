import { expect } from 'chai'
import fc from 'fast-check'
import type { Command } from '../../../core/model/command.js'
import { openAmount, statusOf, type LiveOrder } from '../../../core/model/live-order.js'
import type { AccountObservation } from '../../../core/model/observation.js'
import { amountE18, priceE18 } from '../../../core/money.js'
import { signerOf } from '../../support/market-commands.js'
import { matcherOrder, testMatcher, type TestMatcher } from '../../support/matching.js'
import {
  FUTURE,
  marginDays,
  PERPETUAL,
  type AccountAct,
  type FactsAct,
  type MarginAct,
  type Scale,
} from './margin-acts.js'
import { naiveFuture } from './naive-future.js'
import {
  naiveApply,
  naiveHold,
  naiveMarket,
  naiveOpen,
  naiveStatus,
  rest,
  type NaiveMarket,
  type NaiveOrder,
} from './naive-market.js'
import { naivePerpetual } from './naive-perpetual.js'
import { runs } from '../../support/property-runs.js'

const OWNER = `0x${'a'.repeat(40)}` as const
const OPENING: FactsAct = {
  mark: 100,
  index: 100,
  odd: 0,
  cap: 1_000_000,
  total: 0,
  trouble: 'none',
  borrowing: false,
  leftSec: 30 * 86_400,
}

const KINDS = {
  perpetual: { scale: PERPETUAL, rules: naivePerpetual },
  future: { scale: FUTURE, rules: naiveFuture },
} as const

/** The real step and the naive market side by side, compared after every command. */
class Both {
  readonly real: TestMatcher
  readonly naive: NaiveMarket
  readonly settlementIds: string[] = []
  /** How often each hold and each end was seen. */
  readonly seen = new Set<string>()
  private readonly scale: Scale
  private facts = OPENING
  private block = 10n
  private placed = 0

  constructor(kind: keyof typeof KINDS) {
    this.real = testMatcher(25, kind)
    this.scale = KINDS[kind].scale
    this.naive = naiveMarket(KINDS[kind].rules, this.real.state.rules.tickSize)
    this.observe()
  }

  play(act: MarginAct): void {
    this.block += 1n
    if (act.act === 'wait') this.wait(act.sec, act.silent)
    else this.apply(this.commandOf(act))
    this.compare()
  }

  private wait(sec: number, silent: boolean): void {
    for (let passed = 0; passed < sec; passed += 1) {
      this.real.advance(1_000)
      if (silent) this.apply({ kind: 'Tick' })
      else this.observe()
    }
  }

  /** The market as it stands, which the chain reader shows each second. */
  private observe(): void {
    this.apply({ kind: 'MarketObserved', observation: this.observation() })
    this.apply({ kind: 'Tick' })
  }

  private observation() {
    const nowMs = this.real.nowMs()
    const place = { blockNumber: this.block, blockTimeSec: nowMs / 1000, readAtMs: nowMs }
    return { facts: this.scale.market(this.facts), ...place }
  }

  private commandOf(act: Exclude<MarginAct, { act: 'wait' }>): Command {
    switch (act.act) {
      case 'place':
        return this.placement(act)
      case 'cancel': {
        const nonce = BigInt(1 + (act.pick % (this.placed + 1)))
        return { kind: 'CancelOrder', owner: OWNER, nonce, reason: 'unspecified' }
      }
      case 'reduce': {
        const nonce = BigInt(1 + (act.pick % (this.placed + 1)))
        const desired = amountE18(BigInt(act.size) * this.scale.unit)
        return { kind: 'ReduceOrder', owner: OWNER, nonce, desired, reason: 'unspecified' }
      }
      case 'signature': {
        const orderId = `o${1 + (act.pick % (this.placed + 1))}`
        return { kind: 'SignatureChecked', orderId, valid: act.valid }
      }
      case 'settle':
        return this.report(act)
      case 'code':
        return { kind: 'SignerCodeObserved', signer: signerOf(act.trader) }
      case 'account':
        return { kind: 'AccountObserved', account: this.accountOf(act.trader, act) }
      case 'facts':
        this.facts = act
        return { kind: 'MarketObserved', observation: this.observation() }
    }
  }

  private placement(act: Extract<MarginAct, { act: 'place' }>): Command {
    this.placed += 1
    const order = matcherOrder({
      orderId: `o${this.placed}`,
      owner: OWNER,
      signer: signerOf(act.trader),
      side: act.buy ? 'buy' : 'sell',
      nonce: BigInt(this.placed),
      subaccountId: BigInt(act.trader),
      limitPrice: priceE18(this.scale.price(act.price)),
      desiredAmount: amountE18(this.sizeOf(act)),
      goodUntilSec: this.real.nowMs() / 1000 + act.livesSec,
      signatureStatus: act.unchecked ? 'unchecked' : 'checked',
      ...(act.reduceOnly && { reduceOnly: true }),
      ...act.controls,
    })
    const account = act.account && this.accountOf(act.trader, act.account)
    return {
      kind: 'PlaceOrder',
      order,
      ...(account && { account }),
      ...(act.replaces !== undefined && { replaces: BigInt(1 + (act.replaces % this.placed)) }),
    }
  }

  private sizeOf({ size, odd }: Extract<MarginAct, { act: 'place' }>): bigint {
    return BigInt(size) * this.scale.unit + BigInt(odd) * this.scale.least
  }

  /** Mostly of a match that has no outcome yet. */
  private report({ pick, outcome }: Extract<MarginAct, { act: 'settle' }>): Command {
    const waiting = this.settlementIds.filter((id) => this.real.state.matches.has(id))
    const ids = waiting.length > 0 && pick % 10 > 0 ? waiting : this.settlementIds
    const settlementId = ids[pick % Math.max(1, ids.length)] ?? 'none'
    const told = (): Extract<Command, { kind: 'SettlementReported' }>['outcome'] => {
      if (outcome === 'success') return { kind: 'success', txHash: '0x01', blockNumber: this.block }
      if (outcome === 'price' && this.naive.rules.range !== undefined)
        return { kind: 'reverted', revert: 'FT_OutsideFillBand', guilty: 'venue' }
      const guilty = outcome === 'price' ? 'both' : outcome
      return { kind: 'reverted', revert: 'SRM_PortfolioBelowMargin', guilty }
    }
    return { kind: 'SettlementReported', settlementId, outcome: told() }
  }

  private accountOf(trader: number, act: AccountAct): AccountObservation {
    return {
      subaccountId: BigInt(trader),
      facts: this.scale.account(act, this.scale.markOf(this.facts)),
      custodyOwner: OWNER,
      leaving: act.isLeaving,
      blockNumber: this.block - BigInt(act.lag),
      blockTimeSec: this.real.nowMs() / 1000,
    }
  }

  private apply(command: Command): void {
    const named =
      command.kind === 'SettlementReported'
        ? { ...command, settlementId: `${this.settlementIds.indexOf(command.settlementId)}` }
        : command
    naiveApply(this.naive, named, this.real.nowMs())
    const { changes } = this.real.apply(command)
    for (const change of changes) {
      if (change.kind === 'OrderMatched') this.settlementIds.push(change.match.settlementId)
    }
    if (changes.length > 0) this.compare()
  }

  private compare(): void {
    const { naive, real, settlementIds } = this
    expect(real.state.holds.get('facts')?.reason, 'hold').to.equal(naive.held)
    this.seen.add(naive.held ?? 'open')
    expect(settlementIds.length, 'number of matches').to.equal(naive.matches.length)
    for (const [
      i,
      { done, makerOrderId, takerOrderId, price, amount, takerFee },
    ] of naive.matches.entries()) {
      const waiting = real.state.matches.get(settlementIds[i] ?? '')
      expect(waiting === undefined, `match ${i} done`).to.equal(done)
      const match = { makerOrderId, takerOrderId, price, amount, takerFee }
      if (waiting !== undefined) expect(waiting).to.include(match)
    }
    for (const it of naive.orders) {
      const live = real.state.orders.get(it.order.orderId)
      const shown = live === undefined ? this.lastShown(it) : liveShown(live)
      const expected = this.naiveShown(it)
      // A hold that the order's last seconds replace may still have its own name.
      const why = expected.why === 'expiring' && shown.why !== undefined ? 'expiring' : shown.why
      expect({ ...shown, why }, it.order.orderId).to.deep.equal(expected)
      this.seen.add(why ?? '')
    }
  }

  private naiveShown(it: NaiveOrder) {
    const status = naiveStatus(it)
    const held = status === 'active' && rest(it) > 0n ? naiveHold(this.naive, it) : undefined
    const why = it.gone === 'cancelled' ? it.cancelReason : held
    const { filled, pending } = it
    return { status, filled, pending, open: naiveOpen(this.naive, it), why }
  }

  private lastShown({ order: { orderId } }: NaiveOrder) {
    const changes = this.real.changes.filter((change) => change.orderId === orderId)
    const last = changes.at(-1)
    const reasons = changes.map((change) => ('cancelReason' in change ? change.cancelReason : ''))
    return {
      status: last?.status,
      filled: last?.filled,
      pending: last?.pending,
      open: last?.open,
      why: last?.status === 'cancelled' ? reasons.findLast((reason) => reason) : undefined,
    }
  }
}

function liveShown(live: LiveOrder) {
  const status = statusOf(live)
  const { filled, pending, cancelReason, hold } = live
  const held = status === 'active' ? hold?.reason : undefined
  return { status, filled, pending, open: openAmount(live), why: cancelReason ?? held }
}

const IMMEDIATE = ['ioc_remainder', 'fok_unfillable', 'settlement_failed']

describe('a market with margin', function () {
  const agrees = (kind: keyof typeof KINDS, reasons: readonly string[]): void => {
    const seen = new Set<string>()
    let matches = 0
    fc.assert(
      fc.property(marginDays(60), (acts) => {
        const both = new Both(kind)
        for (const act of acts) both.play(act)
        both.seen.forEach((reason) => seen.add(reason))
        matches += both.settlementIds.length
      }),
      { numRuns: runs(160) },
    )
    expect([...seen], 'what the days had').to.include.members([...reasons])
    expect(matches).to.be.above(80)
  }

  it('agrees with a deliberately naive perpetual after every command of random days', () => {
    agrees('perpetual', [
      ...['open', 'chain_stale', 'trading_paused', 'prices_stale', 'insufficient_margin'],
      'margin_unreadable',
      ...['open_interest_cap', 'reduce_only_no_position', 'under_liquidation', 'not_in_custody'],
      'pair_waits',
      ...IMMEDIATE,
    ])
  })

  it('agrees with a deliberately naive future after every command of random days', () => {
    agrees('future', [
      ...['open', 'band_stale', 'trading_paused', 'index_stale', 'trading_ended'],
      ...['insufficient_margin', 'open_interest_cap', 'reduce_only_no_position', 'pair_waits'],
      ...IMMEDIATE,
    ])
  })
})
