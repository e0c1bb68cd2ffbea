import { expect } from 'chai'
import { futureAssetAbi } from '../../../chain/abi/contracts.js'
import { selectorsOf } from '../../../chain/abi/selectors.js'
import type { UpkeepCalls } from '../../../chain/contracts/chain-contract.js'
import { chainContractOf } from '../../../chain/contracts/registry.js'
import type { Market } from '../../../core/model/market.js'
import { aFuture, aPerp } from '../../support/builders.js'

const UINT64_MAX = 2n ** 64n - 1n
const of = selectorsOf(futureAssetAbi, 'openSeries')

/** A block at which contracts without accounts answer the largest time to every question. */
const block = {
  word: () => Promise.resolve(UINT64_MAX),
  words: (_: unknown, selector: unknown) =>
    Promise.resolve(
      selector === of.openSeries ? [32n, 1n, UINT64_MAX] : Array<bigint>(8).fill(UINT64_MAX),
    ),
  constant: () => Promise.resolve(undefined),
  atSec: 1_795_255_200,
  holders: [],
  rescuers: [],
  mostUsd: 0n,
  markets: [],
  calendar: 'none',
} as unknown as UpkeepCalls

describe('upkeep of contracts that state a time beyond the last date', () => {
  const jobsOf = async (market: Market): Promise<string[]> => {
    const duties = await chainContractOf(market)?.readDuties?.(market, block)
    return duties?.map(({ job }) => job) ?? expect.fail('no upkeep')
  }

  it('is read for a perpetual, whose funding is not due', async () => {
    expect(await jobsOf(aPerp())).to.deep.equal([])
  })

  it('is read for a series that ends then, which is settled', async () => {
    expect(await jobsOf(aFuture())).to.deep.equal(['retirement'])
  })
})
