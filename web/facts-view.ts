import type { MarketEntry } from '../client/index.js'
import { el, panel } from './dom.js'

export interface FactsView {
  readonly section: HTMLElement
  update(market: MarketEntry): void
}

type Fact = readonly [name: string, value: string | undefined]

/** How the market trades, its terms, and what its contract adds: marks, funding, open interest, band and countdowns. */
export function createFactsView(): FactsView {
  const { section, body } = panel('Market')
  return {
    section,
    update(market) {
      const facts: Fact[] = [
        ...[
          ['Quoted in', market.ui_price_unit] as const,
          ['Size in', market.ui_size_unit] as const,
        ],
        ...[['Tick', market.tick_size] as const, ['Smallest size', market.min_size] as const],
        ['Fees', `taker ${market.taker_fee_bps} bps, maker ${market.maker_fee_bps} bps`],
        ...perpetualFacts(market),
        ...futureFacts(market),
      ]
      body.replaceChildren(
        status(market),
        el('p', { class: 'quiet' }, market.settlement_note),
        el('dl', { class: 'facts' }, ...facts.flatMap(([name, value]) => pair(name, value))),
      )
    },
  }
}

const pair = (name: string, value: string | undefined): HTMLElement[] =>
  value === undefined || value === '' ? [] : [el('dt', {}, name), el('dd', {}, value)]

function status({
  trading_status: state,
  trading_status_reason: reason,
}: MarketEntry): HTMLElement {
  if (state === 'open') return el('p', { class: 'bid' }, 'Open: orders are taken and match.')
  const what =
    state === 'paused' ? 'Paused: no new orders are taken.' : 'Held: orders rest, nothing matches.'
  return el(
    'p',
    { class: 'held', role: 'alert' },
    reason === undefined ? what : `${what} ${reason}`,
  )
}

function perpetualFacts({ perp }: MarketEntry): Fact[] {
  if (perp === undefined) return []
  return [
    ['Mark', perp.mark_price_ui],
    ['Index', perp.index_price_ui],
    ['Prices', perp.price_status === 'ok' ? undefined : 'stale'],
    ['Funding of an hour', percent(perp.funding_rate_1h)],
    ['Open interest', `${perp.open_interest} (${perp.open_interest_usd} USDC)`],
    ['Cap of open interest', perp.open_interest_cap],
    ['Largest leverage', perp.max_leverage],
    ['Maintenance margin', percent(perp.maintenance_margin_rate)],
  ]
}

function futureFacts({ future, sub_id }: MarketEntry): Fact[] {
  if (future === undefined) return []
  const { fill_band_low: low, fill_band_high: high } = future
  return [
    ['Mark', future.mark_price],
    ['Index', future.index_price],
    ['Fills within', low === undefined || high === undefined ? undefined : `${low} to ${high}`],
    ['Index', future.band_status === 'index_stale' ? 'stale: no fills' : undefined],
    ['Last trade', countdown(future.last_trade_time)],
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
  const minutes = Math.floor((left % 3_600) / 60)
  return `${moment} (in ${days > 0 ? `${days} d ${hours} h` : `${hours} h ${minutes} min`})`
}
