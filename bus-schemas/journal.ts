import type { Hex } from '../core/action.js'
import type {
  Attempt,
  Inclusion,
  Intent,
  IntentOutcome,
  JournalEntry,
  JournalMessage,
  MiningResult,
} from '../core/transaction-journal.js'
import {
  address,
  hash,
  malformed,
  position,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { list, mapped, optional, struct, union } from '../core/wire/compound.js'
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

const entry = union<JournalEntry>({
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
})

/** One message of a journal's stream. */
export const {
  version: JOURNAL_VERSION,
  encode: encodeJournal,
  decode: decodeJournal,
} = message(
  'journal',
  since(
    WIRE_VERSION,
    struct<JournalMessage>({ term: position, writer: text, entries: list(entry) }),
  ),
)
