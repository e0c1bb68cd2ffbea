import { expect } from 'chai'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { connectSender } from '../../../chain/sender/sender-chain.js'
import type { Hex } from '../../../core/action.js'
import { startNode, type Answering, type Question } from './answering-node.js'

const FROM = `0x${'aa'.repeat(20)}` as const
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

const blockOf = (n: number) => ({
  number: `0x${n.toString(16)}`,
  hash: hashOf(n),
  parentHash: hashOf(n - 1),
  timestamp: '0x1',
  transactions: [],
})

describe('the chain as a sender asks it', () => {
  let stop: () => Promise<unknown>
  afterEach(() => stop())
  const connected = async (answering: Answering) => {
    const node = await startNode(answering)
    stop = node.stop
    return connectSender(node.rpcUrl, FROM)
  }
  const failureOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'an answer',
      (error: unknown) => error,
    )

  it('tells its newest block, its final one, and the hash of any', async () => {
    const heights: Record<string, number> = { latest: 9, finalized: 4, '0x7': 7 }
    const chain = await connected(({ params: [tag] }) => {
      const height = heights[tag as string]
      return height === undefined ? null : blockOf(height)
    })
    expect(await chain.head()).to.deep.equal({ number: 9n, hash: hashOf(9) })
    expect(await chain.finalized()).to.equal(4n)
    expect(await chain.blockHash(7n)).to.equal(hashOf(7))
    expect(await chain.blockHash(8n)).to.equal(undefined)
  })

  it('counts the nonces of the key at one block, and says whether a node holds a transaction', async () => {
    const asked: unknown[] = []
    const chain = await connected(({ method, params }) => {
      asked.push([method, ...params])
      if (method === 'eth_getTransactionCount') return '0x11'
      return params[0] === hashOf(1) ? { hash: hashOf(1), from: FROM, input: '0x' } : null
    })
    expect(await chain.countAt(hashOf(5))).to.equal(17)
    expect(await chain.isHeld(hashOf(1))).to.equal(true)
    expect(await chain.isHeld(hashOf(2))).to.equal(false)
    expect(asked[0]).to.deep.equal(['eth_getTransactionCount', FROM, { blockHash: hashOf(5) }])
  })

  it('is unreachable when it fails, whatever it was asked', async () => {
    const chain = await connected(() => new Error('out of order'))
    const asked = [
      ...[chain.head(), chain.finalized(), chain.blockHash(1n), chain.countAt(hashOf(1))],
      ...[chain.isHeld(hashOf(1)), chain.gas()],
    ]
    for (const one of asked) expect(await failureOf(one)).to.be.instanceOf(ChainUnreachable)
    const span = { from: 1n, to: 2n }
    expect([...(await chain.receiptsIn(span, []))]).to.deep.equal([])
  })

  it('has taken a transaction that it takes or has already, and nothing else is clear', async () => {
    let result: unknown = hashOf(1)
    const sent: unknown[] = []
    const chain = await connected(({ params }) => {
      sent.push(params)
      return result
    })
    const attempt = (raw: Hex) => ({ hash: hashOf(1), raw, gasLimit: 1n, maxFeePerGas: 1n })
    const attempts = [attempt('0x01'), attempt('0x02')]
    const transaction = { from: FROM, evmNonce: 1, intentIds: [], attempts }
    expect(await chain.send(transaction)).to.deep.equal({ kind: 'taken' })
    expect(sent).to.deep.equal([['0x02']])
    for (const there of ['already known', 'Known transaction: 0x1', 'ALREADY IN THE POOL']) {
      result = new Error(there)
      expect(await chain.send(transaction), there).to.deep.equal({ kind: 'taken' })
    }
    result = new Error('nonce too low')
    const refused = await chain.send(transaction)
    expect(refused.kind === 'unclear' && refused.cause.message).to.equal('nonce too low')
    const unsigned = await chain.send({ ...transaction, attempts: [] })
    expect(unsigned.kind === 'unclear' && unsigned.cause.message).to.equal('nothing was signed')
    await stop()
    const silent = await chain.send(transaction)
    expect(silent.kind === 'unclear' && silent.cause.message).to.equal('no answer from the node')
  })

  it('is asked for each receipt by itself: those of full batches together are too long for one answer', async () => {
    const node = await startNode()
    stop = node.stop
    const chain = connectSender(node.rpcUrl, FROM)
    const receipts = [1, 2, 3].map((evmNonce) => {
      const attempt = { hash: hashOf(evmNonce), raw: '0x', gasLimit: 1n, maxFeePerGas: 1n } as const
      return chain.receipt({ from: FROM, evmNonce, intentIds: [], attempts: [attempt] })
    })
    expect(await Promise.all(receipts)).to.deep.equal([undefined, undefined, undefined])
    expect(node.bodies.map((body) => Array.isArray(body))).to.deep.equal([false, false, false])
  })

  it('asks for the events of its intents, where they have some', async () => {
    const asked: unknown[] = []
    const node = await startNode(({ method, params }) => {
      asked.push([method, ...params])
      return []
    })
    stop = node.stop
    const eventPerIntent = { address: FROM, topic: hashOf(7) }
    const chain = connectSender(node.rpcUrl, FROM, { eventPerIntent })
    expect([...(await chain.receiptsIn({ from: 1n, to: 2n }, []))]).to.deep.equal([])
    const filter = { address: FROM, topics: [hashOf(7)], fromBlock: '0x1', toBlock: '0x2' }
    expect(asked).to.deep.equal([['eth_getLogs', filter]])
    const other = connectSender(node.rpcUrl, FROM)
    await other.receiptsIn({ from: 1n, to: 2n }, [])
    expect(asked).to.have.length(1)
  })

  it('finds what used a nonce of its key, and why a transaction reverted', async () => {
    const foreign = { from: FROM, nonce: '0x0', hash: hashOf(5), type: '0x2', input: '0x' }
    const fields = { value: '0x0', gas: '0x1', chainId: '0x1', to: FROM, ...foreign }
    const { rpcUrl, bodies, ...node } = await startNode(({ method, params }) => {
      if (method === 'eth_getTransactionCount') return Number(params[1]) >= 3 ? '0x1' : '0x0'
      if (method === 'eth_getBlockByNumber') return { ...blockOf(3), transactions: [fields] }
      if (method === 'eth_getTransactionByHash') return fields
      return { error: 'out of gas' }
    })
    stop = node.stop
    const chain = connectSender(rpcUrl, FROM)
    const found = { hash: hashOf(5), blockNumber: 3n, blockHash: hashOf(3) }
    const call = { to: FROM, data: '0x' }
    expect(await chain.consumerOf(0, 9n)).to.deep.equal({ by: found, call })
    const receipt = { ...found, status: 'reverted', to: null, logs: [] } as const
    expect(await chain.revertOf(receipt)).to.equal('out of gas')
    // A long or slow answer takes no other with it.
    const alone = bodies.map((body) => (body as Question).method)
    expect(alone).to.include.members(['debug_traceTransaction', 'eth_getBlockByNumber'])
  })
})
