import { expect } from 'chai'
import { createPublicClient, custom, encodeErrorResult, parseAbi, RpcRequestError } from 'viem'
import { explainRevert, findConsumer } from '../../../chain/sender/investigate.js'
import { encodeBatch } from '../../../chain/contracts/calldata.js'
import { ChainUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import type { Hex } from '../../../core/action.js'

const FROM = `0x${'ab'.repeat(20)}` as const
const OTHER = `0x${'cd'.repeat(20)}` as const
const TO = `0x${'ef'.repeat(20)}` as const
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const hexOf = (n: number): Hex => `0x${n.toString(16)}`

interface Question {
  readonly method: string
  readonly params: readonly unknown[]
}

/** A client of a node that answers so, and the questions it was asked. */
function aClient(answer: (question: Question) => unknown) {
  const asked: Question[] = []
  const request = (question: Question) => {
    asked.push(question)
    return Promise.resolve().then(() => answer(question))
  }
  const client = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  return { client: client as ChainClient, asked }
}

/** A key whose nonces 0, 1, … were used in the blocks of these heights; nothing older than `pruned` can be read. */
function usedIn(heights: readonly number[], pruned = 0) {
  return aClient(({ method, params }) => {
    if (method === 'eth_getTransactionCount') {
      const height = Number(params[1])
      if (height < pruned) throw new Error('missing trie node')
      return hexOf(heights.filter((used) => used <= height).length)
    }
    const height = Number(params[0])
    const ours = heights.flatMap((used, nonce) =>
      used === height ? [{ from: FROM.toUpperCase().replace('0X', '0x'), nonce }] : [],
    )
    const foreign = [0, 1, 2].map((nonce) => ({ from: OTHER, nonce }))
    const transactions = [...foreign, ...ours].map(({ from, nonce }) => ({
      from,
      nonce: hexOf(nonce),
      hash: from === OTHER ? hashOf(0xf0) : hashOf(nonce),
      type: '0x2',
      value: '0x0',
      gas: '0x1',
      chainId: '0x1',
      input: '0x1234',
      to: TO.toUpperCase().replace('0X', '0x'),
    }))
    return { number: hexOf(height), hash: hashOf(height), transactions, timestamp: '0x1' }
  })
}

describe('the transaction that used a nonce', () => {
  const find = ({ client }: ReturnType<typeof usedIn>, evmNonce: number, head: bigint) =>
    findConsumer(client, { from: FROM, evmNonce, head })

  it('is found at any depth, whichever block it is in', async () => {
    for (const head of [0, 1, 2, 3, 6, 7, 9, 100]) {
      for (let used = 0; used <= head; used += head > 20 ? 13 : 1) {
        const found = await find(usedIn([used]), 0, BigInt(head))
        // A chain that begins with the transaction has no block without it.
        const blockHash = hashOf(used)
        const by = { hash: hashOf(0), blockNumber: BigInt(used), blockHash }
        const expected = { by, call: { to: TO, data: '0x1234' } }
        expect(found, `${used} of ${head}`).to.deep.equal(used === 0 ? undefined : expected)
      }
    }
  })

  it('is that of the nonce, and of the address, where a block has several', async () => {
    const chain = usedIn([2, 5, 5, 8])
    const found = await Promise.all([0, 1, 2, 3].map((nonce) => find(chain, nonce, 40n)))
    expect(found.map((it) => [it?.by.hash, it?.by.blockNumber])).to.deep.equal([
      [hashOf(0), 2n],
      [hashOf(1), 5n],
      [hashOf(2), 5n],
      [hashOf(3), 8n],
    ])
  })

  it('is none while the nonce is not used', async () => {
    const chain = usedIn([2])
    expect(await find(chain, 1, 40n)).to.equal(undefined)
    expect(await find(chain, 0, 1n)).to.equal(undefined)
    expect(chain.asked).to.have.length(2)
  })

  it('is looked for in the last 4,096 blocks, with few questions', async () => {
    const head = 100_000
    const oldest = head - 4_095
    const chain = usedIn([oldest])
    expect((await find(chain, 0, BigInt(head)))?.by.blockNumber).to.equal(BigInt(oldest))
    expect(chain.asked.length).to.be.below(32)
    expect(await find(usedIn([head - 4_096]), 0, BigInt(head))).to.equal(undefined)
  })

  it('is unknown where the node has pruned the state', async () => {
    const failed: unknown = await find(usedIn([20], 90), 0, 100n).catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(ChainUnreachable)
  })
})

describe('the name of the revert of a mined transaction', () => {
  const HASH = hashOf(7)
  const errors = parseAbi(['error TM_FeeTooHigh()', 'error BLF_DataTooOld()'])
  const revertWith = (errorName: 'TM_FeeTooHigh' | 'BLF_DataTooOld') =>
    encodeErrorResult({ abi: errors, errorName })
  const mined = { from: FROM, to: TO, input: '0x1234', gas: '0x5208', nonce: '0x0', hash: HASH }
  const sent = { ...mined, type: '0x2', value: '0x0', chainId: '0x1', blockNumber: '0x10' }

  interface Node {
    readonly transaction?: object | null
    /** The trace of the call; the node has none by default. */
    readonly trace?: object | null
    /** The bytes with which the call reverts at the end of the block; by default it passes. */
    readonly replay?: Hex
  }

  function nodeOf({ transaction = sent, trace, replay }: Node) {
    return aClient(({ method, params }) => {
      if (method === 'eth_getTransactionByHash') return transaction
      if (method === 'debug_traceTransaction' && trace !== undefined) return trace
      if (method !== 'eth_call') throw new Error('the method does not exist')
      if (replay === undefined) return '0x'
      const error = { code: 3, message: 'execution reverted', data: replay }
      throw new RpcRequestError({ body: { params }, error, url: 'http://node' })
    })
  }
  const explain = (node: Node) => explainRevert(nodeOf(node).client, HASH, 16n)

  it('is in its trace, if the node has one', async () => {
    const { client, asked } = nodeOf({
      trace: { error: 'execution reverted', output: revertWith('TM_FeeTooHigh') },
      replay: revertWith('BLF_DataTooOld'),
    })
    expect(await explainRevert(client, HASH, 16n)).to.equal('TM_FeeTooHigh')
    expect(asked.at(-1)).to.deep.equal({
      method: 'debug_traceTransaction',
      params: [HASH, { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }],
    })
  })

  it('says that the gas ran out, or that there is no reason, where the trace has no bytes', async () => {
    for (const output of [undefined, '0x']) {
      expect(await explain({ trace: { error: 'Out of Gas', output } })).to.equal('out of gas')
      expect(await explain({ trace: { error: 'stopped', output } })).to.equal('empty revert')
    }
  })

  it('is that of the same call at the end of its block, where there is no trace', async () => {
    for (const trace of [undefined, null, {}]) {
      const replay = revertWith('BLF_DataTooOld')
      const { client, asked } = nodeOf({ ...(trace !== undefined && { trace }), replay })
      expect(await explainRevert(client, HASH, 16n)).to.equal('BLF_DataTooOld')
      expect(asked.at(-1)).to.deep.equal({
        method: 'eth_call',
        params: [{ from: FROM, to: TO, data: '0x1234', gas: '0x5208' }, '0x10'],
      })
    }
  })

  it('is unknown where the call passes by then, or the node does not answer', async () => {
    expect(await explain({})).to.equal('unknown')
    expect(await explain({ transaction: null })).to.equal('unknown')
    expect(await explain({ transaction: { ...sent, to: null }, replay: '0x' })).to.equal('unknown')
    const { client } = aClient(() => {
      throw new Error('out of order')
    })
    expect(await explainRevert(client, HASH, 16n)).to.equal('unknown')
  })

  it('proves nothing about the matches of a batch', async () => {
    const batch = { ...sent, input: encodeBatch([]) }
    const trace = { error: 'execution reverted', output: revertWith('TM_FeeTooHigh') }
    expect(await explain({ transaction: batch, trace })).to.equal('not tried')
  })
})
