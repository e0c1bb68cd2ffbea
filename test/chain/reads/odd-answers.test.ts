import { expect } from 'chai'
import { ChainUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import { readTransferReceipt } from '../../../chain/reads/read-transfer.js'
import { readTouches } from '../../../chain/reads/touches.js'
import type { Hex } from '../../../core/action.js'

const MATCHING = `0x${'aa'.repeat(20)}` as const
const HASH: Hex = `0x${'11'.repeat(32)}`

/** A client of a node that answers every question with this. */
const clientOf = (answer: unknown) =>
  ({ request: () => Promise.resolve(answer) }) as unknown as ChainClient

const failureOf = (reading: Promise<unknown>): Promise<unknown> =>
  reading.catch((error: unknown) => error)

describe('an answer of a node in another form than the question has', () => {
  it('tells nothing of the events of blocks', async () => {
    const deployment = { matching: MATCHING, subAccounts: MATCHING }
    const log = { topics: [`0x${'22'.repeat(32)}`], transactionHash: HASH }
    for (const answer of [null, {}, [null], [{ topics: null }], [log, 7]]) {
      const reader = { client: clientOf(answer), deployment, markets: [] }
      const failure = await failureOf(readTouches(reader, 1n, 2n))
      expect(failure, JSON.stringify(answer)).to.be.instanceOf(ChainUnreachable)
    }
  })

  it('tells nothing of the cost and the events of a transfer', async () => {
    const receipt = { blockHash: HASH, gasUsed: '0x5', effectiveGasPrice: '0x2', logs: [] }
    const asked = (answer: unknown) =>
      failureOf(readTransferReceipt(clientOf(answer), { matching: MATCHING }, HASH))
    expect(await asked(receipt)).to.deep.equal({ blockHash: HASH, costWei: 10n })
    expect(await asked(null)).to.equal(undefined)
    for (const part of [{ logs: null }, { gasUsed: null }, { effectiveGasPrice: undefined }]) {
      const failure = await asked({ ...receipt, ...part })
      expect(failure, JSON.stringify(part)).to.be.instanceOf(ChainUnreachable)
    }
  })
})
