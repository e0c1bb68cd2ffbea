import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  LineStyle,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesPrimitive,
  type Logical,
  type SeriesMarker,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { Bar } from '../select/bars.js'
import { barAt, type Mark, type MomentLine, type PriceLine } from '../select/chart-lines.js'

/** The chart's library, behind the little that the page asks of it: a file of its own, loaded after the first paint. */

export interface ChartCanvas {
  /** `widthSec`: the seconds of a bar. */
  bars(bars: readonly Bar[], decimals: number, widthSec: number): void
  lines(lines: readonly PriceLine[]): void
  /** Drawn where the time of each lies, also past the last bar. */
  moments(moments: readonly MomentLine[]): void
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

/** The lines down the chart: the library has none of its own. */
function createMoments(chart: IChartApi, candles: ISeriesApi<'Candlestick'>, colour: () => string) {
  let moments: readonly MomentLine[] = []
  let [times, widthSec]: [readonly number[], number] = [[], 60]
  let redraw = (): void => undefined
  const xOf = ({ atSec }: MomentLine): number | null => {
    const bar = barAt(times, widthSec, atSec)
    return bar === undefined ? null : chart.timeScale().logicalToCoordinate(bar as Logical)
  }
  const primitive: ISeriesPrimitive<Time> = {
    attached: ({ requestUpdate }) => void (redraw = requestUpdate),
    paneViews: () => [
      {
        renderer: () => ({
          draw: (target) =>
            target.useMediaCoordinateSpace(({ context, mediaSize }) => {
              context.strokeStyle = context.fillStyle = colour()
              context.font = '11px sans-serif'
              context.textAlign = 'right'
              context.setLineDash([2, 3])
              for (const moment of moments) {
                const x = xOf(moment)
                if (x === null || x < 0 || x > mediaSize.width) continue
                context.beginPath()
                context.moveTo(x, 0)
                context.lineTo(x, mediaSize.height)
                context.stroke()
                context.fillText(moment.name, x - 4, 12)
              }
            }),
        }),
      },
    ],
  }
  candles.attachPrimitive(primitive)
  return {
    show: (now: readonly MomentLine[]): void => {
      moments = now
      redraw()
    },
    among: (bars: readonly Bar[], width: number): void => {
      times = bars.map(({ time }) => time)
      widthSec = width
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
  const moments = createMoments(chart, candles, () => colours.accent)
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
    bars(bars, decimals, widthSec) {
      moments.among(bars, widthSec)
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
    moments: moments.show,
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
