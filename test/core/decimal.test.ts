import { expect } from 'chai'
import fc from 'fast-check'
import { inspect } from 'node:util'
import {
  divHalfUp,
  exactNumber,
  formatDecimal,
  formatFixed,
  isNegativeDecimal,
  parseDecimal,
  parseInteger,
} from '../../core/decimal.js'
import { UINT256_MAX } from '../../core/limits.js'

describe('parseDecimal', () => {
  it('reads plain decimal text at the scale', () => {
    expect(parseDecimal('12', 18)).to.equal(12n * 10n ** 18n)
    expect(parseDecimal('0.000001', 6)).to.equal(1n)
    expect(parseDecimal('007.50', 2)).to.equal(750n)
    expect(parseDecimal('5', 0)).to.equal(5n)
  })

  const refused = [
    ...['', ' 1', '1 ', '1e5', 'Infinity', 'NaN', '1_000', '１２', '0x1', '.5', '5.', '--1', '+1'],
    ...['-1', '1.2.3', '1,5', '1\n', '٣', '0b1', '12n', '1.-5'],
    ...[5, 1.5, null, undefined, true, {}, [], ['1'], 1n],
  ]
  for (const value of refused) {
    it(`refuses ${typeof value} ${inspect(value)} (MON-001)`, () => {
      expect(parseDecimal(value, 18)).to.equal(undefined)
    })
  }

  it('refuses more decimals than the scale, zeros included (MON-003)', () => {
    expect(parseDecimal('1.0000000000000000000', 18)).to.equal(undefined)
    expect(parseDecimal('1.000000', 6)).to.equal(1_000_000n)
  })

  it('reads 78 digits and refuses 79, with and without a point (MON-002)', () => {
    expect(parseDecimal('9'.repeat(78), 0)).to.equal(BigInt('9'.repeat(78)))
    expect(parseDecimal('9'.repeat(79), 0)).to.equal(undefined)
    expect(parseDecimal(`${'9'.repeat(61)}.${'9'.repeat(17)}`, 18)).not.to.equal(undefined)
    expect(parseDecimal(`${'9'.repeat(61)}.${'9'.repeat(18)}`, 18)).to.equal(undefined)
  })

  it('reads at scales beyond those of the chain', () => {
    expect(parseDecimal('1.5', 19)).to.equal(15n * 10n ** 18n)
    expect(parseDecimal('2', 24)).to.equal(2n * 10n ** 24n)
  })

  it('gives back what formatDecimal wrote', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 60n), fc.integer({ min: 0, max: 18 }), (value, decimals) => {
        expect(parseDecimal(formatDecimal(value, decimals), decimals)).to.equal(value)
      }),
    )
  })
})

describe('formatDecimal', () => {
  it('writes no trailing zero and no bare point (MON-006)', () => {
    expect(formatDecimal(1_500_000n, 6)).to.equal('1.5')
    expect(formatDecimal(2_000_000n, 6)).to.equal('2')
    expect(formatDecimal(0n, 18)).to.equal('0')
    expect(formatDecimal(-1n, 18)).to.equal('-0.000000000000000001')
    expect(formatDecimal(42n, 0)).to.equal('42')
    expect(formatDecimal(1_000n, 2)).to.equal('10')
    expect(formatDecimal(100n, 0)).to.equal('100')
    expect(formatDecimal(-1_050n, 2)).to.equal('-10.5')
  })

  it('writes every decimal where that is asked for', () => {
    expect(formatFixed(5n, 6)).to.equal('0.000005')
    expect(formatFixed(1_500_000n, 6)).to.equal('1.500000')
    expect(formatFixed(0n, 1)).to.equal('0.0')
    expect(formatFixed(123_456_789n, 6)).to.equal('123.456789')
  })
})

describe('parseInteger', () => {
  it('reads base-10 digits up to the largest allowed (MON-004)', () => {
    expect(parseInteger('0')).to.equal(0n)
    expect(parseInteger(UINT256_MAX.toString())).to.equal(UINT256_MAX)
    expect(parseInteger((UINT256_MAX + 1n).toString())).to.equal(undefined)
    expect(parseInteger('8', 7n)).to.equal(undefined)
    expect(parseInteger('7', 7n)).to.equal(7n)
  })

  it('keeps every digit on both sides of what a number holds', () => {
    const powers = [15n, 16n, 17n].flatMap((digits) => [10n ** digits - 1n, 10n ** digits])
    const words = [53n, 54n, 55n, 56n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits + 1n])
    for (const value of [...powers, ...words]) {
      expect(parseInteger(String(value))).to.equal(value)
      expect(parseDecimal(formatFixed(value, 6), 6)).to.equal(value)
    }
  })

  for (const value of [
    '0x10',
    ' 12 ',
    '+5',
    '0b11',
    '1e3',
    '1.0',
    '-1',
    '12n',
    '',
    '１',
    7,
    null,
  ]) {
    it(`refuses ${typeof value} ${JSON.stringify(value)}`, () => {
      expect(parseInteger(value)).to.equal(undefined)
    })
  }
})

describe('small number helpers', () => {
  it('tells a negative number from no number', () => {
    expect(isNegativeDecimal('-1')).to.equal(true)
    expect(isNegativeDecimal('-0.5')).to.equal(true)
    for (const value of ['1', '--1', '-', '-.5', '-1e5', -1, `-${'9'.repeat(100)}`]) {
      expect(isNegativeDecimal(value), String(value)).to.equal(false)
    }
  })

  it('rounds halves up', () => {
    expect([
      divHalfUp(1n, 2n),
      divHalfUp(1n, 3n),
      divHalfUp(2n, 3n),
      divHalfUp(4n, 2n),
    ]).to.deep.equal([1n, 0n, 1n, 2n])
  })

  it('stops rather than lose digits of a count', () => {
    expect(exactNumber(2n ** 53n - 1n)).to.equal(Number.MAX_SAFE_INTEGER)
    expect(() => exactNumber(2n ** 53n)).to.throw('exact range')
  })
})
