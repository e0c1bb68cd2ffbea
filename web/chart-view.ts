import {
  CandlestickSeries,
  createChart,
  type CandlestickData,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { CandleInterval, CandleRecord, MarketEntry } from '../client/index.js'
import { el, panel } from './dom.js'
import { isInverted, toNumber, type Units } from './units.js'

const INTERVALS: readonly CandleInterval[] = ['1m', '5m', '15m', '1h', '4h', '1d']

export interface ChartView {
  readonly section: HTMLElement
  /** Reads the candles again. */
  refresh(): Promise<void>
  show(units: Units): Promise<void>
  close(): void
}

/** Candles in six intervals. */
export function createChartView(
  market: MarketEntry,
  read: (interval: CandleInterval) => Promise<readonly CandleRecord[]>,
): ChartView {
  const { section, body } = panel('Candles', 'first')
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
  let [interval, units]: [CandleInterval, Units] = ['1m', 'trader']
  let isClosed = false
  const buttons = INTERVALS.map((each) =>
    el('button', { type: 'button', onclick: () => void choose(each) }, each),
  )
  const refresh = async (): Promise<void> => {
    const asked = interval
    const candles = await read(asked)
    if (asked === interval && !isClosed)
      series.setData(candles.map((each) => candleOf(market, units, each)))
  }
  async function choose(wanted: CandleInterval): Promise<void> {
    interval = wanted
    for (const button of buttons) {
      button.setAttribute('aria-pressed', String(button.textContent === wanted))
    }
    await refresh()
    if (!isClosed) chart.timeScale().fitContent()
  }
  body.append(
    el('div', { class: 'row', role: 'group', 'aria-label': 'Interval' }, ...buttons),
    place,
  )
  void choose(interval)
  return {
    ...{ section, refresh },
    async show(wanted) {
      units = wanted
      await refresh()
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
