import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJournal } from '../../../bus-schemas/journal.js'
import { journalStream } from '../../../bus-schemas/subjects.js'
import type { TransactionJournal } from '../../../core/transaction-journal.js'
import { armCrashPoints } from '../../../core/crash-point.js'
import { openJournalFile } from '../../../data/journal/journal-file.js'
import {
  openPublishedJournal,
  type PublishedJournal,
} from '../../../data/journal/published-journal.js'
import type { TrimPolicy } from '../../../data/journal/trim-journal.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { allRows } from '../../support/history.js'
import { blockOf, hashOf, SENDER, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

export const OWNER = 'executor'
export const STREAM = journalStream(OWNER)
export const FINGERPRINT = hashOf(1)
/** Of which three do not fit in one part of a snapshot. */
export const LONG = 'x'.repeat(100 * 1024)

interface Opening {
  readonly onFatal?: (error: unknown) => void
  readonly trimming?: TrimPolicy
}

export interface OpenedJournal extends Pick<PublishedJournal, 'journal' | 'claims'> {
  readonly db: Database
  readonly published: PublishedJournal
}

/** Journals of one stream on several disks, by a clock of the test. New for each test of the suite that calls it. */
export function journalStage() {
  let dir: ReturnType<typeof tempDir>
  const opened: { db: Database; published?: PublishedJournal }[] = []
  const stage = {
    bus: createMemoryBus(),
    nowMs: 0,
    opened,
    newBus: (): MemoryBus => createMemoryBus({ nowMs: () => stage.nowMs }),
    reset(): void {
      dir = tempDir()
      stage.nowMs = 1_000
      stage.bus = stage.newBus()
    },
    async stopAll(): Promise<void> {
      for (const { db, published } of opened.splice(0)) {
        await published?.stop()
        db.close()
      }
    },
    async end(): Promise<void> {
      armCrashPoints(undefined)
      await stage.stopAll()
      dir.remove()
    },
    diskOf: (name: string): string => join(dir.path, name),
    async open(disk: string, { onFatal, trimming }: Opening = {}): Promise<OpenedJournal> {
      mkdirSync(stage.diskOf(disk), { recursive: true })
      const db = openJournalFile(join(stage.diskOf(disk), 'executor.db'))
      const one: (typeof opened)[number] = { db }
      opened.push(one)
      const nothing = (): void => undefined
      const published = await openPublishedJournal({
        db,
        bus: stage.bus,
        owner: OWNER,
        silenceMs: 20,
        nowMs: () => stage.nowMs,
        onFatal: onFatal ?? ((error) => expect.fail(String(error))),
        ...(trimming && { trimming }),
        facts: {
          standingBy: nothing,
          leads: nothing,
          journalUnclear: nothing,
          versionRaised: nothing,
          trimmed: nothing,
        },
      })
      one.published = published
      return { db, published, journal: published.journal, claims: published.claims }
    },
    async messages() {
      const { firstSeq, lastSeq } = await stage.bus.streamState(STREAM)
      const found = await stage.bus.read(STREAM, firstSeq, lastSeq)
      return found.map(({ data }) => decodeJournal(data))
    },
    /** Two old ones of which one is final, and a young one that is final. */
    async fill({ journal }: OpenedJournal): Promise<void> {
      sign(journal, 0, 'm:0')
      sign(journal, 1, 'm:1')
      mine(journal, 0)
      mine(journal, 1)
      journal.recordFinal(SENDER, [0])
      stage.nowMs = 2_000
      sign(journal, 2, 'm:2')
      mine(journal, 2)
      journal.recordFinal(SENDER, [2])
      for (const n of [1, 2, 3]) journal.recordRefusal(`long:${n}`, FINGERPRINT, LONG)
      await journal.durable()
    },
  }
  beforeEach(() => stage.reset())
  afterEach(() => stage.end())
  return stage
}

export const mine = (journal: TransactionJournal, evmNonce: number): void =>
  void journal.recordMined(SENDER, evmNonce, {
    ...blockOf(evmNonce, 12),
    outcomes: [{ status: 'success' }],
  })

export const noncesWithBytes = (db: Database): unknown[] =>
  db.prepare('SELECT evm_nonce FROM attempts ORDER BY 1').pluck().all()

/** All that a file holds but its place in the stream. */
export function rowsOf(db: Database): Record<string, unknown[]> {
  const { place, ...others } = allRows(db)
  expect(place).to.have.length(1)
  return others
}
