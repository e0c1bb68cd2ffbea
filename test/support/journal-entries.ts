import type { Address, Hex } from '../../core/action.js'
import type { IntentOutcome, TransactionJournal } from '../../core/transaction-journal.js'

/** Entries of a journal, for tests that compare its file with its stream. */

export const SENDER: Address = `0x${'ab'.repeat(20)}`
const FINGERPRINT: Hex = `0x${'f1'.repeat(32)}`
const SUCCESS: IntentOutcome = { status: 'success' }
const REVERTED: IntentOutcome = { status: 'reverted', revert: 'TM_FeeTooHigh' }

export const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

const attemptOf = (n: number) => ({
  hash: hashOf(n),
  raw: `0x02f8${n.toString(16).padStart(8, '0')}` as const,
  gasLimit: 21_000n,
  maxFeePerGas: 7n,
})

export const blockOf = (n: number, block: number) => ({
  hash: hashOf(n + 100),
  blockNumber: BigInt(block),
  blockHash: hashOf(block),
})

export function sign(journal: TransactionJournal, evmNonce: number, ...intentIds: string[]): void {
  const attempts = [attemptOf(evmNonce + 100)]
  const transaction = { from: SENDER, evmNonce, intentIds, attempts }
  journal.recordSigned(
    transaction,
    intentIds.map(() => FINGERPRINT),
  )
}

function mine(journal: TransactionJournal, evmNonce: number, ...outcomes: IntentOutcome[]): void {
  journal.recordMined(SENDER, evmNonce, { ...blockOf(evmNonce, 12), outcomes })
}

/** Every kind of entry, two reversals among them. */
export function fill(journal: TransactionJournal): void {
  sign(journal, 4, 'm:1', 'm:2')
  sign(journal, 5, 'm:3')
  journal.recordAttempt(SENDER, 5, attemptOf(900))
  journal.recordRefusal('m:4', FINGERPRINT, 'BM_Nonce')
  mine(journal, 4, SUCCESS, REVERTED)
  journal.recordFinal(SENDER, [4])
  mine(journal, 5, SUCCESS)
  journal.reopen(SENDER, [5])
  mine(journal, 5, REVERTED)
  sign(journal, 6, 'm:5')
  mine(journal, 6, SUCCESS)
  journal.reopen(SENDER, [6])
  journal.recordDisplaced(SENDER, 6, { ...blockOf(7, 13) })
  sign(journal, 7, 'm:5')
}
