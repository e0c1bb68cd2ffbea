import { assert } from '../assert.js'
import type { Hold } from '../model/hold.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Match } from '../model/match.js'
import type { RiskAccount, AccountObservation } from '../model/observation.js'
import type { Means, ReservedCost, SettledMatch } from './contract.js'
import {
  addLeg,
  legOf,
  newRiskAccount,
  recount,
  recountFlights,
  reducible,
  removeLeg,
  signOf,
  sumMoves,
  type Flight,
  type FlightLeg,
  type Leg,
  type MarginModel,
  type MarginRiskAccount,
  type MarginTypes,
  type MarginTotals,
} from './margin-risk.js'
import { addMove, forgetMoves } from './settled-moves.js'

/**
 * Means of accounts that carry positions against margin (PER-023 to PER-027). An order is judged by itself, with the account's
 * matches in flight: those of its own side as if settled, their losses but not their gains; of the other side the losses
 * that exceed the margin which these matches release.
 */
export const marginMeans = <Account, Market>(
  model: MarginModel<Account, Market>,
): Means<MarginTypes<Account, Market>> => ({
  openRiskAccount: (market) => newRiskAccount(market?.facts),
  revalue(riskAccount, { facts }) {
    riskAccount.market = facts
    recount(model, riskAccount)
    recountFlights(model, riskAccount)
  },
  observe: (riskAccount, observed) => observe(model, riskAccount, observed),
  costOf,
  shortOfMatch: (riskAccount, order, leg) =>
    unfit(model, riskAccount, order, { leg, counted: 'with_flight' }),
  shortToOpen: (riskAccount, order) => unfitToRest(model, riskAccount, order, 'with_flight'),
  shortToStay: (riskAccount, order) => unfitToRest(model, riskAccount, order, 'alone'),
  hasEnough(riskAccount, order, hold) {
    const { account, market } = riskAccount
    if (account === undefined || market === undefined) return true
    if (model.isFrozen(account)) return false
    if (hold.reason === 'reduce_only') return reducible(sealed(riskAccount), order) !== 0n
    // What is left of the market's cap depends on the match.
    if (!OF_MARGIN.has(hold.reason)) return true
    const { needed = order.unmatched } = hold
    const amount = needed < order.unmatched ? needed : order.unmatched
    const leg = model.legAtBest(market, order, amount)
    return carries(model, riskAccount, order, { leg, counted: 'with_flight' })
  },
  reserve: (riskAccount, _, leg) => addLeg(model, riskAccount, leg),
  release: (riskAccount, _, leg) => removeLeg(model, riskAccount, leg),
  settle: (riskAccount, order, settled) =>
    move(model, riskAccount, settled, costOf(order, settled.match)),
  unsettle: (riskAccount, order, settled) =>
    move(model, riskAccount, settled, negated(costOf(order, settled.match))),
  snapshot: ({ settled, buy, sell }) => ({
    settled: [...settled],
    flight: [...buy.legs.values(), ...sell.legs.values()],
  }),
  restore({ settled, flight }, { observed, market }) {
    const riskAccount = newRiskAccount<Account, Market>(market?.facts)
    riskAccount.account = observed?.facts
    riskAccount.observedBlock = observed?.blockNumber ?? 0n
    riskAccount.settled.push(...settled)
    for (const leg of flight) addLeg(model, riskAccount, leg)
    recount(model, riskAccount)
    return riskAccount
  },
  check: (riskAccount, reserved) => checkRiskAccount(model, riskAccount, reserved),
})

const MARGIN: Hold['reason'] = 'insufficient_margin'
const UNREADABLE: Hold['reason'] = 'margin_unreadable'
/** Holds that end when the account carries what was asked of it. */
const OF_MARGIN: ReadonlySet<Hold['reason']> = new Set([MARGIN, UNREADABLE])

/** A trade to judge, with the account's matches in flight or without. */
interface TradeCase {
  readonly leg: Leg
  readonly counted: 'with_flight' | 'alone'
}

/** Matches in flight as far as a judgement needs them. */
type FlightTotals = Pick<Flight, 'size' | 'losses' | 'cash'>

export const NO_FLIGHT: FlightTotals = { size: 0n, losses: 0n, cash: 0n }

/** What an account has, and what of it is in flight on the side of a trade and on the other. */
export interface AccountBearing {
  readonly position: bigint
  readonly standing: MarginTotals | undefined
  readonly own: FlightTotals
  readonly opposite: FlightTotals
}

type ModelRules<Market, Names extends keyof MarginModel<never, Market>> = Pick<
  MarginModel<never, Market>,
  Names
>

/** Whether the margin of an account carries a trade; while the market has no prices it does. */
export function fitsMargin<Market>(
  model: ModelRules<Market, 'requirement' | 'resultOf' | 'cashOf' | 'mayBorrow' | 'reducesFreely'>,
  market: Market,
  bearing: AccountBearing,
  leg: Leg,
): boolean {
  const { position: known, standing, own, opposite } = bearing
  if (standing === undefined) return true
  const position = known + own.size
  const reduces = isReduction(position, leg.size)
  const isFree = model.reducesFreely(market, leg)
  if (reduces && isFree) return true
  if (!fitsCash(model, market, bearing, leg)) return false
  const required = (size: bigint): bigint => model.requirement(market, size)
  const left = standing.equity + own.losses + model.resultOf(market, leg)
  // It may be carried out first, or after the other side alone.
  const first = isFree || left >= required(known + leg.size)
  const last = isFree || left + opposite.losses >= required(known + opposite.size + leg.size)
  if (reduces || !first || !last) return first && last
  const released = required(known) - required(known + opposite.size)
  const uncovered = -opposite.losses - atLeastZero(released)
  return left - atLeastZero(uncovered) >= required(position + leg.size)
}

/** Whether an account has the cash that a trade takes, with all its matches in flight. */
export function fitsCash<Market>(
  model: ModelRules<Market, 'cashOf' | 'mayBorrow'>,
  market: Market,
  { standing, own, opposite }: AccountBearing,
  leg: Leg,
): boolean {
  const moved = model.cashOf(market, leg)
  if (standing === undefined || moved >= 0n || model.mayBorrow(market)) return true
  return standing.cash + own.cash + opposite.cash + moved >= 0n
}

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n)

/** Whether a trade only shrinks the position: toward zero and not beyond. */
export const isReduction = (position: bigint, size: bigint): boolean =>
  position < 0n ? size >= 0n && size <= -position : size <= 0n && -size <= position

/** Whether the chain does not value the account, although the market has prices. */
const isUnreadable = <Account, Market>(
  model: MarginModel<Account, Market>,
  { account, standing }: MarginRiskAccount<Account, Market>,
): boolean => account !== undefined && standing !== undefined && model.isValued?.(account) === false

/** Whether the account can carry a trade of the order, as far as anything is known. */
function carries<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  { side }: LiveOrder,
  { leg, counted }: TradeCase,
): boolean {
  const { account, position, standing, market } = riskAccount
  if (account === undefined || position === undefined || market === undefined) return true
  const isAlone = counted === 'alone'
  const own = isAlone ? NO_FLIGHT : riskAccount[side]
  const opposite = isAlone ? NO_FLIGHT : riskAccount[side === 'buy' ? 'sell' : 'buy']
  if (isUnreadable(model, riskAccount)) return isReduction(position + own.size, leg.size)
  return fitsMargin(model, market, { position, standing, own, opposite }, leg)
}

function unfit<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  order: LiveOrder,
  judged: TradeCase,
): Hold | undefined {
  const { account } = riskAccount
  if (account !== undefined && model.isFrozen(account)) return { reason: 'under_liquidation' }
  if (carries(model, riskAccount, order, judged)) return undefined
  const reason = isUnreadable(model, riskAccount) ? UNREADABLE : MARGIN
  return { reason, needed: judged.leg.size * signOf(order.side) }
}

/** Why an order may not rest. One that can only shrink the position may: each match of it is judged by itself. */
function unfitToRest<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  order: LiveOrder,
  counted: TradeCase['counted'],
): Hold | undefined {
  const leg = restLeg(riskAccount, order)
  const { account, position } = riskAccount
  const inFlight = counted === 'alone' ? 0n : riskAccount[order.side].size
  const isFrozen = account !== undefined && model.isFrozen(account)
  if (position !== undefined && !isFrozen && isReduction(position + inFlight, leg.size)) {
    return undefined
  }
  return unfit(model, riskAccount, order, { leg, counted })
}

/** All that may still be hit of a resting order, at its own limit. */
function restLeg<Account, Market>(
  riskAccount: MarginRiskAccount<Account, Market>,
  order: LiveOrder,
): Leg {
  const { side, limitPrice, unmatched } = order
  if (order.order.reduceOnly !== true) return legOf(side, limitPrice, unmatched)
  const left = reducible(sealed(riskAccount), order) ?? 0n
  return legOf(side, limitPrice, left < unmatched ? left : unmatched)
}

const sealed = <Account, Market>(riskAccount: MarginRiskAccount<Account, Market>): RiskAccount =>
  riskAccount as RiskAccount

/** A match as one of its orders sees it; the taker pays the fee. */
function costOf({ side, orderId }: LiveOrder, match: Match): FlightLeg {
  const fee = match.takerOrderId === orderId ? match.takerFee : 0n
  const { settlementId, price, amount } = match
  return { settlementId, ...legOf(side, price, amount, fee) }
}

const negated = ({ size, worth, fee }: Leg): Leg => ({ size: -size, worth: -worth, fee: -fee })

function observe<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  { facts, blockNumber }: AccountObservation<Account>,
): void {
  riskAccount.account = facts
  riskAccount.observedBlock = blockNumber
  forgetMoves(riskAccount.settled, blockNumber)
  recount(model, riskAccount)
}

/** Counts what a settled match moved, or moved back. */
function move<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  { blockNumber }: SettledMatch,
  { size, worth, fee }: Leg,
): void {
  addMove(riskAccount.settled, { blockNumber, size, worth, fee }, sumMoves)
  if (riskAccount.account !== undefined) forgetMoves(riskAccount.settled, riskAccount.observedBlock)
  recount(model, riskAccount)
}

function checkRiskAccount<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  reserved: readonly ReservedCost<FlightLeg>[],
): void {
  const { position, standing, buy, sell } = riskAccount
  const losses = [buy.losses, sell.losses, buy.cash, sell.cash].join()
  const kept = new Set([...buy.legs.keys(), ...sell.legs.keys()])
  assert(kept.size === reserved.length, 'an account keeps another number of legs')
  for (const { cost } of reserved) assert(kept.has(cost.settlementId), 'a leg is lost')
  const size = reserved.reduce((total, { cost }) => total + cost.size, 0n)
  assert(buy.size + sell.size === size, 'what an account has in flight does not add up')
  recount(model, riskAccount)
  recountFlights(model, riskAccount)
  assert(riskAccount.position === position, 'the position of an account does not add up')
  const now = riskAccount.standing
  const isEqual = now?.cash === standing?.cash && now?.equity === standing?.equity
  assert(isEqual, 'what an account has does not add up')
  const lossesNow = [buy.losses, sell.losses, buy.cash, sell.cash].join()
  assert(lossesNow === losses, 'losses do not add up')
}
