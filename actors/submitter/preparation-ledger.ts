import { ChainUnreachable } from '../../chain/chain-unreachable.js'
import type { FollowDeps } from './follow.js'
import { accountFor } from './follow.js'

/** Books what mined preparations cost; a transfer's own transaction is booked with its record. */
export interface PreparationLedger {
  /** The preparation was mined, or otherwise changed. */
  add(intentId: string): void
  /** Books what was added and is mined. What the chain does not answer about is tried again at the next call. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export function createPreparationLedger(
  deps: Pick<FollowDeps, 'client' | 'matching' | 'gas' | 'transactions'>,
): PreparationLedger {
  /** Bounded by the transactions that are open. */
  const added = new Set<string>()
  let settling: Promise<void> | undefined

  async function settleAll(): Promise<void> {
    for (const intentId of [...added]) {
      const state = deps.transactions.stateOf(intentId)
      const receipt =
        state?.kind === 'mined' ? await accountFor(deps, state.transaction.hash) : undefined
      if (receipt !== undefined || state?.kind !== 'mined') added.delete(intentId)
    }
  }

  return {
    add: (intentId) => void added.add(intentId),
    settle() {
      settling ??= settleAll()
        .catch((error: unknown) => {
          if (!(error instanceof ChainUnreachable)) throw error
        })
        .finally(() => (settling = undefined))
      return settling
    },
    stop: async () => {
      await settling
    },
  }
}
