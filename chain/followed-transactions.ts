import { NO_DOUBT } from './follow-transaction.js'
import type { Doubt } from './follow-transaction.js'
import type {
  Attempt,
  Inclusion,
  OpenTransaction,
  UnsettledTransaction,
} from './transaction-journal.js'

/** A transaction that the chain may still lose, or has not mined, and what this process did about it. */
export interface Followed {
  transaction: OpenTransaction
  /** Where the journal has it; undefined while it is open. */
  mined: Inclusion | undefined
  /** A stranger's transaction that was found at its nonce. */
  consumer: Inclusion | undefined
  doubt: Doubt
  /** Of the process's monotonic clock; undefined before the first broadcast. */
  sentAtMs: number | undefined
  /** Since when the newest attempt is out, by the clock and by the newest block. */
  outSince: { readonly ms: number; readonly head: bigint } | undefined
  /** A node said that it has the transaction. */
  taken: boolean
  /** Its fees are as high as they get; that was told. */
  exhausted: boolean
  /** Its nonce is used by nobody knows what; that was told. */
  unexplained: boolean
}

/** The transactions of one key that are not final, by nonce in ascending order. Bounded by whoever adds. */
export interface FollowedTransactions {
  add(unsettled: UnsettledTransaction): Followed
  /** Follows these and no others, keeping what is known of those that stay. */
  replace(unsettled: readonly UnsettledTransaction[]): void
  remove(evmNonce: number): void
  /** Has it sent with the attempt as soon as may be. */
  addAttempt(evmNonce: number, attempt: Attempt): void
  /** Has it sent as soon as may be. */
  markUnsent(evmNonce: number): void
  has(evmNonce: number): boolean
  all(): Followed[]
  find(intentId: string): Followed | undefined
  /** How many are not mined. */
  openCount(): number
  /** Gas money that those may still claim, in wei. */
  reservedWei(): bigint
}

const UNSENT = { sentAtMs: undefined, outSince: undefined, taken: false }

export function createFollowedTransactions(): FollowedTransactions {
  const byNonce = new Map<number, Followed>()
  const nonceOf = new Map<string, number>()
  const all = (): Followed[] =>
    [...byNonce.values()].sort((a, b) => a.transaction.evmNonce - b.transaction.evmNonce)
  const open = (): Followed[] => [...byNonce.values()].filter(isOpen)

  function add({ transaction, mined }: UnsettledTransaction): Followed {
    const told = { exhausted: false, unexplained: false }
    const nothingKnown = { consumer: undefined, doubt: NO_DOUBT, ...told }
    const followed: Followed = { transaction, mined, ...nothingKnown, ...UNSENT }
    byNonce.set(transaction.evmNonce, followed)
    for (const intentId of transaction.intentIds) nonceOf.set(intentId, transaction.evmNonce)
    return followed
  }

  function remove(evmNonce: number): void {
    const followed = byNonce.get(evmNonce)
    byNonce.delete(evmNonce)
    for (const intentId of followed?.transaction.intentIds ?? []) {
      // One that was displaced may have come under another nonce since.
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

export const isOpen = ({ mined }: Followed): boolean => mined === undefined

/** Every attempt has the same nonce, so only the dearest can be paid; in wei. */
export function highestCost({ attempts }: OpenTransaction): bigint {
  const costs = attempts.map(({ gasLimit, maxFeePerGas }) => gasLimit * maxFeePerGas)
  return costs.reduce((highest, cost) => (cost > highest ? cost : highest), 0n)
}
