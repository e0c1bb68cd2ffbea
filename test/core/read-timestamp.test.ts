import { expect } from 'chai'
import fc from 'fast-check'
import { ceilSec, isLater, readTimestamp } from '../../core/time.js'

const sec = (iso: string): number => Date.parse(iso) / 1000

describe('RFC 3339 timestamps', () => {
  const good: [string, number, string][] = [
    ['2026-11-21T10:00:00Z', sec('2026-11-21T10:00:00Z'), ''],
    ['2026-11-21t10:00:00z', sec('2026-11-21T10:00:00Z'), ''],
    ['2026-11-21T10:00:00.000Z', sec('2026-11-21T10:00:00Z'), ''],
    ['2026-11-21T10:00:00.120Z', sec('2026-11-21T10:00:00Z'), '12'],
    ['2026-11-21T11:30:00+01:30', sec('2026-11-21T10:00:00Z'), ''],
    ['2026-11-20T23:59:59-10:01', sec('2026-11-21T10:00:59Z'), ''],
    ['2026-11-21T10:00:00-00:00', sec('2026-11-21T10:00:00Z'), ''],
    ['2024-02-29T00:00:00Z', sec('2024-02-29T00:00:00Z'), ''],
    ['2000-02-29T00:00:00Z', sec('2000-02-29T00:00:00Z'), ''],
    ['0001-01-01T00:00:00Z', sec('0001-01-01T00:00:00Z'), ''],
    ['1969-12-31T23:59:59.5Z', -1, '5'],
  ]
  for (const [text, seconds, fraction] of good) {
    it(`reads ${text}`, () => {
      expect(readTimestamp(text)).to.deep.equal({ sec: seconds, fraction })
    })
  }

  const bad: unknown[] = [
    ...['', 'yesterday', '1795255200', '2026-11-21', '2026-11-21T10:00:00', '2026-11-21T10:00Z'],
    ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-02-29T00:00:00Z'],
    ...['2026-11-31T00:00:00Z', '2026-11-00T00:00:00Z', '1900-02-29T00:00:00Z'],
    ...['2026-11-21T24:00:00Z', '2026-11-21T10:60:00Z', '2026-12-31T23:59:60Z'],
    ...['2026-11-21 10:00:00Z', '2026-11-21T10:00:00.Z', '2026-11-21T10:00:00,5Z'],
    ...['2026-11-21T10:00:00+0100', '2026-11-21T10:00:00+24:00', '2026-11-21T10:00:00+01:60'],
    ...['2026-11-21T10:00:00 01:00', '2026-11-21T10:00:00Z\n', ' 2026-11-21T10:00:00Z'],
    ...['26-11-21T10:00:00Z', '+002026-11-21T10:00:00Z', `2026-11-21T10:00:00.${'1'.repeat(31)}Z`],
    ...[undefined, 1_795_255_200, ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z']],
  ]
  for (const text of bad) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(readTimestamp(text)).to.equal(undefined)
    })
  }

  it('reads what a Date writes', () => {
    const anyDate = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(anyDate, (date) => {
        const read = readTimestamp(date.toISOString())
        const whole = Math.floor(date.getTime() / 1000)
        expect(read?.sec).to.equal(whole)
        expect(read && ceilSec(read)).to.equal(Math.ceil(date.getTime() / 1000))
      }),
    )
  })

  it('gives the first whole second from an instant on', () => {
    const ceiled = (text: string): number =>
      ceilSec(readTimestamp(text) ?? { sec: NaN, fraction: '' })
    expect(ceiled('1970-01-01T00:00:07Z')).to.equal(7)
    expect(ceiled('1970-01-01T00:00:07.000Z')).to.equal(7)
    expect(ceiled('1970-01-01T00:00:07.0001Z')).to.equal(8)
  })

  it('compares to any number of decimals', () => {
    const later = (a: string, b: string): boolean => {
      const [x, y] = [a, b].map((decimals) => readTimestamp(`2026-11-21T10:00:0${decimals}Z`))
      return x !== undefined && y !== undefined && isLater(x, y)
    }
    expect(later('0.0000000002', '0.0000000001')).to.equal(true)
    expect(later('0.10', '0.1')).to.equal(false)
    expect(later('0.1', '0.10')).to.equal(false)
    expect(later('0.9', '1')).to.equal(false)
    expect(later('1', '0.9')).to.equal(true)
    expect(later('0.09', '0.1')).to.equal(false)
    expect(later('0.2', '0.15')).to.equal(true)
    expect(later('1', '1')).to.equal(false)
    expect(later('1.5', '2.1')).to.equal(false)
    expect(later('2.1', '1.5')).to.equal(true)
  })
})
