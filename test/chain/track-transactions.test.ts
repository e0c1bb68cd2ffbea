import { expect } from 'chai'
import type { ChainClient } from '../../chain/client.js'
import { observeLane } from '../../chain/observe-lane.js'
import { createTransactionTracker } from '../../chain/track-transactions.js'
import type {
  MiningResult,
  OpenTransaction,
  TransactionJournal,
} from '../../chain/transaction-journal.js'

const from = `0x${'11'.repeat(20)}` as const
const hash = `0x${'22'.repeat(32)}` as const
const attempt = { hash, raw: '0x00', gasLimit: 1n, maxFeePerGas: 1n } as const
const transaction: OpenTransaction = { from, evmNonce: 0, intentIds: ['a'], attempts: [attempt] }

/** A chain whose newest block is known before the nonces that it used, as behind a proxy of several nodes. */
function aChain() {
  const chain = { count: 0 }
  const client = {
    getBlockNumber: () => Promise.resolve(7n),
    getTransactionCount: () => Promise.resolve(chain.count),
    request: ({ method }: { method: string }) =>
      Promise.resolve(
        method === 'eth_getTransactionReceipt' && chain.count > 0
          ? {
              status: '0x1',
              blockNumber: '0x7',
              blockHash: `0x${'33'.repeat(32)}`,
              to: null,
              logs: [],
            }
          : null,
      ),
  }
  return { chain, client: client as unknown as ChainClient }
}

function aJournal(mined: MiningResult[]): TransactionJournal {
  return {
    find: () => undefined,
    recordRefusal: () => undefined,
    recordSigned: () => undefined,
    recordMined: (_from, _nonce, result) => {
      mined.push(result)
      return []
    },
    recordAttempt: silent,
    recordFinal: silent,
    recordDisplaced: () => [],
    nextNonce: () => 1,
    claimedFrom: () => [],
    unsettledTransactions: () => [{ transaction }],
    reopen: silent,
    reversalsAfter: () => [],
  }
}

const silent = (): undefined => undefined
const facts = observeLane({ debug: silent, info: silent, warn: silent, error: silent }, 'intent')

describe('tracking transactions', () => {
  it('finds a receipt whose nonce was counted only after its block was seen', async () => {
    const { chain, client } = aChain()
    const mined: MiningResult[] = []
    const tracker = createTransactionTracker({
      address: from,
      journal: aJournal(mined),
      read: client,
      submit: client,
      pollMs: 1,
      facts,
      onFatal: (error) => {
        throw error
      },
    })
    await tracker.start()
    chain.count = 1
    const result = await tracker.waitFor('a', 1_000)
    await tracker.stop()
    expect(result).to.include({ status: 'success', blockNumber: 7n })
    expect(mined).to.have.length(1)
  })
})
