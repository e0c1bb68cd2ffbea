import { expect } from 'chai'
import { SENDER_POLICY } from '../../../chain/sender/follow-transaction.js'
import { createFollowedTransactions } from '../../../chain/sender/key-nonces.js'
import { lookAtChain, type PollNeeds } from '../../../chain/sender/look-at-chain.js'
import type {
  HeadBlock,
  SenderChain,
  MinedReceipt,
  ReceiptSpan,
} from '../../../chain/sender/sender-chain.js'
import type { Hex } from '../../../core/action.js'
import { createScriptedChain } from './scripted-chain.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const headAt = (n: number): HeadBlock => ({ number: BigInt(n), hash: hashOf(n) })
const HEAD = headAt(100)

const inBlock = (evmNonce: number, n: number) => ({
  hash: hashOf(1_000 + evmNonce),
  blockNumber: BigInt(n),
  blockHash: hashOf(n),
})
const receiptIn = (evmNonce: number, n: number): MinedReceipt => ({
  ...inBlock(evmNonce, n),
  status: 'success',
  to: null,
  logs: [],
})

/** A poll of a key of which `count` nonces are used at the head. */
function aPoll(count: number, options: Partial<PollNeeds> = {}) {
  const asked = { spans: [] as ReceiptSpan[], heights: [] as bigint[], receipts: [] as number[] }
  const most = { receipts: 0 }
  let running = 0
  const events = new Map<number, MinedReceipt>()
  const receipts = new Map<number, MinedReceipt>()
  const chain: SenderChain = {
    ...createScriptedChain().chain,
    countAt: (hash) => Promise.resolve(hash === HEAD.hash ? count : -1),
    finalized: () => Promise.resolve(33n),
    blockHash: (height) => {
      asked.heights.push(height)
      return Promise.resolve(hashOf(Number(height)))
    },
    receiptsIn: (span) => {
      asked.spans.push(span)
      return Promise.resolve(events)
    },
    receipt: async ({ evmNonce }) => {
      asked.receipts.push(evmNonce)
      running += 1
      most.receipts = Math.max(most.receipts, running)
      await Promise.resolve()
      running -= 1
      return receipts.get(evmNonce)
    },
  }
  const followed = createFollowedTransactions()
  const looking = { chain, policy: SENDER_POLICY, followed, highest: 0n, ...options }
  const follow = (evmNonce: number, mined?: number) => {
    const attempts = [{ hash: hashOf(1), raw: '0x', gasLimit: 1n, maxFeePerGas: 1n }] as const
    const transaction = { from: `0x${'11'.repeat(20)}`, evmNonce, intentIds: [], attempts } as const
    const place = mined === undefined ? {} : { mined: inBlock(evmNonce, mined) }
    return followed.add({ transaction, ...place })
  }
  const look = () => lookAtChain(looking, { head: HEAD, nowMs: 5 })
  return { asked, most, events, receipts, follow, look }
}

describe('what a poll of a sender reads', () => {
  it('says how far the node is, and how far the chain is final', async () => {
    const far = await aPoll(3, { highest: 100n }).look()
    expect(far).to.include({ nowMs: 5, head: 100n, behind: false, finalHeight: 88n, count: 3 })
    const policy = { ...SENDER_POLICY, finality: 'finalized' } as const
    expect(await aPoll(3, { highest: 101n, policy }).look()).to.include({
      behind: true,
      finalHeight: 33n,
    })
  })

  it('are the receipts of open transactions whose nonce is used, and of those that lost it', async () => {
    const poll = aPoll(3)
    poll.follow(1, 99)
    poll.follow(2)
    poll.follow(3)
    poll.follow(4).consumer = inBlock(4, 98)
    poll.receipts.set(2, receiptIn(2, 100))
    const { receipts } = await poll.look()
    expect(poll.asked.receipts).to.deep.equal([2, 4])
    expect([...receipts]).to.deep.equal([[2, receiptIn(2, 100)]])
  })

  it('are no receipts, and no events, while no nonce of an open transaction is used', async () => {
    const poll = aPoll(2)
    poll.follow(1, 99)
    poll.follow(2)
    expect([...(await poll.look()).receipts]).to.deep.equal([])
    expect([poll.asked.receipts, poll.asked.spans]).to.deep.equal([[], []])
  })

  it('are no receipts of what events have shown', async () => {
    const poll = aPoll(9)
    for (const evmNonce of [1, 2, 3]) poll.follow(evmNonce)
    poll.events.set(2, receiptIn(2, 100))
    const { receipts } = await poll.look()
    expect(poll.asked.receipts).to.deep.equal([1, 3])
    expect([...receipts.keys()]).to.deep.equal([2])
  })

  it('are sixteen receipts at once, and all of them', async () => {
    const poll = aPoll(99)
    for (let evmNonce = 0; evmNonce < 40; evmNonce += 1) poll.follow(evmNonce)
    await poll.look()
    expect(poll.asked.receipts).to.have.length(40)
    expect(poll.most.receipts).to.equal(16)
  })

  it('are the events of the blocks since the last poll, of four at most', async () => {
    const spanAfter = async (before: HeadBlock | undefined) => {
      const poll = aPoll(9, before && { head: before })
      poll.follow(1)
      await poll.look()
      return poll.asked.spans[0]
    }
    expect(await spanAfter(undefined)).to.deep.equal({ from: 100n, to: 100n })
    expect(await spanAfter(headAt(98))).to.deep.equal({ from: 99n, to: 100n })
    expect(await spanAfter(headAt(96))).to.deep.equal({ from: 97n, to: 100n })
    expect(await spanAfter(headAt(50))).to.deep.equal({ from: 97n, to: 100n })
    // Another block of the same height, and a node that is behind.
    expect(await spanAfter({ number: 100n, hash: hashOf(1) })).to.deep.equal({
      from: 100n,
      to: 100n,
    })
    expect(await spanAfter(headAt(104))).to.deep.equal({ from: 100n, to: 100n })
  })

  it('are the blocks that hold a transaction or what took its nonce, each once', async () => {
    const poll = aPoll(9)
    poll.follow(1, 90)
    poll.follow(2, 90)
    poll.follow(3).consumer = inBlock(3, 91)
    poll.follow(4)
    poll.receipts.set(4, receiptIn(4, 92))
    const { blocks } = await poll.look()
    expect(poll.asked.heights.toSorted((a, b) => Number(a - b))).to.deep.equal([90n, 91n, 92n])
    expect(blocks.get(90n)).to.equal(hashOf(90))
  })

  it('is not asked for the head again, and has no block above it', async () => {
    const poll = aPoll(9)
    poll.follow(1, 100)
    poll.follow(2, 101)
    const { blocks } = await poll.look()
    expect(poll.asked.heights).to.deep.equal([])
    expect([...blocks]).to.deep.include.members([
      [100n, HEAD.hash],
      [101n, undefined],
    ])
  })

  it('are the sixteen newest and the sixteen oldest blocks where there are more', async () => {
    const heightsOf = async (blocks: number) => {
      const poll = aPoll(9)
      for (let n = 0; n < blocks; n += 1) poll.follow(n, 10 + ((n * 7) % blocks))
      await poll.look()
      return poll.asked.heights.map(Number).toSorted((a, b) => a - b)
    }
    const range = (from: number, length: number) => Array.from({ length }, (_, i) => from + i)
    expect(await heightsOf(32)).to.deep.equal(range(10, 32))
    expect(await heightsOf(40)).to.deep.equal([...range(10, 16), ...range(34, 16)])
  })
})
