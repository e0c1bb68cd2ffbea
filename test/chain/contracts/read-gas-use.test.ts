import { expect } from 'chai'
import { RpcRequestError } from 'viem'
import { createGasUseReader, type ReadGasUse } from '../../../chain/contracts/read-gas-use.js'
import type { ChainClient } from '../../../chain/reads/client.js'
import { fingerprintOf } from '../../../chain/signing/keys.js'
import type { Hex } from '../../../core/action.js'
import { matchTriedLog, SUCCESS } from '../../sim/batch-contract.js'
import { AT } from '../../sim/chain-state.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const CALLS = ['0xaa', '0xbb', '0xcc'] as const
const keyOf = (call: Hex): Hex => fingerprintOf(AT.matching, call)

/** What a mined match used and cost, by the receipt of its transaction. */
describe('the gas of a mined match', () => {
  let reads: number
  let receipt: object | null | Error
  let read: ReadGasUse

  beforeEach(() => {
    reads = 0
    receipt = batchOf([300, 500, 200])
    const request = () => {
      reads += 1
      return receipt instanceof Error ? Promise.reject(receipt) : Promise.resolve(receipt)
    }
    read = createGasUseReader({ request } as unknown as ChainClient, AT.batchExecutor)
  })

  function batchOf(used: readonly number[]) {
    const logs = used.map((gasUsed, i) => ({
      ...matchTriedLog({
        ...{ call: CALLS[i] ?? '0x', outcome: SUCCESS, gasUsed: BigInt(gasUsed), revertData: '0x' },
        booked: [],
      }),
    }))
    const other = { address: AT.matching, topics: logs[0]?.topics ?? [], data: '0x' }
    return { gasUsed: '0x7d0', effectiveGasPrice: '0x3', logs: [other, ...logs] }
  }
  const useOf = (call: Hex, n = 1) => read({ hash: hashOf(n) }, keyOf(call))

  it('is its part of the transaction, by what each match used', async () => {
    expect(await useOf('0xaa')).to.deep.equal({ gas: 600n, wei: 1_800n })
    expect(await useOf('0xbb')).to.deep.equal({ gas: 1_000n, wei: 3_000n })
    expect(await useOf('0xcc')).to.deep.equal({ gas: 400n, wei: 1_200n })
    expect(reads).to.equal(1)
  })

  it('is rounded up, and has what a rollup charges for data', async () => {
    receipt = { ...batchOf([1, 1, 1]), l1Fee: '0xa' }
    expect(await useOf('0xaa')).to.deep.equal({ gas: 667n, wei: 2_004n })
  })

  it('is an equal part where no match used any, and all of a transaction without events', async () => {
    receipt = batchOf([0, 0])
    expect(await useOf('0xaa')).to.deep.equal({ gas: 1_000n, wei: 3_000n })
    receipt = { ...batchOf([]), logs: [] }
    expect(await useOf('0xaa', 2)).to.deep.equal({ gas: 2_000n, wei: 6_000n })
  })

  it('is nothing of a transaction that the node does not have, and is read again', async () => {
    receipt = null
    expect(await useOf('0xaa')).to.equal(undefined)
    receipt = batchOf([1])
    expect(await useOf('0xaa')).to.deep.equal({ gas: 2_000n, wei: 6_000n })
  })

  it('is unreadable while the node does not answer, and undefined where it answers with an error', async () => {
    receipt = new Error('no connection')
    expect(await useOf('0xaa')).to.equal('unreadable')
    receipt = new RpcRequestError({
      ...{ url: 'http://node', body: {} },
      error: { code: -32_000, message: 'pruned' },
    })
    expect(await useOf('0xaa')).to.equal(undefined)
    receipt = batchOf([1])
    expect(await useOf('0xaa')).to.include({ gas: 2_000n })
  })

  it('keeps no more than 256 transactions', async () => {
    for (let n = 1; n <= 257; n += 1) await useOf('0xaa', n)
    await useOf('0xaa', 257)
    expect(reads).to.equal(257)
    await useOf('0xaa', 1)
    expect(reads).to.equal(258)
  })
})
