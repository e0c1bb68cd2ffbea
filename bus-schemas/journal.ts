import type { Hex } from '../core/action.js'
import type {
  Attempt,
  Inclusion,
  Intent,
  IntentOutcome,
  JournalEntry,
  JournalMessage,
  MiningResult,
  RecordedOutcome,
  SnapshotDecline,
  SnapshotPart,
  SnapshotRow,
  StreamPlace,
} from '../core/transaction-journal.js'
import {
  address,
  flag,
  hash,
  malformed,
  oneOf,
  position,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { list, mapped, optional, struct, union, type Variants } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'
import { transferForm } from './transfers.js'

/** Bytes in base64: two thirds of what hex takes. */
const bytes: Codec<Hex> = mapped<Hex, string>(
  text,
  (raw) => Buffer.from(raw.slice(2), 'hex').toString('base64'),
  (form) => {
    const read = Buffer.from(form, 'base64')
    return read.toString('base64') === form
      ? `0x${read.toString('hex')}`
      : malformed('raw', 'base64')
  },
)

const intent = struct<Intent>({ intentId: text, fingerprint: hash })

const attempt = struct<Attempt>({ hash, raw: bytes, gasLimit: uint, maxFeePerGas: uint })

const inclusionFields = { hash, blockNumber: uint, blockHash: hash } as const
const inclusion = struct<Inclusion>(inclusionFields)

/** `null` is a success, a text the name of the revert. */
const outcome: Codec<IntentOutcome> = {
  write: (value) => (value.status === 'success' ? 'null' : text.write(value.revert)),
  read: (json, field) =>
    json === null ? { status: 'success' } : { status: 'reverted', revert: text.read(json, field) },
}

const result = struct<MiningResult>({ ...inclusionFields, outcomes: list(outcome) })

const ofTransaction = { from: address, evmNonce: whole } as const

/** Of version 10. */
type EarlyEntry = Exclude<JournalEntry, { readonly kind: 'trimmed' | 'emptied' }>
interface EarlyMessage extends Omit<JournalMessage, 'entries' | 'snapshot'> {
  readonly entries: readonly EarlyEntry[]
}

const earlyEntries: Variants<EarlyEntry> = {
  refused: { intentId: text, fingerprint: hash, revert: text, atMs: whole },
  signed: { ...ofTransaction, intents: list(intent), attempt, atMs: whole },
  attempt: { ...ofTransaction, attempt, atMs: whole },
  mined: { ...ofTransaction, result, atMs: whole },
  final: { from: address, evmNonces: list(whole, 1) },
  displaced: { ...ofTransaction, by: inclusion, atMs: whole },
  foreign: { ...ofTransaction, by: inclusion },
  reopened: { from: address, evmNonces: list(whole, 1) },
  claimed: { record: transferForm, request: text },
  declined: { actionHash: hash, error: text, revert: optional(text), atMs: whole },
}

const entry = union<JournalEntry>({
  ...earlyEntries,
  trimmed: { from: address, evmNonces: list(whole, 1) },
  emptied: { actionHashes: list(hash, 1) },
})

const status = oneOf<'success' | 'reverted' | 'displaced'>({
  success: true,
  reverted: true,
  displaced: true,
})
const recorded = struct<RecordedOutcome>({ status, revert: optional(text), ...inclusionFields })

const row = union<SnapshotRow>({
  intent: {
    no: position,
    intentId: text,
    fingerprint: hash,
    refusedRevert: optional(text),
    atMs: whole,
  },
  transaction: {
    ...ofTransaction,
    status: oneOf<'open' | 'mined' | 'displaced'>({ open: true, mined: true, displaced: true }),
    by: optional(inclusion),
    isFinal: flag,
  },
  carried: {
    ...ofTransaction,
    place: whole,
    intentId: text,
    outcome: optional(oneOf<'success' | 'reverted'>({ success: true, reverted: true })),
    revert: optional(text),
    isDisplaced: flag,
  },
  attempt: { ...ofTransaction, no: position, attempt, atMs: whole },
  reversal: { no: position, intentId: text, before: recorded, now: recorded, atMs: whole },
  claim: {
    no: position,
    record: transferForm,
    request: text,
    declined: optional(
      struct<SnapshotDecline>({ error: text, revert: optional(text), atMs: whole }),
    ),
  },
})

const place = struct<StreamPlace>({ lastSeq: position, term: position, writer: text })

const snapshot = struct<SnapshotPart>({ place, no: position, isLast: flag, rows: list(row) })

/** Bytes that a row adds to a message. */
export const snapshotRowBytes = (each: SnapshotRow): number =>
  Buffer.byteLength(row.write(each, 'row')) + 1

const early = struct<EarlyMessage>({
  term: position,
  writer: text,
  entries: list(union(earlyEntries)),
})

/** One message of a journal's stream. Since version 11 what is final is trimmed, behind a snapshot. */
export const {
  version: JOURNAL_VERSION,
  encode: encodeJournal,
  decode: decodeJournal,
} = message<JournalMessage>(
  'journal',
  since(WIRE_VERSION, early).next(
    struct<JournalMessage>({
      term: position,
      writer: text,
      entries: list(entry),
      snapshot: optional(snapshot),
    }),
    (older) => older,
  ),
)
