import { orderText } from '../bus-schemas/orders.js'
import { transferText } from '../bus-schemas/transfers.js'
import type { Hex } from '../core/action.js'
import { transferRecord } from '../core/records/transfer-record.js'
import { isoTime } from '../core/time.js'
import { HISTORY_MIGRATIONS } from './history/project.js'
import { JOURNAL_FILES, openJournalFile } from './journal/journal-file.js'
import { openDatabase } from './open.js'
import { blobOf, hexOf } from './row-values.js'
import { TRANSFER_MIGRATIONS } from './transfer-store.js'
import { databasePath, isThere } from './places.js'

/** What a journal says of one intent: a settlement, a deposit or a withdrawal. */
export interface IntentTrail {
  /** The database that has it. */
  readonly journal: string
  readonly intentId: string
  readonly recordedAt: string
  /** The revert of the simulated call; such a call was never sent. */
  readonly refused?: string
  readonly transactions: readonly TransactionTrail[]
}

/** A transaction that carries an intent, and every signed attempt at it. */
export interface TransactionTrail {
  readonly evmNonce: number
  readonly status: string
  readonly isFinal: boolean
  readonly outcome?: string
  readonly revert?: string
  /** A foreign transaction has its nonce. */
  readonly displaced: boolean
  readonly blockNumber?: number
  readonly minedHash?: Hex
  readonly attempts: readonly { readonly hash: Hex; readonly signedAt: string }[]
}

/** A deposit or a withdrawal as a client is shown it. */
export interface TransferTrail {
  readonly kind: 'deposit' | 'withdrawal'
  readonly status: string
  readonly record: ReturnType<typeof transferRecord>
}

/** A trade as the history has it. */
export interface TradeTrail {
  readonly tradeId: number
  readonly market: string
  readonly at: string
  readonly settlementId: string
  readonly makerOrderId: string
  readonly takerOrderId: string
  /** Engine units: integers at 1e18. */
  readonly price: string
  readonly amount: string
  readonly txHash: Hex
  readonly blockNumber: number
  readonly reversed: boolean
}

/** The databases of a venue, running or not, as an operator reads them. */
export interface StoresReader {
  /** Of the executor and of both submitters: the intent with this id, or those that a transaction with this hash carries. */
  intents(subject: string): IntentTrail[]
  /** The transfer with this action hash, or those whose action has the nonce. */
  transfers(subject: string): TransferTrail[]
  /** Trades of an order, a settlement or a transaction, oldest first, at most MAX_FOUND. */
  trades(subject: string): TradeTrail[]
  /** Ids of the orders with this nonce, of any owner, at most MAX_FOUND. */
  ordersWithNonce(nonce: string): string[]
  close(): void
}

/** Most results of one kind. */
export const MAX_FOUND = 50

/** Databases that do not exist are left out. Throws UnknownSchemaVersion when another release wrote one. */
export function openStoresReader(dataDir: string): StoresReader {
  const opened: StoreDatabase[] = []
  const openWith = (
    file: string,
    openFile: (path: string) => StoreDatabase,
  ): StoreDatabase | undefined => {
    const path = databasePath(dataDir, file)
    if (!isThere(path)) return undefined
    const db = openFile(path)
    db.defaultSafeIntegers(false)
    opened.push(db)
    return db
  }
  const open = (file: string, migrations: URL): StoreDatabase | undefined =>
    openWith(file, (path) =>
      openDatabase({ path, migrations, synchronous: 'NORMAL', readonly: true }),
    )
  const journals = Object.values(JOURNAL_FILES).map((file) => ({
    file,
    db: openWith(file, (path) => openJournalFile(path, { readonly: true })),
  }))
  const transfers = TRANSFER_KINDS.map((kind) => ({
    kind,
    db: open(`${kind}s.db`, TRANSFER_MIGRATIONS),
  }))
  const history = open('history.db', HISTORY_MIGRATIONS)
  return {
    intents: (subject) =>
      journals.flatMap(({ file, db }) => (db === undefined ? [] : intentsOf(db, file, subject))),
    transfers: (subject) =>
      transfers.flatMap(({ kind, db }) => (db === undefined ? [] : transfersOf(db, kind, subject))),
    trades: (subject) => (history === undefined ? [] : tradesOf(history, subject)),
    ordersWithNonce: (nonce) => (history === undefined ? [] : withNonce(history, nonce)),
    close: () => opened.forEach((db) => db.close()),
  }
}

type StoreDatabase = ReturnType<typeof openDatabase>

const TRANSFER_KINDS = ['deposit', 'withdrawal'] as const
const HASH = /^0x[0-9a-f]{64}$/i

interface CarryRow {
  readonly intentId: string
  readonly recordedAtMs: number
  readonly refused: string | null
  readonly sender: Buffer | null
  readonly evmNonce: number
  readonly status: string
  readonly final: number
  readonly outcome: string | null
  readonly revert: string | null
  readonly displaced: number
  readonly blockNumber: number | null
  readonly minedHash: Buffer | null
}

const CARRIED = `
  SELECT i.intent_id AS intentId, i.recorded_at_ms AS recordedAtMs, i.refused_revert AS refused,
    t.sender, t.evm_nonce AS evmNonce, t.status, t.final, c.outcome, c.revert, c.displaced,
    t.block_number AS blockNumber, t.mined_hash AS minedHash
  FROM intents i LEFT JOIN transaction_intents c USING (intent_id)
    LEFT JOIN transactions t USING (sender, evm_nonce)`
/** A settlement that a mined batch did not try is tried again under its id with a suffix. */
const BY_ID = `i.intent_id IN (@subject, 'deposit:' || @subject, 'withdrawal:' || @subject)
  OR substr(i.intent_id, 1, length(@subject) + 6) = @subject || ' life '`
/** Signed forms are trimmed once they are final and old. */
const BY_HASH = `((t.sender, t.evm_nonce) IN
  (SELECT sender, evm_nonce FROM attempts WHERE hash = @hash)
  OR (t.status = 'mined' AND t.mined_hash = @hash))`

function intentsOf(db: StoreDatabase, journal: string, subject: string): IntentTrail[] {
  const hash = HASH.test(subject) ? blobOf(subject as Hex) : Buffer.alloc(0)
  const rows = db
    .prepare<[object], CarryRow>(
      `${CARRIED} WHERE ${BY_ID} OR ${BY_HASH} ORDER BY i.rowid LIMIT ${MAX_FOUND}`,
    )
    .all({ subject, hash })
  const attempts = db.prepare<[Buffer, number], { hash: Buffer; signedAtMs: number }>(
    `SELECT hash, signed_at_ms AS signedAtMs FROM attempts WHERE sender = ? AND evm_nonce = ? ORDER BY attempt_no`,
  )
  const ids = [...new Set(rows.map(({ intentId }) => intentId))]
  return ids.map((intentId) => {
    const carried = rows.filter((row) => row.intentId === intentId)
    const [{ recordedAtMs = 0, refused = null } = {}] = carried
    return {
      journal,
      intentId,
      recordedAt: isoTime(recordedAtMs),
      ...(refused !== null && { refused }),
      transactions: carried.flatMap((row) => {
        if (row.sender === null) return []
        const { evmNonce, status, outcome, revert, blockNumber, minedHash } = row
        return {
          evmNonce,
          status,
          isFinal: row.final === 1,
          displaced: row.displaced === 1,
          ...(outcome !== null && { outcome }),
          ...(revert !== null && { revert }),
          ...(blockNumber !== null && { blockNumber }),
          ...(minedHash !== null && { minedHash: hexOf(minedHash) }),
          attempts: attempts.all(row.sender, evmNonce).map((attempt) => ({
            hash: hexOf(attempt.hash),
            signedAt: isoTime(attempt.signedAtMs),
          })),
        }
      }),
    }
  })
}

function transfersOf(
  db: StoreDatabase,
  kind: TransferTrail['kind'],
  subject: string,
): TransferTrail[] {
  const rows = HASH.test(subject)
    ? db
        .prepare<[Buffer], TransferRow>(
          'SELECT status, record FROM transfers WHERE action_hash = ?',
        )
        .all(blobOf(subject as Hex))
    : transfersWithNonce(db, subject)
  return rows.map(({ status, record: stored }) => {
    const record = transferRecord(transferText.read(stored))
    return { kind, status, record }
  })
}

interface TransferRow {
  readonly status: string
  readonly record: string
}

/** By the record: the request of a transfer that has ended long ago is no longer stored. */
function transfersWithNonce(db: StoreDatabase, nonce: string): TransferRow[] {
  if (!DIGITS.test(nonce)) return []
  const rows = db
    .prepare<[object], TransferRow>(
      `SELECT status, record FROM transfers WHERE record LIKE '%"' || @nonce || '"%'`,
    )
    .iterate({ nonce: BigInt(nonce).toString() })
  return firstFound(rows, ({ record }) => transferText.read(record).nonce === BigInt(nonce))
}

/** Others may have the same digits elsewhere: the bound is of those that match. */
function firstFound<Row>(rows: Iterable<Row>, matches: (row: Row) => boolean): Row[] {
  const found: Row[] = []
  for (const row of rows) {
    if (matches(row)) found.push(row)
    if (found.length === MAX_FOUND) break
  }
  return found
}

const DIGITS = /^[0-9]+$/

function withNonce(db: StoreDatabase, nonce: string): string[] {
  if (!DIGITS.test(nonce)) return []
  const rows = db
    .prepare<[object], { order_id: string; body: string }>(
      `SELECT order_id, body FROM orders WHERE body LIKE '%"' || @nonce || '"%'`,
    )
    .iterate({ nonce: BigInt(nonce).toString() })
  const found = firstFound(rows, ({ body }) => orderText.read(body).nonce === BigInt(nonce))
  return found.map(({ order_id: orderId }) => orderId)
}

interface TrailRow extends Omit<TradeTrail, 'at' | 'txHash' | 'reversed'> {
  readonly atMs: number
  readonly txHash: Buffer
  readonly reversed: number
}

function tradesOf(db: StoreDatabase, subject: string): TradeTrail[] {
  const hash = HASH.test(subject) ? blobOf(subject as Hex) : Buffer.alloc(0)
  return db
    .prepare<[object], TrailRow>(
      `SELECT trade_id AS tradeId, markets.market, at_ms AS atMs, settlement_id AS settlementId,
         maker.order_id AS makerOrderId, taker.order_id AS takerOrderId, price, amount,
         tx_hash AS txHash, block_number AS blockNumber, reversed_at_ms IS NOT NULL AS reversed
       FROM trades
         JOIN markets USING (market_id)
         JOIN orders AS maker ON maker.order_key = maker_order_key
         JOIN orders AS taker ON taker.order_key = taker_order_key
       WHERE settlement_id = @subject OR tx_hash = @hash
         OR maker.order_id = @subject OR taker.order_id = @subject
       ORDER BY trade_id LIMIT ${MAX_FOUND}`,
    )
    .all({ subject, hash })
    .map(({ atMs, txHash, reversed, ...trade }) => ({
      ...trade,
      at: isoTime(atMs),
      txHash: hexOf(txHash),
      reversed: reversed === 1,
    }))
}
