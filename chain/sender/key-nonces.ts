import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import { type TransactionSigner, requestOf, type TransactionRequest } from '../signing/keys.js'
import { NO_DOUBT, type Doubt } from './follow-transaction.js'
import type { FeeCaps } from './gas.js'
import type {
  OpenTransaction,
  TransactionJournal,
  Attempt,
  Intent,
  Inclusion,
  UnsettledTransaction,
} from '../../core/transaction-journal.js'

/** The gas limit of a transaction, and its highest fees in wei. */
export interface TransactionFees extends FeeCaps {
  readonly gasLimit: bigint
}

/** One call that carries out all of its intents, and its fees. */
export interface IntendedCall {
  /** By position; never changed afterwards. */
  readonly intents: readonly Intent[]
  readonly to: Address
  readonly data: Hex
  /** Wei sent with the call; 0 by default. */
  readonly value?: bigint
  readonly fees: TransactionFees
}

/** The nonces of one key. Only one may exist for a key. */
export interface KeyNonces {
  readonly address: Address
  /** The nonce that the next call gets. */
  readonly next: () => number
  /**
   * Signs the call with the next nonce and journals the bytes, without yielding. When this returns, the transaction may
   * be broadcast; when it throws, the nonce is still free.
   */
  readonly take: (call: IntendedCall) => OpenTransaction
  /** The chain has used the nonce, which the journal has as foreign: later calls go on after it. */
  readonly skip: (evmNonce: number) => void
  /** Fills a gap: journals an empty transaction for a nonce below the next that the journal lacks. */
  readonly fill: (evmNonce: number, caps: FeeCaps) => OpenTransaction
  /** Signs an open transaction again with other fees and the same nonce, and journals the bytes. */
  readonly raise: (transaction: OpenTransaction, caps: FeeCaps) => Attempt
}

export interface KeyNoncesOptions {
  readonly signer: TransactionSigner
  readonly journal: TransactionJournal
  /** How many transactions of the key the chain has mined; no lower nonce is used. */
  readonly minedNonces: number
}

/** Continues after the highest nonce in the journal, whether or not that transaction reached the chain. */
export function openKeyNonces({ signer, journal, minedNonces }: KeyNoncesOptions): KeyNonces {
  let next = Math.max(journal.nextNonce(signer.address), minedNonces)
  return {
    address: signer.address,
    next: () => next,
    take: ({ intents, to, data, value = 0n, fees }) => {
      const attempts = [signAttempt(signer, { to, data, value, evmNonce: next, ...fees })]
      const intentIds = intents.map(({ intentId }) => intentId)
      const transaction = { from: signer.address, evmNonce: next, intentIds, attempts }
      const fingerprints = intents.map(({ fingerprint }) => fingerprint)
      crash('sender.after_sign_before_record')
      journal.recordSigned(transaction, fingerprints)
      next += 1
      return transaction
    },
    skip: (evmNonce) => void (next = Math.max(next, evmNonce + 1)),
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
      crash('sender.before_bump_record')
      journal.recordAttempt(from, evmNonce, attempt)
      return attempt
    },
  }
}

/** The gas of an empty transfer to oneself. */
const TRANSFER_GAS = 21_000n

/** The request's bytes, as the journal keeps them. */
function signAttempt(signer: TransactionSigner, request: TransactionRequest): Attempt {
  const { gasLimit, maxFeePerGas } = request
  return { ...signer.sign(request), gasLimit, maxFeePerGas }
}

/** A transaction that is not final, and what this process did about it. */
export interface FollowedTransaction {
  transaction: OpenTransaction
  /** The block that the journal has it in; undefined while it is open. */
  mined: Inclusion | undefined
  /** A foreign transaction found at its nonce. */
  consumer: Inclusion | undefined
  doubt: Doubt
  /** Milliseconds of the monotonic clock; undefined before the first broadcast. */
  sentAtMs: number | undefined
  /** When the newest attempt was first broadcast, by the clock and by the newest block. */
  outSince: { readonly ms: number; readonly head: bigint } | undefined
  /** Whether a node accepted the transaction. */
  taken: boolean
  /** Whether it was reported that its fees cannot be raised further. */
  exhausted: boolean
  /** Whether it was reported that an unknown transaction used its nonce. */
  unexplained: boolean
}

/** The transactions of one key that are not final, by ascending nonce. The sender bounds their number. */
export interface FollowedTransactions {
  add(unsettled: UnsettledTransaction): FollowedTransaction
  /** Follows exactly these, and keeps what is known of those followed before. */
  replace(unsettled: readonly UnsettledTransaction[]): void
  remove(evmNonce: number): void
  /** Adds a signed form, to be broadcast by the next poll. */
  addAttempt(evmNonce: number, attempt: Attempt): void
  /** Has it broadcast again by the next poll. */
  markUnsent(evmNonce: number): void
  has(evmNonce: number): boolean
  all(): FollowedTransaction[]
  find(intentId: string): FollowedTransaction | undefined
  /** The number of transactions that are not mined. */
  openCount(): number
  /** The most that these may still cost, in wei. */
  reservedWei(): bigint
}

const UNSENT = { sentAtMs: undefined, outSince: undefined, taken: false }

export function createFollowedTransactions(): FollowedTransactions {
  const byNonce = new Map<number, FollowedTransaction>()
  const nonceOf = new Map<string, number>()
  const all = (): FollowedTransaction[] =>
    [...byNonce.values()].sort((a, b) => a.transaction.evmNonce - b.transaction.evmNonce)
  const open = (): FollowedTransaction[] => [...byNonce.values()].filter(isOpen)

  function add({ transaction, mined }: UnsettledTransaction): FollowedTransaction {
    const reported = { exhausted: false, unexplained: false }
    const nothingKnown = { consumer: undefined, doubt: NO_DOUBT, ...reported }
    const followed: FollowedTransaction = { transaction, mined, ...nothingKnown, ...UNSENT }
    byNonce.set(transaction.evmNonce, followed)
    for (const intentId of transaction.intentIds) nonceOf.set(intentId, transaction.evmNonce)
    return followed
  }

  function remove(evmNonce: number): void {
    const followed = byNonce.get(evmNonce)
    byNonce.delete(evmNonce)
    for (const intentId of followed?.transaction.intentIds ?? []) {
      // A displaced intent may have another nonce by now.
      if (nonceOf.get(intentId) === evmNonce) nonceOf.delete(intentId)
    }
  }

  return {
    add,
    replace(unsettled) {
      const before = new Map(byNonce)
      byNonce.clear()
      nonceOf.clear()
      for (const one of unsettled) {
        const known = before.get(one.transaction.evmNonce)
        add(one)
        if (known === undefined) continue
        byNonce.set(one.transaction.evmNonce, Object.assign(known, { mined: one.mined }))
      }
    },
    remove,
    addAttempt(evmNonce, attempt) {
      const followed = byNonce.get(evmNonce)
      if (followed === undefined) return
      const { transaction } = followed
      const attempts = [...transaction.attempts, attempt]
      Object.assign(followed, { transaction: { ...transaction, attempts }, ...UNSENT })
    },
    markUnsent(evmNonce) {
      Object.assign(byNonce.get(evmNonce) ?? {}, UNSENT)
    },
    has: (evmNonce) => byNonce.has(evmNonce),
    all,
    find: (intentId) => {
      const evmNonce = nonceOf.get(intentId)
      return evmNonce === undefined ? undefined : byNonce.get(evmNonce)
    },
    openCount: () => open().length,
    reservedWei: () => open().reduce((sum, f) => sum + highestCost(f.transaction), 0n),
  }
}

export const isOpen = ({ mined }: FollowedTransaction): boolean => mined === undefined

/** The cost of the most expensive attempt, in wei. Only one of them can be mined, because all have the same nonce. */
export function highestCost({ attempts }: OpenTransaction): bigint {
  const costs = attempts.map(({ gasLimit, maxFeePerGas }) => gasLimit * maxFeePerGas)
  return costs.reduce((highest, cost) => (cost > highest ? cost : highest), 0n)
}
