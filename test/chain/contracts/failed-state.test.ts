import { expect } from 'chai'
import { createPublicClient, http } from 'viem'
import type { MatchCall } from '../../../chain/contracts/calldata.js'
import { createFailedStateReader } from '../../../chain/contracts/failed-state.js'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import { readPrestate } from '../../../chain/reads/read-prestate.js'
import type { Address, Hex } from '../../../core/action.js'
import { eventually } from '../../support/eventually.js'
import { startNode, type AnsweringNode, type Question } from '../sender/answering-node.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const at = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const PARENT = hashOf(1)
const BLOCK = hashOf(2)
const TRANSACTION = hashOf(3)
const WALLET = at(0x10_0001)
const CREATED = at(0x10_0002)
const KEY = at(0x10_0003)
const OTHER_KEY = at(0x10_0004)
const DELEGATION: Hex = `0xef0100${'aa'.repeat(20)}`

describe('the state before a transaction that failed', () => {
  let node: AnsweringNode
  let asked: Question[]
  /** What the node answers to a trace. */
  let trace: () => unknown
  beforeEach(async () => {
    asked = []
    node = await startNode((question) => {
      asked.push(question)
      return answer(question)
    })
  })
  afterEach(() => node.stop())

  function answer({ method, params }: Question): unknown {
    switch (method) {
      case 'debug_traceTransaction':
        return trace()
      case 'eth_getCode':
        return params[0] === WALLET ? '0x60' : params[0] === OTHER_KEY ? DELEGATION : '0x'
      case 'eth_getTransactionByHash':
        return transaction
      case 'eth_getBlockByHash':
        return {
          hash: BLOCK,
          parentHash: PARENT,
          number: '0x2',
          timestamp: '0x1',
          transactions: [transaction],
        }
      default:
        return new Error(`no method ${method}`)
    }
  }
  const transaction = {
    hash: TRANSACTION,
    blockHash: BLOCK,
    blockNumber: '0x2',
    transactionIndex: '0x0',
    from: KEY,
    nonce: '0x0',
    type: '0x2',
    value: '0x0',
    gas: '0x1',
    chainId: '0x1',
    input: '0x',
  }
  const timesAsked = (wanted: string) => asked.filter(({ method }) => method === wanted).length
  const prestate = (client: ChainClient = createChainClient(node.rpcUrl, 'long')) =>
    readPrestate(client, TRANSACTION, PARENT)

  it('lacks the precompiled contracts, which an override would take away', async () => {
    const empty = { balance: '0x0' }
    const beside = at(0x1_0000)
    trace = () => ({ [at(1)]: empty, [at(0x100)]: empty, [at(0xffff)]: empty, [beside]: empty })
    expect(await prestate()).to.deep.equal({ [beside]: { code: '0x', balance: '0x0' } })
  })

  it('has the code of contracts only where the parent has none, and always that of keys', async () => {
    const storage = { [hashOf(7)]: hashOf(8) }
    trace = () => ({
      [WALLET]: { code: '0x60', storage },
      [CREATED]: { code: '0x61', nonce: 1 },
      [KEY]: { code: DELEGATION },
      [OTHER_KEY]: {},
    })
    expect(await prestate()).to.deep.equal({
      [WALLET]: { stateDiff: storage },
      [CREATED]: { code: '0x61', nonce: '0x1' },
      [KEY]: { code: DELEGATION },
      [OTHER_KEY]: { code: '0x' },
    })
  })

  it('is not shown by a trace that is refused, empty, too long or too slow, which is asked for once', async () => {
    const tooLong = { [WALLET]: { code: `0x${'60'.repeat(6_000_000)}` } }
    for (const answered of [new Error('the method is not available'), null, tooLong]) {
      trace = () => answered
      expect(await prestate()).to.equal(undefined)
    }
    expect(timesAsked('debug_traceTransaction')).to.equal(3)
    let end: () => void = () => undefined
    trace = () => new Promise((resolve) => (end = () => resolve(null)))
    const hurried = createPublicClient({ transport: http(node.rpcUrl, { timeout: 100 }) })
    expect(await prestate(hurried)).to.equal(undefined)
    end()
    expect(timesAsked('debug_traceTransaction')).to.equal(4)
  })

  it('is not shown by a trace with more than can be sent along with each read', async () => {
    const slots = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [hashOf(i), hashOf(i)]))
    trace = () => ({ [WALLET]: { code: '0x60', storage: slots(2_000) } })
    expect(Object.keys((await prestate()) ?? {})).to.deep.equal([WALLET])
    trace = () => ({ [WALLET]: { code: '0x60', storage: slots(2_200) } })
    expect(await prestate()).to.equal(undefined)
    const many = Array.from({ length: 1_001 }, (_, i) => [at(0x10_0000 + i), { code: '0x60' }])
    trace = () => Object.fromEntries(many) as object
    expect(await prestate()).to.equal(undefined)
  })

  const match = {
    actions: [{ signer: KEY }, { signer: WALLET }],
  } as unknown as MatchCall
  const failed = { kind: 'mined', hash: TRANSACTION } as const

  it('is read once for all matches of the transaction, and in no batch with other reads', async () => {
    trace = () => new Promise((resolve) => setImmediate(() => resolve({ [KEY]: {}, [WALLET]: {} })))
    const client = createChainClient(node.rpcUrl, 'long')
    const read = createFailedStateReader({ client, chainId: 1 })
    const states = await Promise.all([1, 2, 3].map(() => read(match, failed)))
    for (const state of states) {
      expect(state?.after).to.equal(undefined)
      expect([...(state?.placed ?? [])]).to.deep.equal([KEY, WALLET])
    }
    await read(match, failed)
    expect(timesAsked('debug_traceTransaction')).to.equal(1)
    expect(node.bodies.filter((body) => Array.isArray(body))).to.deep.equal([])
    const whole = () => asked.filter(({ params }) => params[1] === true).length
    expect(whole()).to.equal(0)
    // Without a trace the block is looked at.
    trace = () => new Error('no such method')
    const another = createFailedStateReader({ client, chainId: 1 })
    const without = await Promise.all([1, 2, 3].map(() => another(match, failed)))
    for (const state of without) expect(state?.after).to.not.equal(undefined)
    await eventually(() =>
      expect([whole(), timesAsked('debug_traceTransaction')]).to.deep.equal([1, 2]),
    )
  })
})
