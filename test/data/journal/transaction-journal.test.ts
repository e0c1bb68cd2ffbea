import Sqlite, { type Database } from 'better-sqlite3'
import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvariantBroken } from '../../../core/assert.js'
import type { IntentOutcome, TransactionJournal } from '../../../core/transaction-journal.js'
import type { Address, Hex } from '../../../core/action.js'
import { openJournalFile, JournalUnwritable } from '../../../data/journal/journal-file.js'
import { createTransactionJournal } from '../../../data/journal/transaction-journal.js'
import { AlreadyLocked, takeLock } from '../../../data/open.js'

const { SqliteError } = Sqlite
const SENDER: Address = `0x${'ab'.repeat(20)}`
const FINGERPRINT: Hex = `0x${'f1'.repeat(32)}`

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

const anAttempt = (n: number) => ({
  hash: hashOf(n),
  raw: '0x02f8' as Hex,
  gasLimit: 21_000n,
  maxFeePerGas: 7n,
})

const aTransaction = (evmNonce: number, ...intentIds: string[]) => ({
  from: SENDER,
  evmNonce,
  intentIds,
  attempts: [anAttempt(evmNonce + 100)],
})

const anInclusion = (n: number, block = 12) => ({
  hash: hashOf(n + 100),
  blockNumber: BigInt(block),
  blockHash: hashOf(block),
})
const SUCCESS = { status: 'success' as const }
const REVERTED = { status: 'reverted' as const, revert: 'TM_FeeTooHigh' }

describe('transaction journal', () => {
  let dir: string
  let db: Database
  let journal: TransactionJournal

  const open = () => {
    const path = join(dir, 'executor.db')
    db = openJournalFile(path)
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

  it('is synchronised by its stream, and not by each of its commits', () => {
    expect(db.pragma('synchronous', { simple: true })).to.equal(1n)
  })

  const sign = (evmNonce: number, ...intentIds: string[]) => {
    const transaction = aTransaction(evmNonce, ...intentIds)
    journal.recordSigned(
      transaction,
      intentIds.map(() => FINGERPRINT),
    )
    return transaction
  }
  const mine = (evmNonce: number, ...outcomes: IntentOutcome[]) =>
    journal.recordMined(SENDER, evmNonce, { ...anInclusion(evmNonce), outcomes })
  const openNonces = () =>
    journal
      .unsettledTransactions(SENDER)
      .filter(({ mined }) => mined === undefined)
      .map(({ transaction }) => transaction.evmNonce)

  it('finds what was signed, also after it was opened again', () => {
    const transaction = sign(4, 'm:1')
    db.close()
    open()
    expect(journal.find('m:1')).to.deep.equal({
      fingerprint: FINGERPRINT,
      state: { kind: 'open', transaction },
    })
    expect(journal.unsettledTransactions(SENDER)).to.deep.equal([{ transaction }])
    expect(journal.nextNonce(SENDER)).to.equal(5)
  })

  it('starts at nonce 0 and counts each sender by itself', () => {
    sign(4, 'm:1')
    expect(journal.nextNonce(`0x${'cd'.repeat(20)}`)).to.equal(0)
    expect(journal.unsettledTransactions(`0x${'cd'.repeat(20)}`)).to.deep.equal([])
  })

  it('finds a whole set of intents under one nonce, each with its own outcome', () => {
    const transaction = sign(4, 'm:1', 'm:2')
    expect(journal.find('m:2')?.state).to.deep.equal({ kind: 'open', transaction })
    expect(mine(4, SUCCESS, REVERTED)).to.deep.equal([])
    const mined = (intentId: string) => journal.find(intentId)?.state
    expect(mined('m:1')).to.deep.equal({
      kind: 'mined',
      transaction: { ...anInclusion(4), ...SUCCESS },
    })
    expect(mined('m:2')).to.deep.equal({
      kind: 'mined',
      transaction: { ...anInclusion(4), ...REVERTED },
    })
    expect(openNonces()).to.deep.equal([])
  })

  it('wants an outcome for every intent', () => {
    sign(4, 'm:1', 'm:2')
    expect(() => mine(4, SUCCESS)).to.throw('outcomes')
    expect(openNonces()).to.deep.equal([4])
  })

  it('holds a transaction that carries nothing out', () => {
    const transaction = sign(4)
    expect(journal.unsettledTransactions(SENDER)).to.deep.equal([{ transaction }])
    mine(4)
    expect(openNonces()).to.deep.equal([])
  })

  it('keeps every signed form, the oldest first', () => {
    const transaction = sign(4, 'm:1')
    journal.recordAttempt(SENDER, 4, anAttempt(999))
    const [unsettled] = journal.unsettledTransactions(SENDER)
    expect(unsettled?.transaction.attempts).to.deep.equal([...transaction.attempts, anAttempt(999)])
  })

  it('takes a transaction with one signed form, and a fingerprint for each intent', () => {
    const { attempts, ...unsigned } = aTransaction(4, 'm:1')
    const record = (count: number, fingerprints: Hex[]) => () =>
      journal.recordSigned(
        { ...unsigned, attempts: Array.from({ length: count }, () => attempts).flat() },
        fingerprints,
      )
    expect(record(0, [FINGERPRINT])).to.throw(InvariantBroken)
    expect(record(2, [FINGERPRINT])).to.throw(InvariantBroken)
    expect(record(1, [])).to.throw(InvariantBroken)
    expect(record(1, [FINGERPRINT, FINGERPRINT])).to.throw(InvariantBroken)
    expect(journal.find('m:1')).to.equal(undefined)
  })

  it('counts as durable what it has recorded, where no stream holds it too', async () => {
    const { attempts } = sign(4, 'm:1')
    await journal.durable()
    expect(attempts.map(({ hash }) => journal.isDurable(hash))).to.deep.equal([true])
  })

  it('lists the intents and the keys of transactions that are not final', () => {
    const other: Address = `0x${'cd'.repeat(20)}`
    sign(4, 'm:1', 'm:2')
    sign(5, 'm:3')
    journal.recordSigned({ ...aTransaction(9, 'm:4'), from: other }, [FINGERPRINT])
    expect(journal.unsettledIntents()).to.have.members(['m:1', 'm:2', 'm:3', 'm:4'])
    expect(journal.unsettledSenders()).to.have.members([SENDER, other])
    mine(4, SUCCESS, REVERTED)
    mine(5, SUCCESS)
    journal.recordFinal(SENDER, [4])
    expect(journal.unsettledIntents()).to.have.members(['m:3', 'm:4'])
    journal.recordFinal(SENDER, [5])
    expect(journal.unsettledSenders()).to.deep.equal([other])
  })

  it('tells when the transaction that stands for an intent was first signed', () => {
    expect(journal.signedAtMs('m:1')).to.equal(undefined)
    sign(4, 'm:1')
    journal.recordAttempt(SENDER, 4, anAttempt(999))
    expect(journal.signedAtMs('m:1')).to.equal(1_760_000_000_000)
    journal.recordDisplaced(SENDER, 4, anInclusion(77))
    expect(journal.signedAtMs('m:1')).to.equal(undefined)
  })

  it('keeps a refusal', () => {
    journal.recordRefusal('m:1', FINGERPRINT, 'empty revert')
    expect(journal.find('m:1')?.state).to.deep.equal({ kind: 'refused', revert: 'empty revert' })
    expect(journal.find('m:2')).to.equal(undefined)
  })

  it('gives a nonce and an intent away only once, and records nothing of the second', () => {
    sign(4, 'm:1')
    // Not the disk's fault, which would be tried again.
    expect(() => sign(4, 'm:2')).to.throw(SqliteError)
    expect(() => sign(5, 'm:1')).to.throw(InvariantBroken)
    expect(() => sign(5, 'm:2', 'm:2')).to.throw()
    expect(() => journal.recordRefusal('m:1', FINGERPRINT, 'late')).to.throw()
    expect(journal.find('m:2')).to.equal(undefined)
    expect(journal.nextNonce(SENDER)).to.equal(5)
  })

  it('follows what is mined until it is final', () => {
    for (const n of [3, 4]) sign(n, `m:${n}`)
    for (const n of [3, 4]) mine(n, SUCCESS)
    journal.recordFinal(SENDER, [3])
    const followed = journal.unsettledTransactions(SENDER)
    expect(followed).to.deep.equal([{ transaction: aTransaction(4, 'm:4'), mined: anInclusion(4) }])
  })

  it('opens again what the chain forgot, also when it was final', () => {
    for (const n of [3, 4, 5]) sign(n, `m:${n}`)
    for (const n of [3, 4]) mine(n, SUCCESS)
    journal.recordFinal(SENDER, [3, 4])
    expect(journal.claimedFrom(SENDER, 4)).to.deep.equal([4, 5])
    journal.reopen(SENDER, [4, 5])
    expect(openNonces()).to.deep.equal([4, 5])
    expect(journal.find('m:4')?.state.kind).to.equal('open')
  })

  it('writes down an outcome that turned round, and nothing for one that stayed', () => {
    sign(4, 'm:1', 'm:2')
    mine(4, SUCCESS, REVERTED)
    journal.reopen(SENDER, [4])
    const again = { ...anInclusion(4, 13), outcomes: [REVERTED, REVERTED] }
    const reversal = {
      no: 1,
      intentId: 'm:1',
      before: { ...anInclusion(4), ...SUCCESS },
      now: { ...anInclusion(4, 13), ...REVERTED },
    }
    expect(journal.recordMined(SENDER, 4, again)).to.deep.equal([reversal])
    journal.reopen(SENDER, [4])
    mine(4, SUCCESS, REVERTED)
    expect(journal.reversalsAfter(0, 1)).to.deep.equal([reversal])
    const later = journal.reversalsAfter(1, 9)
    expect(later.map(({ no, now }) => [no, now.status])).to.deep.equal([[2, 'success']])
  })

  it('frees an intent displaced by a foreign transaction for another nonce of the same call only', () => {
    sign(4, 'm:1', 'm:2')
    expect(journal.recordDisplaced(SENDER, 4, anInclusion(77))).to.deep.equal([])
    expect(journal.find('m:1')).to.deep.equal({
      fingerprint: FINGERPRINT,
      state: { kind: 'displaced' },
    })
    expect(openNonces()).to.deep.equal([])
    const other: Hex = `0x${'f2'.repeat(32)}`
    expect(() => journal.recordSigned(aTransaction(5, 'm:1'), [other])).to.throw()
    const again = sign(6, 'm:1')
    expect(journal.find('m:1')?.state).to.deep.equal({ kind: 'open', transaction: again })
    journal.recordRefusal('m:2', FINGERPRINT, 'late')
    expect(journal.find('m:2')?.state).to.deep.equal({ kind: 'refused', revert: 'late' })
    expect(() => sign(7, 'm:2')).to.throw()
  })

  it('records a success that a foreign transaction displaced afterwards', () => {
    sign(4, 'm:1')
    mine(4, SUCCESS)
    expect(() => journal.recordDisplaced(SENDER, 4, anInclusion(77))).to.throw()
    journal.reopen(SENDER, [4])
    const [reversal] = journal.recordDisplaced(SENDER, 4, anInclusion(77))
    expect(reversal).to.deep.include({ intentId: 'm:1', now: { status: 'displaced' } })
    expect(journal.reversalsAfter(0, 9)).to.deep.equal([reversal])
  })

  it('says so when the disk refuses', () => {
    const pages = db.pragma('page_count', { simple: true })
    db.pragma(`max_page_count = ${String(pages)}`)
    const fill = () => {
      for (let n = 0; n < 1_000; n += 1)
        journal.recordRefusal(`m:${n}`, FINGERPRINT, 'x'.repeat(99))
    }
    expect(fill).to.throw(JournalUnwritable).with.property('cause').instanceOf(SqliteError)
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
