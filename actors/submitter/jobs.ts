import type { Hex } from '../../core/action.js'
import { readTransferBody } from '../../core/read-transfer-body.js'
import type { TransferStore } from '../../data/transfer-store.js'
import { carryOut } from './carry-out.js'
import type { CarriedOut, CarryOutDeps } from './carry-out.js'
import { intentOf } from './transactions.js'
import type { SignedTransfer } from './transfer-rules.js'

export interface JobsDeps<Transfer extends SignedTransfer> extends CarryOutDeps<Transfer> {
  readonly store: Pick<TransferStore, 'find'>
  readonly onFatal: (error: unknown) => void
}

/** The transfers that are being taken to their transactions now, each once. Bounded by the owners with one in progress. */
export interface Jobs<Transfer> {
  /** Begins, or joins what is under way for the action; never rejects unless the process is about to end. */
  carryOut(actionHash: Hex, transfer: Transfer): Promise<CarriedOut>
  /** The same from the stored request, for a pending record that a crash or a stranger's transaction interrupted. */
  readonly resume: (actionHash: Hex) => void
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>
}

export function createJobs<Transfer extends SignedTransfer>(
  deps: JobsDeps<Transfer>,
): Jobs<Transfer> {
  const { rules, records, store, transactions, nowMs, onFatal } = deps
  const running = new Map<Hex, Promise<CarriedOut>>()

  function begin(actionHash: Hex, transfer: Transfer): Promise<CarriedOut> {
    const same = running.get(actionHash)
    if (same !== undefined) return same
    const job = carryOut(deps, actionHash, transfer).finally(() => running.delete(actionHash))
    running.set(actionHash, job)
    job.catch(onFatal)
    return job
  }

  return {
    carryOut: begin,
    resume(actionHash) {
      const stored = store.find(actionHash)
      if (stored?.record.status !== 'pending') return
      const sent = transactions.stateOf(intentOf(rules.kind, actionHash))?.kind
      // Signed, it is out of our hands, whatever the time says by now.
      if (sent === 'open' || sent === 'mined') return
      const body = readTransferBody(rules.kind, JSON.parse(stored.request))
      const transfer = 'refusal' in body ? body : rules.validate(body, nowMs())
      if ('refusal' in transfer) {
        // It has expired meanwhile, and nothing was sent for it.
        records.change(actionHash, { status: 'rejected', error: transfer.refusal.message })
      } else {
        void begin(actionHash, transfer)
      }
    },
    idle: async () => {
      await Promise.allSettled(running.values())
    },
  }
}
