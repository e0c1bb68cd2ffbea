import { expect } from 'chai'
import { SENDER_POLICY } from '../../../chain/sender/follow-transaction.js'
import { requestOf } from '../../../chain/signing/keys.js'
import { SCRIPTED_GAS } from './scripted-chain.js'
import {
  openScriptedSender,
  SENDER_ADDRESS,
  type ScriptedSender,
  type ScriptedSenderOptions,
} from './scripted-sender.js'

describe('what a sender pays', () => {
  let txSender: ScriptedSender
  const open = (options?: ScriptedSenderOptions) => (txSender = openScriptedSender(options))
  beforeEach(() => open())
  afterEach(() => txSender.journal.close())

  const stateOf = (intentId: string) => txSender.journal.find(intentId)?.state
  const told = (fact: string) => txSender.told.filter((name) => name === fact).length
  const sentOf = (evmNonce: number) => txSender.sent.filter((it) => it.evmNonce === evmNonce).length
  const deepen = async (blocks: number) => {
    for (let n = 0; n < blocks; n += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
  }

  it('raises both fees of what blocks pass over for 12 seconds, recorded before it is sent (OPE-034)', async () => {
    const { attempts } = txSender.take('a')
    const held: boolean[] = []
    txSender.onSend = ({ attempts: all }) =>
      held.push(txSender.journal.holds(all.at(-1)?.hash ?? '0x'))
    for (let seconds = 0; seconds < 12; seconds += 2) {
      expect(told('replaced')).to.equal(0)
      txSender.mineEmpty()
      await txSender.look()
    }
    expect(told('replaced')).to.equal(1)
    const [newest] = txSender.pooled()
    const [first, second] = (newest?.attempts ?? []).map(({ raw }) => requestOf(raw))
    expect(newest?.attempts[0]).to.deep.equal(attempts[0])
    expect(second).to.deep.include({ evmNonce: first?.evmNonce, data: first?.data })
    expect(second).to.include({ maxFeePerGas: 4_512n, maxPriorityFeePerGas: 12n })
    expect(held).to.not.include(false)
    expect(txSender.tracker.reservedWei()).to.equal(4_512n * 100_000n)
    txSender.mine()
    await txSender.look()
    expect(stateOf('a')?.kind).to.equal('mined')
  })

  it('sends no raised form that the journal on the bus lacks (OPE-034)', async () => {
    let isTaken = true
    const { attempts } = txSender.take('a')
    const isDurable = (hash: string) => isTaken || hash === attempts[0]?.hash
    Object.assign(txSender.journal, { isDurable })
    await txSender.look()
    isTaken = false
    await deepen(8)
    expect(told('replaced')).to.equal(1)
    const sent = () => new Set(txSender.sent.map(({ hash }) => hash))
    expect([...sent()]).to.deep.equal([attempts[0]?.hash])
    isTaken = true
    await txSender.look(2)
    expect([...sent()]).to.have.length(2)
  })

  it('sends the newest form after a crash between recording and sending it', async () => {
    txSender.journal.close()
    const replaced = () => {
      throw new Error('killed')
    }
    open({ facts: { replaced } })
    txSender.take('a')
    for (let n = 0; n < 5; n += 1) txSender.mineEmpty()
    await txSender.look(1)
    const killed = await txSender.look(1, SENDER_POLICY.stuckMs).catch((error: unknown) => error)
    expect((killed as Error).message).to.equal('killed')
    txSender.dropPool()
    txSender.restart()
    await txSender.look(1)
    const [unsettled] = txSender.journal.unsettledTransactions(SENDER_ADDRESS)
    expect(unsettled?.transaction.attempts).to.have.length(2)
    expect(txSender.sent.at(-1)?.hash).to.equal(unsettled?.transaction.attempts[1]?.hash)
  })

  it('finds the receipt of whichever form was mined', async () => {
    const { attempts } = txSender.take('a')
    for (let n = 0; n < 6; n += 1) txSender.mineEmpty()
    const [before] = txSender.pooled()
    await txSender.look(1, SENDER_POLICY.stuckMs)
    await txSender.look(1, SENDER_POLICY.stuckMs)
    expect(told('replaced')).to.equal(1)
    txSender.dropPool()
    if (before !== undefined) await txSender.chain.send({ ...before, attempts })
    txSender.mine()
    await txSender.look()
    expect(stateOf('a')).to.deep.nested.include({ 'transaction.hash': attempts[0]?.hash })
  })

  it('raises nothing while no blocks come, or while those before it are being mined', async () => {
    for (let n = 0; n < 12; n += 1) txSender.take(`${n}`)
    await txSender.look(20)
    expect(told('replaced')).to.equal(0)
    for (let n = 0; n < 12; n += 1) {
      txSender.mine(undefined, 1)
      await txSender.look()
    }
    expect([told('replaced'), told('mined')]).to.deep.equal([0, 12])
  })

  it('stops at the cap, says so once and keeps sending; goes on when fees rise', async () => {
    txSender.take('a')
    for (let n = 0; n < 200; n += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
    const highest = requestOf(txSender.pooled()[0]?.attempts.at(-1)?.raw ?? '0x')
    expect(highest.maxFeePerGas <= 5n * SCRIPTED_GAS.maxFeePerGas).to.equal(true)
    expect(highest.maxFeePerGas > 3n * SCRIPTED_GAS.maxFeePerGas).to.equal(true)
    expect(told('feesExhausted')).to.equal(1)
    const before = sentOf(0)
    await txSender.look(1, SENDER_POLICY.rebroadcastMs)
    expect(sentOf(0)).to.equal(before + 1)
    const replaced = told('replaced')
    txSender.gas = { ...SCRIPTED_GAS, maxFeePerGas: 40_000n, maxPriorityFeePerGas: 100n }
    for (let n = 0; n < 8; n += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
    expect(told('replaced')).to.be.above(replaced)
  })

  it('replaces nothing by what the key could not pay', async () => {
    txSender.take('a')
    txSender.gas = { ...SCRIPTED_GAS, balance: 4_010n * 100_000n }
    for (let n = 0; n < 12; n += 1) {
      txSender.mineEmpty()
      await txSender.look()
    }
    expect([told('replaced'), told('feesExhausted')]).to.deep.equal([0, 1])
  })

  it('tells once when the gas money is below the reserve, and when it is not any more', async () => {
    txSender.journal.close()
    open({ reserve: { transactions: 10n, gasEach: 1_000_000n } })
    const needed = 10n * 1_000_000n * SCRIPTED_GAS.maxFeePerGas
    txSender.gas = { ...SCRIPTED_GAS, balance: needed - 1n }
    expect(txSender.tracker.isGasLow()).to.equal(false)
    await deepen(3)
    expect([told('gasLow'), told('gasBack')]).to.deep.equal([1, 0])
    expect(txSender.tracker.isGasLow()).to.equal(true)
    txSender.gas = { ...SCRIPTED_GAS, balance: needed }
    await deepen(3)
    expect([told('gasLow'), told('gasBack')]).to.deep.equal([1, 1])
    expect(txSender.tracker.isGasLow()).to.equal(false)
  })

  it('asks for the gas money only where there is a reserve, of an amount or of transactions', async () => {
    for (const [reserve, asked] of [
      [{ wei: 0n }, 0],
      [{ wei: 5n }, 1],
      [{ transactions: 0n, gasEach: 1n }, 1],
    ] as const) {
      txSender.journal.close()
      open({ reserve })
      const { gas } = txSender.chain
      let times = 0
      Object.assign(txSender.chain, { gas: () => ((times += 1), gas()) })
      await deepen(1)
      expect(times).to.equal(asked)
    }
  })
})
