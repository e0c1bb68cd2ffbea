import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { ContractFunctionExecutionError, createPublicClient, custom, parseAbi } from 'viem'
import { NotWords } from '../../../chain/abi/errors.js'
import { sendTransaction, readEventReceipts } from '../../../chain/sender/sender-chain.js'
import { explainRevert } from '../../../chain/sender/investigate.js'
import { OddAnswer } from '../../../chain/reads/answer-form.js'
import { checkClock, createHeadReader } from '../../../chain/reads/blocks.js'
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
    evmNonce: 1,
    intentIds: ['a'],
    status: 'open',
    attempts: [{ hash: HASH, raw: '0x02' }],
  } as unknown as Parameters<typeof sendTransaction>[1]
  const places: Record<string, () => Promise<unknown>> = {
    'a question that ends in ChainUnreachable': () => orUnreachable('nonce', client.getBlock()),
    'a broadcast': () => sendTransaction(client, transaction),
    'the events of batches': () =>
      readEventReceipts(client, {
        span: { from: 1n, to: 2n },
        mined: [transaction],
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

const isFields = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

describe('an answer of a node in another form than the question has', () => {
  const ADDRESS: Hex = `0x${'aa'.repeat(20)}`
  const block = {
    number: '0x10',
    timestamp: '0x6a000000',
    hash: HASH,
    parentHash: HASH,
    gasLimit: '0x1c9c380',
    baseFeePerGas: '0x7',
    gasUsed: '0x0',
    size: '0x200',
    transactions: [HASH],
  }
  const transaction = {
    hash: HASH,
    from: ADDRESS,
    to: ADDRESS,
    input: '0x',
    nonce: '0x1',
    value: '0x0',
  }
  const log = { address: ADDRESS, topics: [HASH], data: '0x', blockNumber: '0x10' }
  const receipt = { blockNumber: '0x10', blockHash: HASH, status: '0x1', to: ADDRESS, logs: [log] }
  const authorization = { address: ADDRESS, chainId: '0x1', nonce: '0x0', r: '0x1', s: '0x1' }
  /** The first whole number that a JavaScript number does not tell from the next. */
  const BEYOND = '0x20000000000000'
  let answer: unknown
  let rpcUrl: string
  const server = createServer((request, response) => {
    text(request)
      .then((body) => {
        const asked = JSON.parse(body) as { id: number } | { id: number }[]
        const answerTo = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: answer })
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answerTo) : answerTo(asked)))
      })
      .catch(() => response.destroy())
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const ofNode = (purpose: 'read' | 'probe' = 'probe') => createChainClient(rpcUrl, purpose)

  /** What is asked, an answer in its form, and answers in another one. */
  const questions: Record<
    string,
    readonly [
      ask: (client: ChainClient) => Promise<unknown>,
      good: unknown,
      odd: readonly unknown[],
    ]
  > = {
    'the newest block': [
      (client) => client.getBlock(),
      block,
      [
        ...['zz', 5, true, [], {}],
        ...[{ timestamp: 'zz' }, { timestamp: 5 }, { timestamp: null }, { number: 'zz' }],
        ...[{ number: null }, { hash: null }, { hash: 7 }, { parentHash: 'zz' }],
        ...[{ baseFeePerGas: 'zz' }, { gasLimit: '-0x1' }, { size: `0x${'f'.repeat(65)}` }],
        ...[{ transactions: 5 }, { transactions: [null] }, { number: BEYOND }],
      ].map((odd) => (isFields(odd) && Object.keys(odd).length > 0 ? { ...block, ...odd } : odd)),
    ],
    'a whole block': [
      (client) => client.getBlock({ blockNumber: 16n, includeTransactions: true }),
      { ...block, transactions: [{ ...transaction, authorizationList: [authorization] }] },
      [
        ...[{ nonce: 'zz' }, { value: 'zz' }, { input: 7 }, { from: null }, { to: 5 }],
        ...[{ authorizationList: 'zz' }, { authorizationList: [null] }],
        { authorizationList: [{ ...authorization, r: 'zz' }] },
        ...[{ blockNumber: BEYOND }, { transactionIndex: BEYOND }],
      ].map((odd) => ({ ...block, transactions: [{ ...transaction, ...odd }] })),
    ],
    'a transaction': [
      (client) => client.getTransaction({ hash: HASH }),
      { ...transaction, blockNumber: '0x10', blockTimestamp: '0x6a000000' },
      [{ ...transaction, blockTimestamp: 'zz' }, { ...transaction, gas: {} }, 7],
    ],
    'a receipt': [
      (client) => client.getTransactionReceipt({ hash: HASH }),
      receipt,
      [
        ...[{ gasUsed: 'zz' }, { logs: 7 }, { logs: [{}] }].map((odd) => ({ ...receipt, ...odd })),
        ...[{ ...receipt, blockNumber: BEYOND }, 7],
      ],
    ],
    events: [
      (client) => client.getLogs({ address: ADDRESS }),
      [log],
      [
        ...[null, {}, [null], [{ ...log, blockTimestamp: 'zz' }]],
        ...['zz', BEYOND].map((place) => [{ ...log, blockNumber: place }]),
        ...[[{ ...log, logIndex: BEYOND }], [{ ...log, transactionIndex: BEYOND }]],
      ],
    ],
    'a balance': [(client) => client.getBalance({ address: ADDRESS }), '0x5', ['zz', null, {}]],
    'a nonce': [
      (client) => client.getTransactionCount({ address: ADDRESS }),
      '0x5',
      ['zz', null, {}, BEYOND],
    ],
    'the number of the newest block': [
      (client) => client.getBlockNumber(),
      '0x5',
      ['zz', null, BEYOND],
    ],
    'the chain id': [(client) => client.getChainId(), '0x5', ['zz', null, {}]],
    'a view function': [
      (client) => client.readContract({ address: ADDRESS, abi, functionName: 'f', args: [1n] }),
      HASH,
      ['zz', null, 7, {}],
    ],
    'the code of an address': [(client) => client.getCode({ address: ADDRESS }), '0x6000', [7, {}]],
  }
  for (const [question, [ask, good, odd]] of Object.entries(questions)) {
    it(`is no defect of this program: ${question}`, async () => {
      answer = good
      expect(await caught(ask(ofNode()))).to.not.be.instanceOf(Error)
      for (answer of odd) {
        const error = await caught(ask(ofNode()))
        const shown = JSON.stringify(answer)
        expect(error, shown).to.be.instanceOf(Error)
        expect(defectIn(error), shown).to.equal(undefined)
      }
    })
  }

  it('is no answer to a reader of heads, to the check of the clock, and to a fact that may be missing', async () => {
    for (answer of [
      { ...block, timestamp: 'zz' },
      { ...block, number: null },
    ]) {
      const client = ofNode('read')
      expect(await createHeadReader(client)()).to.equal(undefined)
      const silent = () => expect.fail('the block is compared')
      await checkClock({ client, nowMs: () => 0, onWarning: silent })
      expect(await unlessUnreadable(() => client.getBlock())).to.equal(undefined)
      const failed = await caught(orUnreachable('newest block', client.getBlock()))
      expect(failed).to.be.instanceOf(ChainUnreachable)
    }
  })
})
