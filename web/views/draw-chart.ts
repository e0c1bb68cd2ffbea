import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  LineStyle,
  type IPriceLine,
  type ISeriesApi,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { Bar } from '../select/bars.js'
import type { Mark, PriceLine } from '../select/chart-lines.js'

/** The chart's library, behind the little that the page asks of it: a file of its own, loaded after the first paint. */

export interface ChartCanvas {
  bars(bars: readonly Bar[], decimals: number): void
  lines(lines: readonly PriceLine[]): void
  marks(marks: readonly Mark[]): void
  colours(colours: Colours): void
  fit(): void
  remove(): void
}

export interface Colours {
  readonly text: string
  readonly line: string
  readonly bid: string
  readonly ask: string
  readonly accent: string
  readonly quiet: string
}

/** The lines across the chart, drawn anew as a whole: there are few. */
function createLines(candles: ISeriesApi<'Candlestick'>, colours: () => Colours) {
  let [shown, wanted]: [IPriceLine[], readonly PriceLine[]] = [[], []]
  const colourOf = (kind: PriceLine['kind']): string => {
    const { bid, ask, accent, quiet } = colours()
    if (kind === 'buy') return bid
    if (kind === 'sell' || kind === 'liquidation') return ask
    return kind === 'entry' ? accent : quiet
  }
  const redraw = (): void => {
    for (const line of shown) candles.removePriceLine(line)
    shown = wanted.map(({ price, name, kind }) =>
      candles.createPriceLine({
        price,
        title: name,
        color: colourOf(kind),
        lineWidth: 1,
        lineStyle: kind === 'buy' || kind === 'sell' ? LineStyle.Dashed : LineStyle.Dotted,
        axisLabelVisible: kind !== 'mark' && kind !== 'index',
      }),
    )
  }
  return {
    redraw,
    show: (lines: readonly PriceLine[]): void => {
      wanted = lines
      redraw()
    },
  }
}

export function draw(place: HTMLElement, first: Colours): ChartCanvas {
  let colours = first
  const chart = createChart(place, {
    autoSize: true,
    timeScale: { timeVisible: true, rightOffset: 4 },
    layout: { background: { color: 'transparent' }, fontSize: 11, attributionLogo: false },
    crosshair: { mode: 0 },
    rightPriceScale: { scaleMargins: { top: 0.08, bottom: 0.24 } },
  })
  const candles = chart.addSeries(CandlestickSeries, {})
  const volume = chart.addSeries(HistogramSeries, {
    priceScaleId: '',
    priceFormat: { type: 'volume' },
  })
  volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } })
  const markers = createSeriesMarkers(candles, [])
  const lines = createLines(candles, () => colours)
  const recolour = (now: Colours): void => {
    colours = now
    chart.applyOptions({
      layout: { textColor: now.quiet },
      grid: { vertLines: { color: now.line }, horzLines: { color: now.line } },
      rightPriceScale: { borderColor: now.line },
      timeScale: { borderColor: now.line },
    })
    candles.applyOptions({
      upColor: now.bid,
      downColor: now.ask,
      borderVisible: false,
      wickUpColor: now.bid,
      wickDownColor: now.ask,
    })
    lines.redraw()
  }
  recolour(first)
  return {
    bars(bars, decimals) {
      candles.applyOptions({
        priceFormat: { type: 'price', precision: decimals, minMove: 10 ** -decimals },
      })
      const at = ({ time }: Bar): UTCTimestamp => time as UTCTimestamp
      candles.setData(bars.map((bar) => ({ ...bar, time: at(bar) })))
      volume.setData(
        bars.map((bar) => ({
          time: at(bar),
          value: bar.volume,
          color: `${bar.close >= bar.open ? colours.bid : colours.ask}55`,
        })),
      )
    },
    lines: lines.show,
    marks(marks) {
      markers.setMarkers(
        marks.map(({ time, side, text }): SeriesMarker<Time> => ({
          time: time as UTCTimestamp,
          text,
          size: 1,
          position: side === 'buy' ? 'belowBar' : 'aboveBar',
          shape: side === 'buy' ? 'arrowUp' : 'arrowDown',
          color: side === 'buy' ? colours.bid : colours.ask,
        })),
      )
    },
    colours: recolour,
    fit: () => chart.timeScale().fitContent(),
    remove: () => chart.remove(),
  }
}
