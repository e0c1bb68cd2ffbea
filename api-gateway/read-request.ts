import type { z } from 'zod'
import { contractOf } from '../core/contracts/registry.js'
import { proveFrame } from '../chain/signing/prove-frame.js'
import { readFrameHeader } from '../chain/signing/verify-frame.js'
import type { Address } from '../core/action.js'
import type { Market } from '../core/model/market.js'
import { crc32 } from '../core/crc32.js'
import {
  type OrRefusal,
  fieldRequired,
  invalidAddress,
  refusals,
  type Refusal,
} from '../core/entry/refusals.js'
import { parseAddress } from '../core/json.js'
import {
  findMarket,
  marketRequired,
  noSuchMarket,
  noTicker,
  type FoundMarket,
  type MarketNaming,
  type Nameable,
} from '../core/entry/find-market.js'
import {
  authFailed,
  authKeyEnded,
  authKeyUnreadable,
  authMalformed,
  authRequired,
  readRefusals,
} from '../core/entry/read-refusals.js'
import { pairNameOf } from '../core/records/listed-contract-record.js'
import { ceilMs, isLater, readTimestamp } from '../core/time.js'
import type { HistoryPage, HistoryPosition } from '../data/history/read-orders.js'
import { HistoryQuery } from '../interface/order.js'
import { keyEndBy } from '../runtime/bus/ask-session-keys.js'
import type { GatewayContext, GatewayDeps } from './context.js'
import { listedPairs } from './listed-markets.js'

/** The owner that the query parameter `owner_address` names. */
export function ownerIn({
  query,
}: Pick<GatewayContext, 'query'>): OrRefusal<{ readonly owner: Address }> {
  const { owner_address: sent } = query
  if (sent === undefined || sent === '') return { refusal: fieldRequired('owner_address') }
  const owner = parseAddress(sent)
  return owner === undefined ? { refusal: invalidAddress('owner_address') } : { owner }
}

/** Reads the query parameters that a schema declares; returns the refusal of the first one that does not fit. */
export function readQuery<Parameters extends z.ZodObject>(
  ctx: Pick<GatewayContext, 'query'>,
  parameters: Parameters,
  refusalOf: Readonly<Record<keyof Parameters['shape'], Refusal>>,
): OrRefusal<z.output<Parameters>> {
  const read = parameters.safeParse(ctx.query)
  if (read.success) return read.data
  const [name] = read.error.issues[0]?.path ?? []
  return { refusal: refusalOf[name as keyof Parameters['shape']] }
}

/**
 * The market named by `symbol`, or by `asset_address` and `sub_id`, or the refusal. A deprecated identifier is reported
 * in the answer's headers.
 */
export function askedMarket(
  ctx: GatewayContext,
  deps: GatewayDeps,
  isNameable?: Nameable,
): { readonly market: Market } | { readonly refusal: Refusal } {
  const { symbol, asset_address, sub_id } = ctx.query
  const found = find(deps, { symbol, assetAddress: asset_address, subId: sub_id }, isNameable)
  if (!('refusal' in found)) markDeprecated(ctx, deps, found)
  return found
}

/** The market of this identifier, listed or once listed, or the refusal. */
export function namedMarket(
  ctx: GatewayContext,
  deps: GatewayDeps,
  symbol: string,
): { readonly market: Market } | { readonly refusal: Refusal } {
  const found = find(deps, { symbol }, (market) => wasListed(deps, market))
  if (!('refusal' in found)) markDeprecated(ctx, deps, found)
  return found
}

/** The markets of a tickers read, sorted: every enabled market with a ticker, or the one that `ticker_id` names. */
export function askedTickers(
  ctx: GatewayContext,
  deps: GatewayDeps,
): { readonly markets: readonly Market[] } | { readonly refusal: Refusal } {
  const { ticker_id } = ctx.query
  if (ticker_id === undefined) {
    return { markets: listedPairs(deps.markets) }
  }
  const asked = askedTicker(ctx, deps)
  return 'refusal' in asked ? asked : { markets: [asked.market] }
}

/** The market with a ticker that `ticker_id` names, or the refusal. */
export const askedTicker = (ctx: GatewayContext, deps: GatewayDeps) =>
  servedMarket(ctx, deps, ctx.query.ticker_id, hasTicker)

/**
 * The market of any kind that listing sites read and that a path names, by its pair, `<base>_<quote>` of a spot market, or by its
 * identifier; or the refusal.
 */
export function askedPair(ctx: GatewayContext, deps: GatewayDeps) {
  const { market_pair: name } = ctx.params
  const pair = listedPairs(deps.markets).find((market) => pairNameOf(market) === name)
  return servedMarket(ctx, deps, pair?.market ?? name, isListedElsewhere)
}

/** The listed market of this identifier that a read serves, or the refusal. */
function servedMarket(
  ctx: GatewayContext,
  deps: GatewayDeps,
  name: string | readonly string[] = '',
  isServed: (market: Market) => boolean,
): { readonly market: Market } | { readonly refusal: Refusal } {
  // A refusal lists these alone: any other identifier would be refused again.
  const served = deps.markets.filter(isServed)
  if (name === '') return { refusal: marketRequired(served, 'ticker_id') }
  const found = find(deps, { symbol: name })
  if ('refusal' in found) return { refusal: noSuchMarket(served, name.toString()) }
  if (!isServed(found.market)) return { refusal: noTicker(served, found.market.market) }
  markDeprecated(ctx, deps, found)
  return { market: found.market }
}

const hasTicker = (market: Market): boolean => contractOf(market).present.hasTicker

const isListedElsewhere = (market: Market): boolean =>
  hasTicker(market) || contractOf(market).present.listedContract !== undefined

/** Of a market that is listed or was: reads of its past. One whose feed stated no terms was never listed. */
export const askedPast = (ctx: GatewayContext, deps: GatewayDeps) =>
  askedMarket(ctx, deps, (market) => wasListed(deps, market))

const wasListed = ({ readModel }: GatewayDeps, { enabled, market }: Market): boolean =>
  enabled || readModel.terms(market) !== undefined

const find = (deps: GatewayDeps, naming: MarketNaming, isNameable?: Nameable) => {
  const clock = { nowMs: deps.nowMs(), aliasesUntilMs: deps.aliasCutoffMs }
  return findMarket(deps.markets, naming, clock, isNameable)
}

/** Reports a deprecated identifier in the answer's headers. */
export function markDeprecated(
  ctx: GatewayContext,
  { aliasCutoffMs }: GatewayDeps,
  { market, deprecated }: FoundMarket,
): void {
  if (!deprecated) return
  ctx.set('Deprecation', 'true')
  ctx.set('Sunset', new Date(aliasCutoffMs).toUTCString())
  ctx.set('X-Canonical-Market', market.market)
}

/**
 * The owner whose private data is read, from the signed frame in the header, or the refusal. The session key of a frame is looked
 * up for each request.
 */
export async function serviceAuth(
  ctx: GatewayContext,
  { auth, nowMs, bus }: Pick<GatewayDeps, 'auth' | 'nowMs' | 'bus'>,
): Promise<OrRefusal<{ readonly owner: Address }>> {
  const header = ctx.get(auth.header)
  if (header === '') return { refusal: authRequired(auth.header) }
  const read = readFrameHeader(header, { words: auth.words, nowMs })
  if ('reason' in read) {
    return { refusal: read.isMalformed ? authMalformed(auth.header) : authFailed(read.reason) }
  }
  const proven = await proveFrame(read, keyEndBy(bus), nowMs())
  if (proven === 'ended') return { refusal: authKeyEnded }
  return proven === 'unreadable' ? { refusal: authKeyUnreadable } : { owner: proven.owner }
}

/** The histories; a cursor of one is invalid in the others. */
export type HistoryKind = 'orders' | 'fills' | 'close-outs' | 'liquidations' | 'marks' | 'funding'

/** Reads `limit`, `before`, `start` and `end` of a history's query. */
export function readHistoryPage(ctx: GatewayContext, kind: HistoryKind): OrRefusal<HistoryPage> {
  const query = readQuery(ctx, HistoryQuery, {
    limit: refusals.pageLimit,
    before: readRefusals.historyBefore,
    ...RANGE_REFUSALS,
  })
  if ('refusal' in query) return query
  const range = readRange(query)
  if ('refusal' in range) return range
  const { limit } = query
  if (query.before === undefined) return { limit, ...range }
  const before = readCursor(kind, query.before)
  return before === undefined
    ? { refusal: readRefusals.historyBefore }
    : { limit, before, ...range }
}

/** Refusals of `start` and `end` that are not text. */
export const RANGE_REFUSALS = { start: readRefusals.candlesStart, end: readRefusals.candlesEnd }

/** [fromMs, endMs), unix milliseconds; either may be absent. */
export interface TimeRange {
  readonly fromMs?: number
  readonly endMs?: number
}

/** The range of `start` and `end`, RFC 3339. */
export function readRange({
  start,
  end,
}: {
  readonly start?: string | undefined
  readonly end?: string | undefined
}): OrRefusal<TimeRange> {
  const from = readTimestamp(start)
  const until = readTimestamp(end)
  if (start !== undefined && !from) return { refusal: readRefusals.candlesStart }
  if (end !== undefined && !until) return { refusal: readRefusals.candlesEnd }
  if (from && until && !isLater(until, from)) return { refusal: readRefusals.candlesEndAfterStart }
  return {
    ...(from && { fromMs: ceilMs(from) }),
    ...(until && { endMs: ceilMs(until) }),
  }
}

/** `next_before` of a page; absent when the page is not full, because then nothing is older. */
export function nextBefore(
  kind: HistoryKind,
  rows: readonly { readonly position: HistoryPosition }[],
  { limit }: HistoryPage,
): { readonly next_before?: string } {
  const last = rows.at(-1)
  return last === undefined || rows.length < limit
    ? {}
    : { next_before: writeCursor(kind, last.position) }
}

/** Opaque to clients: the history and a row's position in it, with a checksum against one that was cut or changed on its way. */
function writeCursor(kind: HistoryKind, { atMs, key }: HistoryPosition): string {
  const place = `${kind}:${atMs}:${key}`
  return Buffer.from(`${place}:${crc32(place)}`).toString('base64url')
}

function readCursor(kind: HistoryKind, text: string): HistoryPosition | undefined {
  const [found, at = '', key = ''] = Buffer.from(text, 'base64url').toString().split(':')
  const position = { atMs: Number.parseInt(at, 10), key: Number.parseInt(key, 10) }
  // Accept only the canonical text of this position: no other was ever returned.
  if (found !== kind || writeCursor(kind, position) !== text) return undefined
  const whole = [position.atMs, position.key].every((part) => Number.isSafeInteger(part))
  return whole ? position : undefined
}
