import type { MarketEntry, OrderRecord } from '../../client/index.js'
import { cancelReasons, holdReasons, type Reason } from '../../interface/reasons.js'
import { traderPrice, traderSize } from './book-rows.js'
import { formatE18 } from './format.js'
import { marketTerms, type MarketArithmetic } from './market-terms.js'
import { readOrZero } from './numbers.js'
import type { QueuePlace } from './queue.js'
import { recordRow, type RowView } from './row-state.js'
import { sideWords, traderSide } from './side-words.js'

/** An own order as its row shows it, in trader terms. */
export interface OwnOrderRow {
  readonly id: string
  readonly market: string
  readonly record: OrderRecord
  readonly side: 'buy' | 'sell'
  readonly sideWords: string
  readonly price: string
  readonly priceUnit: string
  readonly size: string
  readonly sizeUnit: string
  /** Whole per cent that the chain has settled, and that waits for it. */
  readonly settled: string
  readonly pending: string
  readonly view: RowView
  readonly stateWords: string
  /** Why and what ends it; empty where there is nothing to say. */
  readonly why: string
  /** Of its signature and its instructions: `post-only`, `reduce-only`, `IOC`. */
  readonly tags: string
}

/** The row of a record in its market. */
export function orderRow(entry: MarketEntry, record: OrderRecord): OwnOrderRow {
  const terms = marketTerms(entry)
  const view = recordRow(record)
  const side = traderSide(terms, record.side)
  const { price, size } = shownTerms(entry, terms, record)
  return {
    id: record.order_id,
    market: record.market,
    record,
    side,
    price,
    size,
    view,
    sideWords: sideWords(entry, side),
    priceUnit: entry.ui_price_unit,
    sizeUnit: entry.base_asset_symbol,
    settled: percent(view.settledBps),
    pending: percent(view.pendingBps),
    stateWords: STATE_WORDS[view.state],
    why: whyOf(view),
    tags: tagsOf(record),
  }
}

/** What is hit before an order at its price: `12.00 USDC`, or `first`. */
export const aheadWords = (
  { ui_size_decimals: decimals, base_asset_symbol: base }: MarketEntry,
  { orders, aheadE18 }: QueuePlace,
): string => (orders === 0 ? 'first' : `${formatE18(aheadE18, decimals)} ${base}`)

/** Limit and size in trader terms, as texts, each rounded to the nearest. */
function shownTerms(entry: MarketEntry, terms: MarketArithmetic, record: OrderRecord) {
  const priceE18 = readOrZero(record.limit_price)
  const sizeE18 = traderSize(terms, { priceE18, amountE18: readOrZero(record.desired_amount) })
  return {
    price: formatE18(traderPrice(terms, priceE18), entry.ui_price_decimals),
    size: formatE18(sizeE18, entry.ui_size_decimals),
  }
}

const percent = (bps: bigint): string => `${bps / 100n} %`

const STATE_WORDS: Readonly<Record<RowView['state'], string>> = {
  signing: 'signing …',
  sending: 'sending …',
  unknown: 'no answer yet',
  refused: 'refused',
  open: 'open',
  held: 'held',
  matching: 'matching …',
  settling: 'settling …',
  filled: 'filled',
  cancelled: 'cancelled',
  expired: 'expired',
}

function whyOf({ reason, state }: RowView): string {
  if (reason === undefined) return ''
  const table: Readonly<Record<string, Reason>> =
    state === 'held' ? holdReasons : { ...holdReasons, ...cancelReasons }
  const known = table[reason]
  return known === undefined ? reason : `${known.means} ${known.ends}`
}

function tagsOf({
  time_in_force: force,
  post_only: post,
  reduce_only: reduce,
}: OrderRecord): string {
  return [force, post && 'post-only', reduce && 'reduce-only'].filter(Boolean).join(', ')
}
