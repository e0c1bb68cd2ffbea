import type { Address, Hex } from '../core/action.js'
import type { TransactionRequest, TransactionSigner } from './sign-transaction.js'
import type { OpenTransaction, TransactionJournal } from './transaction-journal.js'

/** A call somebody wants made once, and what it may cost. */
export interface IntendedCall extends Omit<TransactionRequest, 'evmNonce'> {
  readonly intentId: string
  /** keccak-256 of the call. */
  readonly fingerprint: Hex
}

/** The nonces of one key. Only one lane may exist for a key. */
export interface NonceLane {
  readonly address: Address
  /**
   * Gives the call the next nonce, signs it and records the bytes, all in one step that does not yield: when it returns
   * the transaction may be broadcast, and when it throws the nonce is still free.
   */
  readonly take: (call: IntendedCall) => OpenTransaction
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
    take: ({ intentId, fingerprint, ...call }) => {
      const { hash, raw } = signer.sign({ ...call, evmNonce: next })
      const { gasLimit, maxFeePerGas } = call
      const attempts = [{ hash, raw, gasLimit, maxFeePerGas }]
      const transaction = { intentId, from: signer.address, evmNonce: next, attempts }
      journal.recordSigned(transaction, fingerprint)
      next += 1
      return transaction
    },
  }
}
