import type { PriceRange } from '../core/contracts/contract.js'
import { venueFaultOf } from '../core/contracts/faults.js'
import { tradingOf } from '../core/contracts/registry.js'
import { formatDecimal } from '../core/decimal.js'
import { FACTS_REPEATED_MS } from '../core/model/limits.js'
import type { Market } from '../core/model/market.js'
import type { OrderFacts, PendingMatch } from '../core/records/order-record.js'
import { revertFields } from '../core/revert.js'
import { isoTime } from '../core/time.js'
import type { LifeFill, OrderEvent, OrderLife } from '../data/history/read-life.js'
import type { StoredOrder } from '../data/history/read-orders.js'
import type {
  Explanation,
  ExplanationLinks,
  LifeEvent,
  OwnAccount,
} from '../interface/explanation.js'
import {
  cancelReasons,
  holdReasons,
  marketReasons,
  type Reason,
  type HoldReason,
} from '../interface/reasons.js'

/** What an order is explained from besides its record. */
export interface ExplanationFacts {
  readonly life: OrderLife
  /** Undefined while the fan-out does not answer, or where nothing is asked of it. */
  readonly facts: OrderFacts | undefined
  /** Whether the order's owner asks. */
  readonly isOwn: boolean
  /** The prices at which the chain fills now; undefined where it fills at any, or does not answer. */
  readonly fillRange?: PriceRange | undefined
  readonly nowMs: number
}

/**
 * What became of an order: its record, its matches, and why it was held or refused. Prices are the engine's. What its
 * account holds is part of it only where its owner asks.
 */
export function explainOrder(
  market: Market,
  stored: StoredOrder,
  known: ExplanationFacts,
): Explanation {
  const { life, facts, isOwn } = known
  const { order, progress } = stored
  const pending = pendingLines(market, stored, unsettled(life, facts))
  const happened = [
    ...life.events.map((event) => ({ atMs: event.atMs, line: eventLine(event) })),
    ...life.fills.map((fill) => ({ atMs: fill.atMs, line: fillLine(market, fill) })),
  ].sort((a, b) => a.atMs - b.atMs)
  return {
    order_id: order.orderId,
    market: market.market,
    status: progress.status,
    ...standing(market, stored, known),
    life: [
      placedLine(market, stored),
      ...reducedLines(market, stored),
      ...happened.map(({ line }) => line),
      ...pending.lines,
      ...endLines(stored),
    ],
    life_complete: life.isWhole && pending.areAll,
    links: linksOf(stored, isOwn),
    ...(isOwn && { account: facts?.account ?? unknownAccount(stored) }),
  }
}

/** The pending matches that the read model does not show as settled or refused: it may be ahead of the fan-out. */
function unsettled({ fills, events }: OrderLife, facts: OrderFacts | undefined): PendingMatch[] {
  const done = new Set([...fills, ...events].map(({ settlementId }) => settlementId))
  return (facts?.matches ?? []).filter((match) => !done.has(match.settlement_id))
}

const unknownAccount = ({ order }: StoredOrder): OwnAccount => ({
  subaccount_id: order.subaccountId.toString(),
  needs: [],
})

const pathOf = (orderId: string): string => `/v1/orders/${encodeURIComponent(orderId)}`

function linksOf({ order }: StoredOrder, isOwn: boolean): ExplanationLinks {
  const { orderId, replaces, subaccountId } = order
  return {
    order: pathOf(orderId),
    codes: '/docs/codes',
    ...(replaces !== undefined && { replaces: `${pathOf(replaces)}/explain` }),
    ...(isOwn && { balances: `/v1/balances?subaccount_id=${subaccountId}`, fills: '/v1/fills' }),
  }
}

type OrderStanding = Pick<Explanation, 'code' | 'text' | 'ends'>

const words = (code: string, { means, ends }: Reason): OrderStanding => ({
  code,
  text: means,
  ends,
})

/** Where the order stands now, and what would change it. */
function standing(
  market: Market,
  { order, progress }: StoredOrder,
  { life, fillRange, nowMs }: ExplanationFacts,
): OrderStanding {
  const { status, heldReason, cancelReason } = progress
  if (status === 'filled') return { code: 'filled', text: 'The order is filled.' }
  if (status === 'expired') return { code: 'expired', text: 'The order has expired.' }
  if (status === 'cancelled') return ofCancel(cancelReason)
  if (heldReason !== undefined) return words(heldReason, holdReasons[heldReason])
  if (status === 'matching') return ofMatching(market)
  if (market.standing.status !== 'open') return marketNotOpen(market)
  const { limitPrice } = order
  const isPassedOver =
    fillRange !== undefined && (limitPrice < fillRange.low || limitPrice > fillRange.high)
  if (isPassedOver) return passedOver(market, fillRange)
  return isPriceRefused(market, life, nowMs) ? PRICE_REFUSED : OPEN
}

/**
 * Whether the chain has refused a match of the order for its price, and the market's next observation may still be to come: until
 * then fills at that price are not tried. An order of the same price that was not in that match does not know of it.
 */
function isPriceRefused(market: Market, { events }: OrderLife, nowMs: number): boolean {
  const trading = tradingOf(market)
  return events.some(
    ({ kind, revert, atMs }) =>
      kind === 'refused' &&
      nowMs - atMs < FACTS_REPEATED_MS &&
      revert !== undefined &&
      venueFaultOf(trading, revert) === 'price',
  )
}

const PRICE_REFUSED: OrderStanding = {
  code: 'price_refused',
  text: 'The order rests in the book, and no match at the price that the chain has refused is tried until the next observation of the market.',
  ends: `It matches again once the market has been observed, at most ${FACTS_REPEATED_MS / 1000} seconds after the refusal while the chain is read.`,
}

/** The price of a match is that of the order that was there first. */
function passedOver({ presentation }: Market, { low, high }: PriceRange): OrderStanding {
  const [least, most] = [low, high].map((price) => formatDecimal(price, 18))
  return {
    code: 'outside_fill_band',
    text: `The order rests in the book, and orders that cross it pass it over: the chain fills only from ${least} to ${most} ${presentation.enginePriceUnit} now.`,
    ends: 'It matches once the fill band, which follows the index, includes its price. Replace it by an order within the band to trade now.',
  }
}

const MATCHING: OrderStanding = {
  code: 'matching',
  text: 'All that is left of the order is matched and awaits settlement on the chain.',
  ends: 'The settlement decides: a fill, or what failed returns to the book.',
}

/** While the market is held for a reason that has a name, the settlement may wait for its end. */
function ofMatching({ standing: { status, reason = '' } }: Market): OrderStanding {
  const known: Reason | undefined = status === 'held' ? lookUp(marketReasons, reason) : undefined
  return known === undefined ? MATCHING : { ...MATCHING, text: `${MATCHING.text} ${known.means}` }
}

const OPEN: OrderStanding = {
  code: 'open',
  text: 'The order is open in the book.',
  ends: 'It matches when the other side reaches its price.',
}

function marketNotOpen({ market, standing: { status, reason = '' } }: Market): OrderStanding {
  const known: Reason | undefined = lookUp(marketReasons, reason)
  const why = status === 'paused' ? `an operator has paused it (${reason})` : reason
  return {
    code: 'market_not_open',
    text: `The order rests in the book, and nothing of ${market} is matched: ${known?.means ?? `${why}.`}`,
    ends: known?.ends ?? 'It matches once the market is open again.',
  }
}

function ofCancel(reason = 'unspecified'): OrderStanding {
  const known: Reason | undefined = lookUp(cancelReasons, reason) ?? lookUp(holdReasons, reason)
  if (known !== undefined) return words(reason, known)
  return { code: reason, text: `The order was cancelled as asked: ${reason}.` }
}

const lookUp = (table: Readonly<Record<string, Reason>>, code: string): Reason | undefined =>
  Object.hasOwn(table, code) ? table[code] : undefined

function placedLine(market: Market, { order, progress }: StoredOrder): LifeEvent {
  const { presentation } = market
  const amount = formatDecimal(order.signedDesiredAmount ?? order.desiredAmount, 18)
  const price = formatDecimal(order.limitPrice, 18)
  return {
    at: isoTime(progress.createdAtMs),
    code: 'placed',
    text: `Placed: ${order.side} ${amount} ${presentation.engineAmountUnit} at ${price} ${presentation.enginePriceUnit}.`,
  }
}

/** That an order asks for less than it did; when is not kept. */
function reducedLines({ presentation }: Market, { order }: StoredOrder): LifeEvent[] {
  if (order.signedDesiredAmount === undefined) return []
  const size = formatDecimal(order.desiredAmount, 18)
  const text = `Reduced since to ${size} ${presentation.engineAmountUnit} in all.`
  return [{ code: 'reduced', text, size }]
}

const heldWords = (hold: HoldReason): string => `The order is held: ${holdReasons[hold].means}`

function eventLine({ atMs, kind, hold, settlementId, revert, tradeId }: OrderEvent): LifeEvent {
  const held = hold === undefined ? '' : ` ${heldWords(hold)}`
  const name = revert === undefined ? undefined : revertFields(revert).revert
  const facts = {
    at: isoTime(atMs),
    ...(hold !== undefined && { reason: hold }),
    ...(settlementId !== undefined && { settlement_id: settlementId }),
    ...(name !== undefined && { revert: name }),
    ...(tradeId !== undefined && { trade_id: tradeId }),
  }
  switch (kind) {
    case 'held':
      return { code: 'held', text: held.trim(), ...facts }
    case 'released':
      return { code: 'released', text: `Its hold ended.${held}`, ...facts }
    case 'refused':
      return {
        code: 'match_refused',
        text: `The chain refused the match ${settlementId}: ${name}.${held}`,
        ...facts,
      }
    case 'reversed':
      return {
        code: 'fill_reversed',
        text: `The chain lost the settlement of the match ${settlementId} for good: ${name}.${held}`,
        ...facts,
      }
  }
}

function fillLine({ presentation }: Market, fill: LifeFill): LifeEvent {
  const size = formatDecimal(fill.amount, 18)
  const price = formatDecimal(fill.price, 18)
  return {
    at: isoTime(fill.atMs),
    code: 'filled',
    text:
      `Filled as ${fill.liquidity}: ${size} ${presentation.engineAmountUnit} at ${price} ${presentation.enginePriceUnit}, ` +
      `matched with ${fill.counterpartId}, settled in ${fill.txHash} in block ${fill.blockNumber}.`,
    settlement_id: fill.settlementId,
    counterpart_order_id: fill.counterpartId,
    liquidity: fill.liquidity,
    price,
    size,
    trade_id: fill.tradeId,
    tx_hash: fill.txHash,
    block_number: Number(fill.blockNumber),
  }
}

/** Most pending matches that are listed. */
const PENDING_MAX = 100

/** Each match that awaits settlement; one line for all that no process could name. */
function pendingLines(
  { presentation }: Market,
  { progress: { pending } }: StoredOrder,
  matches: readonly PendingMatch[],
): { readonly lines: LifeEvent[]; readonly areAll: boolean } {
  if (pending === 0n) return { lines: [], areAll: true }
  const listed = matches.slice(0, PENDING_MAX)
  const lines = listed.map(({ settlement_id, size, price, liquidity, at }): LifeEvent => {
    const what = `${size} ${presentation.engineAmountUnit} at ${price} ${presentation.enginePriceUnit}`
    const text = `Matched as ${liquidity}: ${what}. The match ${settlement_id} awaits settlement on the chain.`
    return { at, code: 'matching', text, settlement_id, liquidity, price, size }
  })
  if (matches.length > 0) return { lines, areAll: listed.length === matches.length }
  const size = formatDecimal(pending, 18)
  const text = `${size} ${presentation.engineAmountUnit} of it are matched and await settlement on the chain.`
  return { lines: [{ code: 'matching', text, size }], areAll: true }
}

function endLines({ progress }: StoredOrder): LifeEvent[] {
  const { status, cancelReason = 'unspecified', cancelledAtMs, updatedAtMs } = progress
  if (status === 'expired') {
    return [{ at: isoTime(updatedAtMs), code: 'expired', text: 'It has expired.' }]
  }
  if (status !== 'cancelled') return []
  const { text } = ofCancel(cancelReason)
  const at = isoTime(cancelledAtMs ?? updatedAtMs)
  return [{ at, code: 'cancelled', text: `Cancelled: ${text}`, reason: cancelReason }]
}
