import { setTimeout as delay } from 'node:timers/promises'
import { transfersStream, transferSubject } from '../../bus-schemas/subjects.js'
import { decodeTransferProgress, encodeTransferProgress } from '../../bus-schemas/transfers.js'
import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { TransferKind, TransferRecord } from '../../core/transfer.js'
import type {
  StepDetails,
  StoredTransfer,
  TransferStep,
  TransferStore,
} from '../../data/transfer-store.js'
import {
  AppendRefused,
  AppendUnknown,
  BusUnavailable,
  MessagesGone,
  StreamMissing,
  type Bus,
} from '../../runtime/bus/bus.js'

/** The fields that a step changes; undefined removes the field. */
export type RecordChange = {
  readonly [Field in Exclude<keyof TransferRecord, 'updatedAtMs'>]?:
    TransferRecord[Field] | undefined
}

/** The submitter's records, and the requests that wait for one to settle. */
export interface RecordBook {
  find(actionHash: Hex): TransferRecord | undefined
  /** The block of the receipt from which the record was settled. */
  blockHashOf(actionHash: Hex): Hex | undefined
  /** As `TransferStore.claim`. */
  claim(record: TransferRecord, request: string): boolean
  /** Changes a claimed record and returns it. */
  change(actionHash: Hex, change: RecordChange, details?: StepDetails): TransferRecord
  /** The record once it is confirmed, reverted or rejected, or its current state after `withinMs`. */
  settled(actionHash: Hex, withinMs: number): Promise<TransferRecord>
  /** Ends every wait with the current record. */
  wakeAll(): void
}

export interface RecordBookDeps {
  readonly store: TransferStore
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Called with every step once it is on disk. */
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

/** The record without undefined fields, which its type does not allow. */
function withoutAbsent(record: object): TransferRecord {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as Partial<TransferRecord> as TransferRecord
}

const sameFields = (one: TransferRecord, other: TransferRecord): boolean => {
  const keys = Object.keys({ ...one, ...other }) as (keyof TransferRecord)[]
  return keys.every((key) => one[key] === other[key])
}

const STEPS_PER_READ = 64
const RETRY_MS = 500

export interface StepPublisherDeps {
  readonly bus: Pick<Bus, 'append'>
  readonly store: Pick<TransferStore, 'outbox' | 'markPublished'>
  readonly onTrouble: (cause: unknown) => void
  /** The store failed; the process has to end. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Publishes the steps of records in the order in which they were written. A step may be on the stream twice in
 * succession: an append without an answer is repeated.
 */
export interface StepPublisher {
  /** Publishes what is in the outbox. */
  wake(): void
  /** Finishes the append in flight; the rest stays in the outbox. */
  stop(): Promise<void>
}

export function createStepPublisher(deps: StepPublisherDeps): StepPublisher {
  const { store, onFatal } = deps
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function drain(): Promise<void> {
    while (!stopping.signal.aborted) {
      const steps = store.outbox(STEPS_PER_READ)
      if (steps.length === 0) return
      for (const step of steps) {
        await publish(deps, step, stopping.signal)
        if (stopping.signal.aborted) return
        store.markPublished(step.no)
      }
    }
  }

  return {
    wake() {
      running ??= drain()
        .catch(onFatal)
        .finally(() => (running = undefined))
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

async function publish(
  { bus, onTrouble }: StepPublisherDeps,
  { no, record }: TransferStep,
  stopping: AbortSignal,
): Promise<void> {
  const { kind, actionHash } = record
  for (let tried = 1; ; tried += 1) {
    try {
      const messageId = `${kind}-${actionHash}-${no}`
      await bus.append(transferSubject(kind, actionHash), encodeTransferProgress(record), {
        messageId,
      })
      return
    } catch (error) {
      const passing =
        error instanceof AppendUnknown ||
        error instanceof AppendRefused ||
        error instanceof BusUnavailable
      if (!passing) throw error
      if (tried === 1) onTrouble(error)
    }
    await delay(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined)
    if (stopping.aborted) return
  }
}

/**
 * The records of the kind whose last step on the bus is `pending`, by their actions: claims of submitters on any disk, at
 * most STEPS_KEPT_MS old. Rejects with BusUnavailable.
 */
export async function readPendingSteps(
  bus: Pick<Bus, 'streamState' | 'read'>,
  kind: TransferKind,
): Promise<readonly TransferRecord[]> {
  const pending = new Map<Hex, TransferRecord>()
  const { firstSeq, lastSeq } = await bus.streamState(transfersStream)
  for (let next = firstSeq; next <= lastSeq;) {
    const steps = await bus.read(transfersStream, next, STEPS_PER_READ)
    for (const { data } of steps) {
      const record = decodeTransferProgress(data)
      if (record.kind !== kind) continue
      if (record.status === 'pending') pending.set(record.actionHash, record)
      else pending.delete(record.actionHash)
    }
    next = (steps.at(-1)?.seq ?? lastSeq) + 1
  }
  return [...pending.values()]
}

/** How long steps stay on the bus; the records themselves are kept for ever. */
export const STEPS_KEPT_MS = 7 * 86_400_000
/** Messages of one read while looking for the first one to keep. */
const TRIMMED_PER_READ = 256

/**
 * Deletes the steps of both kinds that are older than `olderThanMs` (unix milliseconds). Returns early, and leaves the
 * rest to the next call, when the bus does not answer or the other submitter trims at the same time.
 */
export async function trimSteps(
  bus: Pick<Bus, 'streamState' | 'read' | 'trim'>,
  olderThanMs: number,
): Promise<void> {
  try {
    const { firstSeq, lastSeq } = await bus.streamState(transfersStream)
    let kept = firstSeq
    while (kept <= lastSeq) {
      const steps = await bus.read(transfersStream, kept, TRIMMED_PER_READ)
      const young = steps.find(({ storedAtMs }) => storedAtMs >= olderThanMs)
      kept = young?.seq ?? kept + steps.length
      if (young !== undefined || steps.length === 0) break
    }
    if (kept > firstSeq) await bus.trim(transfersStream, kept)
  } catch (error) {
    if (!isPassing(error)) throw error
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof BusUnavailable || error instanceof MessagesGone || error instanceof StreamMissing
