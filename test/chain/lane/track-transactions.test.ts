import { expect } from 'chai'
import { LANE_POLICY } from '../../../chain/lane/follow-transaction.js'
import { requestOf } from '../../../chain/signing/keys.js'
import {
  openScriptedLane,
  SENDER,
  type ScriptedLane,
  type ScriptedLaneOptions,
} from './scripted-lane.js'

describe('tracking transactions', () => {
  let lane: ScriptedLane
  const open = (options?: ScriptedLaneOptions) => (lane = openScriptedLane(options))
  beforeEach(() => open())
  afterEach(() => lane.journal.close())

  const stateOf = (intentId: string) => lane.journal.find(intentId)?.state
  const told = (fact: string) => lane.told.filter((name) => name === fact).length
  const deepen = async (blocks: number) => {
    for (let n = 0; n < blocks; n += 1) {
      lane.mineEmpty()
      await lane.look()
    }
  }

  it('wakes who waits for an intent when its transaction is mined', async () => {
    lane.take('a', 'b')
    const waiting = lane.tracker.waitFor('b', 60_000)
    lane.mine()
    await lane.look()
    expect(await waiting).to.include({ status: 'success', blockNumber: 1n })
    expect(lane.mined.map(({ intentId }) => intentId)).to.deep.equal(['a', 'b'])
    expect(lane.tracker.openCount()).to.equal(0)
  })

  it('names the revert for all intents of a transaction that reverted', async () => {
    lane.take('a', 'b')
    lane.mine(() => true)
    await lane.look()
    expect(stateOf('b')).to.deep.nested.include({ 'transaction.revert': 'scripted' })
  })

  it('follows what is mined until a dozen blocks stand on it, and no longer (SET-012)', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    await deepen(11)
    expect(lane.tracker.followedCount()).to.equal(1)
    await deepen(1)
    expect(lane.tracker.followedCount()).to.equal(0)
    lane.restart()
    expect(lane.tracker.followedCount()).to.equal(0)
  })

  it('asks for the hash of a block once however many transactions it holds', async () => {
    for (const intentId of ['a', 'b', 'c', 'd']) lane.take(intentId)
    lane.mine()
    await lane.look()
    let asked = 0
    const { blockHash } = lane.chain
    Object.assign(lane.chain, {
      blockHash: (height: bigint) => {
        asked += 1
        return blockHash(height)
      },
    })
    await deepen(1)
    expect(asked).to.equal(1)
  })

  it('keeps its work bounded where finality is far away, and lets go of all once it comes', async () => {
    lane.journal.close()
    open({ policy: { finality: 'finalized' } })
    let finalized = 0n
    let asked = 0
    const { blockHash } = lane.chain
    Object.assign(lane.chain, {
      finalized: () => Promise.resolve(finalized),
      blockHash: (height: bigint) => ((asked += 1), blockHash(height)),
    })
    for (let n = 0; n < 100; n += 1) {
      lane.take(`${n}`)
      lane.mine()
      await lane.look()
    }
    expect(lane.tracker.followedCount()).to.equal(100)
    asked = 0
    finalized = 100n
    for (let looks = 0; looks < 10; looks += 1) {
      lane.mineEmpty()
      await lane.look()
    }
    expect(lane.tracker.followedCount()).to.equal(0)
    expect(asked).to.be.at.most(10 * 32)
  })

  it('asks for nothing but the head while that stands still', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    let counted = 0
    const { countAt } = lane.chain
    Object.assign(lane.chain, { countAt: (hash: never) => ((counted += 1), countAt(hash)) })
    await lane.look(5, 10)
    expect(counted).to.equal(0)
  })

  it('sends the same bytes again when every node dropped them', async () => {
    const { attempts } = lane.take('a')
    lane.dropPool()
    await lane.look(1, LANE_POLICY.rebroadcastMs)
    expect(lane.sent.map(({ hash }) => hash)).to.deep.equal([attempts[0]?.hash, attempts[0]?.hash])
    lane.mine()
    await lane.look()
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('sends what a node took and dropped once a block has passed it over, and all behind it', async () => {
    lane.take('a')
    lane.take('b')
    await lane.look()
    lane.dropPool()
    await lane.look(4, 10)
    expect(lane.sent).to.have.length(2)
    lane.mine()
    await lane.look(4, 10)
    expect(lane.sent.map(({ evmNonce }) => evmNonce)).to.deep.equal([0, 1, 0, 1])
    lane.mine()
    await lane.look()
    expect([stateOf('a')?.kind, stateOf('b')?.kind]).to.deep.equal(['mined', 'mined'])
  })

  it('closes a gap below by its own bytes, lower nonces first, within 15 seconds', async () => {
    lane.lies = () => ({ silent: true })
    lane.take('a')
    lane.lies = () => ({})
    lane.take('b')
    await lane.look(1, 0)
    await lane.look(1, LANE_POLICY.rebroadcastMs)
    expect(lane.sent.map(({ evmNonce }) => evmNonce)).to.deep.equal([0, 1, 0, 1])
    lane.mine()
    await lane.look()
    expect(stateOf('b')?.kind).to.equal('mined')
  })

  it('fills a nonce that the journal lost with a transaction that does nothing', async () => {
    lane.take('a')
    lane.take('b')
    lane.dropPool()
    lane.journal.lose(0)
    lane.restart()
    await lane.look(2)
    expect(told('gapFilled')).to.equal(0)
    await lane.look(1)
    expect(told('gapFilled')).to.equal(1)
    const [filler] = lane.journal.unsettledTransactions(SENDER)
    expect(filler?.transaction).to.deep.include({ evmNonce: 0, intentIds: [] })
    const request = requestOf(filler?.transaction.attempts[0]?.raw ?? '0x')
    expect(request).to.include({ to: SENDER, value: 0n, evmNonce: 0 })
    lane.mine()
    await lane.look()
    expect(stateOf('b')?.kind).to.equal('mined')
  })

  it('sends what a reorganisation took as the same bytes, and tells nothing new (SET-013)', async () => {
    const { attempts } = lane.take('a')
    lane.mine()
    await lane.look()
    lane.reorg(1, false)
    await lane.look(2)
    expect(stateOf('a')?.kind).to.equal('mined')
    await lane.look(1)
    expect(stateOf('a')?.kind).to.equal('open')
    expect(lane.pooled()[0]?.attempts).to.deep.equal(attempts)
    lane.mine()
    await lane.look()
    expect(stateOf('a')).to.deep.nested.include({ 'transaction.status': 'success' })
    expect(told('reversed')).to.equal(0)
  })

  it('finds a transaction in another block although the nonce count never fell', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    lane.reorg(1, true)
    lane.mine()
    await lane.look(4)
    expect(stateOf('a')).to.deep.nested.include({ 'transaction.blockNumber': 3n })
  })

  it('records openly that a success became a revert, once', async () => {
    lane.take('a', 'b')
    lane.mine()
    await lane.look()
    lane.reorg(1, true)
    lane.mine(() => true)
    await lane.look(6)
    const reversals = lane.journal.reversalsAfter(0, 9)
    expect(
      reversals.map(({ intentId, before, now }) => [intentId, before.status, now.status]),
    ).to.deep.equal([
      ['a', 'success', 'reverted'],
      ['b', 'success', 'reverted'],
    ])
    expect(told('reversed')).to.equal(2)
  })

  it('takes nothing back for a node that is late, forgetful or on a lost branch for a moment', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    for (const lie of [{ late: 1 }, { forgetful: true }, { stale: true }, { silent: true }]) {
      lane.lies = () => lie
      await lane.look(2)
      lane.lies = () => ({})
      lane.mineEmpty()
      await lane.look()
    }
    expect(stateOf('a')?.kind).to.equal('mined')
    expect(told('reopened')).to.equal(0)
  })

  it('opens again what a node lost without a new block, once it insists', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    lane.rollBack(1)
    await lane.look(LANE_POLICY.absences - 1)
    expect(stateOf('a')?.kind).to.equal('mined')
    await lane.look(1)
    expect(stateOf('a')?.kind).to.equal('open')
  })

  it('opens again even what was final when the chain comes back without it', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    await deepen(13)
    expect(lane.tracker.followedCount()).to.equal(0)
    lane.rollBack(14)
    await lane.look(LANE_POLICY.absences)
    expect(stateOf('a')?.kind).to.equal('open')
    expect(lane.pooled()).to.have.length(1)
  })

  it('goes on filling a gap after a crash in the middle of it', async () => {
    lane.journal.close()
    const gapFilled = () => {
      throw new Error('killed')
    }
    open({ facts: { gapFilled } })
    for (const intentId of ['a', 'b', 'c']) lane.take(intentId)
    lane.dropPool()
    lane.journal.lose(0)
    lane.journal.lose(1)
    lane.restart()
    for (let n = 0; n < 2; n += 1) {
      expect(await lane.look(3).catch(() => 'killed')).to.equal('killed')
      lane.restart()
    }
    await lane.look(1, LANE_POLICY.rebroadcastMs)
    lane.mine()
    await lane.look()
    expect(stateOf('c')?.kind).to.equal('mined')
  })

  it('asks whether the chain is still the right one after a silence and every hour', async () => {
    lane.journal.close()
    let asked = 0
    open({ verifyChain: () => Promise.resolve(void (asked += 1)) })
    await lane.look(5)
    expect([asked, lane.tracker.isVerified()]).to.deep.equal([1, true])
    lane.lies = () => ({ silent: true })
    await lane.look(1)
    expect([told('chainLost'), lane.tracker.isVerified()]).to.deep.equal([1, false])
    lane.lies = () => ({})
    await lane.look(1)
    expect([asked, lane.tracker.isVerified()]).to.deep.equal([2, true])
    await lane.look(1, LANE_POLICY.verifyEveryMs)
    expect(asked).to.equal(3)
  })
})
