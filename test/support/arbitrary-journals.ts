import fc from 'fast-check'
import type {
  Attempt,
  Inclusion,
  Intent,
  IntentOutcome,
  JournalEntry,
  JournalMessage,
} from '../../core/transaction-journal.js'
import type { Hex } from '../../core/action.js'
import { anyHash, anyText } from './arbitraries.js'

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const anyBytes = fc.uint8Array().map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
const anyWei = fc.bigInt({ min: 0n, max: 1n << 64n })
const ofTransaction = { from: anyAddress, evmNonce: fc.nat() }
const atTime = { atMs: fc.nat() }

const anyIntent: fc.Arbitrary<Intent> = fc.record({ intentId: anyText, fingerprint: anyHash })
const anyAttempt: fc.Arbitrary<Attempt> = fc.record({
  ...{ hash: anyHash, raw: anyBytes, gasLimit: anyWei, maxFeePerGas: anyWei },
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
    ...{ ...kind('refused'), intentId: anyText, fingerprint: anyHash, revert: anyText, ...atTime },
  }),
  fc.record({
    ...{ ...kind('signed'), ...ofTransaction, intents: fc.array(anyIntent), attempt: anyAttempt },
    ...atTime,
  }),
  fc.record({ ...kind('attempt'), ...ofTransaction, attempt: anyAttempt, ...atTime }),
  fc.record({
    ...{ ...kind('mined'), ...ofTransaction, ...atTime },
    result: fc.record({ ...inclusion, outcomes: fc.array(anyOutcome) }),
  }),
  fc.record({ ...kind('final'), ...nonces }),
  fc.record({ ...kind('displaced'), ...ofTransaction, by: anyInclusion, ...atTime }),
  fc.record({ ...kind('reopened'), ...nonces }),
  fc.record({ ...kind('foreign'), ...ofTransaction, by: anyInclusion }),
)

export const anyJournalMessage: fc.Arbitrary<JournalMessage> = fc.record({
  ...{ term: fc.nat().map((n) => n + 1), writer: anyText, entries: fc.array(anyEntry) },
})
