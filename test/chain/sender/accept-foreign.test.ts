import { expect } from 'chai'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { openScriptedSender, SENDER_ADDRESS, type ScriptedSender } from './scripted-sender.js'

const NOWHERE = `0x${'00'.repeat(32)}` as const

describe('an operator who accepts a foreign transaction', () => {
  let txSender: ScriptedSender
  beforeEach(() => (txSender = openScriptedSender()))
  afterEach(() => txSender.journal.close())

  const stateOf = (intentId: string) => txSender.journal.find(intentId)?.state?.kind
  const told = (fact: string) => txSender.told.filter((name) => name === fact).length
  const accept = (hash: `0x${string}`) => txSender.tracker.acceptForeign(hash)
  const deepen = async (blocks: number) => {
    for (let n = 0; n < blocks; n += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
  }

  it('is told that nothing is frozen, that another one is meant, and that it is too early', async () => {
    expect(await accept(NOWHERE)).to.deep.equal({ kind: 'not_frozen' })
    const hash = txSender.mineForeign()
    await txSender.look(3)
    expect(await accept(NOWHERE)).to.deep.nested.include({
      kind: 'another',
      'frozen.by.hash': hash,
    })
    expect(await accept(hash)).to.include({ kind: 'not_final' })
    expect(txSender.tracker.frozen()).to.not.equal(undefined)
    expect(told('foreignAccepted')).to.equal(0)
  })

  it('has the sender go on behind every nonce that was used, for good', async () => {
    const hashes = [txSender.mineForeign(), txSender.mineForeign()]
    const last = hashes[1] ?? NOWHERE
    await txSender.look(3)
    await deepen(12)
    const acceptance = await accept(last)
    expect(acceptance).to.have.property('kind', 'accepted')
    const { foreign } = acceptance as Extract<typeof acceptance, { kind: 'accepted' }>
    expect(foreign.map(({ evmNonce, by }) => [evmNonce, by.hash])).to.deep.equal([
      [0, hashes[0]],
      [1, hashes[1]],
    ])
    expect([txSender.tracker.frozen(), told('foreignAccepted')]).to.deep.equal([undefined, 1])
    expect(txSender.take('a').evmNonce).to.equal(2)
    txSender.mine()
    await txSender.look(4)
    expect(stateOf('a')).to.equal('mined')
    expect(txSender.tracker.frozen()).to.equal(undefined)
    txSender.restart()
    await txSender.look(4)
    expect(txSender.tracker.frozen()).to.equal(undefined)
    expect(txSender.take('b').evmNonce).to.equal(3)
  })

  it('has what it displaced carried out under another nonce, without a restart', async () => {
    txSender.take('a')
    const hash = txSender.mineForeign()
    await txSender.look(3)
    expect(await accept(hash)).to.include({ kind: 'not_final' })
    await deepen(12)
    expect(stateOf('a')).to.equal('displaced')
    expect(await accept(hash)).to.deep.equal({ kind: 'accepted', foreign: [] })
    expect(txSender.take('a').evmNonce).to.equal(1)
    txSender.mine()
    await txSender.look()
    expect(stateOf('a')).to.equal('mined')
  })

  it('may ask twice at once, and is told the same', async () => {
    const hash = txSender.mineForeign()
    await txSender.look(3)
    await deepen(12)
    const [first, second] = await Promise.all([accept(hash), accept(hash)])
    expect(first).to.have.property('kind', 'accepted')
    expect(second).to.equal(first)
    expect(told('foreignAccepted')).to.equal(1)
    expect(await accept(hash)).to.deep.equal({ kind: 'not_frozen' })
  })

  it('may ask again after the chain was silent', async () => {
    const hash = txSender.mineForeign()
    await txSender.look(3)
    await deepen(12)
    txSender.lies = () => ({ silent: true })
    const failed: unknown = await accept(hash).catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(ChainUnreachable)
    txSender.lies = () => ({})
    expect(await accept(hash)).to.have.property('kind', 'accepted')
  })

  it('is not taken at his word where one of them may have been sent by a lost journal', async () => {
    const own = { to: SENDER_ADDRESS, data: '0x' } as const
    txSender = openScriptedSender({ mayBeOurs: ({ to }) => to === own.to })
    const hashes = [txSender.mineForeign({ call: own }), txSender.mineForeign()]
    const last = hashes[1] ?? NOWHERE
    await txSender.look(3)
    await deepen(12)
    expect(await accept(last)).to.deep.nested.include({
      kind: 'own',
      evmNonce: 0,
      'by.hash': hashes[0],
    })
    expect(txSender.tracker.frozen()).to.deep.nested.include({ 'by.hash': last })
    expect(txSender.journal.nextNonce(SENDER_ADDRESS)).to.equal(0)
  })

  it('is told where no node can say what used a nonce', async () => {
    const hash = txSender.mineForeign()
    await txSender.look(3)
    await deepen(12)
    const pruned = () => Promise.reject(new ChainUnreachable('state is pruned'))
    Object.assign(txSender.chain, { consumerOf: pruned })
    expect(await accept(hash)).to.deep.equal({ kind: 'unexplained', evmNonce: 0 })
  })

  it('ends the freeze also for one that the chain has lost, once it would be final', async () => {
    const hash = txSender.mineForeign()
    await txSender.look(3)
    txSender.reorg(1, false)
    await deepen(10)
    expect(await accept(hash)).to.include({ kind: 'not_final' })
    await deepen(1)
    expect(await accept(hash)).to.deep.equal({ kind: 'accepted', foreign: [] })
    expect(txSender.take('a').evmNonce).to.equal(0)
  })

  it('is told that it is too early again where the chain has mined it in a later block', async () => {
    const hash = txSender.mineForeign()
    await txSender.look(3)
    txSender.reorg(1, false)
    await deepen(11)
    txSender.mineForeign({ hash })
    await txSender.look()
    expect(await accept(hash)).to.deep.nested.include({
      kind: 'not_final',
      'frozen.by.blockNumber': 14n,
    })
    await deepen(12)
    expect(await accept(hash)).to.have.property('kind', 'accepted')
    expect(txSender.take('a').evmNonce).to.equal(1)
  })

  it('is told of the one before it where the chain has lost only the last', async () => {
    const first = txSender.mineForeign()
    const last = txSender.mineForeign()
    await txSender.look(3)
    txSender.reorg(1, false)
    await deepen(12)
    expect(await accept(last)).to.deep.nested.include({
      kind: 'another',
      'frozen.by.hash': first,
    })
    expect(await accept(first)).to.have.property('kind', 'accepted')
    expect(txSender.take('a').evmNonce).to.equal(1)
  })

  it('is asked again when the next one comes', async () => {
    const hash = txSender.mineForeign()
    await txSender.look(3)
    await deepen(12)
    await accept(hash)
    const next = txSender.mineForeign()
    await txSender.look(3)
    expect(txSender.tracker.frozen()).to.deep.nested.include({ evmNonce: 1, 'by.hash': next })
  })
})
