import { expect } from 'chai'
import { LANE_POLICY } from '../../chain/lane-policy.js'
import { requestOf } from '../../chain/sign-transaction.js'
import { openScriptedLane, SENDER } from '../support/scripted-lane.js'
import type { ScriptedLane, ScriptedLaneOptions } from '../support/scripted-lane.js'
import { SCRIPTED_GAS } from '../support/scripted-chain.js'

describe('tracking transactions', () => {
  let lane: ScriptedLane
  const open = (options?: ScriptedLaneOptions) => (lane = openScriptedLane(options))
  beforeEach(() => open())
  afterEach(() => lane.journal.close())

  const stateOf = (intentId: string) => lane.journal.find(intentId)?.state
  const told = (fact: string) => lane.told.filter((name) => name === fact).length
  const sentOf = (evmNonce: number) => lane.sent.filter((it) => it.evmNonce === evmNonce).length
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

  it('follows what is mined until a dozen blocks stand on it, and no longer', async () => {
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

  it('sends what a reorganisation took as the same bytes, and tells nothing new', async () => {
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

  it('raises both fees of what blocks pass over for 12 seconds, recorded before it is sent', async () => {
    const { attempts } = lane.take('a')
    const held: boolean[] = []
    lane.onSend = ({ attempts: all }) => held.push(lane.journal.holds(all.at(-1)?.hash ?? '0x'))
    for (let seconds = 0; seconds < 12; seconds += 2) {
      expect(told('replaced')).to.equal(0)
      lane.mineEmpty()
      await lane.look()
    }
    expect(told('replaced')).to.equal(1)
    const [newest] = lane.pooled()
    const [first, second] = (newest?.attempts ?? []).map(({ raw }) => requestOf(raw))
    expect(newest?.attempts[0]).to.deep.equal(attempts[0])
    expect(second).to.deep.include({ evmNonce: first?.evmNonce, data: first?.data })
    expect(second).to.include({ maxFeePerGas: 4_512n, maxPriorityFeePerGas: 12n })
    expect(held).to.not.include(false)
    expect(lane.tracker.reservedWei()).to.equal(4_512n * 100_000n)
    lane.mine()
    await lane.look()
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('finds the receipt of whichever form was mined', async () => {
    const { attempts } = lane.take('a')
    for (let n = 0; n < 6; n += 1) lane.mineEmpty()
    const [before] = lane.pooled()
    await lane.look(1, LANE_POLICY.stuckMs)
    await lane.look(1, LANE_POLICY.stuckMs)
    expect(told('replaced')).to.equal(1)
    lane.dropPool()
    if (before !== undefined) await lane.chain.send({ ...before, attempts })
    lane.mine()
    await lane.look()
    expect(stateOf('a')).to.deep.nested.include({ 'transaction.hash': attempts[0]?.hash })
  })

  it('raises nothing while no blocks come, or while those before it are being mined', async () => {
    for (let n = 0; n < 12; n += 1) lane.take(`${n}`)
    await lane.look(20)
    expect(told('replaced')).to.equal(0)
    for (let n = 0; n < 12; n += 1) {
      lane.mine(undefined, 1)
      await lane.look()
    }
    expect([told('replaced'), told('mined')]).to.deep.equal([0, 12])
  })

  it('stops at the cap, says so once and keeps sending; goes on when fees rise', async () => {
    lane.take('a')
    for (let n = 0; n < 200; n += 1) {
      lane.mineEmpty()
      await lane.look()
    }
    const highest = requestOf(lane.pooled()[0]?.attempts.at(-1)?.raw ?? '0x')
    expect(highest.maxFeePerGas <= 5n * SCRIPTED_GAS.maxFeePerGas).to.equal(true)
    expect(highest.maxFeePerGas > 3n * SCRIPTED_GAS.maxFeePerGas).to.equal(true)
    expect(told('feesExhausted')).to.equal(1)
    const before = sentOf(0)
    await lane.look(1, LANE_POLICY.rebroadcastMs)
    expect(sentOf(0)).to.equal(before + 1)
    const replaced = told('replaced')
    lane.gas = { ...SCRIPTED_GAS, maxFeePerGas: 40_000n, maxPriorityFeePerGas: 100n }
    for (let n = 0; n < 8; n += 1) {
      lane.mineEmpty()
      await lane.look()
    }
    expect(told('replaced')).to.be.above(replaced)
  })

  it('replaces nothing by what the key could not pay', async () => {
    lane.take('a')
    lane.gas = { ...SCRIPTED_GAS, balance: 4_010n * 100_000n }
    for (let n = 0; n < 12; n += 1) {
      lane.mineEmpty()
      await lane.look()
    }
    expect([told('replaced'), told('feesExhausted')]).to.deep.equal([0, 1])
  })

  it('freezes when a stranger is found in a block at its nonce, not before', async () => {
    lane.take('a')
    const hash = lane.mineStranger()
    await lane.look(2)
    expect(lane.tracker.frozen()).to.equal(undefined)
    await lane.look(1)
    expect(lane.tracker.frozen()).to.deep.nested.include({ evmNonce: 0, 'by.hash': hash })
    expect(told('frozen')).to.equal(1)
    expect(stateOf('a')?.kind).to.equal('open')
  })

  it('frees the intents once the stranger is final, for a nonce after the next start', async () => {
    lane.take('a')
    lane.mineStranger()
    await lane.look(3)
    await deepen(11)
    expect(stateOf('a')?.kind).to.equal('open')
    await deepen(1)
    expect(stateOf('a')?.kind).to.equal('displaced')
    expect(lane.tracker.frozen()).to.not.equal(undefined)
    lane.restart()
    await lane.look(4)
    expect(lane.tracker.frozen()).to.equal(undefined)
    expect(lane.take('a').evmNonce).to.equal(1)
    lane.mine()
    await lane.look()
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('takes a stranger back whose block is lost, and settles after all', async () => {
    lane.take('a')
    lane.mineStranger()
    await lane.look(3)
    lane.reorg(1, false)
    await lane.look(4)
    await lane.look(1, LANE_POLICY.rebroadcastMs)
    lane.mine()
    await lane.look()
    expect(stateOf('a')?.kind).to.equal('mined')
    await deepen(14)
    expect(stateOf('a')?.kind).to.equal('mined')
    expect(lane.tracker.frozen()).to.not.equal(undefined)
  })

  it('freezes when nonces are used that nobody here has claimed', async () => {
    lane.mineStranger()
    await lane.look(3)
    expect(lane.tracker.frozen()).to.deep.include({ evmNonce: 0 })
  })

  it('does not take its own transaction for a stranger when receipts are not to be had', async () => {
    lane.take('a')
    lane.mine()
    lane.lies = () => ({ forgetful: true })
    await lane.look(12)
    expect(lane.tracker.frozen()).to.equal(undefined)
    lane.lies = () => ({})
    await lane.look(1)
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('tells once when the gas money is below the reserve, and when it is not any more', async () => {
    lane.journal.close()
    open({ reserve: { transactions: 10n, gasEach: 1_000_000n } })
    const needed = 10n * 1_000_000n * SCRIPTED_GAS.maxFeePerGas
    lane.gas = { ...SCRIPTED_GAS, balance: needed - 1n }
    await deepen(2)
    expect([told('gasLow'), told('gasBack')]).to.deep.equal([1, 0])
    lane.gas = { ...SCRIPTED_GAS, balance: needed }
    await deepen(2)
    expect([told('gasLow'), told('gasBack')]).to.deep.equal([1, 1])
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
