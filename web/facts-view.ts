import type { MarketEntry, StatusState, TickerState } from '../client/index.js'
import { marketReasons } from '../interface/reasons.js'
import { el, panel } from './dom.js'
import { amount, shown } from './units.js'

export interface FactsView {
  readonly section: HTMLElement
  update(market: MarketEntry): void
  /** What the channels say counts more than the entry, which is read every few seconds. */
  updateStatus(status: StatusState): void
  updateTicker(ticker: TickerState): void
  /** Draws again, for the countdowns. */
  tick(): void
}

type Fact = readonly [name: string, value: string | undefined]

/** How the market trades, its terms, and what its contract adds: marks, funding, open interest, band and countdowns. */
export function createFactsView(): FactsView {
  const { section, body } = panel('Market', 'live')
  const place = el('div', { 'aria-live': 'polite' })
  const note = el('p', { class: 'quiet' })
  const facts = el('dl', { class: 'facts' })
  body.append(place, note, facts)
  let known: Known = {}
  const draw = (changed: Partial<Known> = {}): void => {
    known = { ...known, ...changed }
    const { market, status = market, ticker } = known
    if (market === undefined || status === undefined) return
    // Left alone while it is the same, so that a screen reader says it once.
    const state = standing(status)
    if (state.outerHTML !== place.innerHTML) place.replaceChildren(state)
    facts.replaceChildren(...factsOf(market, ticker).flatMap(([name, value]) => pair(name, value)))
    note.textContent = market.settlement_note
  }
  return {
    section,
    update: (market) => draw({ market }),
    updateStatus: (status) => draw({ status }),
    updateTicker: (ticker) => draw({ ticker }),
    tick: draw,
  }
}

interface Known {
  readonly market?: MarketEntry
  readonly status?: StatusState
  readonly ticker?: TickerState
}

function factsOf(market: MarketEntry, ticker?: TickerState): readonly Fact[] {
  return [
    ...tickerFacts(market, ticker),
    ['Quoted in', market.ui_price_unit],
    ['Size in', market.ui_size_unit],
    ['Tick', market.tick_size],
    ['Smallest size', market.min_size],
    ['Fees', `taker ${market.taker_fee_bps} bps, maker ${market.maker_fee_bps} bps`],
    ...perpetualFacts(market, ticker),
    ...futureFacts(market, ticker),
  ]
}

function tickerFacts(market: MarketEntry, ticker: TickerState | undefined): Fact[] {
  if (ticker?.last_price === undefined) return []
  const { price } = shown(market, 'trader', ticker.last_price, '0')
  // Of both amounts of a trade the one in USDC.
  const { volume: base, quote_volume: quote } = ticker.stats_24h
  const volume = market.future === undefined ? quote : base
  return [
    ['Last price', price],
    ['Traded in 24 hours', volume && `${amount(volume)} USDC`],
  ]
}

const pair = (name: string, value: string | undefined): HTMLElement[] =>
  value === undefined || value === '' ? [] : [el('dt', {}, name), el('dd', {}, value)]

/** A hold in words, with what ends it; the reason of a pause is the operator's. */
function standing({
  trading_status: state,
  trading_status_reason: reason,
}: Pick<MarketEntry, 'trading_status' | 'trading_status_reason'>): HTMLElement {
  if (state === 'open') return el('p', { class: 'bid' }, 'Open: orders are taken and match.')
  const what =
    state === 'paused' ? 'Paused: no new orders are taken.' : 'Held: orders rest, nothing matches.'
  return el('p', { class: 'held' }, `${what} ${inWords(reason)}`)
}

function inWords(reason = ''): string {
  const known = Object.entries(marketReasons).find(([code]) => code === reason)?.[1]
  return known === undefined ? reason : `${known.means} ${known.ends}`
}

function perpetualFacts({ perp }: MarketEntry, ticker?: TickerState): Fact[] {
  if (perp === undefined) return []
  return [
    ['Mark', amount(ticker?.mark_price ?? perp.mark_price_ui)],
    ['Index', amount(ticker?.index_price ?? perp.index_price_ui)],
    ['Prices', perp.price_status === 'ok' ? undefined : 'stale'],
    ['Funding of an hour', percent(ticker?.funding_rate_1h ?? perp.funding_rate_1h)],
    ['Open interest', `${perp.open_interest} (${perp.open_interest_usd} USDC)`],
    ['Cap of open interest', perp.open_interest_cap],
    ['Largest leverage', perp.max_leverage],
    ['Maintenance margin', percent(perp.maintenance_margin_rate)],
  ]
}

function futureFacts({ future, sub_id }: MarketEntry, ticker?: TickerState): Fact[] {
  if (future === undefined) return []
  const { fill_band_low: low, fill_band_high: high } = future
  return [
    ['Mark', amount(ticker?.mark_price ?? future.mark_price)],
    ['Index', amount(ticker?.index_price ?? future.index_price)],
    [
      'Fills within',
      low === undefined || high === undefined ? undefined : `${amount(low)} to ${amount(high)}`,
    ],
    ['Index', future.band_status === 'index_stale' ? 'stale: no fills' : undefined],
    ['Trading ends', countdown(future.last_trade_time)],
    ['Expiry', countdown(Number(sub_id))],
    ['Initial margin', future.initial_margin_rate && percent(future.initial_margin_rate)],
    [
      'Maintenance margin',
      future.maintenance_margin_rate && percent(future.maintenance_margin_rate),
    ],
  ]
}

const percent = (rate: string): string => `${(Number(rate) * 100).toPrecision(3)} %`

const DAY_SEC = 86_400

/** The moment, and how far it is. */
function countdown(atSec: number): string {
  const left = atSec - Math.floor(Date.now() / 1_000)
  const moment = new Date(atSec * 1_000).toLocaleString()
  if (left <= 0) return `${moment} (over)`
  const [days, hours] = [Math.floor(left / DAY_SEC), Math.floor((left % DAY_SEC) / 3_600)]
  const [minutes, seconds] = [Math.floor((left % 3_600) / 60), left % 60]
  const parts = days > 0 ? [`${days} d`, `${hours} h`] : [`${hours} h`]
  return `${moment} (in ${[...parts, `${minutes} min`, `${seconds} s`].join(' ')})`
}
