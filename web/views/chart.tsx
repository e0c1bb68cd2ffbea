import { useComputed, useSignalEffect, useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CandleInterval } from '../../client/index.js'
import { areaPath, depthCurve } from '../select/depth-curve.js'
import { barOf, chartWords, orderLines, type PriceLine } from '../select/bars.js'
import { detailFacts } from '../select/header-facts.js'
import { formatE18 } from '../select/format.js'
import { readSigned, toDrawn } from '../select/numbers.js'
import type { Colours, Drawing, Mark } from './draw-chart.js'
import { usePage, type Page } from './page.js'

const INTERVALS: readonly CandleInterval[] = ['1m', '5m', '15m', '1h', '4h', '1d']
export type Pane = 'chart' | 'depth' | 'details'
const PANES: readonly Pane[] = ['chart', 'depth', 'details']
/** Own fills that are marked: more are slow to draw. */
const MARKED = 200

/** Chart, depth or details of the market, one of them. */
export function Centre({ pane }: { readonly pane: Signal<Pane> }): JSX.Element {
  const { terminal, room } = usePage()
  const market = terminal.market.value
  // On a narrow page the panes are chosen above.
  const names = room.value === 'narrow' ? [] : PANES
  return (
    <section class="panel centre" aria-label="Chart and details">
      <div class="panel-head">
        <div class="tabs" role="group" aria-label="What is shown">
          {names.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={pane.value === name}
              onClick={() => (pane.value = name)}
            >
              {name}
            </button>
          ))}
        </div>
        {pane.value === 'chart' && market !== undefined && (
          <div class="tabs" role="group" aria-label="Interval">
            {INTERVALS.map((interval) => (
              <button
                key={interval}
                type="button"
                aria-pressed={market.interval.value === interval}
                onClick={() => market.chooseInterval(interval)}
              >
                {interval}
              </button>
            ))}
          </div>
        )}
      </div>
      {pane.value === 'chart' && <Chart />}
      {pane.value === 'depth' && <Depth />}
      {pane.value === 'details' && <Details />}
    </section>
  )
}

function Chart(): JSX.Element {
  const page = usePage()
  const { terminal } = page
  const place = useRef<HTMLDivElement>(null)
  const drawing = useSignal<Drawing | undefined>(undefined)
  useEffect(() => {
    let isGone = false
    void import('./draw-chart.js').then(({ draw }) => {
      if (isGone || place.current === null) return
      drawing.value = draw(place.current, coloursOf())
    })
    return () => {
      isGone = true
      drawing.peek()?.remove()
    }
  }, [])
  const fitted = useRef('')
  useSignalEffect(() => {
    const [market, chart] = [terminal.market.value, drawing.value]
    if (market === undefined || chart === undefined) return
    const bars = market.candles.value.map((candle) => barOf(market.terms, candle))
    chart.bars(bars, market.entry.value.ui_price_decimals)
    const shown = `${market.name} ${market.interval.value}`
    if (bars.length === 0 || fitted.current === shown) return
    fitted.current = shown
    chart.fit()
  })
  const lines = useComputed(() => linesOf(page))
  const words = useComputed(() =>
    chartWords(lines.value, terminal.market.value?.entry.value.ui_price_decimals ?? 2),
  )
  useSignalEffect(() => drawing.value?.lines(lines.value))
  useSignalEffect(() => drawing.value?.marks(marksOf(page)))
  useSignalEffect(() => {
    void terminal.prefs.prefs.value
    drawing.value?.colours(coloursOf())
  })
  const isEmpty = terminal.market.value?.candles.value.length === 0
  return (
    <div class="fill chart" ref={place} role="img" aria-label={words.value}>
      {isEmpty && <p class="quiet pad over">No trades in these candles yet.</p>}
    </div>
  )
}

function linesOf({ terminal, views }: Page): readonly PriceLine[] {
  const market = terminal.market.value
  if (market === undefined) return []
  const lines = [
    ...orderLines(
      market.terms,
      views.openHere.value.map(({ record }) => record),
    ),
  ]
  const add = (kind: PriceLine['kind'], text: string | undefined, name: string = kind): void => {
    const price = readSigned(text)
    if (price !== undefined && price > 0n) lines.push({ kind, name, price: toDrawn(price) })
  }
  const { perp, future } = market.entry.value
  const ticker = market.ticker.value
  add('mark', ticker?.mark_price ?? perp?.mark_price ?? future?.mark_price)
  add('band', future?.fill_band_low, 'band')
  add('band', future?.fill_band_high, 'band')
  const held = terminal.own.value?.positions.value.flatMap(({ positions }) => positions) ?? []
  for (const position of held) {
    if (position.market !== market.name || position.subaccount_id !== terminal.subaccount.value)
      continue
    add('entry', position.entry_price)
    add('liquidation', position.liquidation_price_ui)
  }
  return lines
}

function marksOf({ terminal, views }: Page): readonly Mark[] {
  const name = terminal.market.value?.name
  return views.fills.value
    .filter(({ market, state }) => market === name && state === 'settled')
    .slice(0, MARKED)
    .map(({ at, side, size }) => ({ time: Math.floor(Date.parse(at) / 1_000), side, text: size }))
    .reverse()
}

/** Of the style sheet: the theme is said once. */
function coloursOf(): Colours {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string): string => style.getPropertyValue(name).trim()
  return {
    ...{ text: of('--text'), line: of('--line'), bid: of('--bid'), ask: of('--ask') },
    ...{ accent: of('--accent'), quiet: of('--quiet') },
  }
}

const SIZE: readonly [number, number] = [600, 240]

function Depth(): JSX.Element {
  const { terminal, views } = usePage()
  const entry = terminal.market.value?.entry.value
  const curve = depthCurve(views.bids.value, views.asks.value)
  if (entry === undefined || curve === undefined)
    return <p class="quiet pad fill">No depth: a side of the book is empty.</p>
  const { ui_price_decimals: price, ui_size_decimals: size } = entry
  return (
    <div class="fill depth-pane">
      <svg
        class="depth"
        viewBox={`0 0 ${SIZE[0]} ${SIZE[1]}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Depth of the book"
      >
        <path class="bid" d={areaPath(curve.bids, 0, SIZE)} />
        <path class="ask" d={areaPath(curve.asks, 1, SIZE)} />
      </svg>
      <p class="axis">
        <span>{formatE18(curve.lowE18, price)}</span>
        <span class="quiet">
          up to {formatE18(curve.mostE18, size)} {entry.base_asset_symbol}, {entry.ui_price_unit}
        </span>
        <span>{formatE18(curve.highE18, price)}</span>
      </p>
    </div>
  )
}

function Details(): JSX.Element {
  const { terminal } = usePage()
  const entry = terminal.market.value?.entry.value
  if (entry === undefined) return <div class="fill" />
  return (
    <div class="fill scroll pad" tabIndex={0} role="region" aria-label="Details of the market">
      <p class="quiet">{entry.settlement_note}</p>
      <dl class="facts">
        {detailFacts(entry).map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
