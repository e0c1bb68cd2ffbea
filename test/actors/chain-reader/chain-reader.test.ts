import { expect } from 'chai'
import { LAGGING_HEAD_MS } from '../../../actors/chain-reader/chain-position.js'
import {
  createAccountWatch,
  IDLE_ACCOUNTS_MAX,
  type AccountWatch,
} from '../../../actors/chain-reader/account-watch.js'
import {
  AWAIT_FILL_MS,
  createAccountFollower,
  type AccountFollower,
  type FollowedMarket,
} from '../../../actors/chain-reader/follow-accounts.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { balancesOf } from '../../../core/contracts/balances.js'
import { tradingOf } from '../../../core/contracts/registry.js'
import type { Change } from '../../../core/model/change.js'
import type { MarketFacts, AccountObservation } from '../../../core/model/observation.js'
import { historyOf } from '../../support/random-history.js'
import { TRADE_MODULE as module, fakeChain, type FakeChain } from './fake-chain.js'

const market = 'cNGN-USDC'

const fold = (watch: AccountWatch, changes: readonly Change[]): void => {
  const [first] = changes
  if (first === undefined) return
  watch.apply({ market, commandSeq: 1, commandIndex: 0, firstSeq: first.seq, changes })
}

/** The placement of an order of each of the first accounts, whose ids begin with 2. */
const placements = (accounts: number): Change[] =>
  historyOf(
    Array.from({ length: accounts }, (_, n) => ({
      kind: 'place' as const,
      side: 'sell' as const,
      price: 100 + n,
      size: 1,
    })),
  )

const { wire } = tradingOf({ contractType: 'spot' })

describe('the accounts that the chain reader watches', () => {
  it('are those of live orders, and some that had one lately', () => {
    const watch = createAccountWatch()
    const story = historyOf([
      { kind: 'place', side: 'sell', price: 100, size: 1 },
      { kind: 'place', side: 'buy', price: 100, size: 1 },
      { kind: 'settle' },
    ])
    fold(watch, story.slice(0, 1))
    expect([...watch.accounts()]).to.deep.equal([2n])
    fold(watch, story.slice(1))
    expect([...watch.accounts()]).to.have.members([2n, 3n])
    expect(watch.hasFill(`0x${'1'.repeat(64)}`)).to.equal(true)
    expect(watch.hasFill('0x22')).to.equal(false)
  })

  it('are bounded when they have no order any more', () => {
    const watch = createAccountWatch()
    const [placed] = historyOf([{ kind: 'place', side: 'sell', price: 100, size: 1 }])
    if (placed?.kind !== 'OrderPlaced') throw new Error('nothing placed')
    for (let n = 1; n <= IDLE_ACCOUNTS_MAX + 5; n++) {
      const order = { ...placed.order, subaccountId: BigInt(n) }
      const ended = { ...placed, orderId: `o${n}`, order, status: 'cancelled' as const }
      fold(watch, [ended])
    }
    expect(watch.size()).to.equal(IDLE_ACCOUNTS_MAX)
    expect(watch.has(5n)).to.equal(false)
    expect(watch.has(6n)).to.equal(true)
  })
})

describe('following accounts on a chain', () => {
  let chain: FakeChain
  let watch: AccountWatch
  let follower: AccountFollower
  let said: AccountObservation[]
  let nowMs: number

  beforeEach(() => {
    chain = fakeChain()
    watch = createAccountWatch()
    said = []
    nowMs = 0
    const publish = (news: readonly AccountObservation[]) =>
      Promise.resolve(void said.push(...news))
    const observe: FakeChain['observe'] = (id, head) => chain.observe(id, head)
    const followed = { market, module, watch, observe, publish, wire }
    follower = createAccountFollower({
      chain,
      markets: [followed],
      elapsedMs: () => nowMs,
      nowMs: () => nowMs,
    })
  })

  /** What a round says, as account, base and block. */
  const round = async () => {
    said.length = 0
    await follower.round()
    return said.map(({ subaccountId, facts, blockNumber }) => [
      subaccountId,
      balancesOf(facts).base,
      blockNumber,
    ])
  }
  const silence = async () => {
    const error: unknown = await follower.round().catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ChainUnreachable)
  }

  it('says what an account has when its first order appears, and nothing while nothing changes', async () => {
    chain.mine({ 2: 50n })
    expect(await round()).to.deep.equal([])
    fold(watch, placements(1))
    expect(await round()).to.deep.equal([[2n, 50n, 1n]])
    expect(await round()).to.deep.equal([])
    chain.mine()
    expect(await round()).to.deep.equal([])
  })

  it('reports an account again when a block has changed it, and no other account', async () => {
    fold(watch, placements(1))
    await round()
    chain.mine({ 2: 7n, 9: 1n })
    chain.mine({ 9: 2n })
    expect(await round()).to.deep.equal([[2n, 7n, 2n]])
    expect(chain.observed).not.to.include(9n)
  })

  it('says everything afresh when the chain went another way, also at a lower block', async () => {
    fold(watch, placements(2))
    chain.mine({ 2: 5n })
    chain.mine({ 3: 6n })
    await round()
    chain.goBack(2)
    chain.mine({ 2: 4n })
    expect(await round()).to.deep.equal([
      [2n, 4n, 1n],
      [3n, 0n, 1n],
    ])
    chain.goBack(1)
    chain.mine({ 2: 5n })
    chain.mine()
    chain.mine()
    expect(await round()).to.deep.equal([
      [2n, 5n, 3n],
      [3n, 0n, 3n],
    ])
  })

  it('does not believe a node that lags behind what was seen, until it does so for long', async () => {
    fold(watch, placements(1))
    chain.mine({ 2: 5n })
    chain.mine({ 2: 6n })
    await round()
    chain.lagTo(1n)
    expect(await round()).to.deep.equal([])
    fold(watch, placements(2).slice(1))
    expect(await round()).to.deep.equal([])
    chain.lagTo(undefined)
    expect(await round()).to.deep.equal([[3n, 0n, 2n]])
    chain.lagTo(1n)
    expect(await round()).to.deep.equal([])
    nowMs += LAGGING_HEAD_MS
    expect(await round()).to.deep.include.members([[2n, 5n, 1n]])
  })

  it('finds what changed while the chain was silent', async () => {
    fold(watch, placements(1))
    await round()
    chain.fail({ all: true })
    chain.mine({ 2: 9n })
    await silence()
    chain.mine()
    chain.fail({})
    expect(await round()).to.deep.equal([[2n, 9n, 2n]])
  })

  it('reads all accounts when it was away for too many blocks', async () => {
    fold(watch, placements(1))
    await round()
    for (let n = 0; n < 600; n++) chain.mine(n === 0 ? { 2: 3n } : {})
    chain.fail({ touches: true })
    expect(await round()).to.deep.equal([[2n, 3n, 600n]])
  })

  it('reads all accounts when the node keeps back its events', async () => {
    fold(watch, placements(1))
    await round()
    chain.mine({ 2: 3n })
    chain.fail({ touches: true })
    await silence()
    await silence()
    expect(await round()).to.deep.equal([[2n, 3n, 1n]])
  })

  it('finds a change without its event in time', async () => {
    fold(watch, placements(9))
    await round()
    chain.mine({ 2: 3n }, { quiet: true })
    expect(await round()).to.deep.equal([[2n, 3n, 1n]])
  })

  it('has the last word on an account for which something was read elsewhere', async () => {
    fold(watch, placements(1))
    chain.mine({ 2: 3n })
    await round()
    const [, another] = historyOf([
      { kind: 'place', side: 'sell', price: 100, size: 1 },
      { kind: 'place', side: 'sell', price: 100, size: 1 },
    ])
    if (another?.kind !== 'OrderPlaced') throw new Error('nothing placed')
    fold(watch, [{ ...another, order: { ...another.order, subaccountId: 2n } }])
    expect(await round(), 'no new block').to.deep.equal([])
    chain.mine()
    expect(await round()).to.deep.equal([[2n, 3n, 2n]])
    chain.mine()
    expect(await round()).to.deep.equal([])
  })

  it('keeps what is due when reading or saying it fails', async () => {
    fold(watch, placements(1))
    await round()
    chain.mine({ 2: 8n })
    let broken = true
    const failing: FakeChain['observe'] = (id, head) =>
      broken ? Promise.reject(new ChainUnreachable('no state')) : chain.observe(id, head)
    const followed = {
      market,
      module,
      watch,
      observe: failing,
      wire,
      publish: (news: readonly AccountObservation[]) => Promise.resolve(void said.push(...news)),
    }
    follower = createAccountFollower({
      chain,
      markets: [followed],
      elapsedMs: () => nowMs,
      nowMs: () => nowMs,
    })
    await silence()
    await silence()
    broken = false
    expect(await round()).to.deep.equal([[2n, 8n, 1n]])
  })

  it('lets an account that traded wait for its fill in the feed, but not for long', async () => {
    const story = historyOf([
      { kind: 'place', side: 'sell', price: 100, size: 3 },
      { kind: 'place', side: 'buy', price: 100, size: 1 },
      { kind: 'settle' },
    ])
    fold(watch, story.slice(0, 3))
    await round()
    chain.mine({ 2: 8n }, { byTrade: `0x${'1'.repeat(64)}` })
    expect(await round(), 'not told yet').to.deep.equal([])
    fold(watch, story.slice(3))
    expect(await round()).to.deep.equal([[2n, 8n, 1n]])
    chain.mine({ 2: 7n }, { byTrade: '0x77' })
    expect(await round()).to.deep.equal([])
    nowMs += AWAIT_FILL_MS
    expect(await round()).to.deep.equal([[2n, 7n, 2n]])
    chain.mine({ 2: 6n }, { byTrade: '0x78' })
    chain.mine({ 2: 5n })
    expect(await round(), 'also changed otherwise').to.deep.equal([[2n, 5n, 4n]])
    chain.mine({ 2: 4n }, { byTrade: '0x79', module: `0x${'c'.repeat(40)}` })
    expect(await round(), 'traded in another market').to.deep.equal([[2n, 4n, 5n]])
  })

  it('reads an account in every block whose facts change with prices, as long as they do', async () => {
    const observe: FakeChain['observe'] = (id, head) => chain.observe(id, head)
    const publish = () => Promise.resolve()
    let isPriced = true
    const followed = { market, module, watch, wire, observe, publish, isPriced: () => isPriced }
    follower = createAccountFollower({
      chain,
      markets: [followed],
      elapsedMs: () => nowMs,
      nowMs: () => nowMs,
    })
    const [placed] = placements(1)
    if (placed?.kind !== 'OrderPlaced') throw new Error('nothing placed')
    const accounts = Array.from({ length: 20 }, (_, n) => BigInt(n + 1))
    for (const subaccountId of accounts) {
      const order = { ...placed.order, subaccountId }
      fold(watch, [{ ...placed, orderId: `o${subaccountId}`, order }])
    }
    await follower.round()
    const readIn = async () => {
      chain.observed.length = 0
      chain.mine()
      await follower.round()
      return chain.observed.length
    }
    expect(await readIn()).to.equal(20)
    expect(await readIn()).to.equal(20)
    isPriced = false
    await readIn()
    // The usual rotation.
    expect(await readIn()).to.equal(10)
  })

  it('publishes the facts of a market in each round in which they are due, before accounts, and reads all accounts again when these outdate', async () => {
    const facts = (price: number) => ({ price }) as unknown as MarketFacts
    let price = 1
    const news: string[] = []
    const seenBy: unknown[] = []
    const followed: FollowedMarket = {
      market,
      module,
      watch,
      wire,
      observe(id, head, seen) {
        seenBy.push(seen)
        return chain.observe(id, head)
      },
      publish: (accounts) => Promise.resolve(void news.push(`accounts ${accounts.length}`)),
      facts: {
        observe: ({ number, timestamp }, readAtMs) =>
          Promise.resolve({
            facts: facts(price),
            blockNumber: number,
            blockTimeSec: Number(timestamp),
            readAtMs,
          }),
        isDue: ({ readAtMs }) => Promise.resolve(readAtMs !== 1_500),
        publish: ({ readAtMs }) => Promise.resolve(void news.push(`market at ${readAtMs}`)),
        outdate: () => price === 2,
        events: () => undefined,
      },
    }
    follower = createAccountFollower({
      chain,
      markets: [followed],
      elapsedMs: () => nowMs,
      nowMs: () => nowMs,
    })
    fold(watch, placements(1))
    await follower.round()
    nowMs = 1_000
    await follower.round()
    expect(news).to.deep.equal(['market at 0', 'accounts 1', 'market at 1000'])
    nowMs = 1_500
    await follower.round()
    expect(news).to.have.length(3)
    price = 2
    await follower.round()
    expect(seenBy).to.deep.equal([facts(1), facts(2)])
  })

  it('goes on with the other markets when the chain does not answer for one, which catches up', async () => {
    const second = createAccountWatch()
    let answers = false
    const observe: FakeChain['observe'] = (id, head) =>
      answers ? chain.observe(id, head) : Promise.reject(new ChainUnreachable('no answer'))
    const heard: bigint[] = []
    const publish = (news: readonly AccountObservation[]) =>
      Promise.resolve(void heard.push(...news.map(({ blockNumber }) => blockNumber)))
    const alone = { market: 'other', module, watch: second, observe, publish, wire }
    follower.add(alone)
    fold(watch, placements(1))
    second.apply({
      market: 'other',
      commandSeq: 1,
      commandIndex: 0,
      firstSeq: 1,
      changes: placements(1),
    })
    chain.mine({ 2: 50n })
    const { unanswered } = await follower.round()
    expect([...unanswered.keys()]).to.deep.equal(['other'])
    expect(said.map(({ subaccountId }) => subaccountId)).to.deep.equal([2n])
    expect(heard).to.deep.equal([])
    answers = true
    expect((await follower.round()).unanswered.size).to.equal(0)
    expect(heard).to.deep.equal([1n])
  })

  it('asks for the further events that the facts of a market name', async () => {
    const events = { address: '0xa0', events: ['0xe0'] } as const
    const asked: unknown[] = []
    const source: FakeChain = {
      ...chain,
      readTouches(first, last, more) {
        asked.push(more)
        return chain.readTouches(first, last, more)
      },
    }
    const facts: FollowedMarket['facts'] = {
      observe: ({ number }, readAtMs) =>
        Promise.resolve({
          facts: {},
          blockNumber: number,
          blockTimeSec: 0,
          readAtMs,
        }),
      isDue: () => Promise.resolve(true),
      publish: () => Promise.resolve(),
      outdate: () => false,
      events: () => events,
    }
    const observe: FakeChain['observe'] = (id, head) => chain.observe(id, head)
    const publish = () => Promise.resolve()
    follower = createAccountFollower({
      chain: source,
      markets: [{ market, module, watch, wire, observe, publish, facts }],
      elapsedMs: () => nowMs,
      nowMs: () => nowMs,
    })
    await follower.round()
    chain.mine()
    await follower.round()
    expect(asked).to.deep.equal([[events]])
  })

  it('reports nothing more of accounts that no order uses', async () => {
    fold(watch, placements(1))
    await round()
    watch.has = () => false
    watch.accounts = function* () {}
    chain.mine({ 2: 1n })
    expect(await round()).to.deep.equal([])
  })
})
