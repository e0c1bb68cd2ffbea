import { expect } from 'chai'
import { ContractFunctionExecutionError, createPublicClient, custom, parseAbi } from 'viem'
import { NotWords } from '../../../chain/abi/errors.js'
import { sendTransaction, readEventReceipts } from '../../../chain/lane/lane-chain.js'
import { explainRevert } from '../../../chain/lane/investigate.js'
import { OddAnswer } from '../../../chain/reads/answer-form.js'
import { createHeadReader } from '../../../chain/reads/blocks.js'
import { TooManyCalls } from '../../../chain/reads/call-batch.js'
import {
  ChainUnreachable,
  createChainClient,
  orUnreachable,
  type ChainClient,
} from '../../../chain/reads/client.js'
import { unlessUnreadable } from '../../../chain/reads/read-account.js'
import { defectIn } from '../../../chain/reads/read-failure.js'
import { readPrestate } from '../../../chain/reads/read-prestate.js'
import type { Hex } from '../../../core/action.js'
import { InvariantBroken } from '../../../core/assert.js'

const HASH: Hex = `0x${'11'.repeat(32)}`
const abi = parseAbi(['function f(uint256 a) view returns (uint256)'])
const caught = (failing: Promise<unknown>) => failing.catch((error: unknown) => error)

/** A client whose every method ends in this error. */
const failing = (error: Error) =>
  new Proxy({} as ChainClient, { get: () => () => Promise.reject(error) })

describe('what failed reads of the chain show', () => {
  const answering = (answer: unknown) =>
    createPublicClient({
      transport: custom({ request: () => Promise.resolve(answer) }, { retryCount: 0 }),
    })

  it('is no defect where the node or the network explains it', async () => {
    const to = { address: `0x${'aa'.repeat(20)}`, abi, functionName: 'f' } as const
    const silent = createChainClient('http://127.0.0.1:1', 'probe')
    const errors = [
      await caught(silent.getBlock()),
      await caught(silent.readContract({ ...to, args: [1n] })),
      await caught(answering('0x').readContract({ ...to, args: [1n] })),
      await caught(answering(null).getBlock()),
      ...[ChainUnreachable, TooManyCalls, NotWords, OddAnswer].map((Kind) => new Kind('why')),
    ]
    for (const error of errors) {
      expect(error).to.be.instanceOf(Error)
      expect(defectIn(error), String(error)).to.equal(undefined)
    }
  })

  it('is the defect that viem has wrapped', () => {
    const planted = new TypeError('planted')
    // As viem wraps what reading a contract throws.
    const wrapped = new ContractFunctionExecutionError(planted as never, {
      abi,
      functionName: 'f',
      args: [1n],
    })
    expect(defectIn(wrapped)).to.equal(planted)
    const broken = new InvariantBroken('a defect')
    expect(defectIn(new ChainUnreachable('why', { cause: broken }))).to.equal(broken)
    const plain = new TypeError('a defect')
    expect(defectIn(plain)).to.equal(plain)
    expect(defectIn('a text')).to.be.instanceOf(Error)
  })
})

describe('a TypeError on the way of a settlement', () => {
  const defect = new TypeError('planted')
  const client = failing(defect)
  const transaction = {
    ...{ evmNonce: 1, intentIds: ['a'], status: 'open' },
    attempts: [{ hash: HASH, raw: '0x02' }],
  } as unknown as Parameters<typeof sendTransaction>[1]
  const places: Record<string, () => Promise<unknown>> = {
    'a question that ends in ChainUnreachable': () => orUnreachable('nonce', client.getBlock()),
    'a broadcast': () => sendTransaction(client, transaction),
    'the events of batches': () =>
      readEventReceipts(client, {
        ...{ span: { from: 1n, to: 2n }, mined: [transaction] },
        event: { address: `0x${'aa'.repeat(20)}`, topic: HASH },
      }),
    'the name of a revert': () => explainRevert(client, HASH, 1n),
    'the state before a transaction': () => readPrestate(client, HASH, HASH),
    'a fact that may be missing': () => unlessUnreadable(() => client.getBlock()),
    'the newest block of a reader of heads': createHeadReader(client),
  }
  for (const [place, read] of Object.entries(places)) {
    it(`is not swallowed by ${place}`, async () => {
      expect(await caught(read())).to.equal(defect)
    })
  }
})
