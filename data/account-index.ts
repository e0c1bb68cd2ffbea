import type { Database } from 'better-sqlite3'
import type { Address, Hex } from '../core/action.js'
import type {
  AccountEvent,
  IndexedBlock,
  IndexedEvents,
  KeyEvent,
  OwnedAccount,
  OwnedKey,
  OwnerAccounts,
} from '../core/owner-accounts.js'
import { openDatabase, takeLock, type OpenOptions } from './open.js'

/**
 * Events kept of one owner, of accounts and of keys each: others may deposit accounts for an owner, for the price of the gas.
 * Further ones are left out, and answers say so.
 * Nothing bounds the owners, so the file grows with the gas of all events: about 3 MB for 30 million gas.
 */
export const OWNER_EVENTS_MAX = 1_000
/** Name of the file in the data directory. */
export const ACCOUNTS_FILE = 'accounts.db'
/** Blocks kept to find where a reorganisation began, the newest; the first of all is kept too. */
export const READ_BLOCKS_MAX = 1_024

/** The stored expiry of a key whose deregistration has begun. */
const NO_EXPIRY = '0'

/**
 * Which accounts the matching contract holds for an owner, and which session keys the owner has registered, by the events of the
 * chain: a fold that can be made again from the deployment's block, so that the file may be deleted. Every method throws what
 * SQLite throws.
 */
export interface AccountIndex {
  /** The newest block up to which everything was read; undefined before the first. */
  readTo(): IndexedBlock | undefined
  /** Blocks up to which everything was read, the newest first; the first of all is the last. */
  blocks(): Iterable<IndexedBlock>
  /** Adds the events up to a block, which continue what is there, in one transaction. */
  append(events: IndexedEvents, to: IndexedBlock): void
  /** Takes back everything above a block, or everything. */
  rollBack(to: Pick<IndexedBlock, 'number'> | undefined): void
  /** What is there of an owner; undefined before the first block. */
  find(owner: Address): OwnerAccounts | undefined
  /** When a session key of an owner ends, in unix seconds; 0 for one that is not registered or whose deregistration has begun. */
  keyEnd(owner: Address, key: Address): bigint
  close(): void
}

/**
 * Opens `accounts.db` at a path, creating it when absent; rows of another deployment are dropped. It is locked until it is closed:
 * throws AlreadyLocked where another process holds it. A damaged file is set aside where `onSetAside` is given.
 */
export function openAccountIndex(
  path: string,
  deployment: string,
  { onSetAside }: Pick<OpenOptions, 'onSetAside'> = {},
): AccountIndex {
  const lock = takeLock(`${path}.lock`)
  const migrations = new URL('../../data/migrations/accounts/', import.meta.url)
  const db = openDatabase({
    path,
    migrations,
    synchronous: 'NORMAL',
    ...(onSetAside && { onSetAside }),
  })
  const blocks = prepareBlocks(db)
  const rollBack = prepareRollBack(db)
  if (!isOf(db, deployment)) {
    db.transaction(() => {
      rollBack(undefined)
      db.prepare('INSERT OR REPLACE INTO deployment VALUES (1, ?)').run(deployment)
    }).immediate()
  }
  const newestExpiry = prepareNewestExpiry(db)
  const write = prepareWrite(db, newestExpiry)
  const find = prepareFind(db)
  return {
    readTo: () => blocks.newest(),
    blocks: () => blocks.all(),
    append: db.transaction((events: IndexedEvents, to: IndexedBlock) => {
      for (const event of events.accounts) write.account(event)
      for (const event of events.keys) write.key(event)
      blocks.add(to)
    }),
    rollBack: db.transaction(rollBack),
    find(owner) {
      const asOf = blocks.newest()
      return asOf === undefined ? undefined : { asOf, ...find(owner, asOf) }
    },
    keyEnd: (owner, key) => BigInt(newestExpiry(owner, key)),
    close() {
      db.close()
      lock.release()
    },
  }
}

const isOf = (db: Database, deployment: string): boolean =>
  db.prepare<[], string>('SELECT name FROM deployment').pluck().get() === deployment

interface BlockRow {
  readonly number: bigint
  readonly hash: Hex
  readonly timeSec: bigint
}

const NEWEST_BLOCKS = `SELECT block_number AS number, block_hash AS hash, block_time AS timeSec
  FROM read_block ORDER BY block_number DESC`

function prepareBlocks(db: Database) {
  const newest = db.prepare<[], BlockRow>(`${NEWEST_BLOCKS} LIMIT 1`)
  const all = db.prepare<[], BlockRow>(NEWEST_BLOCKS)
  const insert = db.prepare('INSERT OR REPLACE INTO read_block VALUES (?, ?, ?)')
  const trim = db.prepare(`DELETE FROM read_block WHERE block_number <=
    (SELECT block_number FROM read_block ORDER BY block_number DESC LIMIT 1 OFFSET ?)
    AND block_number > (SELECT min(block_number) FROM read_block)`)
  const blockOf = ({ number, hash, timeSec }: BlockRow): IndexedBlock => ({
    number,
    hash,
    timeSec: Number(timeSec),
  })
  return {
    newest(): IndexedBlock | undefined {
      const row = newest.get()
      return row && blockOf(row)
    },
    all: (): IndexedBlock[] => all.all().map(blockOf),
    add({ number, hash, timeSec }: IndexedBlock): void {
      insert.run(number, hash, timeSec)
      trim.run(READ_BLOCKS_MAX)
    },
  }
}

function prepareRollBack(db: Database) {
  const above = (table: string) => db.prepare(`DELETE FROM ${table} WHERE block_number > ?`)
  const tables = ['account_event', 'key_event', 'read_block'].map(above)
  const overfull = db.prepare('DELETE FROM overfull_owner')
  return (to: Pick<IndexedBlock, 'number'> | undefined): void => {
    for (const table of tables) table.run(to?.number ?? -1n)
    if (to === undefined) overfull.run()
  }
}

/** The expiry that was stored last of a key; NO_EXPIRY without any. */
type NewestExpiry = (owner: Address, key: Address) => string

function prepareNewestExpiry(db: Database): NewestExpiry {
  const newest = db
    .prepare<[Address, Address], string>(
      `SELECT expiry FROM key_event WHERE owner = ? AND session_key = ?
       ORDER BY block_number DESC, log_index DESC LIMIT 1`,
    )
    .pluck()
  return (owner, key) => newest.get(owner, key) ?? NO_EXPIRY
}

function prepareWrite(db: Database, newestExpiry: NewestExpiry) {
  const insertAccount = db.prepare(
    'INSERT OR REPLACE INTO account_event VALUES (@blockNumber, @logIndex, @subaccountId, @kind, @owner, @manager)',
  )
  const insertKey = db.prepare(
    'INSERT OR REPLACE INTO key_event VALUES (@blockNumber, @logIndex, @owner, @key, @expirySec)',
  )
  const ownerOf = db
    .prepare<[string], Address>(
      `SELECT owner FROM account_event WHERE subaccount_id = ? AND owner IS NOT NULL
       ORDER BY block_number DESC, log_index DESC LIMIT 1`,
    )
    .pluck()
  const newestKind = db
    .prepare<[string], AccountEvent['kind']>(
      `SELECT kind FROM account_event WHERE subaccount_id = ?
       ORDER BY block_number DESC, log_index DESC LIMIT 1`,
    )
    .pluck()
  const countOf = (rows: string) =>
    db
      .prepare<[string, number], bigint>(`SELECT count(*) FROM (SELECT 1 FROM ${rows} LIMIT ?)`)
      .pluck()
  const accountEvents = countOf(
    'account_event WHERE subaccount_id IN (SELECT subaccount_id FROM account_event WHERE owner = ?)',
  )
  const keyEvents = countOf('key_event WHERE owner = ?')
  const noteOverfull = db.prepare('INSERT OR IGNORE INTO overfull_owner VALUES (?)')
  const hasRoom = (count: ReturnType<typeof countOf>, owner: Address): boolean => {
    if ((count.get(owner, OWNER_EVENTS_MAX) ?? 0n) < OWNER_EVENTS_MAX) return true
    noteOverfull.run(owner)
    return false
  }
  const isInCustody = (id: string): boolean => {
    const kind = newestKind.get(id)
    return kind !== undefined && kind !== 'withdrawn'
  }
  const isRegistered = (owner: Address, key: Address): boolean =>
    newestExpiry(owner, key) !== NO_EXPIRY
  return {
    account(event: AccountEvent): void {
      const { blockNumber, logIndex, subaccountId, kind } = event
      const id = subaccountId.toString()
      const owner = kind === 'deposited' ? event.owner : undefined
      // An account that is not in custody, by what is kept, shows nothing of it: each deposit that is kept has one withdrawal at most.
      if (owner === undefined && !isInCustody(id)) return
      const whose = owner ?? ownerOf.get(id)
      if (whose === undefined) return
      if (kind !== 'withdrawn' && !hasRoom(accountEvents, whose)) return
      const manager = 'manager' in event ? event.manager : null
      insertAccount.run({
        blockNumber,
        logIndex,
        subaccountId: id,
        kind,
        owner: owner ?? null,
        manager,
      })
    },
    key({ blockNumber, logIndex, owner, key, expirySec }: KeyEvent): void {
      // Each registration that is kept has room for one end.
      if (expirySec > 0n ? !hasRoom(keyEvents, owner) : !isRegistered(owner, key)) return
      insertKey.run({ blockNumber, logIndex, owner, key, expirySec: expirySec.toString() })
    },
  }
}

interface AccountRow {
  readonly subaccountId: string
  readonly kind: AccountEvent['kind']
  readonly owner: Address | null
  readonly manager: Address | null
}

function prepareFind(db: Database) {
  const events = db.prepare<[string], AccountRow>(
    `SELECT subaccount_id AS subaccountId, kind, owner, manager FROM account_event
     WHERE subaccount_id IN (SELECT subaccount_id FROM account_event WHERE owner = ?)
     ORDER BY block_number, log_index`,
  )
  const keys = db.prepare<[string], { readonly key: Address; readonly expirySec: string }>(
    `SELECT session_key AS key, expiry AS expirySec FROM key_event
     WHERE owner = ? ORDER BY block_number, log_index`,
  )
  const isOverfull = db.prepare<[string]>('SELECT 1 FROM overfull_owner WHERE owner = ?')
  return (
    owner: Address,
    { timeSec }: IndexedBlock,
  ): Pick<OwnerAccounts, 'accounts' | 'keys' | 'isComplete'> => ({
    accounts: accountsOf(owner, events.all(owner)),
    keys: keysOf(keys.all(owner), timeSec),
    isComplete: isOverfull.get(owner) === undefined,
  })
}

function accountsOf(owner: Address, rows: readonly AccountRow[]): OwnedAccount[] {
  const held = new Map<string, OwnedAccount & { readonly owner: Address }>()
  for (const { subaccountId: id, kind, owner: of, manager } of rows) {
    const known = held.get(id)
    if (kind === 'deposited' && of !== null && manager !== null) {
      held.set(id, { subaccountId: BigInt(id), owner: of, manager, leaving: false })
    } else if (kind === 'withdrawn') held.delete(id)
    else if (known === undefined) continue
    else if (kind === 'leaving') held.set(id, { ...known, leaving: true })
    else if (manager !== null) held.set(id, { ...known, manager })
  }
  return [...held.values()]
    .filter((account) => account.owner === owner)
    .map(({ subaccountId, manager, leaving }) => ({ subaccountId, manager, leaving }))
    .sort((a, b) => (a.subaccountId < b.subaccountId ? -1 : 1))
}

function keysOf(
  rows: readonly { readonly key: Address; readonly expirySec: string }[],
  atSec: number,
): OwnedKey[] {
  const newest = new Map(rows.map(({ key, expirySec }) => [key, BigInt(expirySec)]))
  return [...newest]
    .filter(([, expirySec]) => expirySec > BigInt(atSec))
    .map(([key, expirySec]) => ({ key, expirySec }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}
