import { expect } from 'chai'
import { nearestSeries, type MarketEntry } from '../../client/index.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'

describe('the nearest series', () => {
  const open = { trading_status: 'open' } as const
  const series = (market: string, expirySec: number): MarketEntry => ({
    ...marketEntry(aFuture({ market, subId: BigInt(expirySec) })),
    ...open,
  })
  // As the venue lists them, by name.
  const FEB = series('USDC-cNGN-28FEB27', 1_803_823_200)
  const DEC = series('USDC-cNGN-31DEC26', 1_798_725_600)
  const JAN = series('USDC-cNGN-31JAN27', 1_801_404_000)
  const others = [marketEntry(aPerp()), marketEntry(aMarket())].map((it) => ({ ...it, ...open }))

  it('is the one that expires first of those that trade', () => {
    expect(nearestSeries([FEB, DEC, JAN, ...others])).to.equal(DEC)
    const ended = {
      ...DEC,
      trading_status: 'held',
      trading_status_reason: 'trading_ended',
    } as MarketEntry
    expect(nearestSeries([FEB, ended, JAN, ...others])).to.equal(JAN)
    expect(nearestSeries([ended, ...others])).to.equal(undefined)
  })
})
