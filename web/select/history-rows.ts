import type { FundingRecord, LiquidationRecord, MarketEntry } from '../../client/index.js'
import { formatE18 } from './format.js'
import { formatRate } from './header-facts.js'
import { readSigned } from './numbers.js'

/** The public past of markets: funding and liquidations. */

export interface FundingRow {
  readonly key: string
  readonly at: string
  /** Of one hour. */
  readonly rate: string
  readonly payer: string
  readonly mark: string
  readonly index: string
}

const NOT_KNOWN = '–'

/** The rate of an hour, as the chain showed it in the first block of it. */
export function fundingRow(entry: MarketEntry, record: FundingRecord): FundingRow {
  const rate = readSigned(record.funding_rate_1h) ?? 0n
  return {
    key: `${record.block_number}`,
    at: record.observed_at,
    rate: formatRate(record.funding_rate_1h),
    payer: rate === 0n ? 'no side pays' : rate > 0n ? 'longs pay shorts' : 'shorts pay longs',
    mark: price(entry, record.mark_price),
    index: price(entry, record.index_price),
  }
}

export interface LiquidationCells {
  readonly key: string
  readonly at: string
  readonly market: string
  readonly account: string
  readonly event: string
  /** Size with its side and unit; `–` where the event has none. */
  readonly what: string
  readonly price: string
  /** Who took over, and for how much. */
  readonly how: string
  readonly hash: string
}

const EVENTS: Readonly<Record<LiquidationRecord['event'], string>> = {
  auction_started: 'auction starts',
  insolvent_auction_started: 'auction starts: worth nothing',
  bid: 'bid',
  auction_ended: 'auction ends',
  takeover: 'taken over',
}

/** An event of a liquidation; undefined for a market that is not listed any more. */
export function liquidationRow(
  entry: MarketEntry | undefined,
  record: LiquidationRecord,
): LiquidationCells | undefined {
  if (entry === undefined) return undefined
  const { subaccount_id: account, by_subaccount_id: by, paid, received } = record
  return {
    key: `${record.block_number} ${record.log_index} ${record.market}`,
    at: record.occurred_at,
    market: record.market,
    account,
    hash: record.tx_hash,
    event: EVENTS[record.event],
    what: sized(entry, readSigned(record.size)),
    price: price(entry, record.price),
    how: [
      by === undefined ? '' : `by ${by}`,
      paid === undefined ? '' : `paid ${money(paid)} USDC`,
      received === undefined
        ? ''
        : `received ${money(received)} ${record.event === 'bid' ? 'USDC' : 'USD'}`,
    ]
      .filter((words) => words !== '')
      .join(', '),
  }
}

function sized(
  { ui_size_decimals: decimals, base_asset_symbol: base }: MarketEntry,
  sizeE18: bigint | undefined,
): string {
  if (sizeE18 === undefined) return NOT_KNOWN
  const size = formatE18(sizeE18 < 0n ? -sizeE18 : sizeE18, decimals)
  return sizeE18 === 0n ? `${size} ${base}` : `${sizeE18 < 0n ? 'short' : 'long'} ${size} ${base}`
}

const money = (text: string): string => formatE18(readSigned(text) ?? 0n, 2, 'down')

function price(entry: MarketEntry, text: string | undefined): string {
  const value = readSigned(text)
  return value === undefined ? NOT_KNOWN : formatE18(value, entry.ui_price_decimals)
}
