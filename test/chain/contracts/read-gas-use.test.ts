import { expect } from 'chai'
import { RpcRequestError } from 'viem'
import { createGasUseReader, type ReadGasUse } from '../../../chain/contracts/read-gas-use.js'
import type { ChainClient } from '../../../chain/reads/client.js'
import { fingerprintOf } from '../../../chain/signing/keys.js'
import type { Hex } from '../../../core/action.js'
import { InvariantBroken } from '../../../core/assert.js'
import { matchTriedLog, SUCCESS } from '../../sim/batch-contract.js'
import { AT } from '../../sim/chain-state.js'
import { noAnswer } from '../../support/silent-node.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const CALLS = ['0xaa', '0xbb', '0xcc'] as const
const keyOf = (call: Hex): Hex => fingerprintOf(AT.matching, call)

/** What a mined match used and cost, by the receipt of its transaction. */
describe('the gas of a mined match', () => {
  let reads: number
  let receipt: object | null | Error
  let nowMs: number
  let strange: Hex[]
  let read: ReadGasUse

  beforeEach(() => {
    reads = 0
    receipt = batchOf([300, 500, 200])
    const request = () => {
      reads += 1
      return receipt instanceof Error ? Promise.reject(receipt) : Promise.resolve(receipt)
    }
    nowMs = 0
    strange = []
    read = createGasUseReader({
      client: { request } as unknown as ChainClient,
      batchExecutor: AT.batchExecutor,
      onUnreadable: (hash) => void strange.push(hash),
      elapsedMs: () => nowMs,
    })
  })

  function batchOf(used: readonly number[]) {
    const logs = used.map((gasUsed, i) => ({
      ...matchTriedLog({
        call: CALLS[i] ?? '0x',
        outcome: SUCCESS,
        gasUsed: BigInt(gasUsed),
        revertData: '0x',
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

  const errorOf = (code: number, message: string) =>
    new RpcRequestError({ url: 'http://node', body: {}, error: { code, message } })

  it('is unreadable while the node does not answer', async () => {
    receipt = noAnswer('no connection')
    expect(await useOf('0xaa')).to.equal('unreadable')
    nowMs += 3_600_000
    expect(await useOf('0xaa')).to.equal('unreadable')
    receipt = batchOf([1])
    expect(await useOf('0xaa')).to.include({ gas: 2_000n })
  })

  it('is asked for half a minute where the node answers without a receipt', async () => {
    for (const answer of [null, errorOf(-32_005, 'limit exceeded')]) {
      receipt = answer
      expect(await useOf('0xaa')).to.equal('unreadable')
      nowMs += 29_999
      expect(await useOf('0xaa')).to.equal('unreadable')
      nowMs += 1
      expect(await useOf('0xaa')).to.equal(undefined)
      expect(await useOf('0xaa', 2)).to.equal('unreadable')
      receipt = batchOf([1])
      for (const n of [1, 2]) expect(await useOf('0xaa', n)).to.include({ gas: 2_000n })
      await keepOthers()
    }
  })

  it('is nothing at once where the node has no receipts', async () => {
    receipt = errorOf(-32_601, 'no such method')
    expect(await useOf('0xaa')).to.equal(undefined)
  })

  it('is nothing of what is not a receipt, which is told once', async () => {
    const good = batchOf([1])
    const [other, log] = good.logs
    const odd: object[] = [
      { ...good, gasUsed: undefined },
      { ...good, effectiveGasPrice: '3' },
      { ...good, l1Fee: '0x' },
      // More than a log could hold of it.
      { ...good, gasUsed: `0x${'f'.repeat(64)}` },
      { ...good, effectiveGasPrice: `0x${'f'.repeat(64)}` },
      { ...good, l1Fee: `0x${'f'.repeat(64)}` },
      { ...good, logs: null },
      { ...good, logs: [other, null] },
      { ...good, logs: [{ ...log, data: '0x12' }] },
    ]
    for (const [n, one] of odd.entries()) {
      receipt = one
      expect(await useOf('0xaa', n), `${n}`).to.equal(undefined)
      expect(await useOf('0xbb', n), `${n}`).to.equal(undefined)
    }
    expect(strange).to.deep.equal(odd.map((_, n) => hashOf(n)))
  })

  it('lets a broken invariant through', async () => {
    receipt = new Error('viem wraps it', { cause: new InvariantBroken('broken') })
    const failed = await useOf('0xaa').catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(InvariantBroken)
  })

  /** So many that no earlier one is kept. */
  const keepOthers = async () => {
    for (let n = 1_000; n < 1_256; n += 1) await useOf('0xaa', n)
  }

  it('keeps no more than 256 transactions', async () => {
    for (let n = 1; n <= 257; n += 1) await useOf('0xaa', n)
    await useOf('0xaa', 257)
    expect(reads).to.equal(257)
    await useOf('0xaa', 1)
    expect(reads).to.equal(258)
  })
})
