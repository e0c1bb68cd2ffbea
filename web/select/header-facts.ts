import type { MarketEntry, TickerState } from '../../client/index.js'
import { traderPrice } from './book-rows.js'
import { formatBps, formatCountdown, formatE18 } from './format.js'
import type { MarketArithmetic } from './market-terms.js'
import { readSigned } from './numbers.js'
import type { ReceiptLine } from './receipt-lines.js'

/** The last price and how it moved in a day, in trader terms; undefined before the first trade. */
export interface LastPrice {
  readonly price: string
  /** `+0.40 %`; undefined without a trade before. */
  readonly change: string | undefined
  readonly isDown: boolean
}

export function lastPrice(
  entry: MarketEntry,
  terms: MarketArithmetic,
  ticker: Pick<TickerState, 'last_price' | 'stats_24h'> | undefined,
): LastPrice | undefined {
  const last = readSigned(ticker?.last_price)
  if (last === undefined || last === 0n) return undefined
  const moved = readSigned(ticker?.stats_24h.change)
  const [now, before] = [last, moved === undefined ? undefined : last - moved].map((price) =>
    price === undefined || price <= 0n ? undefined : traderPrice(terms, price),
  )
  const bps =
    now === undefined || before === undefined ? undefined : ((now - before) * 10_000n) / before
  return {
    price: formatE18(now ?? 0n, entry.ui_price_decimals),
    change: bps === undefined ? undefined : formatBps(bps),
    isDown: (bps ?? 0n) < 0n,
  }
}

/** What the bar says of a market besides its price: mark, index, funding, interest, volume, countdowns. `nowSec` in Unix seconds. */
export function headerFacts(
  entry: MarketEntry,
  ticker: TickerState | undefined,
  nowSec: number,
): readonly ReceiptLine[] {
  const { perp, future, ui_price_decimals: decimals, base_asset_symbol: base } = entry
  const lines: ReceiptLine[] = []
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') lines.push({ name, value })
  }
  const price = (text: string | undefined): string | undefined => {
    const value = readSigned(text)
    return value === undefined || value === 0n ? undefined : formatE18(value, decimals)
  }
  add('Mark', price(ticker?.mark_price ?? perp?.mark_price ?? future?.mark_price))
  add('Index', price(ticker?.index_price ?? perp?.index_price ?? future?.index_price))
  if (perp !== undefined) {
    add('Funding, 1 h', formatRate(ticker?.funding_rate_1h ?? perp.funding_rate_1h))
    add('Open interest', whole(perp.open_interest, base))
  }
  if (future !== undefined) {
    const low = price(future.fill_band_low)
    const high = price(future.fill_band_high)
    add('Fills within', low && high && `${low} to ${high}`)
    add('Trading ends in', formatCountdown((future.last_trade_time - nowSec) * 1_000))
  }
  // Of both amounts of a trade the one in USDC.
  const stats = ticker?.stats_24h
  add('Volume, 24 h', whole(future === undefined ? stats?.quote_volume : stats?.volume, 'USDC'))
  return lines
}

const RATE_DECIMALS = 4

/** A share as per cent with its sign. */
export function formatRate(text: string): string {
  const value = readSigned(text) ?? 0n
  const shown = formatE18(value * 100n, RATE_DECIMALS)
  return `${value > 0n && !shown.startsWith('<') ? '+' : ''}${shown} %`
}

function whole(text: string | undefined, unit: string): string | undefined {
  const value = readSigned(text)
  return value === undefined ? undefined : `${formatE18(value, 0)} ${unit}`
}

/** Everything that the contract fixes: units, steps, fees, margins, caps, addresses. */
export function detailFacts(entry: MarketEntry): readonly ReceiptLine[] {
  const { perp, future } = entry
  const lines: ReceiptLine[] = [
    { name: 'Price in', value: entry.ui_price_unit },
    { name: 'Size in', value: entry.ui_size_unit },
    { name: 'A side means', value: entry.ui_side_meaning },
    { name: 'Engine price in', value: entry.engine_price_unit },
    { name: 'Engine amount in', value: entry.engine_amount_unit },
    { name: 'Tick (engine)', value: entry.tick_size },
    { name: 'Smallest size (engine)', value: entry.min_size },
    { name: 'Least worth of an order', value: entry.min_notional ?? 'none' },
    { name: 'Fees', value: `taker ${entry.taker_fee_bps} bps, maker ${entry.maker_fee_bps} bps` },
  ]
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') lines.push({ name, value })
  }
  add('Largest leverage', perp?.max_leverage)
  add('Initial margin', share(perp?.initial_margin_rate ?? future?.initial_margin_rate))
  add('Maintenance margin', share(perp?.maintenance_margin_rate ?? future?.maintenance_margin_rate))
  add('Cap of open interest', perp && `${perp.open_interest_cap} ${entry.base_asset_symbol}`)
  add('Contract', future && `${entry.contract_multiplier} ${entry.base_asset_symbol}`)
  add('Asset', entry.asset_address)
  add('Trade module', entry.trade_module_address)
  add('Manager', entry.margin_manager_address)
  return lines
}

function share(text: string | undefined): string | undefined {
  const value = readSigned(text)
  return value === undefined ? undefined : `${formatE18(value * 100n, 2)} %`
}
