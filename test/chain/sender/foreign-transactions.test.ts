import { expect } from 'chai'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { SENDER_POLICY } from '../../../chain/sender/follow-transaction.js'
import {
  openScriptedSender,
  type ScriptedSender,
  type ScriptedSenderOptions,
} from './scripted-sender.js'

describe('foreign transactions on the key of a sender', () => {
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

  it('freezes when a foreign transaction is found in a block at its nonce, not before', async () => {
    txSender.take('a')
    const hash = txSender.mineForeign()
    await txSender.look(2)
    expect(txSender.tracker.frozen()).to.equal(undefined)
    await txSender.look(1)
    expect(txSender.tracker.frozen()).to.deep.nested.include({ evmNonce: 0, 'by.hash': hash })
    expect(told('frozen')).to.equal(1)
    expect(stateOf('a')?.kind).to.equal('open')
  })

  it('frees the intents once the foreign transaction is final, for a nonce after the next start', async () => {
    txSender.take('a')
    txSender.mineForeign()
    await txSender.look(3)
    await deepen(11)
    expect(stateOf('a')?.kind).to.equal('open')
    await deepen(1)
    expect(stateOf('a')?.kind).to.equal('displaced')
    expect(txSender.tracker.frozen()).to.not.equal(undefined)
    txSender.restart()
    await txSender.look(4)
    expect(txSender.tracker.frozen()).to.equal(undefined)
    expect(txSender.take('a').evmNonce).to.equal(1)
    txSender.mine()
    await txSender.look()
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('forgets a foreign transaction whose block is lost, and settles after all', async () => {
    txSender.take('a')
    txSender.mineForeign()
    await txSender.look(3)
    txSender.reorg(1, false)
    await txSender.look(4)
    await txSender.look(1, SENDER_POLICY.rebroadcastMs)
    txSender.mine()
    await txSender.look()
    expect(stateOf('a')?.kind).to.equal('mined')
    await deepen(14)
    expect(stateOf('a')?.kind).to.equal('mined')
    expect(txSender.tracker.frozen()).to.not.equal(undefined)
  })

  it('freezes when nonces are used that the journal has not claimed', async () => {
    txSender.mineForeign()
    await txSender.look(3)
    expect(txSender.tracker.frozen()).to.deep.include({ evmNonce: 0 })
  })

  it('does not take its own transaction for a foreign one when receipts are not to be had', async () => {
    txSender.take('a')
    txSender.mine()
    txSender.lies = () => ({ forgetful: true })
    await txSender.look(12)
    expect(txSender.tracker.frozen()).to.equal(undefined)
    txSender.lies = () => ({})
    await txSender.look(1)
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('goes on with everything else where no node can tell what used a nonce, and says so once', async () => {
    txSender.take('a')
    txSender.mineForeign()
    const silence = () => Promise.reject(new ChainUnreachable('state is pruned'))
    Object.assign(txSender.chain, { consumerOf: silence })
    await txSender.look(20)
    expect([told('nonceUnexplained'), told('chainLost')]).to.deep.equal([1, 0])
    txSender.take('b')
    txSender.mine()
    await txSender.look()
    expect([stateOf('a')?.kind, stateOf('b')?.kind]).to.deep.equal(['open', 'mined'])
  })

  it('follows the foreign transaction that took the place of a lost one', async () => {
    txSender.take('a')
    txSender.mineForeign()
    await txSender.look(3)
    txSender.reorg(1, false)
    await txSender.look(3)
    txSender.dropPool()
    txSender.mineForeign()
    await txSender.look(3)
    await deepen(12)
    expect(stateOf('a')?.kind).to.equal('displaced')
  })

  it('says once that the key is used, and which nonce was first', async () => {
    txSender.take('a')
    const first = txSender.mineForeign()
    await txSender.look(3)
    txSender.take('b')
    txSender.dropPool()
    txSender.mineForeign()
    txSender.mineForeign()
    await txSender.look(6)
    expect(told('frozen')).to.equal(1)
    expect(txSender.tracker.frozen()).to.deep.nested.include({ evmNonce: 0, 'by.hash': first })
  })

  it('freezes at the last nonce that was never given away, after three polls that show it', async () => {
    txSender.take('a')
    txSender.mine()
    txSender.mineForeign()
    const last = txSender.mineForeign()
    await txSender.look(2)
    expect(txSender.tracker.frozen()).to.equal(undefined)
    await txSender.look(1)
    expect(txSender.tracker.frozen()).to.deep.nested.include({ evmNonce: 2, 'by.hash': last })
  })

  it('does not freeze for nonces in use while no node tells by what', async () => {
    txSender.mineForeign()
    const { consumerOf } = txSender.chain
    Object.assign(txSender.chain, { consumerOf: () => Promise.resolve(undefined) })
    await txSender.look(4)
    expect(txSender.tracker.frozen()).to.equal(undefined)
    Object.assign(txSender.chain, { consumerOf })
    await deepen(3)
    expect(txSender.tracker.frozen()).to.not.equal(undefined)
  })

  it('stops at an error that is not of the node', async () => {
    txSender.take('a')
    txSender.mineForeign()
    Object.assign(txSender.chain, { consumerOf: () => Promise.reject(new Error('broken')) })
    const failed: unknown = await txSender.look(3).catch((error: unknown) => error)
    expect(failed).to.have.property('message', 'broken')
  })

  it('takes none of its own forms for a foreign one', async () => {
    txSender.take('a')
    for (let n = 0; n < 6; n += 1) txSender.mineEmpty()
    await txSender.look(2, SENDER_POLICY.stuckMs)
    expect(told('replaced')).to.equal(1)
    txSender.mine()
    txSender.lies = () => ({ forgetful: true })
    await txSender.look(6)
    expect([told('frozen'), told('nonceUnexplained')]).to.deep.equal([0, 0])
  })
})
