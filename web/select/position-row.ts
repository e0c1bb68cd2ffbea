import type { AccountBalances, MarketEntry, PositionRecord } from '../../client/index.js'
import { formatBps, formatE18, formatSigned } from './format.js'
import { readOrZero, readSigned } from './numbers.js'
import { gainOf, returnBps, type Position } from './position.js'

/** A position as its row shows it. */
export interface PositionRow {
  readonly market: string
  readonly subaccountId: string
  readonly side: 'long' | 'short'
  /** Signed at 1e18, in base: positive is long. */
  readonly sizeE18: bigint
  readonly size: string
  readonly unit: string
  readonly worth: string
  readonly entry: string
  readonly mark: string
  readonly liquidation: string
  /** Since entry, with its sign; empty while a price is missing. */
  readonly gain: string
  readonly return: string
  readonly isLoss: boolean
  readonly gainUnit: string
}

const MONEY_DECIMALS = 2
const NOT_KNOWN = '–'

/** The row of a perpetual's position. */
export function perpetualRow(entry: MarketEntry, record: PositionRecord): PositionRow {
  const position: Position = {
    sizeE18: readOrZero(record.engine_position),
    entryE18: readSigned(record.entry_price),
    markE18: readSigned(record.mark_price_ui),
  }
  return {
    ...rowOf(entry, position),
    subaccountId: record.subaccount_id,
    worth: `${money(readSigned(record.ui_notional_usdc))} USDC`,
    liquidation: liquidationWords(entry, record),
  }
}

type Outlook = Pick<PositionRecord, 'liquidation_status' | 'liquidation_price'>

const LIQUIDATION_WORDS: Readonly<Record<Outlook['liquidation_status'], string>> = {
  ok: NOT_KNOWN,
  due: 'due now',
  no_position: NOT_KNOWN,
  none: 'none',
  stale: NOT_KNOWN,
}

/** The price at which maintenance margin is used up, or that there is none, or that it is already. */
function liquidationWords(
  entry: MarketEntry,
  { liquidation_status: status, liquidation_price: text }: Outlook,
): string {
  const price = readSigned(text)
  return price === undefined ? LIQUIDATION_WORDS[status] : priceText(entry, price)
}

/** The rows of an account's positions in futures; their entry is not known to the venue. */
export function futureRows(
  entryOf: (market: string) => MarketEntry | undefined,
  { subaccount_id: subaccountId, margin }: AccountBalances,
): readonly PositionRow[] {
  return margin.flatMap(({ market, position, ...outlook }) => {
    const entry = entryOf(market)
    const sizeE18 = readOrZero(position)
    if (entry?.future === undefined || sizeE18 === 0n) return []
    const markE18 = readSigned(entry.future.mark_price)
    const row = rowOf(entry, { sizeE18, entryE18: undefined, markE18 })
    const liquidation = liquidationWords(entry, outlook)
    return [{ ...row, subaccountId, worth: `${row.size} USDC`, liquidation }]
  })
}

function rowOf(entry: MarketEntry, position: Position) {
  const { sizeE18, entryE18, markE18 } = position
  const gain = gainOf(position)
  const share = returnBps(position)
  const size = sizeE18 < 0n ? -sizeE18 : sizeE18
  return {
    market: entry.market,
    side: sizeE18 < 0n ? ('short' as const) : ('long' as const),
    sizeE18,
    size: formatE18(size, entry.ui_size_decimals),
    unit: entry.base_asset_symbol,
    entry: priceText(entry, entryE18),
    mark: priceText(entry, markE18),
    gain: gain === undefined ? NOT_KNOWN : formatSigned(gain, MONEY_DECIMALS),
    return: share === undefined ? '' : formatBps(share),
    isLoss: (gain ?? 0n) < 0n,
    gainUnit: entry.quote_asset_symbol,
  }
}

const money = (value: bigint | undefined): string =>
  value === undefined ? NOT_KNOWN : formatE18(value, MONEY_DECIMALS, 'down')

const priceText = (entry: MarketEntry, value: bigint | undefined): string =>
  value === undefined ? NOT_KNOWN : formatE18(value, entry.ui_price_decimals)
