import type { LiveOrder } from '../model/live-order.js'
import type { RiskAccount } from '../model/observation.js'
import type { Side } from '../model/order.js'
import { int, text, uint, type Codec } from '../wire/codec.js'
import { list, struct } from '../wire/compound.js'
import type { OwnTypes } from './contract.js'
import type { SettledMove } from './settled-moves.js'

/** A trade of one account, settled or not. Several add up. */
export interface Leg {
  /** Signed, 1e18: positive buys. */
  readonly size: bigint
  /** Price × size, signed, at 1e36. */
  readonly worth: bigint
  /** What the account pays besides, at 1e18. */
  readonly fee: bigint
}

/** A leg that awaits settlement. */
export interface FlightLeg extends Leg {
  readonly settlementId: string
}

export type MarginMove = SettledMove & Leg

/** What an account has at its market's prices, before what its position requires; signed, 1e18. */
export interface MarginTotals {
  /** What of it pays in cash, with the profit that a trade settles into it. */
  readonly cash: bigint
  /** The same with all that counts as initial margin. */
  readonly equity: bigint
}

/** How a contract type computes margin. Pure; every division rounds against the account. */
export interface MarginModel<Account, Market> {
  readonly positionOf: (account: Account) => bigint
  /** Nothing may be matched of the account. */
  readonly isFrozen: (account: Account) => boolean
  /**
   * Whether the chain could value the account when it was read; until it can, the account carries reductions alone. Absent
   * where every account that was read is valued.
   */
  readonly isValued?: (account: Account) => boolean
  /** Undefined while the market has no prices. */
  readonly standing: (account: Account, market: Market) => MarginTotals | undefined
  /** Initial margin that a position requires. */
  readonly requirement: (market: Market, position: bigint) => bigint
  /** What a leg adds to equity at the market's mark, its fee paid. */
  readonly resultOf: (market: Market, leg: Leg) => bigint
  /** The part of it that moves in cash. */
  readonly cashOf: (market: Market, leg: Leg) => bigint
  /** The leg of so much of an order at the mark, or at its limit where that is better for the account; without fee. */
  readonly legAtBest: (market: Market, order: LiveOrder, amount: bigint) => Leg
  /** Whether cash may become negative. */
  readonly mayBorrow: (market: Market) => boolean
  /** Whether nothing is asked of a trade while it shrinks the position: neither cash nor margin. */
  readonly reducesFreely: (market: Market, leg: Leg) => boolean
}

/** The legs of one side that await settlement. */
export interface Flight {
  readonly legs: Map<string, FlightLeg>
  /** Sum of their sizes, signed. */
  size: bigint
  /** Sum of their losses, negative. Follows from the legs and the mark. */
  losses: bigint
  /** Sum of what they take from cash, negative. Follows likewise. */
  cash: bigint
}

/** What the engine keeps of an account with margin. */
export interface MarginRiskAccount<Account, Market> {
  account: Account | undefined
  observedBlock: bigint
  market: Market | undefined
  readonly settled: MarginMove[]
  readonly buy: Flight
  readonly sell: Flight
  /** Position as observed, with what was settled since. Follows from both; undefined while nothing was observed. */
  position: bigint | undefined
  /** Follows from the account, what was settled since, and the market. */
  standing: MarginTotals | undefined
}

export interface MarginSnapshot {
  readonly settled: readonly MarginMove[]
  readonly flight: readonly FlightLeg[]
}

export interface MarginTypes<Account, Market> extends OwnTypes {
  readonly accountFacts: Account
  readonly marketFacts: Market
  readonly riskAccount: MarginRiskAccount<Account, Market>
  readonly riskSnapshot: MarginSnapshot
  readonly cost: FlightLeg
}

export const marginSnapshot: Codec<MarginSnapshot> = struct<MarginSnapshot>({
  settled: list(struct<MarginMove>({ blockNumber: uint, size: int, worth: int, fee: int })),
  flight: list(struct<FlightLeg>({ settlementId: text, size: int, worth: int, fee: uint })),
})

export const signOf = (side: Side): bigint => (side === 'buy' ? 1n : -1n)

/** The leg of so much of an order at a price. */
export function legOf(side: Side, price: bigint, amount: bigint, fee = 0n): Leg {
  const size = signOf(side) * amount
  return { size, worth: price * size, fee }
}

/** Two moves as one, of the later block. */
export const sumMoves = (later: MarginMove, earlier: MarginMove): MarginMove => ({
  blockNumber: later.blockNumber,
  size: later.size + earlier.size,
  worth: later.worth + earlier.worth,
  fee: later.fee + earlier.fee,
})

const newFlight = (): Flight => ({
  legs: new Map<string, FlightLeg>(),
  size: 0n,
  losses: 0n,
  cash: 0n,
})

/** A risk account of which nothing is known but the market. */
export const newRiskAccount = <Account, Market>(
  market: Market | undefined,
): MarginRiskAccount<Account, Market> => ({
  account: undefined,
  observedBlock: 0n,
  market,
  settled: [],
  buy: newFlight(),
  sell: newFlight(),
  position: undefined,
  standing: undefined,
})

/** Counts the losses of a leg in its flight, or with -1 takes them out; gains are not counted. */
function countLosses<Account, Market>(
  model: MarginModel<Account, Market>,
  market: Market | undefined,
  flight: Flight,
  { leg, sign }: { readonly leg: Leg; readonly sign: bigint },
): void {
  if (market === undefined) return
  const result = model.resultOf(market, leg)
  const cash = model.cashOf(market, leg)
  if (result < 0n) flight.losses += sign * result
  if (cash < 0n) flight.cash += sign * cash
}

export function addLeg<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  leg: FlightLeg,
): void {
  const flight = riskAccount[leg.size > 0n ? 'buy' : 'sell']
  flight.legs.set(leg.settlementId, leg)
  flight.size += leg.size
  countLosses(model, riskAccount.market, flight, { leg, sign: 1n })
}

export function removeLeg<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
  leg: FlightLeg,
): void {
  const flight = riskAccount[leg.size > 0n ? 'buy' : 'sell']
  flight.legs.delete(leg.settlementId)
  flight.size -= leg.size
  countLosses(model, riskAccount.market, flight, { leg, sign: -1n })
}

/** Computes position and standing anew. */
export function recount<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
): void {
  const { account, market, settled, observedBlock } = riskAccount
  riskAccount.position = account === undefined ? undefined : model.positionOf(account)
  riskAccount.standing =
    account === undefined || market === undefined ? undefined : model.standing(account, market)
  for (const move of settled) {
    if (riskAccount.position === undefined || move.blockNumber <= observedBlock) continue
    riskAccount.position += move.size
    if (riskAccount.standing === undefined || market === undefined) continue
    const { cash, equity } = riskAccount.standing
    riskAccount.standing = {
      cash: cash + model.cashOf(market, move),
      equity: equity + model.resultOf(market, move),
    }
  }
}

/** Computes the losses of what is in flight anew. */
export function recountFlights<Account, Market>(
  model: MarginModel<Account, Market>,
  riskAccount: MarginRiskAccount<Account, Market>,
): void {
  for (const flight of [riskAccount.buy, riskAccount.sell]) {
    flight.losses = flight.cash = 0n
    for (const leg of flight.legs.values()) {
      countLosses(model, riskAccount.market, flight, { leg, sign: 1n })
    }
  }
}

/** The part of a risk account that does not depend on the contract's own facts. */
const positionsOf = (
  riskAccount: RiskAccount,
): Pick<MarginRiskAccount<never, never>, 'position' | Side> =>
  riskAccount as MarginRiskAccount<never, never>

/**
 * How much of an order would only shrink its account's position: the position's size less what is in flight against it.
 * Undefined while the account was not observed.
 */
export function reducible(
  riskAccount: RiskAccount,
  { side }: Pick<LiveOrder, 'side'>,
): bigint | undefined {
  const { position, [side]: flight } = positionsOf(riskAccount)
  if (position === undefined) return undefined
  const left = -signOf(side) * (position + flight.size)
  return left > 0n ? left : 0n
}

/** Whether matches of the order's side are in flight on its account. */
export const isInFlight = (riskAccount: RiskAccount, { side }: Pick<LiveOrder, 'side'>): boolean =>
  positionsOf(riskAccount)[side].legs.size > 0

/** The account's position when all its matches in flight are settled; 0 while it was not observed. */
export function expectedPosition(riskAccount: RiskAccount): bigint {
  const { position, buy, sell } = positionsOf(riskAccount)
  return (position ?? 0n) + buy.size + sell.size
}
