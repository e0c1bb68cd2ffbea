import { expect } from 'chai'
import { SENDER_POLICY } from '../../../chain/sender/follow-transaction.js'
import type { Hex } from '../../../core/action.js'
import { SCRIPTED_GAS } from './scripted-chain.js'
import {
  openScriptedSender,
  type ScriptedSender,
  type ScriptedSenderOptions,
} from './scripted-sender.js'

const STUCK = SENDER_POLICY.stuckMs
const AGAIN = SENDER_POLICY.rebroadcastMs

describe('what a sender sends again', () => {
  let txSender: ScriptedSender
  const open = (options?: ScriptedSenderOptions) => (txSender = openScriptedSender(options))
  beforeEach(() => open())
  afterEach(() => txSender.journal.close())

  const told = (fact: string) => txSender.told.filter((name) => name === fact).length
  const takeMany = (many: number) => {
    for (let n = 0; n < many; n += 1) txSender.take(`${n}`)
  }
  const sentSince = (before: number) => txSender.sent.slice(before).map(({ evmNonce }) => evmNonce)
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
  /** Lets two blocks without any of them pass, so late that what was sent is stuck. */
  const passOver = async () => {
    await txSender.look(1, 0)
    txSender.mineEmpty()
    txSender.mineEmpty()
    await txSender.look(1, STUCK)
  }

  it('says whether a node has taken a transaction', async () => {
    txSender.take('a')
    await txSender.look(1, 0)
    expect([told('broadcast'), told('broadcastUnclear')]).to.deep.equal([1, 0])
    txSender.lies = () => ({ silent: true })
    txSender.take('b')
    await txSender.look(1, 0)
    expect([told('broadcast'), told('broadcastUnclear')]).to.deep.equal([1, 1])
    expect(['a', 'b', 'c'].map((id) => txSender.tracker.wasTaken(id))).to.deep.equal([
      true,
      false,
      false,
    ])
  })

  it('are at most 64 transactions in a poll, the lowest nonces first', async () => {
    takeMany(70)
    await txSender.look(1, 0)
    txSender.dropPool()
    const before = txSender.sent.length
    await txSender.look(1, AGAIN)
    expect(sentSince(before)).to.deep.equal(range(0, 64))
    await txSender.look(1, 0)
    expect(sentSince(before + 64)).to.deep.equal(range(64, 70))
  })

  it('are at most 64 as well when the node has dropped them', async () => {
    takeMany(70)
    await txSender.look(1, 0)
    txSender.dropPool()
    const before = txSender.sent.length
    txSender.mineEmpty()
    await txSender.look(1, 10)
    expect(sentSince(before)).to.deep.equal(range(0, 64))
  })

  it('is nothing that is mined, and nothing before its time', async () => {
    takeMany(2)
    txSender.mine(undefined, 1)
    await txSender.look(1, AGAIN - 1)
    const before = txSender.sent.length
    await txSender.look(1, 1)
    expect(sentSince(before)).to.deep.equal([1])
    await txSender.look(1, AGAIN - 1)
    expect(sentSince(before)).to.deep.equal([1])
  })

  it('is nothing while the node holds the next transaction, whatever else it lacks', async () => {
    takeMany(2)
    await txSender.look(1, 0)
    txSender.mineEmpty()
    await txSender.look(1, 10)
    expect(sentSince(2)).to.deep.equal([])
    // The next one is used now, and the node has dropped the other.
    txSender.dropPool()
    txSender.mineForeign()
    await txSender.look(1, 10)
    expect(sentSince(2)).to.deep.equal([1])
  })

  it('is not asked for in the block in which it was sent', async () => {
    txSender.take('a')
    await txSender.look(1, 0)
    const asked: Hex[] = []
    const { isHeld } = txSender.chain
    Object.assign(txSender.chain, { isHeld: (hash: Hex) => (asked.push(hash), isHeld(hash)) })
    txSender.take('b')
    await txSender.look(1, 10)
    expect(asked).to.deep.equal([])
    txSender.mineEmpty()
    await txSender.look(1, 10)
    expect(asked).to.deep.equal([txSender.sent[0]?.hash])
  })

  it('costs more for sixteen transactions in a poll', async () => {
    takeMany(20)
    txSender.gas = { ...SCRIPTED_GAS, baseFeePerGas: 4_001n }
    await passOver()
    expect(told('replaced')).to.equal(16)
    await txSender.look(1, 10)
    expect(told('replaced')).to.equal(20)
  })

  it('costs more behind the next transaction only where the next block would not take it', async () => {
    takeMany(3)
    txSender.gas = { ...SCRIPTED_GAS, baseFeePerGas: 4_000n }
    await passOver()
    expect(told('replaced')).to.equal(1)
    txSender.gas = { ...SCRIPTED_GAS, baseFeePerGas: 4_001n }
    await txSender.look(1, 10)
    expect(told('replaced')).to.equal(3)
  })

  it('costs the same where no node holds it: it was dropped, not passed over', async () => {
    takeMany(1)
    await txSender.look(1, 0)
    txSender.dropPool()
    txSender.lies = () => ({ silent: true })
    txSender.mineEmpty()
    txSender.mineEmpty()
    txSender.lies = () => ({})
    Object.assign(txSender.chain, { isHeld: () => Promise.resolve(false) })
    await txSender.look(2, STUCK)
    expect(told('replaced')).to.equal(0)
  })

  it('costs more after two blocks, and after the time since the last of ours was mined', async () => {
    takeMany(2)
    await txSender.look(1, 0)
    txSender.mineEmpty()
    await txSender.look(1, STUCK)
    expect(told('replaced')).to.equal(0)
    txSender.mine(undefined, 1)
    await txSender.look(1, STUCK)
    await txSender.look(1, STUCK - 1)
    expect(told('replaced')).to.equal(0)
    await txSender.look(1, 1)
    expect(told('replaced')).to.equal(1)
  })

  it('costs more if the key can pay just that, beside what else it has open', async () => {
    for (const [missing, replaced] of [
      [0n, 1],
      [1n, 0],
    ] as const) {
      txSender.journal.close()
      open()
      takeMany(2)
      const needed = 4_010n * 100_000n + 4_512n * 100_000n
      txSender.gas = { ...SCRIPTED_GAS, balance: needed - missing }
      await passOver()
      expect(told('replaced')).to.equal(replaced)
    }
  })

  it('counts blocks from the height to which the chain fell back', async () => {
    txSender.take('a')
    txSender.mine()
    for (let n = 0; n < 6; n += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
    txSender.rollBack(7)
    await txSender.look(SENDER_POLICY.absences)
    expect(told('reopened')).to.equal(1)
    txSender.mineEmpty()
    txSender.mineEmpty()
    await txSender.look(1, STUCK)
    expect(told('replaced')).to.equal(1)
  })
})
