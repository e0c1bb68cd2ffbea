import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Hex } from '../../../core/action.js'
import {
  createTransactionJournal,
  JOURNAL_MIGRATIONS,
} from '../../../data/journal/transaction-journal.js'
import { openDatabase } from '../../../data/open.js'

const SENDER: Address = `0x${'ab'.repeat(20)}`
const FINGERPRINT: Hex = `0x${'f1'.repeat(32)}`
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const blob = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')

interface Row {
  readonly intentId: string
  readonly evmNonce: number
  readonly status: 'open' | 'success' | 'reverted'
  readonly block?: number
  readonly revert?: string
}

/** A journal as the first release left it. */
function writeFirstRelease(path: string, rows: readonly Row[]): void {
  const db = new Sqlite(path)
  db.exec(readFileSync(new URL('001-transaction-journal.sql', JOURNAL_MIGRATIONS), 'utf8'))
  db.pragma('user_version = 1')
  for (const { intentId, evmNonce, status, block, revert } of rows) {
    db.prepare('INSERT INTO intents VALUES (?, ?, NULL, 0)').run(intentId, blob(FINGERPRINT))
    const mined =
      block === undefined ? [null, null, null] : [blob(hashOf(evmNonce)), block, blob(hashOf(99))]
    db.prepare('INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?)').run(
      ...[blob(SENDER), evmNonce, intentId, status, ...mined, revert],
    )
    db.prepare('INSERT INTO attempts VALUES (?, ?, 1, ?, ?, 21000, 7, 0)').run(
      ...[blob(SENDER), evmNonce, blob(hashOf(evmNonce)), blob('0x02f8')],
    )
  }
  db.prepare(`INSERT INTO intents VALUES ('refused', ?, 'empty revert', 0)`).run(blob(FINGERPRINT))
  db.close()
}

describe('a journal of the first release', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'journal-'))
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  it('goes on with every intent, transaction and signed form it had', () => {
    const path = join(dir, 'executor.db')
    writeFirstRelease(path, [
      { intentId: 'old', evmNonce: 0, status: 'success', block: 10 },
      { intentId: 'bad', evmNonce: 1, status: 'reverted', block: 30, revert: 'TM_FeeTooHigh' },
      { intentId: 'unnamed', evmNonce: 2, status: 'reverted', block: 30 },
      { intentId: 'open', evmNonce: 3, status: 'open' },
    ])
    const db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
    const journal = createTransactionJournal(db)
    const stateOf = (intentId: string) => journal.find(intentId)?.state
    const mined = (n: number, block: number) => ({
      hash: hashOf(n),
      blockNumber: BigInt(block),
      blockHash: hashOf(99),
    })
    const transaction = {
      from: SENDER,
      evmNonce: 3,
      intentIds: ['open'],
      attempts: [{ hash: hashOf(3), raw: '0x02f8', gasLimit: 21_000n, maxFeePerGas: 7n }],
    }
    expect(stateOf('refused')).to.deep.equal({ kind: 'refused', revert: 'empty revert' })
    expect(stateOf('open')).to.deep.equal({ kind: 'open', transaction })
    expect(stateOf('old')).to.deep.equal({
      kind: 'mined',
      transaction: { status: 'success', ...mined(0, 10) },
    })
    expect(stateOf('bad')).to.deep.equal({
      kind: 'mined',
      transaction: { status: 'reverted', revert: 'TM_FeeTooHigh', ...mined(1, 30) },
    })
    expect(stateOf('unnamed')).to.deep.include({
      transaction: { status: 'reverted', revert: 'unknown', ...mined(2, 30) },
    })
    expect(journal.nextNonce(SENDER)).to.equal(4)
    const followed = journal.unsettledTransactions(SENDER)
    expect(followed.map((it) => it.transaction.evmNonce)).to.deep.equal([1, 2, 3])
    journal.recordAttempt(SENDER, 3, { ...transaction.attempts[0], hash: hashOf(50) } as never)
    expect(db.pragma('foreign_key_check')).to.deep.equal([])
    db.close()
  })
})
