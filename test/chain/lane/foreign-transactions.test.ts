import { expect } from 'chai'
import { LANE_POLICY } from '../../../chain/lane/follow-transaction.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { openScriptedLane, type ScriptedLane, type ScriptedLaneOptions } from './scripted-lane.js'

describe('foreign transactions on the key of a lane', () => {
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

  it('freezes when a foreign transaction is found in a block at its nonce, not before', async () => {
    lane.take('a')
    const hash = lane.mineForeign()
    await lane.look(2)
    expect(lane.tracker.frozen()).to.equal(undefined)
    await lane.look(1)
    expect(lane.tracker.frozen()).to.deep.nested.include({ evmNonce: 0, 'by.hash': hash })
    expect(told('frozen')).to.equal(1)
    expect(stateOf('a')?.kind).to.equal('open')
  })

  it('frees the intents once the foreign transaction is final, for a nonce after the next start', async () => {
    lane.take('a')
    lane.mineForeign()
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

  it('forgets a foreign transaction whose block is lost, and settles after all', async () => {
    lane.take('a')
    lane.mineForeign()
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

  it('freezes when nonces are used that the journal has not claimed', async () => {
    lane.mineForeign()
    await lane.look(3)
    expect(lane.tracker.frozen()).to.deep.include({ evmNonce: 0 })
  })

  it('does not take its own transaction for a foreign one when receipts are not to be had', async () => {
    lane.take('a')
    lane.mine()
    lane.lies = () => ({ forgetful: true })
    await lane.look(12)
    expect(lane.tracker.frozen()).to.equal(undefined)
    lane.lies = () => ({})
    await lane.look(1)
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('goes on with everything else where no node can tell what used a nonce, and says so once', async () => {
    lane.take('a')
    lane.mineForeign()
    const silence = () => Promise.reject(new ChainUnreachable('state is pruned'))
    Object.assign(lane.chain, { consumerOf: silence })
    await lane.look(20)
    expect([told('nonceUnexplained'), told('chainLost')]).to.deep.equal([1, 0])
    lane.take('b')
    lane.mine()
    await lane.look()
    expect([stateOf('a')?.kind, stateOf('b')?.kind]).to.deep.equal(['open', 'mined'])
  })

  it('follows the foreign transaction that took the place of a lost one', async () => {
    lane.take('a')
    lane.mineForeign()
    await lane.look(3)
    lane.reorg(1, false)
    await lane.look(3)
    lane.dropPool()
    lane.mineForeign()
    await lane.look(3)
    await deepen(12)
    expect(stateOf('a')?.kind).to.equal('displaced')
  })

  it('says once that the key is used, and which nonce was first', async () => {
    lane.take('a')
    const first = lane.mineForeign()
    await lane.look(3)
    lane.take('b')
    lane.dropPool()
    lane.mineForeign()
    lane.mineForeign()
    await lane.look(6)
    expect(told('frozen')).to.equal(1)
    expect(lane.tracker.frozen()).to.deep.nested.include({ evmNonce: 0, 'by.hash': first })
  })

  it('freezes at the last nonce that was never given away, after three polls that show it', async () => {
    lane.take('a')
    lane.mine()
    lane.mineForeign()
    const last = lane.mineForeign()
    await lane.look(2)
    expect(lane.tracker.frozen()).to.equal(undefined)
    await lane.look(1)
    expect(lane.tracker.frozen()).to.deep.nested.include({ evmNonce: 2, 'by.hash': last })
  })

  it('does not freeze for nonces in use while no node tells by what', async () => {
    lane.mineForeign()
    const { consumerOf } = lane.chain
    Object.assign(lane.chain, { consumerOf: () => Promise.resolve(undefined) })
    await lane.look(4)
    expect(lane.tracker.frozen()).to.equal(undefined)
    Object.assign(lane.chain, { consumerOf })
    await deepen(3)
    expect(lane.tracker.frozen()).to.not.equal(undefined)
  })

  it('stops at an error that is not of the node', async () => {
    lane.take('a')
    lane.mineForeign()
    Object.assign(lane.chain, { consumerOf: () => Promise.reject(new Error('broken')) })
    const failed: unknown = await lane.look(3).catch((error: unknown) => error)
    expect(failed).to.have.property('message', 'broken')
  })

  it('takes none of its own forms for a foreign one', async () => {
    lane.take('a')
    for (let n = 0; n < 6; n += 1) lane.mineEmpty()
    await lane.look(2, LANE_POLICY.stuckMs)
    expect(told('replaced')).to.equal(1)
    lane.mine()
    lane.lies = () => ({ forgetful: true })
    await lane.look(6)
    expect([told('frozen'), told('nonceUnexplained')]).to.deep.equal([0, 0])
  })
})
