import { expect } from 'chai'
import { measureSeries } from '../../api-gateway/measure-series.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { createMetrics } from '../../runtime/metrics/metrics.js'
import { expectAlert, type Sample } from '../e2e/stage/metrics.js'
import { aFuture, aMarket } from '../support/builders.js'

const NOV_SEC = 1_796_047_200
const DAY_SEC = 86_400
const DEC_SEC = NOV_SEC + 31 * DAY_SEC
/** When trading in the first one ends. */
const END_SEC = NOV_SEC - 3_600
const december = aFuture({ market: 'USDC-cNGN-31DEC26', subId: BigInt(DEC_SEC) })

/** What a gateway shows so long before trading in the first series ends. */
async function shownAt(
  leftSec: number,
  calendar: FuturesCalendar = 'month-end',
  markets = [aMarket(), aFuture(), december],
): Promise<Sample[]> {
  const metrics = createMetrics()
  measureSeries(metrics, { calendar, markets, nowMs: () => (END_SEC - leftSec) * 1_000 })
  const { body } = await metrics.text()
  return Array.from(
    body.matchAll(/^(venue_series_due_timestamp_seconds\S+) (\S+)$/gm),
    ([, series = '', value = '']) => ({ series, value }),
  )
}
const due = (market: string, value: number) => ({
  series: `venue_series_due_timestamp_seconds{market="${market}"}`,
  value: `${value}`,
})

describe('the gateway’s metric of the next series', () => {
  it('names the series that is not listed, with the end of the one whose place it takes', async () => {
    expect(await shownAt(DAY_SEC)).to.deep.equal([due('USDC-cNGN-31JAN27', END_SEC)])
    expect(await shownAt(-DAY_SEC)).to.deep.equal([due('USDC-cNGN-31JAN27', END_SEC)])
  })

  it('has no name when the calendar ends, and is absent where no series was listed', async () => {
    expect(await shownAt(0, [NOV_SEC, DEC_SEC])).to.deep.equal([due('', DEC_SEC - 3_600)])
    expect(await shownAt(0, 'month-end', [aMarket()])).to.deep.equal([])
    expect(await shownAt(0, 'none')).to.deep.equal([])
  })

  it('fires VenueSeriesDue from seven days before, and until the series is listed', async () => {
    // promtool evaluates at the time 0.
    const atZero = (samples: readonly Sample[], leftSec: number) =>
      samples.map(({ series, value }) => ({ series, value: `${+value - END_SEC + leftSec}` }))
    for (const [leftSec, fires] of [
      [7 * DAY_SEC + 1, false],
      [7 * DAY_SEC - 1, true],
      [-DAY_SEC, true],
    ] as const) {
      const wanted = { series: '{market="USDC-cNGN-31JAN27"}', value: `${leftSec}` }
      const shown = atZero(await shownAt(leftSec), leftSec)
      expectAlert('VenueSeriesDue', shown, fires ? [wanted] : [])
    }
  })
})
