import { expect } from 'chai'
import { SENDER_POLICY } from '../../../chain/sender/follow-transaction.js'
import { eventually } from '../../support/eventually.js'
import {
  openScriptedSender,
  type ScriptedSender,
  type ScriptedSenderOptions,
} from './scripted-sender.js'

describe('the polls of a sender', () => {
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

  it('fills sixteen gaps in a poll', async () => {
    for (let n = 0; n < 21; n += 1) txSender.take(`${n}`)
    txSender.dropPool()
    for (let n = 0; n < 20; n += 1) txSender.journal.lose(n)
    txSender.restart()
    await txSender.look(3)
    expect(told('gapFilled')).to.equal(16)
    await deepen(3)
    expect(told('gapFilled')).to.equal(20)
  })

  it('fills no gap that three polls have not shown in a row', async () => {
    txSender.take('a')
    txSender.take('b')
    txSender.dropPool()
    txSender.journal.lose(0)
    txSender.restart()
    await txSender.look(2)
    txSender.mineForeign()
    await txSender.look(1)
    txSender.reorg(1, false)
    await txSender.look(2)
    expect(told('gapFilled')).to.equal(0)
    await txSender.look(1)
    expect(told('gapFilled')).to.equal(1)
  })

  it('gives each intent of a success its own outcome, and a revert none of them', async () => {
    txSender.journal.close()
    const reverted = { status: 'reverted', revert: 'TM_FeeTooHigh' } as const
    open({
      outcomesOf: (_, [first]) => [{ status: 'success' }, ...(first === 'a' ? [reverted] : [])],
    })
    txSender.take('a', 'b')
    txSender.mine()
    await txSender.look()
    const outcomes = txSender.mined.map(({ result: { status, revert } }) => [status, revert])
    expect(outcomes).to.deep.equal([
      ['success', undefined],
      ['reverted', 'TM_FeeTooHigh'],
    ])
    txSender.take('c', 'd')
    txSender.mine()
    const failed: unknown = await txSender.look().catch((error: unknown) => error)
    expect(failed).to.have.property('message').that.includes('needs 2 outcomes')
    expect(stateOf('c')?.kind).to.equal('open')
  })

  it('answers at once for what is mined, and in time for what is not', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    expect(await txSender.tracker.waitFor('a', 60_000)).to.include({ status: 'success' })
    txSender.take('b')
    const patient = txSender.tracker.waitFor('b', 60_000)
    expect(await txSender.tracker.waitFor('b', 1)).to.equal(undefined)
    expect(await txSender.tracker.waitFor('unknown', 1)).to.equal(undefined)
    txSender.mine()
    await txSender.look()
    expect(await patient).to.include({ status: 'success' })
  })

  it('polls until it is stopped, which ends all waits', async () => {
    txSender.journal.close()
    open({ policy: { pollMs: 1 } })
    await txSender.tracker.start()
    txSender.take('a')
    txSender.mine()
    expect(await txSender.tracker.waitFor('a', 60_000)).to.include({ status: 'success' })
    txSender.take('b')
    const waits = [txSender.tracker.waitFor('b', 60_000), txSender.tracker.waitFor('c', 60_000)]
    await txSender.tracker.stop()
    expect(await Promise.all(waits)).to.deep.equal([undefined, undefined])
    expect(await txSender.tracker.waitFor('b', 60_000)).to.equal(undefined)
    expect(await txSender.tracker.waitFor('a', 60_000)).to.include({ status: 'success' })
    txSender.mine()
    const { head } = txSender.chain
    let asked = 0
    Object.assign(txSender.chain, { head: () => ((asked += 1), head()) })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(asked).to.equal(0)
  })

  it('polls an idle sender after four pauses', async () => {
    txSender.journal.close()
    open({ policy: { pollMs: 20 } })
    const { head } = txSender.chain
    let asked = 0
    Object.assign(txSender.chain, { head: () => ((asked += 1), head()) })
    await txSender.tracker.start()
    const startedMs = performance.now()
    await eventually(() => asked > 1)
    // Timers may fire a millisecond early, never more.
    expect(performance.now() - startedMs).to.be.at.least(4 * 19)
    await txSender.tracker.stop()
  })

  it('follows one transaction of a nonce, and none of another key', () => {
    const transaction = txSender.take('a')
    expect(() => txSender.tracker.add(transaction)).to.throw('nonce 0 is followed already')
    const from = `0x${'ee'.repeat(20)}` as const
    expect(() => txSender.tracker.add({ ...transaction, evmNonce: 1, from })).to.throw(
      'another key',
    )
  })

  it('says once that the node is silent, once that it answers, and how long it was silent', async () => {
    await txSender.look(2)
    expect([told('chainLost'), told('chainBack')]).to.deep.equal([0, 0])
    txSender.lies = () => ({ silent: true })
    await txSender.look(3)
    expect([told('chainLost'), told('chainBack')]).to.deep.equal([1, 0])
    expect(txSender.tracker.chainSilentMs()).to.equal(6_000)
    txSender.lies = () => ({})
    await txSender.look(3)
    expect([told('chainLost'), told('chainBack')]).to.deep.equal([1, 1])
    expect(txSender.tracker.chainSilentMs()).to.equal(0)
  })

  it('reads again after half the time of a doubt while a contradiction stands', async () => {
    txSender.take('a')
    txSender.mine()
    await txSender.look()
    txSender.reorg(1, false)
    let counted = 0
    const { countAt } = txSender.chain
    Object.assign(txSender.chain, { countAt: (hash: never) => ((counted += 1), countAt(hash)) })
    const half = SENDER_POLICY.doubtEveryMs / 2
    await txSender.look(1, 10)
    expect(counted).to.equal(1)
    await txSender.look(1, half - 1)
    expect(counted).to.equal(1)
    await txSender.look(1, 1)
    expect(counted).to.equal(2)
  })

  it('reads nothing again for what is open and not used, or mined and stands', async () => {
    txSender.take('a')
    txSender.mine()
    txSender.take('b')
    await txSender.look()
    let counted = 0
    const { countAt } = txSender.chain
    Object.assign(txSender.chain, { countAt: (hash: never) => ((counted += 1), countAt(hash)) })
    await txSender.look(3, SENDER_POLICY.doubtEveryMs)
    expect(counted).to.equal(0)
  })
})
