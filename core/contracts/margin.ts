import { assert } from '../assert.js'
import type { Hold } from '../model/hold.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Match } from '../model/match.js'
import type { Purse, AccountObservation } from '../model/observation.js'
import type { Means, ReservedCost, SettledMatch } from './contract.js'
import {
  addLeg,
  legOf,
  newPurse,
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
  type MarginPurse,
  type MarginTypes,
  type Standing,
} from './margin-purse.js'
import { addMove, forgetMoves } from './settled-moves.js'

/**
 * Means of accounts that carry positions against margin (PER-023 to PER-027). An order is judged by itself, with the account's
 * matches in flight: those of its own side as if settled, their losses but not their gains; of the other side the losses
 * that exceed the margin which these matches release.
 */
export const marginMeans = <Account, Market>(
  model: MarginModel<Account, Market>,
): Means<MarginTypes<Account, Market>> => ({
  openPurse: (market) => newPurse(market?.facts),
  revalue(purse, { facts }) {
    purse.market = facts
    recount(model, purse)
    recountFlights(model, purse)
  },
  observe: (purse, observed) => observe(model, purse, observed),
  costOf,
  shortOfMatch: (purse, order, leg) => unfit(model, purse, order, { leg, counted: 'with_flight' }),
  shortToOpen: (purse, order) => unfitToRest(model, purse, order, 'with_flight'),
  shortToStay: (purse, order) => unfitToRest(model, purse, order, 'alone'),
  hasEnough(purse, order, hold) {
    const { account, market } = purse
    if (account === undefined || market === undefined) return true
    if (model.isFrozen(account)) return false
    if (hold.reason === 'reduce_only') return reducible(sealed(purse), order) !== 0n
    // What is left of the market's cap depends on the match.
    if (hold.reason !== MARGIN) return true
    const { needed = order.unmatched } = hold
    const amount = needed < order.unmatched ? needed : order.unmatched
    const leg = model.legAtBest(market, order, amount)
    return carries(model, purse, order, { leg, counted: 'with_flight' })
  },
  reserve: (purse, _, leg) => addLeg(model, purse, leg),
  release: (purse, _, leg) => removeLeg(model, purse, leg),
  settle: (purse, order, settled) => move(model, purse, settled, costOf(order, settled.match)),
  unsettle: (purse, order, settled) =>
    move(model, purse, settled, negated(costOf(order, settled.match))),
  snapshot: ({ settled, buy, sell }) => ({
    settled: [...settled],
    flight: [...buy.legs.values(), ...sell.legs.values()],
  }),
  restore({ settled, flight }, { observed, market }) {
    const purse = newPurse<Account, Market>(market?.facts)
    purse.account = observed?.facts
    purse.observedBlock = observed?.blockNumber ?? 0n
    purse.settled.push(...settled)
    for (const leg of flight) addLeg(model, purse, leg)
    recount(model, purse)
    return purse
  },
  check: (purse, reserved) => checkPurse(model, purse, reserved),
})

const MARGIN: Hold['reason'] = 'insufficient_margin'

/** A trade to judge, with the account's matches in flight or without. */
interface Judged {
  readonly leg: Leg
  readonly counted: 'with_flight' | 'alone'
}

/** Matches in flight as far as a judgement needs them. */
type InFlight = Pick<Flight, 'size' | 'losses' | 'cash'>

export const NO_FLIGHT: InFlight = { size: 0n, losses: 0n, cash: 0n }

/** What an account has, and what of it is in flight on the side of a trade and on the other. */
export interface Bearing {
  readonly position: bigint
  readonly standing: Standing | undefined
  readonly own: InFlight
  readonly opposite: InFlight
}

type Rules<Market, Names extends keyof MarginModel<never, Market>> = Pick<
  MarginModel<never, Market>,
  Names
>

/** Whether the margin of an account carries a trade; while the market has no prices it does. */
export function fitsMargin<Market>(
  model: Rules<Market, 'requirement' | 'resultOf' | 'cashOf' | 'mayBorrow' | 'reducesFreely'>,
  market: Market,
  bearing: Bearing,
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
  model: Rules<Market, 'cashOf' | 'mayBorrow'>,
  market: Market,
  { standing, own, opposite }: Bearing,
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

/** Whether the account can carry a trade of the order, as far as anything is known. */
function carries<Account, Market>(
  model: MarginModel<Account, Market>,
  purse: MarginPurse<Account, Market>,
  { side }: LiveOrder,
  { leg, counted }: Judged,
): boolean {
  const { account, position, standing, market } = purse
  if (account === undefined || position === undefined || market === undefined) return true
  const isAlone = counted === 'alone'
  const own = isAlone ? NO_FLIGHT : purse[side]
  const opposite = isAlone ? NO_FLIGHT : purse[side === 'buy' ? 'sell' : 'buy']
  if (standing !== undefined && model.isValued?.(account) === false) {
    return isReduction(position + own.size, leg.size)
  }
  return fitsMargin(model, market, { position, standing, own, opposite }, leg)
}

function unfit<Account, Market>(
  model: MarginModel<Account, Market>,
  purse: MarginPurse<Account, Market>,
  order: LiveOrder,
  judged: Judged,
): Hold | undefined {
  const { account } = purse
  if (account !== undefined && model.isFrozen(account)) return { reason: 'under_liquidation' }
  if (carries(model, purse, order, judged)) return undefined
  return { reason: MARGIN, needed: judged.leg.size * signOf(order.side) }
}

/** Why an order may not rest. One that can only shrink the position may: each match of it is judged by itself. */
function unfitToRest<Account, Market>(
  model: MarginModel<Account, Market>,
  purse: MarginPurse<Account, Market>,
  order: LiveOrder,
  counted: Judged['counted'],
): Hold | undefined {
  const leg = restLeg(purse, order)
  const { account, position } = purse
  const inFlight = counted === 'alone' ? 0n : purse[order.side].size
  const isFrozen = account !== undefined && model.isFrozen(account)
  if (position !== undefined && !isFrozen && isReduction(position + inFlight, leg.size)) {
    return undefined
  }
  return unfit(model, purse, order, { leg, counted })
}

/** All that may still be hit of a resting order, at its own limit. */
function restLeg<Account, Market>(purse: MarginPurse<Account, Market>, order: LiveOrder): Leg {
  const { side, limitPrice, unmatched } = order
  if (order.order.reduceOnly !== true) return legOf(side, limitPrice, unmatched)
  const left = reducible(sealed(purse), order) ?? 0n
  return legOf(side, limitPrice, left < unmatched ? left : unmatched)
}

const sealed = <Account, Market>(purse: MarginPurse<Account, Market>): Purse => purse as Purse

/** A match as one of its orders sees it; the taker pays the fee. */
function costOf({ side, orderId }: LiveOrder, match: Match): FlightLeg {
  const fee = match.takerOrderId === orderId ? match.takerFee : 0n
  const { settlementId, price, amount } = match
  return { settlementId, ...legOf(side, price, amount, fee) }
}

const negated = ({ size, worth, fee }: Leg): Leg => ({ size: -size, worth: -worth, fee: -fee })

function observe<Account, Market>(
  model: MarginModel<Account, Market>,
  purse: MarginPurse<Account, Market>,
  { facts, blockNumber }: AccountObservation<Account>,
): void {
  purse.account = facts
  purse.observedBlock = blockNumber
  forgetMoves(purse.settled, blockNumber)
  recount(model, purse)
}

/** Counts what a settled match moved, or moved back. */
function move<Account, Market>(
  model: MarginModel<Account, Market>,
  purse: MarginPurse<Account, Market>,
  { blockNumber }: SettledMatch,
  { size, worth, fee }: Leg,
): void {
  addMove(purse.settled, { blockNumber, size, worth, fee }, sumMoves)
  if (purse.account !== undefined) forgetMoves(purse.settled, purse.observedBlock)
  recount(model, purse)
}

function checkPurse<Account, Market>(
  model: MarginModel<Account, Market>,
  purse: MarginPurse<Account, Market>,
  reserved: readonly ReservedCost<FlightLeg>[],
): void {
  const { position, standing, buy, sell } = purse
  const losses = [buy.losses, sell.losses, buy.cash, sell.cash].join()
  const kept = new Set([...buy.legs.keys(), ...sell.legs.keys()])
  assert(kept.size === reserved.length, 'an account keeps another number of legs')
  for (const { cost } of reserved) assert(kept.has(cost.settlementId), 'a leg is lost')
  const size = reserved.reduce((total, { cost }) => total + cost.size, 0n)
  assert(buy.size + sell.size === size, 'what an account has in flight does not add up')
  recount(model, purse)
  recountFlights(model, purse)
  assert(purse.position === position, 'the position of an account does not add up')
  const now = purse.standing
  const isEqual = now?.cash === standing?.cash && now?.equity === standing?.equity
  assert(isEqual, 'what an account has does not add up')
  const lossesNow = [buy.losses, sell.losses, buy.cash, sell.cash].join()
  assert(lossesNow === losses, 'losses do not add up')
}
