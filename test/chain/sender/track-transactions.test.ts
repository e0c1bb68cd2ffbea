import { expect } from 'chai'
import { SENDER_POLICY } from '../../../chain/sender/follow-transaction.js'
import { requestOf } from '../../../chain/signing/keys.js'
import {
  openScriptedSender,
  SENDER_ADDRESS,
  type ScriptedSender,
  type ScriptedSenderOptions,
} from './scripted-sender.js'

describe('tracking transactions', () => {
  let txSender: ScriptedSender
  const open = (options?: ScriptedSenderOptions) => (txSender = openScriptedSender(options))
  beforeEach(() => open())
  afterEach(() => txSender.journal.close())

  const stateOf = (intentId: string) => txSender.journal.find(intentId)?.state
  const told = (fact: string) => txSender.told.filter((name) => name === fact).length
  const deepen = async (blocks: number) => {
    for (let n = 0; n < blocks; n += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
  }

  it('wakes who waits for an intent when its transaction is mined', async () => {
    txSender.take('a', 'b')
    const waiting = txSender.tracker.waitFor('b', 60_000)
    txSender.mine()
    await txSender.look()
    expect(await waiting).to.include({ status: 'success', blockNumber: 1n })
    expect(txSender.mined.map(({ intentId }) => intentId)).to.deep.equal(['a', 'b'])
    expect(txSender.tracker.openCount()).to.equal(0)
  })

  it('names the revert for all intents of a transaction that reverted', async () => {
    txSender.take('a', 'b')
    txSender.mine(() => true)
    await txSender.look()
    expect(stateOf('b')).to.deep.nested.include({ 'transaction.revert': 'scripted' })
  })

  it('follows what is mined until a dozen blocks stand on it, and no longer (SET-012)', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    await deepen(11)
    expect(txSender.tracker.followedCount()).to.equal(1)
    await deepen(1)
    expect(txSender.tracker.followedCount()).to.equal(0)
    txSender.restart()
    expect(txSender.tracker.followedCount()).to.equal(0)
  })

  it('asks for the hash of a block once however many transactions it holds', async () => {
    for (const intentId of ['a', 'b', 'c', 'd']) txSender.take(intentId)
    txSender.mine()
    await txSender.look()
    let asked = 0
    const { blockHash } = txSender.chain
    Object.assign(txSender.chain, {
      blockHash: (height: bigint) => {
        asked += 1
        return blockHash(height)
      },
    })
    await deepen(1)
    expect(asked).to.equal(1)
  })

  it('keeps its work bounded where finality is far away, and lets go of all once it comes', async () => {
    txSender.journal.close()
    open({ policy: { finality: 'finalized' } })
    let finalized = 0n
    let asked = 0
    const { blockHash } = txSender.chain
    Object.assign(txSender.chain, {
      finalized: () => Promise.resolve(finalized),
      blockHash: (height: bigint) => ((asked += 1), blockHash(height)),
    })
    for (let n = 0; n < 100; n += 1) {
      txSender.take(`${n}`)
      txSender.mine()
      await txSender.look()
    }
    expect(txSender.tracker.followedCount()).to.equal(100)
    asked = 0
    finalized = 100n
    for (let looks = 0; looks < 10; looks += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
    expect(txSender.tracker.followedCount()).to.equal(0)
    expect(asked).to.be.at.most(10 * 32)
  })

  it('asks for nothing but the head while that stands still', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    let counted = 0
    const { countAt } = txSender.chain
    Object.assign(txSender.chain, { countAt: (hash: never) => ((counted += 1), countAt(hash)) })
    await txSender.look(5, 10)
    expect(counted).to.equal(0)
  })

  it('sends the same bytes again when every node dropped them', async () => {
    const { attempts } = txSender.take('a')
    txSender.dropPool()
    await txSender.look(1, SENDER_POLICY.rebroadcastMs)
    expect(txSender.sent.map(({ hash }) => hash)).to.deep.equal([
      attempts[0]?.hash,
      attempts[0]?.hash,
    ])
    txSender.mine()
    await txSender.look()
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('sends what a node took and dropped once a block has passed it over, and all behind it', async () => {
    txSender.take('a')
    txSender.take('b')
    await txSender.look()
    txSender.dropPool()
    await txSender.look(4, 10)
    expect(txSender.sent).to.have.length(2)
    txSender.mine()
    await txSender.look(4, 10)
    expect(txSender.sent.map(({ evmNonce }) => evmNonce)).to.deep.equal([0, 1, 0, 1])
    txSender.mine()
    await txSender.look()
    expect([stateOf('a')?.kind, stateOf('b')?.kind]).to.deep.equal(['mined', 'mined'])
  })

  it('closes a gap below by its own bytes, lower nonces first, within 15 seconds', async () => {
    txSender.lies = () => ({ silent: true })
    txSender.take('a')
    txSender.lies = () => ({})
    txSender.take('b')
    await txSender.look(1, 0)
    await txSender.look(1, SENDER_POLICY.rebroadcastMs)
    expect(txSender.sent.map(({ evmNonce }) => evmNonce)).to.deep.equal([0, 1, 0, 1])
    txSender.mine()
    await txSender.look()
    expect(stateOf('b')?.kind).to.equal('mined')
  })

  it('fills a nonce that the journal lost with a transaction that does nothing', async () => {
    txSender.take('a')
    txSender.take('b')
    txSender.dropPool()
    txSender.journal.lose(0)
    txSender.restart()
    await txSender.look(2)
    expect(told('gapFilled')).to.equal(0)
    await txSender.look(1)
    expect(told('gapFilled')).to.equal(1)
    const [filler] = txSender.journal.unsettledTransactions(SENDER_ADDRESS)
    expect(filler?.transaction).to.deep.include({ evmNonce: 0, intentIds: [] })
    const request = requestOf(filler?.transaction.attempts[0]?.raw ?? '0x')
    expect(request).to.include({ to: SENDER_ADDRESS, value: 0n, evmNonce: 0 })
    txSender.mine()
    await txSender.look()
    expect(stateOf('b')?.kind).to.equal('mined')
  })

  it('sends what a reorganisation took as the same bytes, and tells nothing new (SET-013)', async () => {
    const { attempts } = txSender.take('a')
    txSender.mine()
    await txSender.look()
    txSender.reorg(1, false)
    await txSender.look(2)
    expect(stateOf('a')?.kind).to.equal('mined')
    await txSender.look(1)
    expect(stateOf('a')?.kind).to.equal('open')
    expect(txSender.pooled()[0]?.attempts).to.deep.equal(attempts)
    txSender.mine()
    await txSender.look()
    expect(stateOf('a')).to.deep.nested.include({ 'transaction.status': 'success' })
    expect(told('reversed')).to.equal(0)
  })

  it('finds a transaction in another block although the nonce count never fell', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    txSender.reorg(1, true)
    txSender.mine()
    await txSender.look(4)
    expect(stateOf('a')).to.deep.nested.include({ 'transaction.blockNumber': 3n })
  })

  it('records openly that a success became a revert, once', async () => {
    txSender.take('a', 'b')
    txSender.mine()
    await txSender.look()
    txSender.reorg(1, true)
    txSender.mine(() => true)
    await txSender.look(6)
    const reversals = txSender.journal.reversalsAfter(0, 9)
    expect(
      reversals.map(({ intentId, before, now }) => [intentId, before.status, now.status]),
    ).to.deep.equal([
      ['a', 'success', 'reverted'],
      ['b', 'success', 'reverted'],
    ])
    expect(told('reversed')).to.equal(2)
  })

  it('takes nothing back for a node that is late, forgetful or on a lost branch for a moment', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    for (const lie of [{ late: 1 }, { forgetful: true }, { stale: true }, { silent: true }]) {
      txSender.lies = () => lie
      await txSender.look(2)
      txSender.lies = () => ({})
      txSender.mineEmpty()
      await txSender.look()
    }
    expect(stateOf('a')?.kind).to.equal('mined')
    expect(told('reopened')).to.equal(0)
  })

  it('opens again what a node lost without a new block, once it insists', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    txSender.rollBack(1)
    await txSender.look(SENDER_POLICY.absences - 1)
    expect(stateOf('a')?.kind).to.equal('mined')
    await txSender.look(1)
    expect(stateOf('a')?.kind).to.equal('open')
  })

  it('opens again even what was final when the chain comes back without it', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    await deepen(13)
    expect(txSender.tracker.followedCount()).to.equal(0)
    txSender.rollBack(14)
    await txSender.look(SENDER_POLICY.absences)
    expect(stateOf('a')?.kind).to.equal('open')
    expect(txSender.pooled()).to.have.length(1)
  })

  it('goes on filling a gap after a crash in the middle of it', async () => {
    txSender.journal.close()
    const gapFilled = () => {
      throw new Error('killed')
    }
    open({ facts: { gapFilled } })
    for (const intentId of ['a', 'b', 'c']) txSender.take(intentId)
    txSender.dropPool()
    txSender.journal.lose(0)
    txSender.journal.lose(1)
    txSender.restart()
    for (let n = 0; n < 2; n += 1) {
      expect(await txSender.look(3).catch(() => 'killed')).to.equal('killed')
      txSender.restart()
    }
    await txSender.look(1, SENDER_POLICY.rebroadcastMs)
    txSender.mine()
    await txSender.look()
    expect(stateOf('c')?.kind).to.equal('mined')
  })

  it('asks whether the chain is still the right one after a silence and every hour', async () => {
    txSender.journal.close()
    let asked = 0
    open({ verifyChain: () => Promise.resolve(void (asked += 1)) })
    await txSender.look(5)
    expect([asked, txSender.tracker.isVerified()]).to.deep.equal([1, true])
    txSender.lies = () => ({ silent: true })
    await txSender.look(1)
    expect([told('chainLost'), txSender.tracker.isVerified()]).to.deep.equal([1, false])
    txSender.lies = () => ({})
    await txSender.look(1)
    expect([asked, txSender.tracker.isVerified()]).to.deep.equal([2, true])
    await txSender.look(1, SENDER_POLICY.verifyEveryMs)
    expect(asked).to.equal(3)
  })
})
