import type { AccountBalances, TokenBalance } from '../../interface/balances.js'
import type { OwnAccount } from '../../interface/explanation.js'
import type { Address } from '../action.js'
import {
  NO_CLAIMS,
  type Claims,
  type FundsFacts,
  type OpenClaim,
  type ShownFunds,
} from '../contracts/funds.js'
import { contractOf } from '../contracts/registry.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { MarketObservation } from '../model/observation.js'
import { isoTime } from '../time.js'

/** An account as one block of the chain shows it. */
export interface SeenFunds {
  readonly subaccountId: bigint
  readonly manager: Address
  /** Balances of the account, signed, in 1e-18 units; an asset of which there is none may be absent. */
  readonly holdings: readonly {
    readonly asset: Address
    readonly subId: bigint
    readonly balance: bigint
  }[]
  /** The markets that the account may trade. */
  readonly markets: readonly {
    readonly market: Market
    readonly observed: MarketObservation | undefined
    readonly facts: FundsFacts
  }[]
  readonly blockNumber: bigint
  readonly blockTimeSec: number
  /** When the read began, unix milliseconds. */
  readonly readAtMs: number
}

/** Facts that were read longer ago are shown as stale. */
export const FUNDS_STALE_MS = 15_000

/** What the account's orders have claimed in a market. */
export type ClaimsIn = (market: string) => Claims | undefined

/** Presents an account: what the chain shows, and what the venue's orders and matches have claimed of it. */
export function accountBalances(
  seen: SeenFunds,
  claimsIn: ClaimsIn,
  nowMs: number,
): AccountBalances {
  const shown = shownFunds(seen, claimsIn)
  return {
    subaccount_id: seen.subaccountId.toString(),
    manager_address: seen.manager,
    block_number: Number(seen.blockNumber),
    block_time: isoTime(seen.blockTimeSec * 1_000),
    facts: nowMs - seen.readAtMs > FUNDS_STALE_MS ? 'stale' : 'current',
    tokens: tokensOf(seen, shown),
    margin: shown.flatMap(({ margin }) => margin ?? []),
  }
}

/** The account in the terms of each of its markets, by the market's name. */
function shownFunds(seen: SeenFunds, claimsIn: ClaimsIn): ShownFunds[] {
  return seen.markets
    .toSorted((a, b) => (a.market.market < b.market.market ? -1 : 1))
    .flatMap(({ market, observed, facts }) => {
      const claims = claimsIn(market.market) ?? NO_CLAIMS
      return contractOf(market).present.funds?.({ market, observed, facts, claims }) ?? []
    })
}

/** What the rest of one order takes, and what the account lacks for it besides the matches that await settlement. */
export function orderNeeds(
  seen: SeenFunds,
  claimsIn: ClaimsIn,
  { market, rest }: { readonly market: string; readonly rest: OpenClaim },
): Pick<OwnAccount, 'needs' | 'initial_margin_needed'> {
  const claimed = claimedTokens(shownFunds(seen, claimsIn))
  const ofOrder = shownFunds(seen, (name) =>
    name === market ? { orders: [rest], matches: [] } : NO_CLAIMS,
  )
  const needs = [...claimedTokens(ofOrder)]
    .filter(([, { byOrders }]) => byOrders > 0n)
    .map(([asset, { token, byOrders: needed }]) => {
      const left = totalOf(seen, asset) - (claimed.get(asset)?.byMatches ?? 0n)
      const missing = needed > left ? needed - left : 0n
      return { token, asset_address: asset, needed: e18(needed), missing: e18(missing) }
    })
  const margin = ofOrder.find((shown) => shown.margin?.market === market)?.margin
  return {
    needs,
    ...(margin !== undefined && { initial_margin_needed: margin.reserved_by_orders }),
  }
}

/** Each asset once, in the order in which the markets name it, with the claims of all of them. */
const tokensOf = (seen: SeenFunds, shown: readonly ShownFunds[]): TokenBalance[] =>
  [...claimedTokens(shown)].map(([asset, claims]) =>
    tokenBalance(asset, totalOf(seen, asset), claims),
  )

const totalOf = ({ holdings }: SeenFunds, asset: Address): bigint =>
  holdings.find((held) => held.asset === asset && held.subId === 0n)?.balance ?? 0n

function claimedTokens(shown: readonly ShownFunds[]): Map<Address, TokenClaims> {
  const claimed = new Map<Address, TokenClaims>()
  for (const { asset, token, byOrders, byMatches } of shown.flatMap(({ tokens }) => tokens)) {
    const before = claimed.get(asset)
    claimed.set(asset, {
      token: before?.token ?? token,
      byOrders: (before?.byOrders ?? 0n) + byOrders,
      byMatches: (before?.byMatches ?? 0n) + byMatches,
    })
  }
  return claimed
}

interface TokenClaims {
  readonly token: string
  readonly byOrders: bigint
  readonly byMatches: bigint
}

function tokenBalance(
  asset: Address,
  total: bigint,
  { token, byOrders, byMatches }: TokenClaims,
): TokenBalance {
  const left = total - byOrders - byMatches
  const available = left > 0n ? left : 0n
  return {
    token,
    asset_address: asset,
    total: e18(total),
    reserved_by_orders: e18(byOrders),
    reserved_by_matches: e18(byMatches),
    available: e18(available),
    ui_total: atTokenScale(total),
    ui_available: atTokenScale(available),
  }
}

const e18 = (value: bigint): string => formatDecimal(value, 18)

const E12 = 10n ** 12n

/** Six decimals, rounded down also below zero. */
function atTokenScale(value: bigint): string {
  const truncated = value / E12
  const floor = value < 0n && truncated * E12 !== value ? truncated - 1n : truncated
  return formatDecimal(floor, 6)
}
