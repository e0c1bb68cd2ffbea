import { expect } from 'chai'
import fc from 'fast-check'
import { E18 } from '../../../core/money.js'
import {
  formatBps,
  formatCountdown,
  formatE18,
  formatSigned,
  noDecimalComma,
  parseInput,
} from '../../../web/select/format.js'
import { runs } from '../../support/property-runs.js'

const decimalComma = () => true
const e18 = (text: string): bigint => parseInput(text, noDecimalComma) ?? -1n

describe('web/select: numbers as texts', () => {
  it('have groups, and keep their zeros', () => {
    expect(formatE18(e18('15489.9'), 2)).to.equal('15,489.90')
    expect(formatE18(e18('1234567'), 0)).to.equal('1,234,567')
    expect(formatE18(e18('0.00064786'), 8)).to.equal('0.00064786')
    expect(formatE18(-e18('1000'), 2)).to.equal('-1,000.00')
    expect(formatE18(0n, 2)).to.equal('0.00')
  })

  it('round as they are told, and never call something nothing', () => {
    expect(formatE18(e18('9.999'), 2, 'down')).to.equal('9.99')
    expect(formatE18(e18('9.991'), 2, 'up')).to.equal('10.00')
    expect(formatE18(e18('9.995'), 2)).to.equal('10.00')
    expect(formatE18(1n, 2)).to.equal('<0.01')
    expect(formatE18(-1n, 2)).to.equal('>-0.01')
    expect(formatE18(1n, 2, 'up')).to.equal('0.01')
  })

  it('have a sign beside the colour', () => {
    expect(formatSigned(E18, 2)).to.equal('+1.00')
    expect(formatSigned(-E18, 2)).to.equal('-1.00')
    expect(formatSigned(0n, 2)).to.equal('0.00')
    expect(formatBps(40n)).to.equal('+0.40 %')
  })

  it('count down', () => {
    expect(formatCountdown(309_999)).to.equal('5:09')
    expect(formatCountdown(4 * 3_600_000 + 5 * 60_000)).to.equal('4 h 05 min')
    expect(formatCountdown(52 * 3_600_000)).to.equal('2 d 4 h')
    expect(formatCountdown(-1)).to.equal('0:00')
  })
})

describe('web/select: texts as numbers', () => {
  it('are read back as they were written', () => {
    fc.assert(
      fc.property(fc.bigInt(10n ** 16n, 10n ** 30n), (value) => {
        const cents = value - (value % 10n ** 16n)
        expect(parseInput(formatE18(cents, 2), noDecimalComma)).to.equal(cents)
      }),
      { numRuns: runs(300) },
    )
  })

  it('take a point anywhere, and a comma as the language of the reader does', () => {
    expect(parseInput(' 1.5 ', decimalComma)).to.equal((3n * E18) / 2n)
    expect(parseInput('1,5', decimalComma)).to.equal((3n * E18) / 2n)
    expect(parseInput('1.234,5', decimalComma)).to.equal(e18('1234.5'))
    expect(parseInput('1,234.5', noDecimalComma)).to.equal(e18('1234.5'))
    expect(parseInput('1 234', noDecimalComma)).to.equal(e18('1234'))
  })

  it('are refused where two readers would read two numbers, and where they are none', () => {
    for (const text of ['1,5', '1,23,456', ',5', '', '-1', '1e3', '1.2.3', 'ten'])
      expect(parseInput(text, noDecimalComma), text).to.equal(undefined)
    for (const text of ['1,2,3', '1,234.5', '.', '-1'])
      expect(parseInput(text, decimalComma), text).to.equal(undefined)
  })
})
