import { expect } from 'chai'
import {
  createAccountWatch,
  type AccountWatch,
} from '../../../actors/chain-reader/account-watch.js'
import {
  createAccountFollower,
  type ChainSource,
  type FollowedMarket,
} from '../../../actors/chain-reader/follow-accounts.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import type { MarketFacts } from '../../../core/model/observation.js'
import { tradingOf } from '../../../core/contracts/registry.js'
import { aMarket } from '../../support/builders.js'
import { historyOf } from '../../support/random-history.js'
import { TRADE_MODULE as module, fakeChain, type FakeChain } from './fake-chain.js'

const market = 'cNGN-USDC'
const { wire } = tradingOf({ contractType: 'spot' })

describe('a round of the chain reader whose reads of events are late', () => {
  let chain: FakeChain
  let watch: AccountWatch
  const nowMs = 0
  beforeEach(() => {
    chain = fakeChain()
    watch = createAccountWatch()
    const changes = historyOf([{ kind: 'place', side: 'sell', price: 100, size: 1 }])
    watch.apply({ market, commandSeq: 1, commandIndex: 0, firstSeq: 1, changes })
  })

  it('publishes the facts of markets while the events of the blocks are late, and the accounts as of the block that was asked about', async () => {
    let answer: (() => void) | undefined
    const late = new Promise<void>((resolve) => (answer = resolve))
    const source: ChainSource = {
      ...chain,
      readTouches: (first, last, events) => late.then(() => chain.readTouches(first, last, events)),
    }
    const news: string[] = []
    const seenBy: unknown[] = []
    const facts = (number: bigint): MarketFacts => ({ number }) as MarketFacts
    const followed: FollowedMarket = {
      market,
      module,
      watch,
      wire,
      observe: (id, head, seen) => {
        seenBy.push(seen)
        return chain.observe(id, head)
      },
      publish: (accounts) =>
        Promise.resolve(void news.push(...accounts.map((one) => `account at ${one.blockNumber}`))),
      facts: {
        observe: ({ number }, readAtMs) =>
          Promise.resolve({
            facts: facts(number),
            blockNumber: number,
            blockTimeSec: 0,
            readAtMs,
          }),
        isDue: () => Promise.resolve(true),
        publish: ({ blockNumber }) => Promise.resolve(void news.push(`market at ${blockNumber}`)),
        outdate: () => false,
        events: () => undefined,
      },
    }
    const follower = createAccountFollower({
      chain: source,
      markets: [followed],
      elapsedMs: () => nowMs,
      nowMs: () => nowMs,
    })
    await follower.round()
    chain.mine({ 2: 5n })
    expect((await follower.round()).isNoted).to.equal(false)
    chain.mine({ 2: 6n })
    expect((await follower.round()).isNoted).to.equal(false)
    const before = ['market at 0', 'account at 0', 'market at 1', 'market at 2']
    expect(news).to.deep.equal(before)
    answer?.()
    expect((await follower.round()).isNoted).to.equal(true)
    await follower.round()
    expect(news.slice(before.length)).to.deep.equal([
      ...['market at 2', 'account at 1', 'market at 2', 'account at 2'],
    ])
    expect(seenBy).to.deep.equal([0n, 1n, 2n].map((number) => ({ number })))
  })

  it('waits for no read of close-outs or liquidations, and tells when one has no answer', async () => {
    const began: string[] = []
    let fail: (() => void) | undefined
    const hanging = new Promise<never>((_, reject) => {
      fail = () => reject(new ChainUnreachable('no logs'))
    })
    const followed: FollowedMarket = {
      market,
      module,
      watch,
      wire,
      observe: (id, head) => chain.observe(id, head),
      publish: () => Promise.resolve(),
      facts: {
        observe: ({ number }, readAtMs) =>
          Promise.resolve({ facts: {}, blockNumber: number, blockTimeSec: 0, readAtMs }),
        isDue: () => Promise.resolve(true),
        publish: () => Promise.resolve(),
        outdate: () => false,
        events: () => undefined,
      },
      closeOuts: {
        hasBegun: () => true,
        read: () => (began.push('close-outs'), hanging),
        publish: () => Promise.resolve(),
      },
      liquidated: aMarket(),
    }
    const follower = createAccountFollower({
      chain,
      markets: [followed],
      elapsedMs: () => nowMs,
      nowMs: () => nowMs,
      liquidations: {
        round: (markets, head) => {
          began.push(`liquidations of ${markets.length} at ${head}`)
          return hanging
        },
      },
    })
    for (let i = 0; i < 3; i += 1) expect((await follower.round()).unanswered.size).to.equal(0)
    expect(began).to.deep.equal(['close-outs', 'liquidations of 1 at 0'])
    fail?.()
    await follower.ended()
    const { unanswered } = await follower.round()
    expect([...unanswered.keys()]).to.have.members([market, 'liquidations'])
    expect(began).to.have.length(4)
  })
})
