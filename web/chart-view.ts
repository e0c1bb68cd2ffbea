import {
  CandlestickSeries,
  createChart,
  type CandlestickData,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { CandleInterval, CandleRecord, MarketEntry, SocketClient } from '../client/index.js'
import { createCandles } from './candles.js'
import { el, panel } from './dom.js'
import { isInverted, toNumber, type Units } from './units.js'

const INTERVALS: readonly CandleInterval[] = ['1m', '5m', '15m', '1h', '4h', '1d']

export interface ChartView {
  readonly section: HTMLElement
  /** From now on the newest candles follow the trades. */
  follow(socket: Pick<SocketClient, 'subscribe'>): void
  show(units: Units): void
  close(): void
}

/** Candles in six intervals. */
export function createChartView(
  market: MarketEntry,
  read: (interval: CandleInterval) => Promise<readonly CandleRecord[]>,
): ChartView {
  const { section, body } = panel('Candles', 'first live')
  const place = el('div', { class: 'chart' })
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  const chart = createChart(place, {
    ...{ autoSize: true, timeScale: { timeVisible: true } },
    layout: {
      background: { color: 'transparent' },
      textColor: dark ? '#9aa4af' : '#57606a',
      attributionLogo: false,
    },
    grid: { vertLines: { visible: false }, horzLines: { color: dark ? '#343a42' : '#d5d9df' } },
  })
  const digits = isInverted(market) ? 2 : 6
  const series = chart.addSeries(CandlestickSeries, {
    priceFormat: { type: 'price', precision: digits, minMove: 10 ** -digits },
  })
  let units: Units = 'trader'
  let isClosed = false
  const draw = (): void => {
    if (!isClosed) series.setData(candles.rows().map((each) => candleOf(market, units, each)))
  }
  const candles = createCandles(market, read, draw)
  const choose = async (wanted: CandleInterval): Promise<void> => {
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.textContent === wanted))
    }
    if ((await candles.choose(wanted)) && !isClosed) chart.timeScale().fitContent()
  }
  const buttons = INTERVALS.map((each) =>
    el('button', { type: 'button', onclick: () => void choose(each) }, each),
  )
  body.append(
    el('div', { class: 'row', role: 'group', 'aria-label': 'Interval' }, ...buttons),
    place,
  )
  void choose('1m')
  return {
    ...{ section, follow: (socket) => candles.follow(socket) },
    show(wanted) {
      units = wanted
      draw()
    },
    close() {
      isClosed = true
      chart.remove()
    },
  }
}

/** In trader terms of an inverted market the highest price is the lowest of the engine. */
function candleOf(market: MarketEntry, units: Units, candle: CandleRecord): CandlestickData {
  const [open = 0, high = 0, low = 0, close = 0] = [
    ...[candle.open, candle.high, candle.low, candle.close],
  ].map((price) => toNumber(market, units, price))
  return {
    time: (Date.parse(candle.bucket_start) / 1_000) as UTCTimestamp,
    ...{ open, close, high: Math.max(high, low), low: Math.min(high, low) },
  }
}
