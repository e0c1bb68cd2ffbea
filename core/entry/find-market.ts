import type { Address } from '../action.js'
import { parseInteger } from '../decimal.js'
import { parseAddress } from '../json.js'
import { MAX_ECHO_LENGTH, SUB_ID_MAX } from '../limits.js'
import { withTerms, type MarketTerms } from '../model/market-terms.js'
import type { Market } from '../model/market.js'
import { unknownMarket, type OrRefusal, type Refusal } from './refusals.js'

/** How a request names a market: query parameters as a web framework gives them, a repeated one as an array. */
export interface MarketNaming {
  readonly symbol?: QueryText
  readonly assetAddress?: QueryText
  readonly subId?: QueryText
}
type QueryText = string | readonly string[] | undefined

/** Until when deprecated identifiers resolve, against the time of asking; both unix milliseconds. */
interface AliasClock {
  readonly nowMs: number
  readonly aliasesUntilMs: number
}

/** A listed market, and whether the request used a deprecated identifier for it. */
export interface FoundMarket {
  readonly market: Market
  readonly deprecated: boolean
}

/** Whether a market may be named; by default it must be listed. */
export type Nameable = (market: Market) => boolean
const isListed: Nameable = ({ enabled }) => enabled

/**
 * Resolves `symbol`, or `asset_address` with `sub_id` (default 0), to a listed market. Symbols are case-sensitive,
 * addresses are not; a symbol and a pair that disagree name nothing (REA-001 to REA-003).
 */
export function findMarket(
  markets: readonly Market[],
  naming: MarketNaming,
  clock: AliasClock,
  isNameable = isListed,
): OrRefusal<FoundMarket> {
  const symbol = text(naming.symbol)
  const asset = text(naming.assetAddress)
  if (symbol === '' && asset === '') {
    return { refusal: marketRequired(markets, 'symbol or asset_address') }
  }
  const pair = asset === '' ? '' : `${asset}:${text(naming.subId) || '0'}`
  const bySymbol = symbol === '' ? undefined : findSymbol(markets.filter(isNameable), symbol, clock)
  const byPair = pair === '' ? undefined : findPair(markets.filter(isNameable), pair)
  const found = bySymbol ?? byPair
  const named = [symbol, pair].filter((name) => name !== '').join(' at ')
  const agrees =
    (symbol === '' || bySymbol !== undefined) &&
    (pair === '' || (byPair !== undefined && byPair.market === found?.market))
  return found !== undefined && agrees ? found : { refusal: noSuchMarket(markets, named) }
}

/** Resolves one word: a symbol, or an `asset_address:sub_id` pair, as subscriptions name markets. */
export function findMarketByName(
  markets: readonly Market[],
  name: string,
  clock: AliasClock,
): OrRefusal<FoundMarket> {
  const listed = markets.filter(isListed)
  const found = findSymbol(listed, name, clock) ?? findPair(listed, name)
  return found ?? { refusal: noSuchMarket(markets, name) }
}

/** The market of an instrument, listed or not. */
export function findInstrument(
  markets: readonly Market[],
  asset: Address,
  subId: bigint,
): Market | undefined {
  return markets.find((market) => market.assetAddress === asset && market.subId === subId)
}

const text = (value: QueryText): string =>
  typeof value === 'string' ? value : (value?.join() ?? '')

function findSymbol(
  markets: readonly Market[],
  symbol: string,
  clock: AliasClock,
): FoundMarket | undefined {
  const canonical = markets.find(({ market }) => market === symbol)
  if (canonical !== undefined) return { market: canonical, deprecated: false }
  if (clock.nowMs >= clock.aliasesUntilMs) return undefined
  const aliased = markets.find(({ aliases }) => aliases.includes(symbol))
  return aliased === undefined ? undefined : { market: aliased, deprecated: true }
}

function findPair(markets: readonly Market[], pair: string): FoundMarket | undefined {
  const separator = pair.indexOf(':')
  const asset = parseAddress(pair.slice(0, Math.max(separator, 0)))
  const subId = parseInteger(pair.slice(separator + 1), SUB_ID_MAX)
  if (asset === undefined || subId === undefined) return undefined
  const market = findInstrument(markets, asset, subId)
  return market === undefined ? undefined : { market, deprecated: false }
}

/** The answer to a request that names no market in the field that it must. */
export const marketRequired = (markets: readonly Market[], field: string): Refusal =>
  unknown(markets, `${field} is required`)

/** The answer to a name of no market, or of none of the kind that is wanted. */
export function noSuchMarket(markets: readonly Market[], named: string): Refusal {
  const shown = named.length > MAX_ECHO_LENGTH ? `${named.slice(0, MAX_ECHO_LENGTH)}…` : named
  return unknown(markets, `no such market: ${shown}`)
}

/** The answer to the identifier of a listed market that tickers do not serve. */
export const noTicker = (served: readonly Market[], market: string): Refusal =>
  unknown(served, `no such market: ${market} (it has no ticker)`)

function unknown(markets: readonly Market[], message: string): Refusal {
  const listed = markets.filter(isListed).map((market) => market.market)
  return unknownMarket(message, listed.sort())
}

/** The markets that a process knows: registered ones, each with the terms that its feed last stated. */
export interface MarketList {
  /** Always the same array, which holds every market as it is now, in the order in which they were added. */
  readonly markets: readonly Market[]
  /** Adds a market, or takes the texts of its row anew; its terms stay those of its feed. */
  readonly add: (row: Market) => void
  /** States the terms of a market that was added. */
  state(market: string, terms: MarketTerms): void
}

/** A market whose feed has stated nothing yet is as its row says. */
export function createMarketList(rows: readonly Market[]): MarketList {
  const markets: Market[] = [...rows]
  const stated = new Map<string, MarketTerms>()
  const put = (row: Market): void => {
    const terms = stated.get(row.market)
    const at = markets.findIndex(({ market }) => market === row.market)
    const market = terms === undefined ? row : withTerms(row, terms)
    if (at < 0) markets.push(market)
    else markets[at] = market
  }
  return {
    markets,
    add: put,
    state(name, terms) {
      if (stated.get(name) === terms) return
      stated.set(name, terms)
      const row = markets.find(({ market }) => market === name)
      if (row !== undefined) put(row)
    },
  }
}
