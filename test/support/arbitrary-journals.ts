import fc from 'fast-check'
import type {
  Attempt,
  Inclusion,
  Intent,
  IntentOutcome,
  JournalEntry,
  JournalMessage,
  RecordedOutcome,
  SnapshotPart,
  SnapshotRow,
} from '../../core/transaction-journal.js'
import type { Hex } from '../../core/action.js'
import { anyHash, anyText } from './arbitraries.js'
import { anyTransfer } from './arbitrary-transfers.js'

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const anyBytes = fc.uint8Array().map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const anyWei = fc.bigInt({ min: 0n, max: 1n << 64n })
const ofTransaction = { from: anyAddress, evmNonce: fc.nat() }
const atTime = { atMs: fc.nat() }

const anyIntent: fc.Arbitrary<Intent> = fc.record({ intentId: anyText, fingerprint: anyHash })
const anyAttempt: fc.Arbitrary<Attempt> = fc.record({
  hash: anyHash,
  raw: anyBytes,
  gasLimit: anyWei,
  maxFeePerGas: anyWei,
})
const inclusion = { hash: anyHash, blockNumber: anyWei, blockHash: anyHash }
const anyInclusion: fc.Arbitrary<Inclusion> = fc.record(inclusion)
const anyOutcome: fc.Arbitrary<IntentOutcome> = fc.oneof(
  fc.constant<IntentOutcome>({ status: 'success' }),
  fc.record({ status: fc.constant('reverted' as const), revert: anyText }),
)
const nonces = { from: anyAddress, evmNonces: fc.array(fc.nat(), { minLength: 1 }) }
const kind = <Kind extends string>(name: Kind) => ({ kind: fc.constant(name) })

const anyEntry: fc.Arbitrary<JournalEntry> = fc.oneof(
  fc.record({
    ...kind('refused'),
    intentId: anyText,
    fingerprint: anyHash,
    revert: anyText,
    ...atTime,
  }),
  fc.record({
    ...kind('signed'),
    ...ofTransaction,
    intents: fc.array(anyIntent),
    attempt: anyAttempt,
    ...atTime,
  }),
  fc.record({ ...kind('attempt'), ...ofTransaction, attempt: anyAttempt, ...atTime }),
  fc.record({
    ...kind('mined'),
    ...ofTransaction,
    ...atTime,
    result: fc.record({ ...inclusion, outcomes: fc.array(anyOutcome) }),
  }),
  fc.record({ ...kind('final'), ...nonces }),
  fc.record({ ...kind('displaced'), ...ofTransaction, by: anyInclusion, ...atTime }),
  fc.record({ ...kind('reopened'), ...nonces }),
  fc.record({ ...kind('foreign'), ...ofTransaction, by: anyInclusion }),
  fc.record({ ...kind('trimmed'), ...nonces }),
  fc.record({ ...kind('emptied'), actionHashes: fc.array(anyHash, { minLength: 1 }) }),
)

/** Fields that may be absent. */
const maybe = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] })
const both = <A, B>(one: fc.Arbitrary<A>, other: fc.Arbitrary<B>): fc.Arbitrary<A & B> =>
  fc.tuple(one, other).map(([a, b]) => ({ ...a, ...b }))
const anyNo = fc.nat().map((n) => n + 1)
const anyRecorded: fc.Arbitrary<RecordedOutcome> = both(
  fc.record({
    ...inclusion,
    status: fc.constantFrom('success' as const, 'reverted' as const, 'displaced' as const),
  }),
  maybe({ revert: anyText }),
)

const anyRow: fc.Arbitrary<SnapshotRow> = fc.oneof(
  both(
    fc.record({
      ...kind('intent'),
      no: anyNo,
      intentId: anyText,
      fingerprint: anyHash,
      ...atTime,
    }),
    maybe({ refusedRevert: anyText }),
  ),
  both(
    fc.record({
      ...kind('transaction'),
      ...ofTransaction,
      isFinal: fc.boolean(),
      status: fc.constantFrom('open' as const, 'mined' as const, 'displaced' as const),
    }),
    maybe({ by: anyInclusion }),
  ),
  both(
    fc.record({
      ...kind('carried'),
      ...ofTransaction,
      place: fc.nat(),
      intentId: anyText,
      isDisplaced: fc.boolean(),
    }),
    maybe({ outcome: fc.constantFrom('success' as const, 'reverted' as const), revert: anyText }),
  ),
  fc.record({ ...kind('attempt'), ...ofTransaction, no: anyNo, attempt: anyAttempt, ...atTime }),
  fc.record({
    ...kind('reversal'),
    no: anyNo,
    intentId: anyText,
    ...atTime,
    before: anyRecorded,
    now: anyRecorded,
  }),
  both(
    fc.record({ ...kind('claim'), no: anyNo, record: anyTransfer, request: anyText }),
    maybe({ declined: both(fc.record({ error: anyText, ...atTime }), maybe({ revert: anyText })) }),
  ),
)

const anySnapshot: fc.Arbitrary<SnapshotPart> = fc.record({
  place: fc.record({ lastSeq: anyNo, term: anyNo, writer: anyText }),
  no: anyNo,
  isLast: fc.boolean(),
  rows: fc.array(anyRow),
})

export const anyJournalMessage: fc.Arbitrary<JournalMessage> = both(
  fc.record({ term: anyNo, writer: anyText, entries: fc.array(anyEntry) }),
  maybe({ snapshot: anySnapshot }),
)
