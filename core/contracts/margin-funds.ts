import { formatDecimal } from '../decimal.js'
import type { MarginBalance } from '../../interface/balances.js'
import type { Claims } from './funds.js'
import { outlookRecord, type LiquidationOutlook } from './liquidation-outlook.js'
import { legOf, type Leg, type MarginModel } from './margin-risk.js'

/** Initial margin that an account's orders and matches would take, beyond what its position requires. */
export interface MarginReserved {
  readonly byOrders: bigint
  readonly byMatches: bigint
}

type FundsRules<Market> = Pick<MarginModel<never, Market>, 'requirement' | 'resultOf'>

/**
 * What the matches take first, then what the open orders add to it. Either side may be carried out without the other, so
 * the one that requires more counts; a gain against the mark does not count, a loss does.
 */
export function reservedMargin<Market>(
  model: FundsRules<Market>,
  market: Market,
  position: bigint,
  { orders, matches }: Claims,
): MarginReserved {
  const matched = matches.map(({ side, price, amount, fee }) => legOf(side, price, amount, fee))
  const open = orders.map(({ side, price, amount }) => legOf(side, price, amount))
  const now = model.requirement(market, position)
  const withMatches = worst(model, market, position, matched)
  const withAll = worst(model, market, position, [...matched, ...open])
  const first = atLeast(withMatches, now)
  const last = atLeast(withAll, now)
  return {
    byMatches: first - now + lossesOf(model, market, matched),
    byOrders: atLeast(last - first, 0n) + lossesOf(model, market, open),
  }
}

/** The most that the position requires after all legs of one side, or after all. */
function worst<Market>(
  { requirement }: FundsRules<Market>,
  market: Market,
  position: bigint,
  legs: readonly Leg[],
): bigint {
  const sizeOf = (sign: bigint): bigint =>
    legs.reduce((sum, { size }) => (size * sign > 0n ? sum + size : sum), 0n)
  const bought = sizeOf(1n)
  const sold = sizeOf(-1n)
  return [bought, sold, bought + sold]
    .map((size) => requirement(market, position + size))
    .reduce(atLeast)
}

function lossesOf<Market>(
  { resultOf }: FundsRules<Market>,
  market: Market,
  legs: readonly Leg[],
): bigint {
  return legs.reduce((sum, leg) => sum + atLeast(-resultOf(market, leg), 0n), 0n)
}

const atLeast = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** What an account has and what its positions require, in USDC at 1e18; undefined what cannot be priced. */
export interface MarginFigures {
  readonly position: bigint
  readonly balance: bigint
  readonly collateral: bigint | undefined
  readonly unrealized: bigint | undefined
  readonly initial: bigint | undefined
  readonly maintenance: bigint | undefined
  readonly initialSurplus: bigint | undefined
  readonly maintenanceSurplus: bigint | undefined
  readonly outlook: LiquidationOutlook
  /** Undefined while the market has no prices. */
  readonly reserved: MarginReserved | undefined
}

const e18 = (value: bigint | undefined): string =>
  value === undefined ? '' : formatDecimal(value, 18)

/** Presents the margin of an account in one market. */
export function marginBalance(market: string, figures: MarginFigures): MarginBalance {
  const { initialSurplus: surplus, reserved } = figures
  const isPriced = surplus !== undefined && reserved !== undefined
  const free = isPriced ? atLeast(surplus - reserved.byOrders - reserved.byMatches, 0n) : undefined
  return {
    market,
    position: e18(figures.position),
    balance: e18(figures.balance),
    collateral_value: e18(figures.collateral),
    unrealized_pnl: e18(figures.unrealized),
    initial_margin: e18(figures.initial),
    maintenance_margin: e18(figures.maintenance),
    initial_margin_surplus: e18(surplus),
    maintenance_margin_surplus: e18(figures.maintenanceSurplus),
    ...outlookRecord(figures.outlook),
    reserved_by_orders: e18(reserved?.byOrders),
    reserved_by_matches: e18(reserved?.byMatches),
    free: e18(free),
    price_status: isPriced ? 'ok' : 'stale',
  }
}
