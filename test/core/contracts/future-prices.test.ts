import { expect } from 'chai'
import fc from 'fast-check'
import {
  fillBand,
  fixingAtExpiry,
  isFallbackInRange,
  isInBand,
  markTowards,
  NO_FIXING,
  refusalOfMark,
  withSample,
  type FixingAverage,
} from '../../../core/contracts/future-prices.js'
import { E18, priceE18, type PriceE18 } from '../../../core/money.js'
import { BAND_ROWS, FIXING_ROWS, MARK_ROWS, wei } from '../../support/future-vectors.js'

const EXPIRY = 1_796_047_200
const DAY = 86_400
const price = (whole: number): PriceE18 => priceE18(BigInt(whole) * E18)
const INDEX = price(1_500)

const prices = fc.bigInt({ min: E18, max: 10_000n * E18 }).map(priceE18)
const lefts = fc.integer({ min: -DAY, max: 40 * DAY })

describe('the fill band', () => {
  for (const { leftSec, index, width, low, high } of BAND_ROWS) {
    it(`${leftSec} seconds before expiry at ${index} is ${low} to ${high} (FUT-011, FUT-012)`, () => {
      const band = fillBand(priceE18(wei(index)), EXPIRY, EXPIRY - leftSec)
      expect(band).to.deep.equal({ widthE18: wei(width), low: wei(low), high: wei(high) })
    })
  }

  it('never widens, and contains the index', () => {
    fc.assert(
      fc.property(prices, lefts, fc.nat(DAY), (index, left, later) => {
        const [now, then] = [left, left - later].map((l) => fillBand(index, EXPIRY, EXPIRY - l))
        expect((now?.low ?? 0n) <= (then?.low ?? 0n)).to.equal(true)
        expect((now?.high ?? 0n) >= (then?.high ?? 0n)).to.equal(true)
        expect(now !== undefined && isInBand(now, index)).to.equal(true)
      }),
    )
  })
})

describe('the mark', () => {
  for (const { name, sinceSec, leftSec = 0, index, next, refusal } of MARK_ROWS) {
    it(`${refusal === undefined ? 'moves' : 'does not move'} ${name} (FUT-033)`, () => {
      const last = { price: INDEX, atSec: EXPIRY - 20 * DAY }
      const atSec = sinceSec === undefined ? EXPIRY - leftSec : last.atSec + sinceSec
      const moved = { price: priceE18(wei(next)), atSec }
      const refused = refusalOfMark(last, moved, { index: priceE18(wei(index)), expirySec: EXPIRY })
      expect(refused).to.equal(refusal)
    })
  }

  it('has a nearest legal value unless the band lies beyond one move, and that is accepted', () => {
    fc.assert(
      fc.property(prices, prices, fc.integer({ min: 1, max: 40 * DAY }), (from, index, left) => {
        const atSec = EXPIRY - left
        const band = fillBand(index, EXPIRY, atSec)
        const found = markTowards(from, index, band)
        if (found === undefined) {
          expect(band.low * 20n > from * 21n || band.high * 20n < from * 19n).to.equal(true)
          return
        }
        const move = [
          { price: from, atSec: atSec - 3_600 },
          { price: found, atSec },
        ] as const
        expect(refusalOfMark(...move, { index, expirySec: EXPIRY })).to.equal(undefined)
      }),
    )
  })
})

describe('the fixing', () => {
  const START = EXPIRY - 3_600
  const record = (samples: readonly (readonly [number, number])[]): FixingAverage =>
    samples.reduce<FixingAverage>(
      (fixing, [atSec, p]) => withSample(fixing, EXPIRY, { price: price(p), atSec }) ?? fixing,
      NO_FIXING,
    )

  for (const { name, samples, average, fallback } of FIXING_ROWS) {
    it(`of ${name} is ${fallback === undefined ? average : 'incomplete'} (FUT-034, FUT-035)`, () => {
      const fixing = samples.reduce<FixingAverage>((before, [leftSec, text]) => {
        const sample = { price: priceE18(wei(text)), atSec: EXPIRY - leftSec }
        return withSample(before, EXPIRY, sample) ?? before
      }, NO_FIXING)
      const result = fixingAtExpiry(fixing, EXPIRY)
      expect(result).to.deep.equal({
        isComplete: fallback === undefined,
        average: average === undefined ? undefined : wei(average),
      })
      const isAllowed = (price: bigint) => isFallbackInRange(priceE18(price), result, INDEX)
      const [lowest = 0n, highest = 0n] = (fallback ?? []).map(wei)
      if (fallback !== undefined)
        expect([lowest - 1n, lowest, highest, highest + 1n].map(isAllowed)).to.deep.equal([
          ...[false, true, true, false],
        ])
    })
  }

  it('refuses samples that are not newer, or after expiry', () => {
    const fixing = record([[START, 1_500]])
    for (const atSec of [START, START - 1, EXPIRY + 1])
      expect(withSample(fixing, EXPIRY, { price: INDEX, atSec })).to.equal(undefined)
  })

  it('lies between its lowest and highest sample', () => {
    const at = fc.integer({ min: START - 900, max: EXPIRY })
    const sample = fc.tuple(at, fc.integer({ min: 1, max: 5_000 }))
    fc.assert(
      fc.property(fc.uniqueArray(sample, { minLength: 1, selector: ([t]) => t }), (drawn) => {
        const samples = drawn.sort(([a], [b]) => a - b)
        const { average } = fixingAtExpiry(record(samples), EXPIRY)
        if (average === undefined) return
        const all = samples.map(([, p]) => p)
        const lowest = price(Math.min(...all))
        const highest = price(Math.max(...all))
        expect(average >= lowest && average <= highest).to.equal(true)
      }),
    )
  })
})
