import type { OpenTransaction } from './transaction-journal.js'

/** An open transaction and what has been done about it since this process follows it. */
export interface Followed {
  readonly transaction: OpenTransaction
  /** Of the process's monotonic clock; undefined before the first broadcast. */
  sentAtMs?: number
  /** A node said that it has the transaction. */
  taken: boolean
  /** Receipts asked for in vain although the chain had used the nonce. */
  vainLooks: number
}

/** The open transactions of one key, by nonce in ascending order. Bounded by whoever adds. */
export interface OpenTransactions {
  add(transaction: OpenTransaction): Followed
  /** Follows these and no others, keeping what is known of those that stay. */
  replace(transactions: readonly OpenTransaction[]): void
  remove(evmNonce: number): void
  has(evmNonce: number): boolean
  /** Those whose nonce the chain has used, given how many it has used. */
  below(count: number): Followed[]
  /** Those whose nonce the chain has not used. */
  from(count: number): Followed[]
  find(intentId: string): Followed | undefined
  size(): number
  /** Gas money that they may still claim, in wei. */
  reservedWei(): bigint
}

export function createOpenTransactions(): OpenTransactions {
  let byNonce = new Map<number, Followed>()
  const all = (): Followed[] => [...byNonce.values()]

  function add(transaction: OpenTransaction): Followed {
    const followed: Followed = { transaction, taken: false, vainLooks: 0 }
    byNonce.set(transaction.evmNonce, followed)
    return followed
  }

  return {
    add,
    replace(transactions) {
      const before = byNonce
      byNonce = new Map()
      for (const transaction of transactions) {
        const known = before.get(transaction.evmNonce)
        if (known === undefined) add(transaction)
        else byNonce.set(transaction.evmNonce, known)
      }
    },
    remove: (evmNonce) => byNonce.delete(evmNonce),
    has: (evmNonce) => byNonce.has(evmNonce),
    below: (count) => all().filter((f) => f.transaction.evmNonce < count),
    from: (count) => all().filter((f) => f.transaction.evmNonce >= count),
    find: (intentId) => all().find((f) => f.transaction.intentIds.includes(intentId)),
    size: () => byNonce.size,
    reservedWei: () => all().reduce((sum, f) => sum + highestCost(f.transaction), 0n),
  }
}

/** Every attempt has the same nonce, so only the dearest can be paid. */
function highestCost({ attempts }: OpenTransaction): bigint {
  const costs = attempts.map(({ gasLimit, maxFeePerGas }) => gasLimit * maxFeePerGas)
  return costs.reduce((highest, cost) => (cost > highest ? cost : highest), 0n)
}
