import { expect } from 'chai'
import fc from 'fast-check'
import {
  expiriesFrom,
  nextSeries,
  readCalendar,
  seriesWork,
  type FuturesCalendar,
} from '../../../core/contracts/future-calendar.js'
import { dateCodeOf } from '../../../core/contracts/future.js'
import { LAST_DATE_SEC } from '../../../core/time.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'

const sec = (time: string): number => Date.parse(time) / 1_000
const codesFrom = (time: string, calendar: FuturesCalendar = 'month-end', count = 2) =>
  expiriesFrom(calendar, sec(time), count).map((expiry) => dateCodeOf(BigInt(expiry)))
const listed = (...times: readonly string[]) => [
  aMarket(),
  ...times.map((time) => {
    const subId = BigInt(sec(time))
    return aFuture({ market: `USDC-cNGN-${dateCodeOf(subId)}`, subId })
  }),
  aPerp(),
]

describe('the calendar of month ends', () => {
  it('names the next two, at 14:00 UTC (FUT-002)', () => {
    expect(expiriesFrom('month-end', sec('2026-11-26T00:00:00Z'))).to.deep.equal([
      1_796_047_200,
      sec('2026-12-31T14:00:00Z'),
    ])
    for (const [time, ...codes] of [
      ['2026-12-01T00:00:00Z', '31DEC26', '31JAN27'],
      ['2027-01-07T12:00:00Z', '31JAN27', '28FEB27'],
      ['2028-02-29T11:00:00Z', '29FEB28', '31MAR28'],
      ['2028-01-31T14:00:00Z', '29FEB28', '31MAR28'],
      ['2100-01-01T00:00:00Z'],
      ['2099-12-01T00:00:00Z', '31DEC99'],
      ['2030-01-01T00:00:00Z', '31JAN30', '28FEB30'],
      ['2026-08-31T14:00:00Z', '30SEP26', '31OCT26'],
    ] as const)
      expect(codesFrom(time), time).to.deep.equal(codes)
  })

  it('leaves out a series in its last hour, and a minute before', () => {
    for (const [time, first] of [
      ['2026-11-30T12:30:00Z', '30NOV26'],
      ['2026-11-30T12:58:59Z', '30NOV26'],
      ['2026-11-30T12:59:00Z', '31DEC26'],
      ['2026-11-30T14:30:00Z', '31DEC26'],
      ['2026-11-30T23:59:59Z', '31DEC26'],
      ['2026-12-31T13:00:00Z', '31JAN27'],
    ] as const)
      expect(codesFrom(time)[0], time).to.equal(first)
  })

  it('names two of this century at any time, which rise and are no more than two months away', () => {
    const most = sec('2099-10-01T00:00:00Z')
    fc.assert(
      fc.property(fc.integer({ min: sec('2000-02-01T00:00:00Z'), max: most }), (atSec) => {
        const [first = 0, second = 0, ...more] = expiriesFrom('month-end', atSec)
        expect(more).to.deep.equal([])
        expect(first).to.be.above(atSec + 3_600)
        expect(second)
          .to.be.above(first)
          .and.below(atSec + 63 * 86_400)
        for (const expirySec of [first, second]) {
          const day = new Date(expirySec * 1_000)
          expect(day.toISOString()).to.match(/T14:00:00\.000Z$/)
          expect(new Date(expirySec * 1_000 + 86_400_000).getUTCDate()).to.equal(1)
        }
      }),
    )
  })
})

describe('a calendar at any time that a chain may state', () => {
  it('names what is of this century, and nothing at the last date', () => {
    const time = fc.oneof(fc.integer({ min: 0, max: LAST_DATE_SEC }), fc.constant(LAST_DATE_SEC))
    fc.assert(
      fc.property(
        time,
        fc.constantFrom<FuturesCalendar>('month-end', 'none'),
        (atSec, calendar) => {
          const named = expiriesFrom(calendar, atSec)
          expect(named.every((it) => it > atSec && it < sec('2100-01-01T00:00:00Z'))).to.equal(true)
          expect(() => seriesWork(calendar, [], { atSec, open: new Set() })).to.not.throw()
        },
      ),
    )
    expect(expiriesFrom('month-end', LAST_DATE_SEC)).to.deep.equal([])
  })
})

describe('a calendar as a setting', () => {
  it('is month-end, none, or dates that rise', () => {
    expect(readCalendar('month-end')).to.equal('month-end')
    expect(readCalendar('none')).to.equal('none')
    expect(readCalendar('2026-11-30T14:00Z, 2027-03-31T13:00:00Z')).to.deep.equal([
      1_796_047_200,
      sec('2027-03-31T13:00:00Z'),
    ])
  })

  it('is refused with the date that is wrong', () => {
    for (const [text, problem] of [
      ['', /names , which is no time such as 2026-12-31T14:00Z/],
      ['monthly', /names monthly, /],
      ['2026-11-30T14:00Z,', /names , /],
      ['2026-02-30T14:00Z', /names 2026-02-30T14:00Z, /],
      ['2026-11-30T14:00', /no time/],
      ['2026-11-30', /no time/],
      ['2100-01-31T14:00Z', /no time/],
      ['2026-12-31T14:00Z,2026-11-30T14:00Z', /names 2026-11-30T14:00Z out of order/],
      ['2026-12-31T14:00Z,2026-12-31T15:00Z', /its day twice/],
      [Array.from({ length: 201 }, () => 'x').join(','), /more than 200/],
    ] as const) {
      const read = readCalendar(text)
      expect(read, text).to.have.property('problem').that.matches(problem)
    }
  })

  it('names those of its dates that are to come', () => {
    const dates = ['2027-01-31T14:00:00Z', '2027-03-31T14:00:00Z', '2027-06-30T14:00:00Z'].map(sec)
    expect(codesFrom('2026-01-01T00:00:00Z', dates)).to.deep.equal(['31JAN27', '31MAR27'])
    expect(codesFrom('2027-03-01T00:00:00Z', dates)).to.deep.equal(['31MAR27', '30JUN27'])
    expect(codesFrom('2027-06-30T13:00:00Z', dates)).to.deep.equal([])
    expect(codesFrom('2027-03-01T00:00:00Z', 'none')).to.deep.equal([])
  })
})

describe('the series that comes next', () => {
  const at = sec('2026-11-26T00:00:00Z')
  const NOV = '2026-11-30T14:00:00Z'
  const DEC = '2026-12-31T14:00:00Z'
  const JAN = '2027-01-31T14:00:00Z'

  it('takes the place of the series that ends first', () => {
    expect(nextSeries('month-end', listed(NOV, DEC), at)).to.deep.equal({
      series: { market: 'USDC-cNGN-31JAN27', expirySec: sec(JAN) },
      dueSec: sec(NOV) - 3_600,
    })
    const ahead = nextSeries('month-end', listed(NOV, DEC, JAN), at)
    expect(ahead?.series?.market).to.equal('USDC-cNGN-28FEB27')
    expect(ahead?.dueSec).to.equal(sec(DEC) - 3_600)
  })

  it('is late where one of the next two is not listed', () => {
    const late = nextSeries('month-end', listed(NOV), at)
    expect(late?.series?.market).to.equal('USDC-cNGN-31DEC26')
    expect(late?.dueSec).to.equal(sec('2026-10-31T13:00:00Z'))
    const gone = nextSeries('month-end', listed(NOV, DEC), sec('2027-02-01T00:00:00Z'))
    expect(gone?.series?.market).to.equal('USDC-cNGN-28FEB27')
    expect(gone?.dueSec).to.be.below(sec('2027-02-01T00:00:00Z'))
  })

  it('is not one of a day whose series is listed with another hour', () => {
    const other = '2026-12-31T10:00:00Z'
    expect(nextSeries('month-end', listed(NOV, other), at)?.series?.market).to.equal(
      'USDC-cNGN-31JAN27',
    )
  })

  it('is none when the dates end: from the last trade time on no series trades', () => {
    const dates = [NOV, DEC].map(sec)
    const next = { series: undefined, dueSec: sec(DEC) - 3_600 }
    expect(nextSeries(dates, listed(NOV, DEC), at)).to.deep.equal(next)
    expect(nextSeries(dates, listed(NOV, DEC), sec(JAN))).to.deep.equal(next)
    expect(nextSeries(dates, listed(NOV), at)).to.deep.equal({
      series: { market: 'USDC-cNGN-31DEC26', expirySec: sec(DEC) },
      dueSec: at,
    })
  })

  it('is not looked for where no series was listed, or no rule is followed', () => {
    expect(nextSeries('month-end', listed(), at)).to.equal(undefined)
    expect(nextSeries('none', listed(NOV), at)).to.equal(undefined)
  })
})

describe('what of the series is not as the calendar says', () => {
  const [NOV, DEC, JAN] = ['2026-11-30', '2026-12-31', '2027-01-31'].map((day) =>
    sec(`${day}T14:00:00Z`),
  ) as [number, number, number]
  const dates = ['2026-11-30T14:00:00Z', '2026-12-31T14:00:00Z']
  const open = (...expiries: readonly number[]) => new Set(expiries.map(BigInt))
  const work = (atSec: number, on: ReadonlySet<bigint>, markets = listed(...dates)) =>
    seriesWork('month-end', markets, { atSec, open: on })

  it('is nothing while two series trade that are listed, and without any series', () => {
    expect(work(NOV - 86_400, open(NOV, DEC))).to.deep.equal([])
    expect(work(NOV, open(), [aMarket(), aPerp()])).to.deep.equal([])
    expect(
      seriesWork('none', listed(...dates), { atSec: NOV - 1, open: open(NOV, DEC) }),
    ).to.deep.equal([])
  })

  it('opens the next one first, then lists it, and disables what the chain has no more', () => {
    expect(work(NOV - 3_600, open(NOV, DEC))).to.deep.equal([{ kind: 'open', expirySec: JAN }])
    expect(work(NOV - 3_600, open(NOV, DEC, JAN))).to.deep.equal([{ kind: 'list', expirySec: JAN }])
    const all = listed(...dates, '2027-01-31T14:00:00Z')
    expect(work(NOV, open(NOV, DEC, JAN), all)).to.deep.equal([])
    expect(work(NOV, open(DEC, JAN), all)).to.deep.equal([
      { kind: 'disable', market: 'USDC-cNGN-30NOV26' },
    ])
    // Listed ahead of its opening, it is not disabled.
    expect(work(NOV - 1, open(DEC, JAN), all)).to.deep.equal([])
  })

  it('opens none beside one of the same day, whose name it would have', () => {
    const early = listed('2026-12-31T10:00:00Z')
    expect(seriesWork([DEC], early, { atSec: NOV, open: open(DEC - 4 * 3_600) })).to.deep.equal([])
  })
})
