import { expect } from 'chai'
import type { FundingRecord } from '../../../client/index.js'
import { E18 } from '../../../core/money.js'
import { fundingPayments, type FundedPosition } from '../../../web/select/own-funding.js'

const at = (hour: number, minute = 0): string =>
  new Date(Date.UTC(2026, 10, 27, hour, minute)).toISOString()
const ofHour = (hour: number, rate: string, index = '0.001'): FundingRecord =>
  ({ observed_at: at(hour), funding_rate_1h: rate, index_price: index }) as FundingRecord
const fill = (hour: number, minute: number, side: 'buy' | 'sell', size: string) => ({
  created_at: at(hour, minute),
  side,
  size,
})
/** Hour, position at its end, and the sum: in whole base, and in millionths of a USDC. */
const paid = (given: Partial<FundedPosition>) =>
  fundingPayments({
    hours: [ofHour(12, '0.01'), ofHour(11, '-0.02'), ofHour(10, '0.01')],
    fills: [],
    sizeE18: 0n,
    knownFromMs: 0,
    nowMs: Date.parse(at(12, 30)),
    ...given,
  }).map((one) => [
    Number(one.at.slice(11, 13)),
    Number(one.sizeE18 / E18),
    Number((one.receivedE18 * 1_000_000n) / E18),
  ])

describe('web/select: funding of one’s own', () => {
  it('is size × index × rate of each hour: a long pays a positive rate, a short receives it', () => {
    const sizeE18 = 1_000n * E18
    // Half of the hour has passed.
    const long = [
      [12, 1_000, -5_000],
      [11, 1_000, 20_000],
      [10, 1_000, -10_000],
    ]
    expect(paid({ sizeE18 })).to.deep.equal(long)
    const short = long.map(([hour = 0, size = 0, sum = 0]) => [hour, -size, -sum])
    expect(paid({ sizeE18: -sizeE18 })).to.deep.equal(short)
    expect(paid({})).to.deep.equal([])
  })

  it('counts each position for as long as it was held, and hours without one not at all', () => {
    const fills = [fill(11, 15, 'buy', '1000'), fill(11, 45, 'sell', '1000')]
    expect(paid({ fills })).to.deep.equal([[11, 0, 10_000]])
    const more = [fill(11, 30, 'buy', '400'), fill(10, 30, 'buy', '600')]
    expect(paid({ fills: more, sizeE18: 1_000n * E18 })).to.deep.equal([
      [12, 1_000, -5_000],
      [11, 1_000, 16_000],
      [10, 600, -3_000],
    ])
  })

  it('counts nothing of an hour that begins after now', () => {
    const nowMs = Date.parse(at(11, 30))
    expect(paid({ sizeE18: 1_000n * E18, nowMs })).to.deep.equal([
      [12, 1_000, 0],
      [11, 1_000, 10_000],
      [10, 1_000, -10_000],
    ])
  })

  it('leaves out hours that the chain was not read in, and those before the fills that are known', () => {
    const hours = [ofHour(12, '0.01'), ofHour(9, '0.01')]
    const sizeE18 = 1_000n * E18
    const fills = [fill(11, 0, 'buy', '500')]
    expect(paid({ hours, fills, sizeE18 })).to.deep.equal([
      [12, 1_000, -5_000],
      [9, 500, -5_000],
    ])
    const knownFromMs = Date.parse(at(11))
    expect(paid({ sizeE18, knownFromMs }).map(([hour]) => hour)).to.deep.equal([12, 11])
  })
})
