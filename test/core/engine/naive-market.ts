import type { Command } from '../../../core/model/command.js'
import type { Match } from '../../../core/model/match.js'
import type { MarketObservation, AccountObservation } from '../../../core/model/observation.js'
import type { Order } from '../../../core/model/order.js'
import { isTooLate, naiveCancels, naiveLeases } from './naive-cancels.js'
import { findReplaced, isOneTooMany, isOwn, reduce } from './naive-changes.js'
import { whyShort, isSpent, mayReturn, reducible, exceedsCap, WAITS } from './naive-means.js'
import { asBooked } from './naive-post-only.js'
import { hiddenOf, type NaivePair } from './naive-pairs.js'
import { followHold } from './naive-hold.js'
import type { NaiveRules } from './naive-rules.js'
import { settle } from './naive-settlements.js'
import {
  isHiddenIoc,
  isShut,
  isUntrusted,
  lacksRoom,
  placesOf,
  type NaiveMatch,
  type NaiveTrust,
} from './naive-windows.js'

/**
 * The market's rules once more, written without any structure: lists that are filtered and sorted afresh for every
 * question. Slow, short, and sharing no code with the real step beyond the types.
 */
export interface NaiveOrder {
  order: Order
  readonly rank: number
  filled: bigint
  pending: bigint
  gone?: string
  cancelReason?: string
  hold?: NaiveHold
  /** Cancelled while it settled: nothing of it comes back. */
  cancelled?: string
  refusals: number[]
  /** Its match has failed, and it is not back in the book yet. */
  away?: boolean
}

export interface NaiveHold {
  readonly reason: string
  /** Infinity while something else than time ends it. */
  readonly untilMs: number
  readonly needed?: bigint
}

export interface NaiveMarket {
  readonly rules: NaiveRules
  readonly tick: bigint
  openOrderLimit: number
  readonly orders: NaiveOrder[]
  readonly matches: NaiveMatch[]
  /** All observations of accounts, the newest last. */
  readonly seen: AccountObservation[]
  observed: MarketObservation | undefined
  /** Accounts to look at before the next command, since the market was observed. */
  toReview: bigint[]
  refusedPrices: bigint[]
  /** Why the market was held at the last command. */
  held: string | undefined
  closed: boolean
  nowMs: number
  /** When each lease ends, by its id, or by \`all\`. */
  leases: Record<string, number>
  failed: NaivePair[]
  /** Signers that are code. */
  readonly code: string[]
  readonly trust: NaiveTrust[]
  /** Newest gas cost of a settled match. */
  gasCost: bigint
  /** What those that are not trusted yet have lost. */
  readonly lost: { readonly atMs: number; readonly points: number }[]
}

export const naiveMarket = (rules: NaiveRules, tick: bigint): NaiveMarket => ({
  rules,
  tick,
  orders: [],
  matches: [],
  seen: [],
  observed: undefined,
  nowMs: 0,
  toReview: [],
  refusedPrices: [],
  held: undefined,
  closed: false,
  leases: {},
  failed: [],
  code: [],
  trust: [],
  gasCost: 0n,
  lost: [],
  openOrderLimit: Infinity,
})

export const rest = (it: NaiveOrder): bigint => it.order.desiredAmount - it.filled - it.pending

export const expiringAt = (it: NaiveOrder): number => it.order.goodUntilSec * 1000 - 10_000

/** What can be hit of an order at the market's time. */
export function naiveOpen(market: NaiveMarket, it: NaiveOrder): bigint {
  const held = it.hold !== undefined || market.nowMs >= expiringAt(it)
  return it.gone !== undefined || it.away === true || held ? 0n : rest(it)
}

export function naiveStatus(it: NaiveOrder): string {
  if (it.gone !== undefined) return it.gone
  if (it.filled === it.order.desiredAmount) return 'filled'
  return rest(it) === 0n ? 'matching' : 'active'
}

/** Why an order with something left is not open. */
export const naiveHold = (market: NaiveMarket, it: NaiveOrder): string | undefined =>
  market.nowMs >= expiringAt(it) ? 'expiring' : it.hold?.reason

/** Applies one command at a time; the settlement of a match is named by its index. */
export function naiveApply(market: NaiveMarket, command: Command, nowMs: number): void {
  market.nowMs = nowMs
  followHold(market)
  naiveLeases(market)
  passTime(market)
  // The last order may have ended.
  followHold(market)
  if (market.closed && market.held === undefined) reopen(market)
  for (const id of market.toReview.splice(0)) review(market, id)
  if (command.kind === 'PlaceOrder') place(market, command)
  else if (command.kind === 'SignatureChecked') judgeSignature(market, command)
  else if (command.kind === 'CancelOrder') {
    const it = market.orders.find((one) => one.order.nonce === command.nonce)
    if (it !== undefined && naiveStatus(it) === 'active') naiveCancel(it, command.reason)
  } else if (command.kind === 'ReduceOrder') reduce(market, command)
  else if (command.kind === 'SettlementReported') settle(market, command)
  else if (command.kind === 'AccountObserved') observeAccount(market, command.account)
  else if (command.kind === 'MarketObserved') observeMarket(market, command.observation)
  else if (command.kind === 'SignerCodeObserved') market.code.push(command.signer)
  else if (command.kind === 'MarketRulesSet') {
    const { openOrderLimit = 0 } = command.rules
    market.openOrderLimit = openOrderLimit === 0 ? Infinity : openOrderLimit
  } else naiveCancels(market, command)
}

export function naiveCancel(it: NaiveOrder, reason: string): void {
  it.gone = 'cancelled'
  it.cancelReason = reason
}

function expire(it: NaiveOrder): void {
  if (naiveStatus(it) === 'active') it.gone = 'expired'
}

/** Lets each order's moments come in the order of time, then of placement. */
function passTime(market: NaiveMarket): void {
  const { nowMs } = market
  const due = market.orders
    .filter((it) => it.gone === undefined)
    .map((it) => ({ it, atMs: Math.min(it.hold?.untilMs ?? Infinity, expiringAt(it)) }))
    .filter(({ atMs }) => atMs <= nowMs)
    .sort((a, b) => a.atMs - b.atMs || a.it.rank - b.it.rank)
  for (const { it } of due) {
    if (nowMs >= it.order.goodUntilSec * 1000) expire(it)
    else if (nowMs >= expiringAt(it) && isHiddenIoc(it)) naiveCancel(it, 'expiring')
    else if (nowMs < expiringAt(it) && it.hold !== undefined) release(market, it)
  }
}

export function release(market: NaiveMarket, it: NaiveOrder): void {
  delete it.hold
  if (market.nowMs < expiringAt(it)) enter(market, it)
  endAtOnce(it)
}

/** After a hold of the market the best pairs meet first, the later order as the incoming one. */
function reopen(market: NaiveMarket): void {
  market.closed = false
  for (;;) {
    const pairs = open(market, 'buy').map((bid) => [bid, crossing(market, bid)[0]] as const)
    const [bid, ask] = pairs.find(([, best]) => best !== undefined) ?? []
    if (bid === undefined || ask === undefined) return
    enter(market, bid.rank > ask.rank ? bid : ask)
  }
}

type Placed = Extract<Command, { kind: 'PlaceOrder' }>

function place(market: NaiveMarket, { order: sent, account, replaces }: Placed): void {
  let order = sent
  const known = market.seen.findLast((one) => one.subaccountId === order.subaccountId)
  const isNews = account !== undefined && (known?.blockNumber ?? -1n) < account.blockNumber
  if (isNews) market.seen.push(account)
  if (isNews) review(market, order.subaccountId)
  const old = replaces === undefined ? undefined : findReplaced(market, order, replaces)
  if (old) order = { ...order, initialFilled: (old.filled + old.pending) as Order['initialFilled'] }
  const isVoid = old !== undefined && isSpent(market, { order, rank: 0 } as NaiveOrder)
  const isMissing = replaces !== undefined && (old === undefined || isVoid)
  const isBeyondTrust = isUntrusted(market, { order } as NaiveOrder, old)
  const mayPlace = !isMissing && !isOneTooMany(market, order, old) && !isBeyondTrust
  const booked = mayPlace ? asBooked(market, order) : undefined
  if (booked === undefined) {
    const isKnown = market.orders.some((one) => one.order.subaccountId === order.subaccountId)
    if (isNews && !isKnown) market.seen.pop()
    return
  }
  if (old !== undefined) naiveCancel(old, 'replaced')
  const it: NaiveOrder = {
    order: booked,
    rank: market.orders.length + 1,
    filled: order.initialFilled,
    pending: 0n,
    refusals: [],
  }
  market.orders.push(it)
  if (market.nowMs >= order.goodUntilSec * 1000) expire(it)
  else if (isTooLate(market, it)) naiveCancel(it, 'cancel_on_disconnect')
  else if (isSpent(market, it)) naiveCancel(it, 'reduce_only_no_position')
  else if (order.signatureStatus === 'unchecked') hold(it, 'signature_unchecked')
  else if (market.nowMs >= expiringAt(it)) endAtOnce(it, 'expiring')
  else if (order.timeInForce === 'FOK') fillOrKill(market, it)
  else enter(market, it)
  endAtOnce(it)
}

/** Nothing of an IOC or FOK order waits. */
function endAtOnce(it: NaiveOrder, reason = 'ioc_remainder'): void {
  if (it.order.timeInForce === undefined || naiveStatus(it) !== 'active') return
  // Its signer's other matches come first.
  if (it.hold?.reason === 'signer_waits') return
  naiveCancel(it, it.hold?.reason ?? reason)
}

/** Tries the order on a copy of the market. */
function fillOrKill(market: NaiveMarket, it: NaiveOrder): void {
  const orders = market.orders.map((each) => ({ ...each, refusals: [...each.refusals] }))
  const copy = { ...market, orders, matches: [...market.matches] }
  const tried = orders.at(-1) as NaiveOrder
  enter(copy, tried)
  if (rest(tried) === 0n) enter(market, it)
  else {
    const why = tried.cancelReason ?? tried.hold?.reason ?? 'fok_unfillable'
    naiveCancel(it, why === 'signer_waits' ? 'fok_unfillable' : why)
  }
}

export function hold(it: NaiveOrder, reason: string, untilMs = Infinity): void {
  if (naiveStatus(it) !== 'filled') it.hold = { reason, untilMs }
}

function judgeSignature(
  market: NaiveMarket,
  { orderId, valid, byCode }: Extract<Command, { kind: 'SignatureChecked' }>,
): void {
  const it = market.orders.find((one) => one.order.orderId === orderId)
  if (it === undefined || it.gone !== undefined || naiveStatus(it) === 'filled') return
  if (byCode === true) it.order = { ...it.order, signedByCode: true }
  if (!valid && naiveStatus(it) === 'active') naiveCancel(it, 'signature_revoked')
  else if (!valid && it.hold === undefined) hold(it, 'signature_unchecked')
  else if (valid && it.hold?.reason === 'signature_unchecked') release(market, it)
}

function observeAccount(market: NaiveMarket, account: AccountObservation): void {
  const id = account.subaccountId
  // Accounts without any order are not followed.
  if (!market.orders.some(({ order }) => order.subaccountId === id)) return
  market.seen.push(account)
  review(market, id)
}

/** The accounts are looked at with the next command, and what was out of reach before as well. */
function observeMarket(market: NaiveMarket, observed: MarketObservation): void {
  market.observed = observed
  market.refusedPrices = []
  const bid = open(market, 'buy')[0]
  const ask = open(market, 'sell')[0]
  const isCrossed = bid && ask && bid.order.limitPrice >= ask.order.limitPrice
  if (market.rules.range !== undefined && isCrossed) market.closed = true
  const ids = market.orders.map(({ order }) => order.subaccountId)
  if (market.rules.margin !== undefined) market.toReview = [...new Set(ids)]
}

/** What an account cannot carry any more leaves the book; what it can carry again comes back. */
function review(market: NaiveMarket, id: bigint): void {
  for (const it of ofAccount(market, id)) {
    const isOpen = naiveOpen(market, it) > 0n
    const why = isOpen ? whyShort(market, it, { counted: 'alone' }) : undefined
    if (why !== undefined) stepAside(market, it, why)
  }
  endAndReturn(market, id)
}

export function endAndReturn(market: NaiveMarket, id: bigint): void {
  for (const it of ofAccount(market, id))
    if (naiveStatus(it) === 'active' && isSpent(market, it))
      naiveCancel(it, 'reduce_only_no_position')
  for (const it of ofAccount(market, id).filter((one) => isWaiting(market, one)))
    if (isWaiting(market, it) && mayReturn(market, it)) release(market, it)
}

export const isWaiting = (market: NaiveMarket, it: NaiveOrder): boolean =>
  it.gone === undefined &&
  market.nowMs < expiringAt(it) &&
  it.hold?.untilMs === Infinity &&
  [...WAITS, 'not_in_custody'].includes(it.hold.reason)

const ofAccount = (market: NaiveMarket, id: bigint): NaiveOrder[] =>
  market.orders.filter(({ order, gone }) => order.subaccountId === id && gone === undefined)

export const open = (market: NaiveMarket, side: string): NaiveOrder[] =>
  market.orders
    .filter((it) => it.order.side === side && naiveOpen(market, it) > 0n)
    .sort((a, b) => {
      const dearer = Number(a.order.limitPrice - b.order.limitPrice)
      return (side === 'buy' ? -dearer : dearer) || a.rank - b.rank
    })

/** The orders of the other side that cross at a price within reach, best first; the price is that of the earlier order. */
export function crossing(market: NaiveMarket, incoming: NaiveOrder): NaiveOrder[] {
  const { rules, observed, nowMs } = market
  const isBuyer = incoming.order.side === 'buy'
  const range = rules.range?.(observed, nowMs)
  return open(market, isBuyer ? 'sell' : 'buy').filter((it) => {
    const [bid, ask] = isBuyer ? [incoming, it] : [it, incoming]
    const { limitPrice: price } = (it.rank < incoming.rank ? it : incoming).order
    if (bid.order.limitPrice < ask.order.limitPrice) return false
    if (range === undefined) return true
    return price >= range.low && price <= range.high && !market.refusedPrices.includes(price)
  })
}

export function enter(market: NaiveMarket, incoming: NaiveOrder): void {
  if (rest(incoming) > 0n && isShut(market, incoming)) return
  while (rest(incoming) > 0n) {
    const all = market.closed ? [] : crossing(market, incoming)
    const passed = all.findIndex((it) => !passesOver(market, incoming, it))
    const best = passed <= 100 ? all[passed] : undefined
    if (best === undefined) {
      if (incoming.order.timeInForce !== undefined) return
      const why = whyShort(market, incoming, { counted: 'with_flight' })
      const [barring] = all
      if (why !== undefined) stepAside(market, incoming, why)
      else if (barring !== undefined) hide(market, incoming, barring)
      return
    }
    if (isOwn(best.order, incoming.order)) {
      const { stp = 'cancel_newest' } = incoming.order as { stp?: string }
      if (stp !== 'cancel_newest') naiveCancel(best, 'self_trade')
      if (stp !== 'cancel_oldest') return naiveCancel(incoming, 'self_trade')
      continue
    }
    meet(market, incoming, best)
    if (incoming.gone !== undefined || incoming.hold !== undefined) return
  }
}

const passesOver = (market: NaiveMarket, incoming: NaiveOrder, it: NaiveOrder): boolean =>
  !isOwn(it.order, incoming.order) && hiddenOf(market, incoming, it)?.it === incoming

/** Hides one of two orders that may not match now. */
function hide(market: NaiveMarket, a: NaiveOrder, b: NaiveOrder): void {
  const hidden = hiddenOf(market, a, b)
  if (hidden !== undefined) hold(hidden.it, 'pair_waits', hidden.untilMs)
}

function meet(market: NaiveMarket, incoming: NaiveOrder, best: NaiveOrder): void {
  if (hiddenOf(market, incoming, best) !== undefined) return hide(market, incoming, best)
  if (lacksRoom(market, incoming, best)) return
  const later = best.rank > incoming.rank ? best : incoming
  if (later.order.postOnly !== undefined) return naiveCancel(later, 'post_only_would_cross')
  const offered = naiveOpen(market, best)
  let amount = offered < rest(incoming) ? offered : rest(incoming)
  for (const it of [incoming, best]) {
    if (it.order.reduceOnly !== true) continue
    const left = reducible(market, it) ?? 0n
    if (isSpent(market, it)) return naiveCancel(it, 'reduce_only_no_position')
    if (left === 0n) return stepAside(market, it, { reason: 'reduce_only' })
    if (left < amount) amount = left
  }
  if (exceedsCap(market, [incoming, best], amount))
    return stepAside(market, incoming, { reason: 'open_interest_cap' })
  const maker = best.rank < incoming.rank ? best : incoming
  const taker = maker === best ? incoming : best
  const price = maker.order.limitPrice
  const takerFee = market.rules.fee(price, amount)
  for (const it of [incoming, best]) {
    const fee = it === taker ? takerFee : 0n
    const why = whyShort(market, it, { counted: 'with_flight', at: { price, amount, fee } })
    if (why !== undefined) return stepAside(market, it, why)
  }
  incoming.pending += amount
  best.pending += amount
  market.matches.push({
    settlementId: `${market.matches.length}`,
    makerOrderId: maker.order.orderId,
    takerOrderId: taker.order.orderId,
    price,
    amount: amount as Match['amount'],
    takerFee: takerFee as Match['takerFee'],
    done: false,
    by: placesOf(market, incoming, best),
  })
}

/** Holds an order that its account does not carry; where that counts as a refusal, for half a minute. */
function stepAside(market: NaiveMarket, it: NaiveOrder, why: Omit<NaiveHold, 'untilMs'>): void {
  const isRefusal = market.rules.refusesShortMargin && why.reason === 'insufficient_margin'
  if (isRefusal && isRefusedForGood(market, it)) naiveCancel(it, why.reason)
  else it.hold = { ...why, untilMs: isRefusal ? market.nowMs + 30_000 : Infinity }
}

export function isRefusedForGood({ nowMs }: NaiveMarket, it: NaiveOrder): boolean {
  it.refusals.push(nowMs)
  const [first = nowMs] = it.refusals
  return it.refusals.length >= 3 && nowMs - first >= 60_000
}
