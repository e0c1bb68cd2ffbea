import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { join } from 'node:path'
import { restoreRecords } from '../../../actors/transfer-submitter/restore-records.js'
import { encodeTransfer } from '../../../chain/contracts/calldata.js'
import { createTransactionSigner, fingerprintOf } from '../../../chain/signing/keys.js'
import type { Action, Address, Hex } from '../../../core/action.js'
import { validateWithdrawal } from '../../../core/entry/validate-transfer.js'
import { encodeWithdrawalData } from '../../../core/entry/read-action.js'
import type { IntentOutcome } from '../../../core/transaction-journal.js'
import type { TransferRecord } from '../../../core/transfer.js'
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
const withdrawable = [places.wrappedUsdc]

describe('the records of a submitter, made from its journal', () => {
  const dir = tempDir()
  let db: Database
  let store: TransferStore
  let journal: MemoryJournal
  let skipped: string[]
  let file = 0

  beforeEach(() => {
    file += 1
    skipped = []
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
    ...{ subaccountId: 9n, nonce: BigInt(n), module: withdrawalModule, owner, signer: owner },
    data: encodeWithdrawalData({ asset: places.wrappedUsdc, amount: 4_000_000n }),
    expiry: 1_800_000_000n,
  })

  /** Signs a withdrawal at the nonce of its number, as the lane does. */
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
      ...{ hash: hash(500 + n), ...block(at), outcomes: [outcome] },
    })
  const restore = (
    term: number,
    pending: readonly TransferRecord[] = [],
  ): Promise<readonly Hex[]> =>
    restoreRecords({
      readPending: () => Promise.resolve(pending),
      rules: {
        kind: 'withdrawal',
        validate: (body, nowMs) =>
          validateWithdrawal(body, { withdrawalModule, withdrawable, nowMs }),
        revertName: (_, revert) => `named ${revert}`,
      },
      published: { journal, term },
      ...{ store, nowMs: () => NOW_MS },
      onSkipped: (intentId) => void skipped.push(intentId),
    })
  const statusOf = (n: number) => store.find(hash(n))?.record.status
  const aClaim = (n: number) =>
    anUnsentTransfer({ kind: 'withdrawal', actionHash: hash(n), owner: ownerOf(n) })

  it('hold what was signed, with its outcome, and take the place of their owner while in progress', async () => {
    sign(1)
    mine(1, { status: 'success' })
    sign(2)
    mine(2, { status: 'reverted', revert: 'X' })
    sign(3)
    // As only a lost block leaves it: two of one owner in progress.
    sign(4, ownerOf(3))
    expect(await restore(2)).to.have.members([1, 2, 3, 4].map(hash))
    expect(store.find(hash(1))).to.deep.include({
      record: {
        ...{ kind: 'withdrawal', actionHash: hash(1), status: 'confirmed', owner: ownerOf(1) },
        ...{ nonce: 1n, subaccountIdRequested: 9n, subaccountId: 9n, asset: places.wrappedUsdc },
        ...{ amount: 4_000_000n, txHash: hash(501), blockNumber: 1n },
        ...{ createdAtMs: 0, updatedAtMs: NOW_MS },
      },
    })
    expect(store.find(hash(2))?.record).to.include({ status: 'reverted', revert: 'named X' })
    expect([3, 4].map(statusOf)).to.deep.equal(['pending', 'pending'])
    const { action, signature } = JSON.parse(store.find(hash(3))?.request ?? '') as {
      readonly action: unknown
      readonly signature: unknown
    }
    expect(action).to.include({ nonce: '3', subaccount_id: '9', owner: ownerOf(3) })
    expect(signature).to.equal(SIGNATURE)
    expect(store.othersInProgress(ownerOf(3), hash(99))).to.equal(true)
    expect(store.othersInProgress(ownerOf(1), hash(99))).to.equal(false)
    expect(store.claim({ ...aClaim(7), owner: ownerOf(3) }, '{}')).to.equal(false)
  })

  it('are not looked at when only this file’s own process has led', async () => {
    sign(1)
    expect(await restore(1)).to.deep.equal([])
    expect(await restore(2)).to.deep.equal([])
    expect(statusOf(1)).to.equal(undefined)
    // One that another process has led meanwhile.
    expect(await restore(4)).to.deep.equal([hash(1)])
    expect(await restore(5)).to.deep.equal([])
  })

  it('reject a claim for which nothing was signed once another process has led, and no other', async () => {
    for (const n of [1, 2]) store.claim(aClaim(n), '{}')
    await restore(1)
    expect([1, 2].map(statusOf)).to.deep.equal(['pending', 'pending'])
    sign(2)
    await restore(3)
    expect([1, 2].map(statusOf)).to.deep.equal(['rejected', 'pending'])
    expect(store.claim(aClaim(1), '{}')).to.equal(true)
  })

  it('are read again where the chain has moved the transaction to another block', async () => {
    store.claim(aClaim(1), '{}')
    store.update({ ...aClaim(1), status: 'confirmed' }, { blockHash: block(5).blockHash })
    sign(1)
    mine(1, { status: 'success' }, 5)
    expect(await restore(2)).to.deep.equal([])
    journal.reopen(signer.address, [1])
    mine(1, { status: 'success' }, 6)
    expect(await restore(4)).to.deep.equal([hash(1)])
  })

  it('reject what another disk has claimed and not signed, and take it again', async () => {
    sign(2)
    const elsewhere = [1, 2].map(aClaim)
    expect(await restore(3, elsewhere)).to.deep.equal([hash(2)])
    expect([1, 2].map(statusOf)).to.deep.equal(['rejected', 'pending'])
    expect(store.othersInProgress(ownerOf(1), hash(99))).to.equal(false)
    expect(store.submittedAfter(ownerOf(1), 0, hash(99))).to.deep.equal([])
    expect(store.claim(aClaim(1), 'sent again')).to.equal(true)
    expect(store.find(hash(1))?.request).to.equal('sent again')
  })

  it('leave out what is no withdrawal by the rules of today', async () => {
    sign(1, ownerOf(1), { module: places.depositModule })
    sign(2)
    expect(await restore(2)).to.deep.equal([hash(2)])
    expect(skipped).to.deep.equal([`withdrawal:${hash(1)}`])
  })

  it('are all made again when the process dies in the middle', async () => {
    sign(1)
    sign(2)
    const dying = { ...store }
    let left = 1
    dying.restore = (...args) => {
      if (left === 0) throw new Error('killed')
      left -= 1
      store.restore(...args)
    }
    const whole = store
    store = dying
    const failure: unknown = await restore(2).catch((error: unknown) => error)
    expect(failure).to.have.property('message', 'killed')
    store = whole
    expect([1, 2].map(statusOf)).to.deep.equal([undefined, undefined])
    expect(await restore(3)).to.have.members([1, 2].map(hash))
  })
})
