import { useComputed, useSignalEffect, useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CandleInterval, CandleRecord } from '../../client/index.js'
import { areaPath, depthCurve } from '../select/depth-curve.js'
import { barOf, type Bar } from '../select/bars.js'
import {
  chartLines,
  chartMarks,
  chartMoments,
  chartWords,
  LINE_GROUPS,
  visibleLines,
  type LineGroup,
  type Mark,
  type MomentLine,
  type PriceLine,
} from '../select/chart-lines.js'
import { detailFacts } from '../select/header-facts.js'
import { formatCountdown, formatE18 } from '../select/format.js'
import { CANDLE_INTERVALS_SEC } from '../../core/records/candle-intervals.js'
import type { MarketArithmetic } from '../select/market-terms.js'
import { sameRows } from '../select/same-rows.js'
import type { Terminal } from '../state/terminal.js'
import type { Colours, ChartCanvas } from './draw-chart.js'
import { Check } from './field.js'
import { Grips } from './grips.js'
import { Funding, Liquidations } from './histories.js'
import { usePage, type ViewContext } from './page.js'
import { momentOf } from './time.js'

const INTERVALS: readonly CandleInterval[] = ['1m', '5m', '15m', '1h', '4h', '1d']
export type Pane = 'chart' | 'depth' | 'funding' | 'liquidations' | 'details'

/** The panes of the open market: funding is of perpetuals, and liquidations of markets with positions. */
export function usePanes(): readonly Pane[] {
  const market = usePage().terminal.market.value
  return [
    ...(['chart', 'depth'] as const),
    ...(market?.entry.value.perp === undefined ? [] : (['funding'] as const)),
    ...(market?.terms.isMargined === true ? (['liquidations'] as const) : []),
    'details',
  ]
}

/** Chart, depth, histories or details of the market, one of them. */
export function Centre({ pane }: { readonly pane: Signal<Pane> }): JSX.Element {
  const { terminal, room } = usePage()
  const market = terminal.market.value
  const panes = usePanes()
  // Another market may lack the pane that was chosen.
  const shown = panes.includes(pane.value) ? pane.value : 'chart'
  // On a narrow page the panes are chosen above.
  const names = room.value === 'narrow' ? [] : panes
  return (
    <section class="panel centre" aria-label="Chart and details">
      <div class="panel-head">
        <div class="tabs" role="group" aria-label="What is shown">
          {names.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown === name}
              onClick={() => (pane.value = name)}
            >
              {name}
            </button>
          ))}
        </div>
        {shown === 'chart' && market !== undefined && (
          <div class="tools">
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
            <Lines />
          </div>
        )}
      </div>
      {shown === 'chart' && <Chart />}
      {shown === 'depth' && <Depth />}
      {shown === 'funding' && market !== undefined && <Funding key={market.name} market={market} />}
      {shown === 'liquidations' && <Liquidations />}
      {shown === 'details' && <Details />}
    </section>
  )
}

/** Which lines the chart has, kept on this device. */
function Lines(): JSX.Element {
  const { prefs, set } = usePage().terminal.prefs
  const hidden = prefs.value.hiddenLines
  return (
    <details class="lines">
      <summary>lines</summary>
      <div class="drop pad">
        {LINE_GROUPS.map((group) => (
          <Check
            key={group}
            words={group}
            isOn={!hidden.includes(group)}
            set={(isOn) => {
              const others = hidden.filter((one) => one !== group)
              set({ hiddenLines: isOn ? others : [...others, group] })
            }}
          />
        ))}
      </div>
    </details>
  )
}

function Chart(): JSX.Element {
  const page = usePage()
  const { terminal } = page
  const place = useRef<HTMLDivElement>(null)
  const drawing = useSignal<ChartCanvas | undefined>(undefined)
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
    const market = terminal.market.value
    const chart = drawing.value
    if (market === undefined || chart === undefined) return
    const bars = market.candles.value.map((candle) => barOnce(market.terms, candle))
    const { ui_price_decimals: decimals } = market.entry.value
    chart.bars(bars, decimals, CANDLE_INTERVALS_SEC[market.interval.value])
    const shown = `${market.name} ${market.interval.value}`
    if (bars.length === 0 || fitted.current === shown) return
    fitted.current = shown
    chart.fit()
  })
  const linesBefore = useRef<readonly PriceLine[]>([])
  // The ticker changes more often than they do, and to draw them is to draw the chart.
  const lines = useComputed(() => {
    linesBefore.current = sameRows(linesBefore.current, linesOf(page), keyOfLine)
    return linesBefore.current
  })
  const words = useComputed(() =>
    chartWords(lines.value, terminal.market.value?.entry.value.ui_price_decimals ?? 2),
  )
  useSignalEffect(() => drawing.value?.lines(lines.value))
  useSignalEffect(() => drawing.value?.marks(marksOf(page)))
  const moments = useComputed(() =>
    terminal.market.value === undefined || isHidden(terminal, 'band')
      ? []
      : chartMoments(terminal.market.value.entry.value),
  )
  useSignalEffect(() => drawing.value?.moments(moments.value))
  useSignalEffect(() => {
    void terminal.prefs.prefs.value
    drawing.value?.colours(coloursOf())
  })
  const isEmpty = terminal.market.value?.candles.value.length === 0
  const chart = drawing.value
  return (
    <div class="fill chart-place">
      <div class="chart" ref={place} role="img" aria-label={words.value}>
        {isEmpty && <p class="quiet pad over">No trades in these candles yet.</p>}
        {moments.value.length > 0 && (
          <p class="quiet pad over end">{momentWords(moments.value, terminal)}</p>
        )}
      </div>
      {chart !== undefined && !isHidden(terminal, 'own orders') && <Grips chart={chart} />}
    </div>
  )
}

const isHidden = ({ prefs }: Terminal, group: LineGroup): boolean =>
  prefs.prefs.value.hiddenLines.includes(group)

const keyOfLine = ({ name, price }: PriceLine): string => `${name} ${price}`

const made = new WeakMap<CandleRecord, Bar>()

/** A candle that is the same object has the same bar: the newest alone changes. */
function barOnce(terms: MarketArithmetic, candle: CandleRecord): Bar {
  const bar = made.get(candle) ?? barOf(terms, candle)
  made.set(candle, bar)
  return bar
}

function linesOf({ terminal, views }: ViewContext): readonly PriceLine[] {
  const market = terminal.market.value
  if (market === undefined) return []
  const held = terminal.own.value?.positions.value.flatMap(({ positions }) => positions) ?? []
  const lines = chartLines({
    entry: market.entry.value,
    terms: market.terms,
    ticker: market.ticker.value,
    orders: views.openHere.value.map(({ record }) => record),
    positions: held.filter((one) => one.subaccount_id === terminal.subaccount.value),
  })
  return visibleLines(lines, terminal.prefs.prefs.value.hiddenLines)
}

/** When trading ends and the series expires, and how long that is from now. */
const momentWords = (moments: readonly MomentLine[], { nowSec, prefs }: Terminal): string =>
  moments
    .map(({ name, atSec }) => {
      const at = momentOf(new Date(atSec * 1_000).toISOString(), prefs.prefs.value.isUtc)
      const left = atSec - nowSec.value
      return `${name} ${at}${left > 0 ? `, in ${formatCountdown(left * 1_000)}` : ''}`
    })
    .join(' · ')

const marksOf = ({ terminal, views }: ViewContext): readonly Mark[] =>
  isHidden(terminal, 'own fills')
    ? []
    : chartMarks(terminal.market.value?.name ?? '', views.fills.value)

/** Of the style sheet: the theme is said once. */
function coloursOf(): Colours {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string): string => style.getPropertyValue(name).trim()
  return {
    text: of('--text'),
    line: of('--line'),
    bid: of('--bid'),
    ask: of('--ask'),
    accent: of('--accent'),
    quiet: of('--quiet'),
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
