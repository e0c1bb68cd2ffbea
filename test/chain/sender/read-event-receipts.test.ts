import { expect } from 'chai'
import type { ChainClient } from '../../../chain/reads/client.js'
import { readEventReceipts } from '../../../chain/sender/sender-chain.js'
import type { Hex } from '../../../core/action.js'
import { noAnswer } from '../../support/silent-node.js'

const FROM = `0x${'aa'.repeat(20)}` as const
const BATCH = `0x${'bb'.repeat(20)}` as const
const TOPIC: Hex = `0x${'77'.repeat(32)}`
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

const transaction = (evmNonce: number, intents: number, hashes: readonly number[]) => ({
  from: FROM,
  evmNonce,
  intentIds: Array.from({ length: intents }, (_, i) => `${evmNonce}/${i}`),
  attempts: hashes.map((n) => {
    return { hash: hashOf(n), raw: '0x', gasLimit: 1n, maxFeePerGas: 1n } as const
  }),
})

function eventOf(hash: number, block: number, more: object = {}) {
  const place = { transactionHash: hashOf(hash), blockNumber: '0x7', blockHash: hashOf(block) }
  return { address: BATCH, topics: [TOPIC], data: `0x0${hash}`, ...place, ...more }
}

/** What is answered to a node's logs; the question itself comes back too. */
async function read(mined: readonly ReturnType<typeof transaction>[], answer: () => unknown) {
  const asked: unknown[] = []
  const request = (question: unknown) => {
    asked.push(question)
    return Promise.resolve().then(answer)
  }
  const span = { from: 6n, to: 7n }
  const receipts = await readEventReceipts({ request } as ChainClient, {
    span,
    mined,
    event: { address: BATCH, topic: TOPIC },
  })
  return { asked, receipts }
}

describe('receipts made of events', () => {
  it('has one for each transaction of ours whose events are all there, asked for at once', async () => {
    const mined = [transaction(1, 2, [1, 2]), transaction(2, 1, [3])]
    const foreign = [eventOf(2, 7, { address: FROM }), eventOf(3, 7, { topics: [hashOf(5)] })]
    const logs = [...foreign, eventOf(2, 7), eventOf(9, 7), eventOf(3, 7), eventOf(2, 7)]
    const { asked, receipts } = await read(mined, () => logs)
    const filter = { address: BATCH, topics: [TOPIC], fromBlock: '0x6', toBlock: '0x7' }
    expect(asked).to.deep.equal([{ method: 'eth_getLogs', params: [filter] }])
    const place = { status: 'success', to: BATCH, blockNumber: 7n, blockHash: hashOf(7) }
    const log = (n: number) => ({ address: BATCH, topics: [TOPIC], data: `0x0${n}` })
    expect([...receipts]).to.deep.equal([
      [1, { ...place, hash: hashOf(2), logs: [log(2), log(2)] }],
      [2, { ...place, hash: hashOf(3), logs: [log(3)] }],
    ])
  })

  it('has none where events are missing, taken back, of two blocks or of one that is not mined', async () => {
    const mined = [1, 2, 3, 4, 5].map((n) => transaction(n, n === 5 ? 0 : 2, [n]))
    const pending = { blockHash: null, blockNumber: null }
    const { receipts } = await read(mined, () => [
      eventOf(1, 7),
      ...[eventOf(2, 7), eventOf(2, 7, { removed: true })],
      ...[eventOf(3, 7), eventOf(3, 8)],
      ...[eventOf(4, 7, pending), eventOf(4, 7, pending)],
    ])
    expect([...receipts]).to.deep.equal([])
  })

  it('has none when the node does not answer', async () => {
    const { receipts } = await read([transaction(1, 1, [1])], () => {
      throw noAnswer('too many logs')
    })
    expect([...receipts]).to.deep.equal([])
  })

  it('has none when the node answers what is not a list of events', async () => {
    for (const answer of [null, {}, 'none', [null], [{ address: BATCH }]]) {
      const { receipts } = await read([transaction(1, 1, [1])], () => answer)
      expect([...receipts], JSON.stringify(answer)).to.deep.equal([])
    }
  })
})
