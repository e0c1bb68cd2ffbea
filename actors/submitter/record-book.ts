import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { TransferRecord } from '../../core/transfer.js'
import type { StepDetails, StoredTransfer, TransferStore } from '../../data/transfer-store.js'

/** What a step changes of a record; undefined takes the field away. */
export type RecordChange = {
  readonly [Field in Exclude<keyof TransferRecord, 'updatedAtMs'>]?:
    TransferRecord[Field] | undefined
}

/** The submitter's records, with those who wait for one to settle. */
export interface RecordBook {
  find(actionHash: Hex): TransferRecord | undefined
  /** The block of the receipt that the record tells of. */
  blockHashOf(actionHash: Hex): Hex | undefined
  /** As the store's claim. */
  claim(record: TransferRecord, request: string): boolean
  /** Changes a record that was claimed, and answers it as it is then. */
  change(actionHash: Hex, change: RecordChange, details?: StepDetails): TransferRecord
  /** The record once it is confirmed, reverted or rejected, or as it stands when the time is over. */
  settled(actionHash: Hex, withinMs: number): Promise<TransferRecord>
  /** Ends every wait, with the record as it stands. */
  wakeAll(): void
}

export interface RecordBookDeps {
  readonly store: TransferStore
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Told of every step, once it is on disk. */
  readonly onStep: (record: TransferRecord) => void
}

export const isSettled = ({ status }: TransferRecord): boolean =>
  status === 'confirmed' || status === 'reverted' || status === 'rejected'

export function createRecordBook({ store, nowMs, onStep }: RecordBookDeps): RecordBook {
  /** Bounded by the requests that are open. */
  const waiting = new Map<Hex, Set<() => void>>()

  function found(actionHash: Hex): StoredTransfer {
    const stored = store.find(actionHash)
    assert(stored !== undefined, `${actionHash} was never claimed`)
    return stored
  }

  function stepped(record: TransferRecord): void {
    onStep(record)
    if (isSettled(record)) for (const wake of [...(waiting.get(record.actionHash) ?? [])]) wake()
  }

  return {
    find: (actionHash) => store.find(actionHash)?.record,
    blockHashOf: (actionHash) => store.find(actionHash)?.blockHash,
    claim(record, request) {
      if (!store.claim(record, request)) return false
      stepped(record)
      return true
    },
    change(actionHash, change, details = {}) {
      const { record: before, blockHash } = found(actionHash)
      const changed = withoutAbsent({ ...before, ...change })
      if (sameFields(before, changed) && details.blockHash === blockHash) return before
      const record = { ...changed, updatedAtMs: Math.max(nowMs(), before.updatedAtMs) }
      store.update(record, details)
      stepped(record)
      return record
    },
    settled(actionHash, withinMs) {
      const { record } = found(actionHash)
      if (isSettled(record)) return Promise.resolve(record)
      return new Promise((resolve) => {
        const wakes = waiting.get(actionHash) ?? new Set()
        const wake = (): void => {
          clearTimeout(timer)
          wakes.delete(wake)
          if (wakes.size === 0) waiting.delete(actionHash)
          resolve(found(actionHash).record)
        }
        const timer = setTimeout(wake, withinMs)
        waiting.set(actionHash, wakes.add(wake))
      })
    },
    wakeAll() {
      for (const wakes of [...waiting.values()]) for (const wake of [...wakes]) wake()
    },
  }
}

/** The record without the fields that are undefined, which its type does not know. */
function withoutAbsent(record: object): TransferRecord {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as unknown as TransferRecord
}

const sameFields = (one: TransferRecord, other: TransferRecord): boolean => {
  const keys = Object.keys({ ...one, ...other }) as (keyof TransferRecord)[]
  return keys.every((key) => one[key] === other[key])
}
