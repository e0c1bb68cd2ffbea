import type { Database } from 'better-sqlite3'
import { transferText } from '../../bus-schemas/transfers.js'
import { exactNumber } from '../../core/decimal.js'
import type {
  Inclusion,
  RecordedOutcome,
  SnapshotRow,
  StreamPlace,
} from '../../core/transaction-journal.js'
import { blobOf, hexOf } from '../row-values.js'
import { attemptOf, inclusionOf, type AttemptRow, type ReversalRow } from './transaction-rows.js'

/** The tables of a journal as rows of a snapshot. */

type RowOf<Kind extends SnapshotRow['kind']> = Extract<SnapshotRow, { readonly kind: Kind }>

interface PlaceRow {
  readonly last_seq: bigint
  readonly term: bigint
  readonly writer: string
}

/** Where the file stands; before its first start at the stream's beginning. */
export function readPlace(db: Database): StreamPlace {
  const row = db.prepare<[], PlaceRow>('SELECT last_seq, term, writer FROM place').get()
  return {
    lastSeq: exactNumber(row?.last_seq ?? 0n),
    term: exactNumber(row?.term ?? 0n),
    writer: row?.writer ?? '',
  }
}

/**
 * Every row, each after those that it refers to. Only in a read transaction are all of one moment; nothing else may be read by the
 * connection until the end.
 */
export function* readRows(db: Database): Generator<SnapshotRow> {
  for (const row of db.prepare<[], IntentColumns>(INTENTS).iterate()) yield intentOf(row)
  for (const row of db.prepare<[], TransactionColumns>(TRANSACTIONS).iterate())
    yield transactionOf(row)
  for (const row of db.prepare<[], CarriedColumns>(CARRIED).iterate()) yield carriedOf(row)
  for (const row of db.prepare<[], AttemptColumns>(ATTEMPTS).iterate())
    yield {
      kind: 'attempt',
      ...ofTransaction(row),
      no: exactNumber(row.attempt_no),
      attempt: attemptOf(row),
      atMs: exactNumber(row.signed_at_ms),
    }
  for (const row of db.prepare<[], ReversalColumns>(REVERSALS).iterate()) yield reversalOf(row)
  for (const row of db.prepare<[], ClaimColumns>(CLAIMS).iterate()) yield claimOf(row)
}

const INTENTS = 'SELECT rowid AS no, * FROM intents ORDER BY rowid'
const TRANSACTIONS = 'SELECT * FROM transactions ORDER BY sender, evm_nonce'
const CARRIED = 'SELECT * FROM transaction_intents ORDER BY sender, evm_nonce, position'
const ATTEMPTS = 'SELECT * FROM attempts ORDER BY sender, evm_nonce, attempt_no'
const REVERSALS = 'SELECT * FROM reversals ORDER BY no'
const CLAIMS = 'SELECT * FROM claims ORDER BY no'

interface IntentColumns {
  readonly no: bigint
  readonly intent_id: string
  readonly fingerprint: Buffer
  readonly refused_revert: string | null
  readonly recorded_at_ms: bigint
}

const intentOf = (row: IntentColumns): RowOf<'intent'> => ({
  kind: 'intent',
  no: exactNumber(row.no),
  intentId: row.intent_id,
  fingerprint: hexOf(row.fingerprint),
  atMs: exactNumber(row.recorded_at_ms),
  ...(row.refused_revert !== null && { refusedRevert: row.refused_revert }),
})

interface TransactionKeyRow {
  readonly sender: Buffer
  readonly evm_nonce: bigint
}

const ofTransaction = ({ sender, evm_nonce }: TransactionKeyRow) => ({
  from: hexOf(sender),
  evmNonce: exactNumber(evm_nonce),
})

interface TransactionColumns extends TransactionKeyRow {
  readonly status: 'open' | 'mined' | 'displaced'
  readonly mined_hash: Buffer | null
  readonly block_number: bigint | null
  readonly block_hash: Buffer | null
  readonly final: bigint
}

function transactionOf(row: TransactionColumns): RowOf<'transaction'> {
  const by = inclusionOf(row)
  return {
    kind: 'transaction',
    ...ofTransaction(row),
    status: row.status,
    isFinal: row.final === 1n,
    ...(by !== undefined && { by }),
  }
}

interface CarriedColumns extends TransactionKeyRow {
  readonly position: bigint
  readonly intent_id: string
  readonly outcome: 'success' | 'reverted' | null
  readonly revert: string | null
  readonly displaced: bigint
}

const carriedOf = (row: CarriedColumns): RowOf<'carried'> => ({
  kind: 'carried',
  ...ofTransaction(row),
  place: exactNumber(row.position),
  intentId: row.intent_id,
  isDisplaced: row.displaced === 1n,
  ...(row.outcome !== null && { outcome: row.outcome }),
  ...(row.revert !== null && { revert: row.revert }),
})

interface AttemptColumns extends TransactionKeyRow, AttemptRow {
  readonly attempt_no: bigint
  readonly signed_at_ms: bigint
}

interface ReversalColumns extends ReversalRow {
  readonly found_at_ms: bigint
}

const reversalOf = (row: ReversalColumns): RowOf<'reversal'> => ({
  kind: 'reversal',
  no: exactNumber(row.no),
  intentId: row.intent_id,
  before: {
    status: row.before_status,
    hash: hexOf(row.before_hash),
    blockNumber: row.before_number,
    blockHash: hexOf(row.before_block),
    ...(row.before_revert !== null && { revert: row.before_revert }),
  },
  now: {
    status: row.now_status,
    hash: hexOf(row.now_hash),
    blockNumber: row.now_number,
    blockHash: hexOf(row.now_block),
    ...(row.now_revert !== null && { revert: row.now_revert }),
  },
  atMs: exactNumber(row.found_at_ms),
})

interface ClaimColumns {
  readonly no: bigint
  readonly record: string
  readonly request: string
  readonly declined: string | null
  readonly declined_revert: string | null
  readonly declined_at_ms: bigint | null
}

function claimOf(row: ClaimColumns): RowOf<'claim'> {
  const { declined: error, declined_revert: revert, declined_at_ms: atMs } = row
  const claim = {
    ...({ kind: 'claim', no: exactNumber(row.no), record: transferText.read(row.record) } as const),
    request: row.request,
  }
  if (error === null || atMs === null) return claim
  const declined = { error, atMs: exactNumber(atMs), ...(revert !== null && { revert }) }
  return { ...claim, declined }
}

/** Puts the rows of a snapshot in the place of all that the tables hold; each must run inside a transaction. */
export interface SnapshotLoad {
  readonly clear: () => void
  readonly insert: (row: SnapshotRow) => void
}

/** Each before those that it refers to. */
const TABLES = ['claims', 'reversals', 'attempts', 'transaction_intents', 'transactions', 'intents']

export function prepareLoad(db: Database): SnapshotLoad {
  const clear = TABLES.map((table) => db.prepare(`DELETE FROM ${table}`))
  const into = prepareInserts(db)
  return {
    clear: () => {
      for (const each of clear) each.run()
    },
    insert: (row) => void into[row.kind].run(...valuesOf(row)),
  }
}

function prepareInserts(db: Database) {
  const into = (table: string, columns: string) => {
    const places = columns.split(',').map(() => '?')
    return db.prepare<unknown[]>(`INSERT INTO ${table} (${columns}) VALUES (${places.join(',')})`)
  }
  const key = 'sender,evm_nonce'
  const outcome = (of: string) =>
    ['status', 'revert', 'hash', 'number', 'block'].map((name) => `${of}_${name}`).join(',')
  return {
    intent: into('intents', 'rowid,intent_id,fingerprint,refused_revert,recorded_at_ms'),
    transaction: into('transactions', `${key},status,mined_hash,block_number,block_hash,final`),
    carried: into('transaction_intents', `${key},position,intent_id,outcome,revert,displaced`),
    attempt: into('attempts', `${key},attempt_no,hash,raw,gas_limit,max_fee_per_gas,signed_at_ms`),
    reversal: into('reversals', `no,intent_id,${outcome('before')},${outcome('now')},found_at_ms`),
    claim: into('claims', 'action_hash,no,record,request,declined,declined_revert,declined_at_ms'),
  }
}

/** In the order of the columns of its insert. */
function valuesOf(row: SnapshotRow): readonly unknown[] {
  switch (row.kind) {
    case 'intent': {
      const { no, intentId, fingerprint, refusedRevert, atMs } = row
      return [no, intentId, blobOf(fingerprint), refusedRevert ?? null, atMs]
    }
    case 'transaction': {
      const { status, by, isFinal } = row
      return [...keyOf(row), status, ...inclusionValues(by), Number(isFinal)]
    }
    case 'carried': {
      const { place, intentId, outcome, revert, isDisplaced } = row
      const result = [outcome ?? null, revert ?? null]
      return [...keyOf(row), place, intentId, ...result, Number(isDisplaced)]
    }
    case 'attempt': {
      const { hash, raw, gasLimit, maxFeePerGas } = row.attempt
      const signed = [blobOf(hash), blobOf(raw), gasLimit, maxFeePerGas]
      return [...keyOf(row), row.no, ...signed, row.atMs]
    }
    case 'reversal': {
      const { no, intentId, before, now, atMs } = row
      return [no, intentId, ...outcomeValues(before), ...outcomeValues(now), atMs]
    }
    case 'claim': {
      const { no, record, request, declined } = row
      const { error, revert, atMs } = declined ?? NOT_DECLINED
      const text = transferText.write(record)
      return [blobOf(record.actionHash), no, text, request, error, revert ?? null, atMs]
    }
  }
}

const keyOf = ({ from, evmNonce }: Pick<RowOf<'transaction'>, 'from' | 'evmNonce'>) =>
  [blobOf(from), evmNonce] as const

const inclusionValues = (by: Inclusion | undefined) =>
  by === undefined ? [null, null, null] : [blobOf(by.hash), by.blockNumber, blobOf(by.blockHash)]

const NOT_DECLINED = { error: null, revert: null, atMs: null } as const

const outcomeValues = ({ status, revert, hash, blockNumber, blockHash }: RecordedOutcome) =>
  [status, revert ?? null, blobOf(hash), blockNumber, blobOf(blockHash)] as const
