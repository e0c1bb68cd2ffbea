import { expect } from 'chai'
import { SENDER_POLICY } from '../../../chain/sender/follow-transaction.js'
import { armCrashPoints, type CrashPoint } from '../../../core/crash-point.js'
import { openScriptedSender, SENDER_ADDRESS, type ScriptedSender } from './scripted-sender.js'

class Crashed extends Error {}

interface Row {
  readonly point: CrashPoint
  /** Brings the sender to the point. */
  readonly drive: (txSender: ScriptedSender) => Promise<void>
}

/** Leaves the sender a transaction that blocks have passed over for long enough to be sent with higher fees. */
async function passOver(txSender: ScriptedSender): Promise<void> {
  txSender.take('a')
  for (let n = 0; n < 6; n += 1) txSender.mineEmpty()
  await txSender.look(1, SENDER_POLICY.stuckMs)
  await txSender.look(1, SENDER_POLICY.stuckMs)
}

/** Leaves the sender a nonce that nothing in its journal stands for, and nothing in the pool. */
async function loseRecord(txSender: ScriptedSender): Promise<void> {
  txSender.take('lost')
  txSender.take('a')
  txSender.dropPool()
  txSender.journal.lose(0)
  txSender.restart()
  await txSender.look(SENDER_POLICY.contradictions)
}

/** What takes waiting, or a damaged journal, on a chain that does what the test says; the others run on a real one. */
const ROWS: readonly Row[] = [
  { point: 'sender.before_bump_record', drive: passOver },
  { point: 'sender.after_bump_record_before_append', drive: passOver },
  { point: 'sender.during_gap_fill', drive: loseRecord },
]

describe('a crash at a labelled point of the sender', () => {
  afterEach(() => armCrashPoints(undefined))

  for (const { point, drive } of ROWS) {
    it(`${point} leaves each nonce one transaction, and each of its forms in the journal`, async () => {
      const txSender = openScriptedSender()
      armCrashPoints((passed) => {
        if (passed === point) throw new Crashed(point)
      })
      const error: unknown = await drive(txSender).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Crashed)
      armCrashPoints(undefined)
      txSender.onSend = ({ attempts }) =>
        expect(txSender.journal.holds(attempts.at(-1)?.hash ?? '0x')).to.equal(true)

      txSender.restart()
      await txSender.look(6, SENDER_POLICY.stuckMs)
      txSender.mine()
      await txSender.look(2)
      const byNonce = txSender.canonical().map(({ evmNonce }) => evmNonce)
      expect(byNonce).to.deep.equal(byNonce.map((_, index) => index))
      expect(txSender.journal.find('a')?.state.kind).to.equal('mined')
      const open = txSender.journal
        .unsettledTransactions(SENDER_ADDRESS)
        .filter(({ mined }) => !mined)
      expect(open).to.deep.equal([])
    })
  }
})
