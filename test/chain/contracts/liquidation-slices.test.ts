import { expect } from 'chai'
import type { PlacedEvent } from '../../../chain/contracts/chain-contract.js'
import { inSlices } from '../../../chain/contracts/read-liquidations.js'

const eventOf = (tx: string, logIndex: number): PlacedEvent => ({
  address: '0xaa',
  topics: [],
  data: '0x',
  txHash: `0x${tx}`,
  blockHash: '0xbb',
  blockNumber: 1n,
  logIndex,
})

describe('events of liquidations are read in slices', () => {
  const sizes = (txs: string): number[] =>
    inSlices([...txs].map(eventOf), 3).map(({ length }) => length)

  it('of so many', () => {
    expect(sizes('')).to.deep.equal([])
    expect(sizes('abc')).to.deep.equal([3])
    expect(sizes('abcdefg')).to.deep.equal([3, 3, 1])
  })

  it('that part no transaction', () => {
    expect(sizes('abcccde')).to.deep.equal([5, 2])
    expect(sizes('aaaaa')).to.deep.equal([5])
    expect(sizes('abccccabc')).to.deep.equal([6, 3])
  })

  it('that hold every event once, in order', () => {
    const events = [...'aabbbbbcdde'].map(eventOf)
    expect(inSlices(events, 3).flat()).to.deep.equal(events)
  })
})
