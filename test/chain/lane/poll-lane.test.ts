import { expect } from 'chai'
import { LANE_POLICY } from '../../../chain/lane/follow-transaction.js'
import { eventually } from '../../support/eventually.js'
import { openScriptedLane, type ScriptedLane, type ScriptedLaneOptions } from './scripted-lane.js'

describe('the polls of a lane', () => {
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

  it('fills sixteen gaps in a poll', async () => {
    for (let n = 0; n < 21; n += 1) lane.take(`${n}`)
    lane.dropPool()
    for (let n = 0; n < 20; n += 1) lane.journal.lose(n)
    lane.restart()
    await lane.look(3)
    expect(told('gapFilled')).to.equal(16)
    await deepen(3)
    expect(told('gapFilled')).to.equal(20)
  })

  it('fills no gap that three polls have not shown in a row', async () => {
    lane.take('a')
    lane.take('b')
    lane.dropPool()
    lane.journal.lose(0)
    lane.restart()
    await lane.look(2)
    lane.mineForeign()
    await lane.look(1)
    lane.reorg(1, false)
    await lane.look(2)
    expect(told('gapFilled')).to.equal(0)
    await lane.look(1)
    expect(told('gapFilled')).to.equal(1)
  })

  it('gives each intent of a success its own outcome, and a revert none of them', async () => {
    lane.journal.close()
    const reverted = { status: 'reverted', revert: 'TM_FeeTooHigh' } as const
    open({
      outcomesOf: (_, [first]) => [{ status: 'success' }, ...(first === 'a' ? [reverted] : [])],
    })
    lane.take('a', 'b')
    lane.mine()
    await lane.look()
    const outcomes = lane.mined.map(({ result: { status, revert } }) => [status, revert])
    expect(outcomes).to.deep.equal([
      ['success', undefined],
      ['reverted', 'TM_FeeTooHigh'],
    ])
    lane.take('c', 'd')
    lane.mine()
    const failed: unknown = await lane.look().catch((error: unknown) => error)
    expect(failed).to.have.property('message').that.includes('needs 2 outcomes')
    expect(stateOf('c')?.kind).to.equal('open')
  })

  it('answers at once for what is mined, and in time for what is not', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    expect(await lane.tracker.waitFor('a', 60_000)).to.include({ status: 'success' })
    lane.take('b')
    const patient = lane.tracker.waitFor('b', 60_000)
    expect(await lane.tracker.waitFor('b', 1)).to.equal(undefined)
    expect(await lane.tracker.waitFor('unknown', 1)).to.equal(undefined)
    lane.mine()
    await lane.look()
    expect(await patient).to.include({ status: 'success' })
  })

  it('polls until it is stopped, which ends all waits', async () => {
    lane.journal.close()
    open({ policy: { pollMs: 1 } })
    await lane.tracker.start()
    lane.take('a')
    lane.mine()
    expect(await lane.tracker.waitFor('a', 60_000)).to.include({ status: 'success' })
    lane.take('b')
    const waits = [lane.tracker.waitFor('b', 60_000), lane.tracker.waitFor('c', 60_000)]
    await lane.tracker.stop()
    expect(await Promise.all(waits)).to.deep.equal([undefined, undefined])
    expect(await lane.tracker.waitFor('b', 60_000)).to.equal(undefined)
    expect(await lane.tracker.waitFor('a', 60_000)).to.include({ status: 'success' })
    lane.mine()
    const { head } = lane.chain
    let asked = 0
    Object.assign(lane.chain, { head: () => ((asked += 1), head()) })
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(asked).to.equal(0)
  })

  it('polls an idle lane after four pauses', async () => {
    lane.journal.close()
    open({ policy: { pollMs: 20 } })
    const { head } = lane.chain
    let asked = 0
    Object.assign(lane.chain, { head: () => ((asked += 1), head()) })
    await lane.tracker.start()
    const startedMs = performance.now()
    await eventually(() => asked > 1)
    // Timers may fire a millisecond early, never more.
    expect(performance.now() - startedMs).to.be.at.least(4 * 19)
    await lane.tracker.stop()
  })

  it('follows one transaction of a nonce, and none of another key', () => {
    const transaction = lane.take('a')
    expect(() => lane.tracker.add(transaction)).to.throw('nonce 0 is followed already')
    const from = `0x${'ee'.repeat(20)}` as const
    expect(() => lane.tracker.add({ ...transaction, evmNonce: 1, from })).to.throw('another key')
  })

  it('says once that the node is silent, once that it answers, and how long it was silent', async () => {
    await lane.look(2)
    expect([told('chainLost'), told('chainBack')]).to.deep.equal([0, 0])
    lane.lies = () => ({ silent: true })
    await lane.look(3)
    expect([told('chainLost'), told('chainBack')]).to.deep.equal([1, 0])
    expect(lane.tracker.chainSilentMs()).to.equal(6_000)
    lane.lies = () => ({})
    await lane.look(3)
    expect([told('chainLost'), told('chainBack')]).to.deep.equal([1, 1])
    expect(lane.tracker.chainSilentMs()).to.equal(0)
  })

  it('reads again after half the time of a doubt while a contradiction stands', async () => {
    lane.take('a')
    lane.mine()
    await lane.look()
    lane.reorg(1, false)
    let counted = 0
    const { countAt } = lane.chain
    Object.assign(lane.chain, { countAt: (hash: never) => ((counted += 1), countAt(hash)) })
    const half = LANE_POLICY.doubtEveryMs / 2
    await lane.look(1, 10)
    expect(counted).to.equal(1)
    await lane.look(1, half - 1)
    expect(counted).to.equal(1)
    await lane.look(1, 1)
    expect(counted).to.equal(2)
  })

  it('reads nothing again for what is open and not used, or mined and stands', async () => {
    lane.take('a')
    lane.mine()
    lane.take('b')
    await lane.look()
    let counted = 0
    const { countAt } = lane.chain
    Object.assign(lane.chain, { countAt: (hash: never) => ((counted += 1), countAt(hash)) })
    await lane.look(3, LANE_POLICY.doubtEveryMs)
    expect(counted).to.equal(0)
  })
})
