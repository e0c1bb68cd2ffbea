import Database from 'better-sqlite3'
import { expect } from 'chai'
import fc from 'fast-check'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address, Hex } from '../../core/action.js'
import type { AccountEvent, IndexedBlock, KeyEvent } from '../../core/owner-accounts.js'
import {
  openAccountIndex,
  OWNER_EVENTS_MAX,
  READ_BLOCKS_MAX,
  type AccountIndex,
} from '../../data/account-index.js'
import { AlreadyLocked } from '../../data/open.js'
import { runs } from '../support/property-runs.js'

const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const hashOf = (n: bigint, branch = 0): Hex => `0x${branch}${n.toString(16).padStart(63, '0')}`
const block = (number: bigint, branch = 0): IndexedBlock => ({
  number,
  hash: hashOf(number, branch),
  timeSec: 1_000 + Number(number),
})

const [ANN, BOB, OLD, NEW] = [1, 2, 11, 12].map(addressOf) as [Address, Address, Address, Address]

describe('the index of accounts', () => {
  let directory: string
  let index: AccountIndex
  const path = (): string => join(directory, 'accounts.db')
  const open = (deployment = 'one'): AccountIndex => openAccountIndex(path(), deployment)

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'accounts-'))
    index = open()
  })
  afterEach(() => {
    index.close()
    rmSync(directory, { recursive: true, force: true })
  })

  let logIndex = 0
  const deposit = (at: bigint, id: bigint, owner: Address, manager = OLD): AccountEvent => ({
    kind: 'deposited',
    blockNumber: at,
    logIndex: (logIndex += 1),
    subaccountId: id,
    owner,
    manager,
  })
  const event = (at: bigint, id: bigint, kind: 'withdrawn' | 'leaving'): AccountEvent => ({
    kind,
    blockNumber: at,
    logIndex: (logIndex += 1),
    subaccountId: id,
  })
  const managed = (at: bigint, id: bigint, manager: Address): AccountEvent => ({
    kind: 'managed',
    blockNumber: at,
    logIndex: (logIndex += 1),
    subaccountId: id,
    manager,
  })
  const keyed = (at: bigint, owner: Address, key: Address, expirySec: bigint): KeyEvent => ({
    blockNumber: at,
    logIndex: (logIndex += 1),
    owner,
    key,
    expirySec,
  })
  const append = (to: IndexedBlock, accounts: AccountEvent[], keys: KeyEvent[] = []): void =>
    index.append({ accounts, keys }, to)

  it('has nothing before the first block, and an owner without accounts after it', () => {
    expect(index.find(ANN)).to.equal(undefined)
    expect(index.readTo()).to.equal(undefined)
    append(block(5n), [])
    expect(index.find(ANN)).to.deep.equal({
      asOf: block(5n),
      accounts: [],
      keys: [],
      isComplete: true,
    })
  })

  it('follows accounts in and out of custody, their managers and their owners (REA-051)', () => {
    append(block(3n), [deposit(1n, 10n, ANN), deposit(2n, 9n, ANN), deposit(3n, 8n, BOB)])
    expect(index.find(ANN)?.accounts).to.deep.equal([
      { subaccountId: 9n, manager: OLD, leaving: false },
      { subaccountId: 10n, manager: OLD, leaving: false },
    ])
    append(block(6n), [event(4n, 10n, 'leaving'), managed(5n, 9n, NEW), managed(6n, 77n, NEW)])
    expect(index.find(ANN)?.accounts).to.deep.equal([
      { subaccountId: 9n, manager: NEW, leaving: false },
      { subaccountId: 10n, manager: OLD, leaving: true },
    ])
    // It comes back under another owner.
    append(block(9n), [event(7n, 10n, 'withdrawn'), deposit(8n, 10n, BOB)])
    expect(index.find(ANN)?.accounts.map((it) => it.subaccountId)).to.deep.equal([9n])
    expect(index.find(BOB)?.accounts).to.deep.equal([
      { subaccountId: 8n, manager: OLD, leaving: false },
      { subaccountId: 10n, manager: OLD, leaving: false },
    ])
  })

  it('has the session keys that are registered, not expired and not being deregistered (REA-052)', () => {
    const [first, second, third] = [21, 22, 23].map(addressOf) as [Address, Address, Address]
    append(
      block(3n),
      [],
      [
        ...[keyed(1n, ANN, first, 2n ** 256n - 1n), keyed(1n, ANN, second, 1_004n)],
        ...[keyed(2n, ANN, third, 5_000n), keyed(2n, BOB, first, 5_000n)],
      ],
    )
    const keysOf = (owner: Address) => index.find(owner)?.keys
    expect(keysOf(ANN)).to.deep.equal([
      { key: first, expirySec: 2n ** 256n - 1n },
      { key: second, expirySec: 1_004n },
      { key: third, expirySec: 5_000n },
    ])
    append(block(4n), [], [keyed(4n, ANN, first, 0n), keyed(4n, ANN, third, 6_000n)])
    // The second has ended with the time of the block.
    expect(keysOf(ANN)).to.deep.equal([{ key: third, expirySec: 6_000n }])
    expect(keysOf(BOB)).to.deep.equal([{ key: first, expirySec: 5_000n }])
    const ends = [first, second, third].map((key) => index.keyEnd(ANN, key))
    expect(ends).to.deep.equal([0n, 1_004n, 6_000n])
    expect(index.keyEnd(BOB, third), 'of another owner').to.equal(0n)
  })

  it('takes back what a reorganisation has dropped, and continues after a restart (REA-053)', () => {
    append(block(3n), [deposit(3n, 1n, ANN)])
    append(block(6n), [event(5n, 1n, 'withdrawn'), deposit(6n, 2n, ANN)])
    index.rollBack(block(3n))
    expect(index.readTo()).to.deep.equal(block(3n))
    expect(index.find(ANN)?.accounts.map((it) => it.subaccountId)).to.deep.equal([1n])
    index.close()
    index = open()
    expect(index.readTo()).to.deep.equal(block(3n))
    append(block(5n, 1), [deposit(5n, 4n, ANN)])
    expect(index.find(ANN)?.accounts.map((it) => it.subaccountId)).to.deep.equal([1n, 4n])
    expect([...index.blocks()].map(({ hash }) => hash)).to.deep.equal([hashOf(5n, 1), hashOf(3n)])
    index.rollBack(undefined)
    expect(index.readTo()).to.equal(undefined)
  })

  it('begins anew with another deployment, and has one writer', () => {
    append(block(3n), [deposit(3n, 1n, ANN)])
    expect(() => open()).to.throw(AlreadyLocked)
    index.close()
    index = open('another')
    expect(index.readTo()).to.equal(undefined)
    append(block(1n), [])
    expect(index.find(ANN)?.accounts).to.deep.equal([])
    expect(existsSync(path())).to.equal(true)
  })

  it('keeps a bounded number of events of one owner, also of those that others make, and says so (REA-054)', () => {
    const many = Array.from({ length: OWNER_EVENTS_MAX + 5 }, (_, i) =>
      deposit(2n, BigInt(i + 1), ANN),
    )
    append(block(2n), [...many, deposit(2n, 5_000n, BOB)])
    const found = index.find(ANN)
    expect([found?.accounts.length, found?.isComplete]).to.deep.equal([OWNER_EVENTS_MAX, false])
    expect(index.find(BOB)).to.include({ isComplete: true })
    // An account that leaves is never shown as if it had stayed.
    append(block(3n), [event(3n, 1n, 'withdrawn')])
    expect(index.find(ANN)?.accounts.some((it) => it.subaccountId === 1n)).to.equal(false)
    const key = (i: number) => keyed(4n, BOB, addressOf(100 + i), 10n ** 10n)
    append(
      block(4n),
      [],
      Array.from({ length: OWNER_EVENTS_MAX + 1 }, (_, i) => key(i)),
    )
    const keys = index.find(BOB)
    expect([keys?.keys.length, keys?.isComplete]).to.deep.equal([OWNER_EVENTS_MAX, false])
    append(block(5n), [], [keyed(5n, BOB, addressOf(100), 0n)])
    expect(index.find(BOB)?.keys.some((it) => it.key === addressOf(100))).to.equal(false)
  })

  it('keeps one end of a key for each registration, and one withdrawal for each deposit (REA-054)', () => {
    const rowsOf = (table: string): unknown => {
      const db = new Database(path(), { readonly: true })
      try {
        return db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
      } finally {
        db.close()
      }
    }
    const key = addressOf(21)
    const never = addressOf(22)
    const times = <Made>(make: () => Made): Made[] => Array.from({ length: 5_000 }, make)
    append(block(1n), [deposit(1n, 1n, ANN)], [keyed(1n, ANN, key, 9_999n)])
    append(
      block(2n),
      [...times(() => event(2n, 1n, 'withdrawn')), ...times(() => event(2n, 1n, 'leaving'))],
      [...times(() => keyed(2n, ANN, key, 0n)), ...times(() => keyed(2n, ANN, never, 0n))],
    )
    expect([rowsOf('account_event'), rowsOf('key_event')]).to.deep.equal([2, 2])
    expect(index.find(ANN)).to.include({ isComplete: true })
    // Deposits of an owner without room are left out, and so are their withdrawals.
    append(
      block(3n),
      Array.from({ length: 5_000 }, (_, i) => BigInt(i)).flatMap((id) => [
        deposit(3n, id, BOB),
        event(3n, id, 'withdrawn'),
      ]),
    )
    expect(rowsOf('account_event')).to.be.at.most(2 + 2 * OWNER_EVENTS_MAX)
    // Each further registration has its end, also after a reorganisation that took the former end back.
    append(block(4n), [deposit(4n, 1n, ANN)], [keyed(4n, ANN, key, 9_999n)])
    append(block(5n), [event(5n, 1n, 'withdrawn')], [keyed(5n, ANN, key, 0n)])
    index.rollBack(block(4n))
    expect(index.find(ANN)?.accounts).to.have.length(1)
    expect(index.find(ANN)?.keys).to.have.length(1)
    append(block(6n), [event(6n, 1n, 'withdrawn')], [keyed(6n, ANN, key, 0n)])
    expect(index.find(ANN)).to.deep.include({ accounts: [], keys: [] })
  })

  it('keeps the newest blocks to find a reorganisation by, and the first to tell another chain by', () => {
    for (let n = 1n; n <= BigInt(READ_BLOCKS_MAX + 10); n += 1n) append(block(n), [])
    const kept = [...index.blocks()]
    expect(kept).to.have.length(READ_BLOCKS_MAX + 1)
    expect(kept[0]?.number).to.equal(BigInt(READ_BLOCKS_MAX + 10))
    expect(kept.at(-2)?.number).to.equal(11n)
    expect(kept.at(-1)?.number).to.equal(1n)
  })

  it('has after any history with reorganisations what the chain that stays gives at once', () => {
    const act = fc.record({
      kind: fc.constantFrom('deposited', 'withdrawn', 'leaving', 'managed', 'key', 'reorg'),
      id: fc.bigInt({ min: 1n, max: 4n }),
      who: fc.integer({ min: 1, max: 2 }),
      back: fc.bigInt({ min: 1n, max: 5n }),
    })
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        index.rollBack(undefined)
        let now = 0n
        let chain: (AccountEvent | KeyEvent)[] = []
        append(block(now), [])
        for (const { kind, id, who, back } of acts) {
          if (kind === 'reorg') {
            now = now > back ? now - back : 0n
            chain = chain.filter((it) => it.blockNumber <= now)
            index.rollBack(block(now))
            continue
          }
          now += 1n
          const made =
            kind === 'key'
              ? keyed(now, addressOf(who), addressOf(20 + Number(id)), id % 2n === 0n ? 0n : 9_999n)
              : kind === 'deposited'
                ? deposit(now, id, addressOf(who))
                : kind === 'managed'
                  ? managed(now, id, NEW)
                  : event(now, id, kind)
          chain.push(made)
          if ('key' in made) append(block(now), [], [made])
          else append(block(now), [made])
        }
        const found = [ANN, BOB].map((owner) => index.find(owner))
        index.rollBack(undefined)
        const accounts = chain.filter((it): it is AccountEvent => !('key' in it))
        append(
          block(now),
          accounts,
          chain.filter((it): it is KeyEvent => 'key' in it),
        )
        expect([ANN, BOB].map((owner) => index.find(owner))).to.deep.equal(found)
      }),
      { numRuns: runs(60) },
    )
  })
})
