import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { join } from 'node:path'
import { restoreRecords } from '../../../actors/transfer-submitter/restore-records.js'
import { encodeTransfer } from '../../../chain/contracts/calldata.js'
import { createTransactionSigner, fingerprintOf } from '../../../chain/signing/keys.js'
import type { Action, Address, Hex } from '../../../core/action.js'
import { encodeWithdrawalData } from '../../../core/entry/read-action.js'
import type { IntentOutcome } from '../../../core/transaction-journal.js'
import { openDatabase } from '../../../data/open.js'
import {
  createTransferStore,
  TRANSFER_MIGRATIONS,
  type TransferStore,
} from '../../../data/transfer-store.js'
import { openMemoryJournal, type MemoryJournal } from '../../support/memory-journal.js'
import { tempDir } from '../../support/temp-dir.js'
import { anUnsentTransfer, NOW_MS, places } from '../../support/transfer-bodies.js'

const signer = createTransactionSigner(`0x${'e1'.repeat(32)}`, 31_337)
const SIGNATURE: Hex = `0x${'5e'.repeat(65)}`
const MATCHING: Address = `0x${'aa'.repeat(20)}`
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const block = (n: number) => ({ blockNumber: BigInt(n), blockHash: hash(1_000 + n) })
const withdrawalModule = places.withdrawalModule

describe('the records of a submitter, made from its journal', () => {
  const dir = tempDir()
  let db: Database
  let store: TransferStore
  let journal: MemoryJournal
  let file = 0

  beforeEach(() => {
    file += 1
    const path = join(dir.path, `${file}.db`)
    db = openDatabase({ path, migrations: TRANSFER_MIGRATIONS, synchronous: 'FULL' })
    store = createTransferStore(db)
    journal = openMemoryJournal()
  })
  afterEach(() => {
    db.close()
    journal.close()
  })
  after(() => dir.remove())

  const ownerOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
  const actionOf = (n: number, owner = ownerOf(n)): Action => ({
    subaccountId: 9n,
    nonce: BigInt(n),
    module: withdrawalModule,
    owner,
    signer: owner,
    data: encodeWithdrawalData({ asset: places.wrappedUsdc, amount: 4_000_000n }),
    expiry: 1_800_000_000n,
  })

  /** Signs a withdrawal at the nonce of its number, as the sender does. */
  function sign(n: number, owner?: Address, more: Partial<Action> = {}): void {
    const data = encodeTransfer({ ...actionOf(n, owner), ...more }, SIGNATURE)
    const fees = { gasLimit: 21_000n, maxFeePerGas: 7n, maxPriorityFeePerGas: 1n }
    const attempt = signer.sign({ to: MATCHING, data, evmNonce: n, ...fees })
    const intentIds = [`withdrawal:${hash(n)}`]
    const attempts = [{ ...attempt, gasLimit: fees.gasLimit, maxFeePerGas: fees.maxFeePerGas }]
    journal.recordSigned({ from: signer.address, evmNonce: n, intentIds, attempts }, [
      fingerprintOf(MATCHING, data),
    ])
  }
  const mine = (n: number, outcome: IntentOutcome, at = n): void =>
    void journal.recordMined(signer.address, n, {
      hash: hash(500 + n),
      ...block(at),
      outcomes: [outcome],
    })
  const restore = (term: number): readonly Hex[] =>
    restoreRecords({
      rules: { kind: 'withdrawal', revertName: (_, revert) => `named ${revert}` },
      published: { journal, claims: journal.claims, term },
      store,
      nowMs: () => NOW_MS,
    })
  const statusOf = (n: number) => store.find(hash(n))?.record.status
  const aClaim = (n: number, owner = ownerOf(n)) =>
    anUnsentTransfer({
      kind: 'withdrawal',
      actionHash: hash(n),
      owner,
      nonce: BigInt(n),
      subaccountIdRequested: 9n,
    })
  const claim = (n: number, owner = ownerOf(n)): void =>
    journal.claims.recordClaim(aClaim(n, owner), `request ${n}`)

  it('are those of every claim, with the outcome, and take the place of their owner while in progress', () => {
    for (const n of [1, 2, 3]) claim(n)
    // As only a lost block leaves it: two of one owner in progress.
    claim(4, ownerOf(3))
    claim(5)
    sign(1)
    mine(1, { status: 'success' })
    sign(2)
    mine(2, { status: 'reverted', revert: 'X' })
    for (const n of [3, 4]) sign(n)
    expect(restore(2)).to.have.members([1, 2, 3, 4].map(hash))
    expect(store.find(hash(1))).to.deep.equal({
      record: {
        ...aClaim(1),
        status: 'confirmed',
        subaccountId: 9n,
        updatedAtMs: NOW_MS,
        txHash: hash(501),
        blockNumber: 1n,
      },
      request: 'request 1',
    })
    expect(store.find(hash(2))?.record).to.include({ status: 'reverted', revert: 'named X' })
    expect([3, 4, 5].map(statusOf)).to.deep.equal(['pending', 'pending', 'pending'])
    expect(store.find(hash(5))?.request).to.equal('request 5')
    expect(store.submittedAfter(ownerOf(1), -1, hash(99))).to.deep.equal([0])
    expect(store.submittedAfter(ownerOf(5), -1, hash(99))).to.deep.equal([])
    expect(store.othersInProgress(ownerOf(3), hash(99))).to.equal(true)
    expect(store.othersInProgress(ownerOf(1), hash(99))).to.equal(false)
    expect(store.mayClaim(aClaim(7, ownerOf(3)))).to.equal(false)
  })

  it('are made of new claims alone when only this file’s own process has led', () => {
    claim(1)
    expect([restore(1), statusOf(1)]).to.deep.equal([[], 'pending'])
    store.update({ ...aClaim(1), status: 'confirmed' }, { blockHash: block(5).blockHash })
    sign(1)
    mine(1, { status: 'success' }, 6)
    // A claim that a crash kept from this file.
    claim(2)
    expect([restore(2), statusOf(2)]).to.deep.equal([[], 'pending'])
    // Another process has led meanwhile.
    expect(restore(4)).to.deep.equal([hash(1)])
    expect(restore(5)).to.deep.equal([])
  })

  it('are rejected where the journal has declined, and pending again where it has a newer claim', () => {
    for (const n of [1, 2]) claim(n)
    restore(1)
    journal.claims.recordDecline(hash(1), { error: 'no', revert: 'X' })
    claim(3)
    journal.claims.recordDecline(hash(3), { error: 'late' })
    expect(restore(2)).to.deep.equal([])
    expect(store.find(hash(1))?.record).to.include({ status: 'rejected', error: 'no', revert: 'X' })
    expect(store.find(hash(3))?.record).to.include({ status: 'rejected', error: 'late' })
    expect(statusOf(2)).to.equal('pending')
    journal.claims.recordClaim(aClaim(1), 'sent again')
    expect(restore(3)).to.deep.equal([])
    expect(store.find(hash(1))).to.deep.include({ request: 'sent again' })
    expect(store.find(hash(1))?.record).not.to.have.any.keys('error', 'revert')
    expect(statusOf(1)).to.equal('pending')
  })

  it('are read again where the chain has moved the transaction to another block', () => {
    claim(1)
    restore(1)
    store.update({ ...aClaim(1), status: 'confirmed' }, { blockHash: block(5).blockHash })
    sign(1)
    mine(1, { status: 'success' }, 5)
    expect(restore(3)).to.deep.equal([])
    journal.reopen(signer.address, [1])
    mine(1, { status: 'success' }, 6)
    expect(restore(5)).to.deep.equal([hash(1)])
  })

  it('are all made again when the process dies in the middle', () => {
    for (const n of [1, 2]) claim(n)
    const whole = store
    let left = 1
    store = {
      ...whole,
      add: (...args) => {
        if (left === 0) throw new Error('killed')
        left -= 1
        whole.add(...args)
      },
    }
    expect(() => restore(2)).to.throw('killed')
    store = whole
    expect([1, 2].map(statusOf)).to.deep.equal([undefined, undefined])
    restore(3)
    expect([1, 2].map(statusOf)).to.deep.equal(['pending', 'pending'])
  })
})
