import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openKeyNonces, type KeyNonces } from '../../../chain/sender/key-nonces.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Hex } from '../../../core/action.js'
import { armCrashPoints, type CrashPoint } from '../../../core/crash-point.js'
import type { TransactionJournal } from '../../../core/transaction-journal.js'
import { openJournalFile } from '../../../data/journal/journal-file.js'
import {
  openPublishedJournal,
  type PublishedJournal,
} from '../../../data/journal/published-journal.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { allRows } from '../../support/history.js'
import { hashOf } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

class Killed extends Error {}

const signer = createTransactionSigner(`0x${'0b'.repeat(32)}`, 8_453)
const FINGERPRINT: Hex = `0x${'f1'.repeat(32)}`
const FEES = { gasLimit: 100_000n, maxFeePerGas: 7n, maxPriorityFeePerGas: 1n }

interface Row {
  readonly point: CrashPoint
  /** Whether the next writer, beside any disk, knows what was being recorded. */
  readonly lasts: boolean
}

const AT_APPEND: readonly Row[] = [
  { point: 'journal.before_append', lasts: false },
  { point: 'journal.after_append_before_ack', lasts: true },
  { point: 'journal.after_ack_before_fold', lasts: true },
  { point: 'journal.in_fold', lasts: true },
]

describe('a crash between two steps of a journal', () => {
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  const opened: { db: Database; published?: PublishedJournal }[] = []
  beforeEach(() => {
    dir = tempDir()
    bus = createMemoryBus()
  })
  afterEach(async () => {
    armCrashPoints(undefined)
    await stopAll()
    dir.remove()
  })
  async function stopAll(): Promise<void> {
    for (const { db, published } of opened.splice(0)) {
      await published?.stop()
      db.close()
    }
  }

  const diskOf = (name: string): string => join(dir.path, name)
  async function open(disk: string, onFatal: (error: unknown) => void = () => undefined) {
    mkdirSync(diskOf(disk), { recursive: true })
    const one: (typeof opened)[number] = { db: openJournalFile(join(diskOf(disk), 'executor.db')) }
    opened.push(one)
    const nothing = (): void => undefined
    const published = await openPublishedJournal({
      db: one.db,
      bus,
      owner: 'executor',
      silenceMs: 20,
      nowMs: () => 5,
      onFatal,
      facts: {
        standingBy: nothing,
        leads: nothing,
        journalUnclear: nothing,
        versionRaised: nothing,
        trimmed: nothing,
      },
    })
    one.published = published
    const { journal } = published
    return { db: one.db, journal, nonces: openKeyNonces({ signer, journal, minedNonces: 0 }) }
  }
  const take = (nonces: KeyNonces, intentId: string) =>
    nonces.take({
      intents: [{ intentId, fingerprint: FINGERPRINT }],
      to: signer.address,
      data: '0x01',
      fees: FEES,
    })
  const mine = (journal: TransactionJournal): void =>
    void journal.recordMined(signer.address, 0, {
      hash: hashOf(1),
      blockNumber: 5n,
      blockHash: hashOf(2),
      outcomes: [{ status: 'success' }],
    })

  /** Kills the process at the point of what it does then, and keeps its disk as it was at that instant. */
  async function killedAt(point: CrashPoint, act: Act, before: Act = () => undefined) {
    const fatal: unknown[] = []
    const first = await open('first', (error) => fatal.push(error))
    before(first)
    await first.journal.durable()
    armCrashPoints((passed) => {
      if (passed !== point) return
      cpSync(diskOf('first'), diskOf('same'), { recursive: true })
      armCrashPoints(undefined)
      throw new Killed(point)
    })
    try {
      act(first)
      await eventually(() => fatal.length > 0)
    } catch (error) {
      fatal.push(error)
    }
    expect(fatal[0]).to.be.instanceOf(Killed)
    await stopAll()
  }
  type Opened = Awaited<ReturnType<typeof open>>
  type Act = (of: Opened) => void

  for (const disk of ['same', 'another']) {
    describe(`beside ${disk === 'same' ? 'the same' : 'another'} disk`, () => {
      it('sender.after_sign_before_record: the nonce is free', async () => {
        await killedAt('sender.after_sign_before_record', ({ nonces }) => take(nonces, 'm:1'))
        const { journal, nonces } = await open(disk)
        expect(journal.find('m:1')).to.equal(undefined)
        expect(take(nonces, 'm:2').evmNonce).to.equal(0)
      })

      for (const { point, lasts } of AT_APPEND) {
        it(`${point}: of a transaction ${lasts ? 'the same bytes are sent' : 'the nonce is free'}`, async () => {
          let bytes: unknown
          await killedAt(point, ({ nonces }) => {
            bytes = take(nonces, 'm:1').attempts
          })
          const { journal, nonces } = await open(disk)
          const unsettled = journal.unsettledTransactions(signer.address)
          expect(unsettled.map(({ transaction }) => transaction.attempts)).to.deep.equal(
            lasts ? [bytes] : [],
          )
          expect(journal.find('m:1')?.state.kind).to.equal(lasts ? 'open' : undefined)
          expect(take(nonces, 'm:2').evmNonce).to.equal(lasts ? 1 : 0)
        })

        it(`${point}: a higher fee is ${lasts ? 'kept' : 'bid again'}`, async () => {
          const before = ({ nonces }: Opened) => void take(nonces, 'm:1')
          const bump = ({ nonces, journal }: Opened): void => {
            const [open] = journal.unsettledTransactions(signer.address)
            if (open === undefined) throw new Error('nothing to raise')
            nonces.raise(open.transaction, { maxFeePerGas: 9n, maxPriorityFeePerGas: 2n })
          }
          await killedAt(point, bump, before)
          const { journal } = await open(disk)
          const [followed] = journal.unsettledTransactions(signer.address)
          const fees = followed?.transaction.attempts.map(({ maxFeePerGas }) => maxFeePerGas)
          expect(fees).to.deep.equal(lasts ? [7n, 9n] : [7n])
        })

        it(`${point}: an outcome is ${lasts ? 'known' : 'found again'}`, async () => {
          const before = ({ nonces }: Opened) => void take(nonces, 'm:1')
          await killedAt(point, ({ journal }) => mine(journal), before)
          const { journal } = await open(disk)
          expect(journal.find('m:1')?.state.kind).to.equal(lasts ? 'mined' : 'open')
          mine(journal)
          await journal.durable()
          expect(journal.reversalsAfter(0, 9)).to.deep.equal([])
        })

        it(`${point}: a refusal ${lasts ? 'stands' : 'was told to no caller'}`, async () => {
          const refuse = ({ journal }: Opened) => journal.recordRefusal('m:1', FINGERPRINT, 'no')
          await killedAt(point, refuse)
          const { journal } = await open(disk)
          expect(journal.find('m:1')?.state.kind).to.equal(lasts ? 'refused' : undefined)
        })
      }
    })
  }

  it('leaves any two disks the same rows', async () => {
    for (const { point } of AT_APPEND) {
      await killedAt(
        point,
        ({ journal }) => mine(journal),
        ({ nonces }) => void take(nonces, 'm:1'),
      )
      const rows: unknown[] = []
      for (const disk of ['same', 'another']) {
        const { place, ...others } = allRows((await open(disk)).db)
        expect(place).to.have.length(1)
        rows.push(others)
        await stopAll()
      }
      expect(rows[0], point).to.deep.equal(rows[1])
      dir.remove()
      dir = tempDir()
      bus = createMemoryBus()
    }
  })
})
