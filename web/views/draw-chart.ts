import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  LineStyle,
  type AutoscaleInfo,
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
import {
  barAt,
  scaleOf,
  type Mark,
  type MomentLine,
  type PriceLine,
} from '../select/chart-lines.js'

/** The chart's library, behind the little that the page asks of it: a file of its own, loaded after the first paint. */

export interface ChartCanvas {
  /** `widthSec`: the seconds of a bar. */
  bars(bars: readonly Bar[], decimals: number, widthSec: number): void
  lines(lines: readonly PriceLine[]): void
  /** Drawn where the time of each lies, also past the last bar. */
  moments(moments: readonly MomentLine[]): void
  marks(marks: readonly Mark[]): void
  colours(colours: Colours): void
  /** Where a price lies, in pixels from the top; also beyond the edges. Undefined while nothing is drawn. */
  yOf(price: number): number | undefined
  priceAt(y: number): number | undefined
  /** Called whenever the chart was drawn: what lies over it may have to move. Returns how to end it. */
  onDrawn(listener: () => void): () => void
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
  candles.applyOptions({
    autoscaleInfoProvider: (original: () => AutoscaleInfo | null) => {
      const info = original()
      if (info === null || info.priceRange === null) return info
      return { ...info, priceRange: scaleOf(info.priceRange, wanted) }
    },
  })
  return {
    redraw,
    show: (lines: readonly PriceLine[]): void => {
      wanted = lines
      redraw()
    },
  }
}

/** The lines down the chart: the library has none of its own. */
function createMoments(
  chart: IChartApi,
  candles: ISeriesApi<'Candlestick'>,
  colour: () => string,
  drawn: () => void,
) {
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
              drawn()
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

const at = ({ time }: Bar): UTCTimestamp => time as UTCTimestamp
const candleOf = (bar: Bar) => ({ ...bar, time: at(bar) })
const volumeOf = (bar: Bar, { bid, ask }: Colours) => ({
  time: at(bar),
  value: bar.volume,
  color: `${bar.close >= bar.open ? bid : ask}55`,
})

/** Whether the newest bar alone has changed or come: the library then draws it alone. */
const isGrown = (before: readonly Bar[], now: readonly Bar[]): boolean => {
  const [last, newest] = [before.at(-1), now.at(-1)]
  const isSameTime = last?.time === newest?.time
  return (
    now.length === before.length + (isSameTime ? 0 : 1) &&
    now.slice(0, -1).every((bar, index) => bar === before[index])
  )
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
    // It would lie over the prices of the same scale.
    lastValueVisible: false,
    priceLineVisible: false,
  })
  volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } })
  const markers = createSeriesMarkers(candles, [])
  const lines = createLines(candles, () => colours)
  const listeners = new Set<() => void>()
  const moments = createMoments(
    chart,
    candles,
    () => colours.accent,
    () => listeners.forEach((tell) => tell()),
  )
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
    volume.setData(drawnBars.map((bar) => volumeOf(bar, now)))
    lines.redraw()
  }
  let drawnBars: readonly Bar[] = []
  let drawnDecimals: number | undefined
  recolour(first)
  return {
    bars(bars, decimals, widthSec) {
      const before = drawnBars
      drawnBars = bars
      moments.among(bars, widthSec)
      if (decimals !== drawnDecimals)
        candles.applyOptions({
          priceFormat: { type: 'price', precision: decimals, minMove: 10 ** -decimals },
        })
      drawnDecimals = decimals
      const newest = bars.at(-1)
      if (newest !== undefined && isGrown(before, bars)) {
        candles.update(candleOf(newest))
        volume.update(volumeOf(newest, colours))
        return
      }
      candles.setData(bars.map(candleOf))
      volume.setData(bars.map((bar) => volumeOf(bar, colours)))
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
    yOf: (price) => candles.priceToCoordinate(price) ?? undefined,
    priceAt: (y) => candles.coordinateToPrice(y) ?? undefined,
    onDrawn(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    fit: () => chart.timeScale().fitContent(),
    remove: () => chart.remove(),
  }
}
