import type { Address, Hex } from '../core/action.js'
import { crash } from '../core/crash-point.js'
import { assert } from '../core/assert.js'
import type { FeeCaps } from './raise-fees.js'
import { requestOf } from './sign-transaction.js'
import type { TransactionRequest, TransactionSigner } from './sign-transaction.js'
import type { Attempt, Intent, OpenTransaction, TransactionJournal } from './transaction-journal.js'

/** What a transaction may use and bid at most, gas and wei. */
export interface TransactionFees extends FeeCaps {
  readonly gasLimit: bigint
}

/** One call that carries out all of its intents, and what it may cost. */
export interface IntendedCall {
  /** Fixed from here on; by position. */
  readonly intents: readonly Intent[]
  readonly to: Address
  readonly data: Hex
  /** Wei that go with the call; nothing unless told. */
  readonly value?: bigint
  readonly fees: TransactionFees
}

/** The nonces of one key. Only one may exist for a key. */
export interface NonceLane {
  readonly address: Address
  /** The nonce that the next call gets. */
  readonly next: () => number
  /**
   * Gives the call the next nonce, signs it and records the bytes, all in one step that does not yield: when it returns
   * the transaction may be broadcast, and when it throws the nonce is still free.
   */
  readonly take: (call: IntendedCall) => OpenTransaction
  /** Claims a nonce below the next that the journal lacks, for a recorded transaction that does nothing else. */
  readonly fill: (evmNonce: number, caps: FeeCaps) => OpenTransaction
  /** Signs an open transaction again with other caps, for the same nonce, and records the bytes. */
  readonly raise: (transaction: OpenTransaction, caps: FeeCaps) => Attempt
}

export interface NonceLaneOptions {
  readonly signer: TransactionSigner
  readonly journal: TransactionJournal
  /** How many transactions of the key the chain has mined; the lane never goes below it. */
  readonly minedNonces: number
}

/** Continues after the highest nonce that the journal ever claimed, whether or not it reached the chain. */
export function openNonceLane({ signer, journal, minedNonces }: NonceLaneOptions): NonceLane {
  let next = Math.max(journal.nextNonce(signer.address), minedNonces)
  return {
    address: signer.address,
    next: () => next,
    take: ({ intents, to, data, value = 0n, fees }) => {
      const attempts = [signAttempt(signer, { to, data, value, evmNonce: next, ...fees })]
      const intentIds = intents.map(({ intentId }) => intentId)
      const transaction = { from: signer.address, evmNonce: next, intentIds, attempts }
      const fingerprints = intents.map(({ fingerprint }) => fingerprint)
      crash('lane.after_sign_before_commit')
      journal.recordSigned(transaction, fingerprints)
      next += 1
      return transaction
    },
    fill(evmNonce, caps) {
      assert(evmNonce < next, `nonce ${evmNonce} is not below ${next}`)
      const call = { to: signer.address, data: '0x', gasLimit: TRANSFER_GAS, evmNonce } as const
      const attempts = [signAttempt(signer, { ...call, ...caps })]
      const transaction = { from: signer.address, evmNonce, intentIds: [], attempts }
      journal.recordSigned(transaction, [])
      return transaction
    },
    raise({ from, evmNonce, attempts }, caps) {
      const newest = attempts.at(-1)
      assert(newest !== undefined, `nothing was signed for nonce ${evmNonce}`)
      const attempt = signAttempt(signer, { ...requestOf(newest.raw), ...caps })
      crash('lane.before_bump_commit')
      journal.recordAttempt(from, evmNonce, attempt)
      return attempt
    },
  }
}

/** What a transfer of nothing to oneself uses. */
const TRANSFER_GAS = 21_000n

/** The request's bytes, as the journal keeps them. */
function signAttempt(signer: TransactionSigner, request: TransactionRequest): Attempt {
  const { gasLimit, maxFeePerGas } = request
  return { ...signer.sign(request), gasLimit, maxFeePerGas }
}
