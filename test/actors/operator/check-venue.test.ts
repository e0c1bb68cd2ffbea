import { expect } from 'chai'
import { exitCodeOf, unlisted } from '../../../actors/operator/check-venue.js'
import type { DeploymentCheck } from '../../../chain/contracts/check-deployment.js'
import type { Address } from '../../../core/action.js'
import { aMarket } from '../../support/builders.js'

const line = (result: DeploymentCheck['result']): DeploymentCheck => ({
  what: 'a fact',
  result,
  detail: '',
})

describe('./venue check-deployment', () => {
  it('exits with 0 only where all is known and well, with 2 where only something was not checked', () => {
    expect(exitCodeOf([line('ok'), line('not_listed')])).to.equal(0)
    expect(exitCodeOf([line('ok'), line('not_checked')])).to.equal(2)
    expect(exitCodeOf([line('not_checked'), line('failed')])).to.equal(1)
    expect(exitCodeOf([line('not_checked'), line('unknown')])).to.equal(1)
  })

  it('names each row that is no market of the venue, and each market without a row, with the reason', () => {
    const at = (digit: number): Address => `0x${`${digit}`.repeat(40)}`
    const named = (market: string, assetAddress: Address, enabled = true) => ({
      ...aMarket(),
      market,
      assetAddress,
      enabled,
    })
    const lines = unlisted(
      {
        markets: [named('A', at(1)), named('B', at(2), false)],
        refused: [{ row: 'C', problem: 'tick_size is missing' }],
        absent: [{ market: 'D', lacks: ['asset d', 'trade module d'] }],
      },
      {
        // One asset has a series of another date.
        markets: [named('A', at(1)), named('C', at(3)), named('E', at(4)), named('A2', at(1))],
      },
      'rows.json',
    )
    expect(lines.map(({ what, result, detail }) => `${result} ${what}: ${detail}`)).to.deep.equal([
      'failed C: is a market of the venue: tick_size is missing: correct its row in rows.json',
      'not_listed D: is a market of the venue: the deployment has no asset d and no trade module d',
      'not_listed B: is a market of the venue: its row in rows.json is disabled',
      'not_listed E: is a market of the venue: the deployment has its contracts, but rows.json has no row of it',
    ])
  })
})
