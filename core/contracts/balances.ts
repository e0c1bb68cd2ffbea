import { assert } from '../assert.js'
import type { Hold } from '../model/hold.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Match } from '../model/match.js'
import type { AccountFacts, RiskSnapshot, AccountObservation } from '../model/observation.js'
import { amountE18, E18, mulDivFloor, type AmountE18, type QuoteE18 } from '../money.js'
import { int, never, signedAmountE18, signedQuoteE18, uint, type Codec } from '../wire/codec.js'
import { appended, list, struct } from '../wire/compound.js'
import type { ContractWire, Means, SettledMatch } from './contract.js'
import { notionalFloor } from './fees.js'
import { exposureCodec, isMarginKept, type Exposure } from './future-margin.js'
import { addMove, forgetMoves, type SettledMove } from './settled-moves.js'

/** What an account holds of a market's two assets at one block, signed, 1e-18 units. */
export interface BalanceFacts {
  readonly base: AmountE18
  /** Of the asset that the market's trade module moves as quote. */
  readonly quote: QuoteE18
  /** Present where margin binds the balances as well; `base` is then less what the account owes of it. */
  readonly exposure?: Exposure
}

/** An amount of each asset, signed, 1e-18 units. */
interface AssetAmounts {
  readonly base: bigint
  readonly quote: bigint
}

type SettledBalances = SettledMove & AssetAmounts

/** The balances of an account, and how much of them its matches in flight have reserved. */
export interface BalanceRiskAccount {
  observed: AccountObservation<BalanceFacts> | undefined
  /** By block, ascending: what an observation of an earlier block does not show. */
  readonly settled: SettledBalances[]
  /** What the account's matches in flight may take. Follows from them. */
  reservedBase: bigint
  reservedQuote: bigint
  /** Balances less what is reserved. Follows from the rest; undefined while nothing was observed. */
  availableBase: bigint | undefined
  availableQuote: bigint | undefined
}

export interface BalanceRiskSnapshot {
  readonly settled: readonly SettledBalances[]
  readonly reserved: AssetAmounts
}

export interface BalanceTypes {
  readonly accountFacts: BalanceFacts
  readonly marketFacts: never
  readonly riskAccount: BalanceRiskAccount
  readonly riskSnapshot: BalanceRiskSnapshot
  /** Units of the asset that the order pays with: quote for a buy, base for a sell. */
  readonly cost: bigint
}

const balances: Codec<AssetAmounts> = struct<AssetAmounts>({ base: int, quote: int })

/** How balances stand in logs and checkpoints; decimal text of 1e-18 units, signed. */
export const balanceWire: ContractWire<BalanceTypes> = {
  accountFacts: struct<BalanceFacts>({
    base: signedAmountE18,
    quote: signedQuoteE18,
    exposure: appended(exposureCodec),
  }),
  marketFacts: never,
  riskAccount: struct<BalanceRiskSnapshot>({
    settled: list(struct<SettledBalances>({ blockNumber: uint, base: int, quote: int })),
    reserved: balances,
  }),
}

/** Hides balances as the facts of an account whose contract pays with balances. */
export const balanceFacts = (facts: BalanceFacts): AccountFacts => facts as AccountFacts

/** A risk account of balances as a checkpoint keeps it. */
export const riskSnapshotOf = (riskAccount: RiskSnapshot): BalanceRiskSnapshot =>
  riskAccount as BalanceRiskSnapshot

/** The inverse of balanceFacts. */
export const balancesOf = (facts: AccountFacts): BalanceFacts => facts as BalanceFacts

/**
 * Means of accounts that pay each fill out of two balances, of which neither may become negative. An account with an
 * exposure also keeps its initial margin: what a fill pays and brings in is judged, with what other matches in flight pay.
 */
export const balanceMeans: Means<BalanceTypes> = {
  openRiskAccount: () => ({
    observed: undefined,
    settled: [],
    reservedBase: 0n,
    reservedQuote: 0n,
    availableBase: undefined,
    availableQuote: undefined,
  }),
  observe(riskAccount, observed) {
    riskAccount.observed = observed
    forgetSettled(riskAccount)
  },
  costOf,
  shortOfMatch: (riskAccount, order, cost, match) =>
    ifShort(availableFor(riskAccount, order), cost) ??
    ifBound(riskAccount, () => exchangeOf(order, cost, receivedOf(order, match))),
  shortToOpen: (riskAccount, order) => {
    const has = availableFor(riskAccount, order)
    if (has === undefined) return undefined
    return ifShort(has, restCost(order)) ?? ifBound(riskAccount, () => restOf(order))
  },
  shortToStay: (riskAccount, order) => {
    const has = availableFor(riskAccount, order)
    if (has === undefined) return undefined
    const reserved = order.side === 'buy' ? riskAccount.reservedQuote : riskAccount.reservedBase
    return (
      ifShort(has + reserved, restCost(order)) ??
      ifBound(riskAccount, () => restOf(order), reservedIn(riskAccount))
    )
  },
  hasEnough(riskAccount, order, { needed = 0n }) {
    const has = availableFor(riskAccount, order)
    if (has === undefined) return true
    if (has < needed) return false
    return (
      ifBound(riskAccount, () => exchangeOf(order, needed, receivedFor(order, needed))) ===
      undefined
    )
  },
  reserve,
  release: (riskAccount, order, cost) => reserve(riskAccount, order, -cost),
  settle(riskAccount, order, settled) {
    addMove(riskAccount.settled, moveOf(order, settled), sum)
    forgetSettled(riskAccount)
  },
  unsettle(riskAccount, order, settled) {
    const { blockNumber, base, quote } = moveOf(order, settled)
    addMove(riskAccount.settled, { blockNumber, base: -base, quote: -quote }, sum)
    forgetSettled(riskAccount)
  },
  snapshot: ({ settled, reservedBase, reservedQuote }) => ({
    settled: [...settled],
    reserved: { base: reservedBase, quote: reservedQuote },
  }),
  restore({ settled, reserved }, { observed }) {
    const riskAccount: BalanceRiskAccount = {
      observed,
      settled: [...settled],
      reservedBase: reserved.base,
      reservedQuote: reserved.quote,
      availableBase: undefined,
      availableQuote: undefined,
    }
    countAvailable(riskAccount)
    return riskAccount
  },
  check: checkRiskAccount,
}

/** What the account has left of the asset that the order pays with; undefined when nothing was observed. */
const availableFor = (riskAccount: BalanceRiskAccount, { side }: LiveOrder): bigint | undefined =>
  side === 'buy' ? riskAccount.availableQuote : riskAccount.availableBase

/** What a match takes from one of its orders; the fee of a selling taker comes out of what it receives. */
function costOf({ side, orderId }: LiveOrder, match: Match): bigint {
  if (side === 'sell') return match.amount
  const notional = notionalFloor(match.price, match.amount)
  return match.takerOrderId === orderId ? notional + match.takerFee : notional
}

/** What all that is unmatched of a resting order takes from its account when it is hit. */
const restCost = ({ side, limitPrice, unmatched }: LiveOrder): bigint =>
  side === 'sell' ? unmatched : notionalFloor(limitPrice, unmatched)

function ifShort(has: bigint | undefined, needed: bigint): Hold | undefined {
  if (has === undefined || has >= needed) return undefined
  return { reason: 'insufficient_balance', needed }
}

/** What a match brings in, in units of the other asset. */
function receivedOf({ side, orderId }: LiveOrder, match: Match): bigint {
  if (side === 'buy') return match.amount
  const notional = notionalFloor(match.price, match.amount)
  return match.takerOrderId === orderId ? notional - match.takerFee : notional
}

/** The same of so much paid at the order's limit, without fee. */
const receivedFor = ({ side, limitPrice }: LiveOrder, paid: bigint): bigint =>
  side === 'buy' ? mulDivFloor(paid, E18, limitPrice) : notionalFloor(limitPrice, amountE18(paid))

/** A trade as the account bears it: what the order pays, and both signed moves. */
interface TradeMoves extends AssetAmounts {
  readonly paid: bigint
}

const exchangeOf = ({ side }: LiveOrder, paid: bigint, received: bigint): TradeMoves =>
  side === 'buy' ? { paid, base: received, quote: -paid } : { paid, base: -paid, quote: received }

/** All that is unmatched of a resting order, hit at its limit. */
function restOf(order: LiveOrder): TradeMoves {
  const paid = restCost(order)
  const { side, limitPrice, unmatched } = order
  return exchangeOf(order, paid, side === 'buy' ? unmatched : notionalFloor(limitPrice, unmatched))
}

const NOTHING: AssetAmounts = { base: 0n, quote: 0n }

const reservedIn = ({ reservedBase, reservedQuote }: BalanceRiskAccount): AssetAmounts => ({
  base: reservedBase,
  quote: reservedQuote,
})

/**
 * Why an account with an exposure cannot bear a trade; `kept` is what of the reserved counts as still there. What matches in
 * flight bring in does not count.
 */
function ifBound(
  { observed, availableBase, availableQuote }: BalanceRiskAccount,
  trade: () => TradeMoves,
  kept: AssetAmounts = NOTHING,
): Hold | undefined {
  const exposure = observed?.facts.exposure
  if (observed === undefined || exposure === undefined) return undefined
  if (availableBase === undefined || availableQuote === undefined) return undefined
  const { paid, base, quote } = trade()
  const usdc = availableQuote + kept.quote + quote
  const cngn = exposure.cngn - observed.facts.base + availableBase + kept.base + base
  return isMarginKept(exposure, { usdc, cngn })
    ? undefined
    : { reason: 'insufficient_margin', needed: paid }
}

function reserve(riskAccount: BalanceRiskAccount, { side }: LiveOrder, cost: bigint): void {
  if (side === 'buy') {
    riskAccount.reservedQuote += cost
    if (riskAccount.availableQuote !== undefined) riskAccount.availableQuote -= cost
  } else {
    riskAccount.reservedBase += cost
    if (riskAccount.availableBase !== undefined) riskAccount.availableBase -= cost
  }
}

function moveOf(order: LiveOrder, { match, blockNumber }: SettledMatch): SettledBalances {
  const notional = notionalFloor(match.price, match.amount)
  const fee = match.takerOrderId === order.orderId ? match.takerFee : 0n
  const sign = order.side === 'buy' ? 1n : -1n
  return { blockNumber, base: sign * match.amount, quote: -sign * notional - fee }
}

const sum = (move: SettledBalances, other: AssetAmounts): SettledBalances => ({
  blockNumber: move.blockNumber,
  base: move.base + other.base,
  quote: move.quote + other.quote,
})

/** Drops moves that every later observation shows, however far the chain is reorganised; then counts anew. */
function forgetSettled(riskAccount: BalanceRiskAccount): void {
  const { observed, settled } = riskAccount
  if (observed === undefined) return
  forgetMoves(settled, observed.blockNumber)
  countAvailable(riskAccount)
}

/** Counts what is available: the observation, what settled in later blocks, less what is reserved. */
function countAvailable(riskAccount: BalanceRiskAccount): void {
  const { observed, settled } = riskAccount
  if (observed === undefined) return
  let base: bigint = observed.facts.base
  let quote: bigint = observed.facts.quote
  for (const move of settled) {
    if (move.blockNumber <= observed.blockNumber) continue
    base += move.base
    quote += move.quote
  }
  riskAccount.availableBase = base - riskAccount.reservedBase
  riskAccount.availableQuote = quote - riskAccount.reservedQuote
}

function checkRiskAccount(
  riskAccount: BalanceRiskAccount,
  reserved: readonly { readonly order: LiveOrder; readonly cost: bigint }[],
): void {
  const sumOf = (side: 'buy' | 'sell'): bigint =>
    reserved.reduce((total, { order, cost }) => (order.side === side ? total + cost : total), 0n)
  const agrees =
    riskAccount.reservedBase === sumOf('sell') && riskAccount.reservedQuote === sumOf('buy')
  assert(agrees, 'what an account has reserved does not add up')
  const { availableBase, availableQuote } = riskAccount
  countAvailable(riskAccount)
  const follows =
    riskAccount.availableBase === availableBase && riskAccount.availableQuote === availableQuote
  assert(follows, 'what an account has available does not add up')
}
