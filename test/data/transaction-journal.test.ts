import { expect } from 'chai'
import type { Database } from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TransactionJournal } from '../../chain/transaction-journal.js'
import type { Address, Hex } from '../../core/action.js'
import { AlreadyLocked, takeLock } from '../../data/lock.js'
import { openDatabase } from '../../data/open.js'
import {
  createTransactionJournal,
  JOURNAL_MIGRATIONS,
  JournalUnwritable,
} from '../../data/transaction-journal.js'

const SENDER: Address = `0x${'ab'.repeat(20)}`
const FINGERPRINT: Hex = `0x${'f1'.repeat(32)}`

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

const aTransaction = (intentId: string, evmNonce: number) => ({
  intentId,
  from: SENDER,
  evmNonce,
  attempts: [
    { hash: hashOf(evmNonce + 100), raw: '0x02f8' as Hex, gasLimit: 21_000n, maxFeePerGas: 7n },
  ],
})

const aResult = (n: number) => ({
  status: 'success' as const,
  hash: hashOf(n + 100),
  blockNumber: 12n,
  blockHash: hashOf(12),
})

describe('transaction journal', () => {
  let dir: string
  let db: Database
  let journal: TransactionJournal

  const open = () => {
    const path = join(dir, 'executor.db')
    db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
    journal = createTransactionJournal(db, () => 1_760_000_000_000)
  }

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'journal-'))
    open()
  })
  afterEach(() => {
    db.close()
    rmSync(dir, { recursive: true })
  })

  it('is written through to the disk', () => {
    expect(db.pragma('synchronous', { simple: true })).to.equal(2n)
  })

  it('finds what was signed, also after it was opened again', () => {
    const transaction = aTransaction('m:1', 4)
    journal.recordSigned(transaction, FINGERPRINT)
    db.close()
    open()
    expect(journal.find('m:1')).to.deep.equal({
      fingerprint: FINGERPRINT,
      state: { kind: 'open', transaction },
    })
    expect(journal.openTransactions(SENDER)).to.deep.equal([transaction])
    expect(journal.nextNonce(SENDER)).to.equal(5)
  })

  it('starts at nonce 0 and counts each sender by itself', () => {
    journal.recordSigned(aTransaction('m:1', 4), FINGERPRINT)
    expect(journal.nextNonce(`0x${'cd'.repeat(20)}`)).to.equal(0)
    expect(journal.openTransactions(`0x${'cd'.repeat(20)}`)).to.deep.equal([])
  })

  it('keeps a result and its revert', () => {
    journal.recordSigned(aTransaction('m:1', 4), FINGERPRINT)
    const reverted = { ...aResult(4), status: 'reverted' as const, revert: 'TM_FeeTooHigh' }
    journal.recordMined(SENDER, 4, reverted)
    const found = journal.find('m:1')
    expect(found?.state).to.deep.equal({ kind: 'mined', transaction: reverted })
    expect(journal.openTransactions(SENDER)).to.deep.equal([])
  })

  it('keeps a refusal', () => {
    journal.recordRefusal('m:1', FINGERPRINT, 'empty revert')
    expect(journal.find('m:1')?.state).to.deep.equal({ kind: 'refused', revert: 'empty revert' })
    expect(journal.find('m:2')).to.equal(undefined)
  })

  it('gives a nonce and an intent away only once, and records nothing of the second', () => {
    journal.recordSigned(aTransaction('m:1', 4), FINGERPRINT)
    expect(() => journal.recordSigned(aTransaction('m:2', 4), FINGERPRINT)).to.throw()
    expect(() => journal.recordSigned(aTransaction('m:1', 5), FINGERPRINT)).to.throw()
    expect(journal.find('m:2')).to.equal(undefined)
    expect(journal.nextNonce(SENDER)).to.equal(5)
  })

  it('opens again what was mined from a nonce on', () => {
    for (const n of [3, 4, 5]) journal.recordSigned(aTransaction(`m:${n}`, n), FINGERPRINT)
    for (const n of [3, 4]) journal.recordMined(SENDER, n, aResult(n))
    expect(journal.reopenFrom(SENDER, 4)).to.equal(1)
    expect(journal.openTransactions(SENDER).map((t) => t.evmNonce)).to.deep.equal([4, 5])
  })

  it('says so when the disk refuses', () => {
    const pages = db.pragma('page_count', { simple: true })
    db.pragma(`max_page_count = ${String(pages)}`)
    const fill = () => {
      for (let n = 0; n < 1_000; n += 1)
        journal.recordRefusal(`m:${n}`, FINGERPRINT, 'x'.repeat(99))
    }
    expect(fill).to.throw(JournalUnwritable)
  })
})

describe('lock', () => {
  it('is held by one at a time and free again afterwards', () => {
    const dir = mkdtempSync(join(tmpdir(), 'lock-'))
    const path = join(dir, 'executor.db.lock')
    const lock = takeLock(path)
    expect(() => takeLock(path)).to.throw(AlreadyLocked)
    lock.release()
    takeLock(path).release()
    rmSync(dir, { recursive: true })
  })
})
