import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import fc from 'fast-check'
import { cpSync } from 'node:fs'
import { armCrashPoints, type CrashPoint } from '../../../core/crash-point.js'
import { eventually } from '../../support/eventually.js'
import { SENDER } from '../../support/journal-entries.js'
import { anyStep, createHistory } from '../../support/journal-history.js'
import { runs } from '../../support/property-runs.js'
import { journalStage, noncesWithBytes, rowsOf } from './journal-stage.js'

class Killed extends Error {}

describe('a journal that is killed while it trims', () => {
  const stage = journalStage()

  /** Those of an append are passed by parts of the snapshot too. */
  const POINTS: readonly CrashPoint[] = [
    ...(['trim.before_snapshot', 'trim.in_snapshot'] as const),
    ...(['trim.after_snapshot_before_deletion', 'trim.after_deletion'] as const),
    ...(['journal.before_append', 'journal.after_append_before_ack'] as const),
    'journal.after_ack_before_fold',
  ]

  /** Keeps its disk as it was at that instant. */
  async function killedAt(point: CrashPoint): Promise<void> {
    const fatal: unknown[] = []
    const of = await stage.open('first', { onFatal: (error) => fatal.push(error) })
    await stage.fill(of)
    let isWriting = !['before_append', 'after_append_before_ack', 'after_ack_before_fold'].some(
      (name) => point.endsWith(name),
    )
    armCrashPoints((passed) => {
      if (passed === point && isWriting) {
        cpSync(stage.diskOf('first'), stage.diskOf('same'), { recursive: true })
        armCrashPoints(undefined)
        throw new Killed(point)
      }
      // Then the next append is of the second part.
      isWriting ||= passed === 'trim.in_snapshot'
    })
    of.published.trim(1_500).catch((error: unknown) => fatal.push(error))
    await eventually(() => fatal.length > 0)
    expect(fatal[0]).to.be.instanceOf(Killed)
    await stage.stopAll()
  }

  for (const point of POINTS) {
    it(`${point}: any two disks have the same rows, and trim later`, async () => {
      await killedAt(point)
      const found: unknown[] = []
      for (const disk of ['same', 'another']) {
        const of = await stage.open(disk)
        expect(noncesWithBytes(of.db)).to.deep.equal([1n, 2n])
        expect(of.journal.find('m:0')?.state.kind).to.equal('mined')
        expect(of.journal.nextNonce(SENDER)).to.equal(3)
        found.push(rowsOf(of.db))
        await stage.stopAll()
      }
      expect(found[0]).to.deep.equal(found[1])
      const of = await stage.open('same')
      of.journal.recordFinal(SENDER, [1])
      expect(await of.published.trim(1_500)).to.equal(true)
      expect((await stage.messages()).flatMap(({ entries }) => entries)).to.deep.equal([])
      const rows = rowsOf(of.db)
      await stage.stopAll()
      expect(rowsOf((await stage.open('third')).db)).to.deep.equal(rows)
    })
  }
})

describe('a journal that was trimmed at any moment', () => {
  const stage = journalStage()

  it('folds from any snapshot to what the whole history gives, less what is trimmed', async () => {
    const anyHistory = fc.array(
      fc.record({
        steps: fc.array(anyStep, { maxLength: 60 }),
        /** How long before the moment of the trim is kept; no trim where absent. */
        keptMs: fc.option(fc.nat({ max: 80 }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        await stage.end()
        stage.reset()
        const trimmed = await stage.open('trimmed')
        const { bus } = stage
        stage.bus = stage.newBus()
        const whole = await stage.open('whole')
        stage.bus = bus
        const record = createHistory([trimmed, whole])
        for (const { steps, keptMs } of history) {
          for (const step of steps) {
            stage.nowMs += step.more
            record(step)
          }
          await Promise.all([trimmed.journal.durable(), whole.journal.durable()])
          if (keptMs === undefined) continue
          expect(await trimmed.published.trim(stage.nowMs - keptMs)).to.equal(true)
          expectTrimmed(whole.db, stage.nowMs - keptMs)
        }
        const rows = rowsOf(trimmed.db)
        expect(rows).to.deep.equal(rowsOf(whole.db))
        for (const disk of ['rebuilt', 'trimmed']) {
          await stage.stopAll()
          expect(rowsOf((await stage.open(disk)).db)).to.deep.equal(rows)
        }
      }),
      { numRuns: runs(40) },
    )
  })

  /** Takes out of the whole history what a trim takes out, by the rule alone. */
  function expectTrimmed(db: Database, beforeMs: number): void {
    const isOver = `(sender, evm_nonce) IN (
      SELECT sender, evm_nonce FROM transactions JOIN attempts USING (sender, evm_nonce)
      WHERE final = 1 GROUP BY sender, evm_nonce HAVING max(signed_at_ms) < ${beforeMs})`
    const carried = `SELECT intent_id FROM transaction_intents WHERE displaced = 0 AND ${isOver}`
    db.exec(`
      UPDATE claims SET request = '' WHERE declined_at_ms < ${beforeMs}
        OR 'deposit:0x' || lower(hex(action_hash)) IN (${carried});
      DELETE FROM attempts WHERE ${isOver};`)
  }
})
