import { expect } from 'chai'
import {
  createAccountFollower,
  type AccountFollower,
} from '../../../actors/chain-reader/follow-accounts.js'
import type { TouchedNews } from '../../../core/touched-blocks.js'
import { fakeChain, type FakeChain } from './fake-chain.js'

describe('what the chain reader announces of blocks', () => {
  let chain: FakeChain
  let follower: AccountFollower
  let announced: TouchedNews[]

  beforeEach(() => {
    chain = fakeChain()
    announced = []
    follower = createAccountFollower({
      chain,
      markets: [],
      announce: (news) => announced.push(news),
      elapsedMs: () => 0,
      nowMs: () => 0,
    })
  })

  it('is in each round which accounts and keys the blocks since the last one touched', async () => {
    const key = `0x${'e'.repeat(40)}` as const
    chain.mine({ 2: 50n })
    await follower.round()
    chain.mine({ 3: 1n }, { keys: [key] })
    chain.mine({ 3: 2n, 4: 1n })
    await follower.round()
    await follower.round()
    expect(announced.slice(1)).to.deep.equal([
      { first: 2n, head: 3n, accounts: [3n, 4n], keys: [key] },
      { first: 4n, head: 3n, accounts: [], keys: [] },
    ])
  })

  it('has no accounts or keys where they are not known', async () => {
    chain.mine()
    await follower.round()
    chain.fail({ keys: true })
    chain.mine({ 2: 1n })
    await follower.round()
    expect(announced.at(-1)).to.deep.equal({ first: 2n, head: 2n, accounts: [2n] })
    chain.goBack(1)
    chain.mine()
    await follower.round()
    expect(announced.at(-1)).to.have.keys('first', 'head')
  })
})
