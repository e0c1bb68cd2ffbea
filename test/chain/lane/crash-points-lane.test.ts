import { expect } from 'chai'
import { LANE_POLICY } from '../../../chain/lane/follow-transaction.js'
import { armCrashPoints, type CrashPoint } from '../../../core/crash-point.js'
import { openScriptedLane, SENDER, type ScriptedLane } from './scripted-lane.js'

class Crashed extends Error {}

interface Row {
  readonly point: CrashPoint
  /** Brings the lane to the point. */
  readonly drive: (lane: ScriptedLane) => Promise<void>
}

/** Leaves the lane a transaction that blocks have passed over for long enough to be sent with higher fees. */
async function passOver(lane: ScriptedLane): Promise<void> {
  lane.take('a')
  for (let n = 0; n < 6; n += 1) lane.mineEmpty()
  await lane.look(1, LANE_POLICY.stuckMs)
  await lane.look(1, LANE_POLICY.stuckMs)
}

/** Leaves the lane a nonce that nothing in its journal stands for, and nothing in the pool. */
async function loseRecord(lane: ScriptedLane): Promise<void> {
  lane.take('lost')
  lane.take('a')
  lane.dropPool()
  lane.journal.lose(0)
  lane.restart()
  await lane.look(LANE_POLICY.contradictions)
}

/** What takes waiting, or a damaged journal, on a chain that does what the test says; the others run on a real one. */
const ROWS: readonly Row[] = [
  { point: 'lane.before_bump_record', drive: passOver },
  { point: 'lane.after_bump_record_before_append', drive: passOver },
  { point: 'lane.during_gap_fill', drive: loseRecord },
]

describe('a crash at a labelled point of the lane', () => {
  afterEach(() => armCrashPoints(undefined))

  for (const { point, drive } of ROWS) {
    it(`${point} leaves each nonce one transaction, and each of its forms in the journal`, async () => {
      const lane = openScriptedLane()
      armCrashPoints((passed) => {
        if (passed === point) throw new Crashed(point)
      })
      const error: unknown = await drive(lane).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Crashed)
      armCrashPoints(undefined)
      lane.onSend = ({ attempts }) =>
        expect(lane.journal.holds(attempts.at(-1)?.hash ?? '0x')).to.equal(true)

      lane.restart()
      await lane.look(6, LANE_POLICY.stuckMs)
      lane.mine()
      await lane.look(2)
      const byNonce = lane.canonical().map(({ evmNonce }) => evmNonce)
      expect(byNonce).to.deep.equal(byNonce.map((_, index) => index))
      expect(lane.journal.find('a')?.state.kind).to.equal('mined')
      const open = lane.journal.unsettledTransactions(SENDER).filter(({ mined }) => !mined)
      expect(open).to.deep.equal([])
    })
  }
})
