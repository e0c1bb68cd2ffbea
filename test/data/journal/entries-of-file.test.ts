import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import type { Address } from '../../../core/action.js'
import type { JournalEntry, TransactionJournal } from '../../../core/transaction-journal.js'
import { prepareApply } from '../../../data/journal/apply-entry.js'
import { entriesOfFile } from '../../../data/journal/entries-of-file.js'
import {
  createTransactionJournal,
  JOURNAL_MIGRATIONS,
} from '../../../data/journal/transaction-journal.js'
import { prepareTransactionReads } from '../../../data/journal/transaction-rows.js'
import { openDatabase } from '../../../data/open.js'
import { allRows } from '../../support/history.js'
import { blockOf, hashOf, SENDER, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const OTHER: Address = `0x${'cd'.repeat(20)}`
const SUCCESS = { status: 'success' } as const
const REVERTED = { status: 'reverted', revert: 'TM_FeeTooHigh' } as const

describe('the entries of a journal’s file', () => {
  let dir: ReturnType<typeof tempDir>
  const opened: Database[] = []
  beforeEach(() => (dir = tempDir()))
  afterEach(() => {
    for (const db of opened.splice(0)) db.close()
    dir.remove()
  })

  const openFile = (name: string): Database => {
    const path = `${dir.path}/${name}.db`
    const db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
    opened.push(db)
    return db
  }
  /** A journal, what was recorded in it, and its file. */
  function open() {
    const db = openFile('first')
    const recorded: JournalEntry[] = []
    let nowMs = 1_760_000_000_000
    const journal = createTransactionJournal(db, () => (nowMs += 1), {
      add: (entry) => recorded.push(entry),
      durable: () => Promise.resolve(),
      isDurable: () => true,
    })
    return { db, journal, recorded }
  }
  const mine = (
    journal: TransactionJournal,
    evmNonce: number,
    ...outcomes: (typeof SUCCESS | typeof REVERTED)[]
  ) => journal.recordMined(SENDER, evmNonce, { ...blockOf(evmNonce, 12), outcomes })
  /** When a transaction ended is in no row: the entry has the time of its first signature. */
  const withoutTimes = (entries: Iterable<JournalEntry>) =>
    [...entries].map((entry) => ({ ...entry, atMs: 0 }))

  it('are those that were recorded, of each nonce by itself', () => {
    const { db, journal, recorded } = open()
    sign(journal, 0, 'm:1', 'm:2')
    journal.recordAttempt(SENDER, 0, {
      ...{ hash: hashOf(900), raw: '0x02', gasLimit: 5n, maxFeePerGas: 8n },
    })
    mine(journal, 0, SUCCESS, REVERTED)
    journal.recordFinal(SENDER, [0])
    sign(journal, 1, 'm:3')
    mine(journal, 1, SUCCESS)
    sign(journal, 2, 'm:4')
    mine(journal, 2, SUCCESS)
    journal.reopen(SENDER, [2])
    sign(journal, 3, 'm:5')
    journal.recordDisplaced(SENDER, 3, blockOf(77, 13))
    journal.recordForeign(SENDER, 4, blockOf(78, 13))
    sign(journal, 5)
    mine(journal, 5)
    sign(journal, 6, 'm:6')
    journal.recordRefusal('m:7', hashOf(7), 'BM_Nonce')
    const found = [...entriesOfFile(db)]
    expect(withoutTimes(found)).to.deep.equal(withoutTimes(recorded))
    const signedAt = (entries: readonly JournalEntry[]) =>
      entries.flatMap((entry) =>
        entry.kind === 'signed' || entry.kind === 'attempt' || entry.kind === 'refused'
          ? [entry.atMs]
          : [],
      )
    expect(signedAt(found)).to.deep.equal(signedAt(recorded))
  })

  it('give the same rows in another file, with every reversal', () => {
    const { db, journal } = open()
    sign(journal, 0, 'm:1', 'm:2')
    mine(journal, 0, SUCCESS, REVERTED)
    journal.reopen(SENDER, [0])
    mine(journal, 0, REVERTED, SUCCESS)
    journal.recordFinal(SENDER, [0])
    sign(journal, 1, 'm:3')
    mine(journal, 1, REVERTED)
    journal.reopen(SENDER, [1])
    const copy = openFile('second')
    const apply = prepareApply(copy, prepareTransactionReads(copy))
    copy.transaction(() => {
      for (const entry of entriesOfFile(db)) apply(entry)
    })()
    const rows = ({ publication, outbox, ...rest }: ReturnType<typeof allRows>) => {
      expect([publication, outbox]).to.deep.equal([[], []])
      return rest
    }
    expect(rows(allRows(copy))).to.deep.equal(rows(allRows(db)))
    expect(rows(allRows(db))['reversals']).to.have.length(2)
  })

  it('begin with the key that signed first', () => {
    const { db, journal } = open()
    const by = (from: Address, evmNonce: number, intentId: string): void =>
      journal.recordSigned(
        {
          ...{ from, evmNonce, intentIds: [intentId] },
          attempts: [
            {
              ...{ hash: hashOf(evmNonce + 300), raw: '0x02', gasLimit: 5n, maxFeePerGas: 8n },
            },
          ],
        },
        [hashOf(1)],
      )
    by(OTHER, 9, 'm:1')
    by(OTHER, 8, 'm:2')
    by(SENDER, 1, 'm:3')
    const nonces = [...entriesOfFile(db)].map((entry) =>
      entry.kind === 'signed' ? [entry.from, entry.evmNonce] : [],
    )
    expect(nonces).to.deep.equal([
      [OTHER, 8],
      [OTHER, 9],
      [SENDER, 1],
    ])
  })
})
