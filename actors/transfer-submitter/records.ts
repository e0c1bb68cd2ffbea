import { setTimeout as delay } from 'node:timers/promises'
import { transfersStream, transferSubject } from '../../bus-schemas/subjects.js'
import { encodeTransferProgress } from '../../bus-schemas/transfers.js'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import type { ClaimJournal, Decline } from '../../core/transaction-journal.js'
import type { TransferRecord } from '../../core/transfer.js'
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
  mayBeReadLater,
  MessagesGone,
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
  /**
   * Claims the action and its owner's single place: resolves once the journal lasts with the claim and the record is there.
   * `taken`: the action has a record, or the owner another transfer in progress. `unavailable`: the bus does not take the
   * journal, and nothing was claimed. `unknown`: the process stops before the journal is known to last; the next one may
   * find the claim in the stream, and carries it out then.
   */
  claim(
    record: TransferRecord,
    request: string,
  ): Promise<'claimed' | 'taken' | 'unavailable' | 'unknown'>
  /**
   * Rejects a claimed record, once the journal lasts with that; false when the process stops before. What is told of it
   * has to wait for that: a process that continues from the journal would carry the transfer out.
   */
  decline(actionHash: Hex, decline: Decline): Promise<boolean>
  /** Changes a claimed record and returns it. */
  change(actionHash: Hex, change: RecordChange, details?: StepDetails): TransferRecord
  /** The record once it is confirmed, reverted or rejected, or its current state after `withinMs`. */
  settled(actionHash: Hex, withinMs: number): Promise<TransferRecord>
  /** Ends every wait with the current record. */
  wakeAll(): void
}

export interface RecordBookDeps {
  readonly store: TransferStore
  readonly claims: Pick<ClaimJournal, 'recordClaim' | 'recordDecline'>
  /** Resolves with true once the journal lasts with all that was recorded, and with false when the process stops before. */
  readonly published: () => Promise<boolean>
  /** Why the journal cannot be appended to now. */
  readonly trouble: () => string | undefined
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Called with every step once it is on disk. */
  readonly onStep: (record: TransferRecord) => void
}

export const isSettled = ({ status }: TransferRecord): boolean =>
  status === 'confirmed' || status === 'reverted' || status === 'rejected'

export function createRecordBook(deps: RecordBookDeps): RecordBook {
  const { store, claims, published, trouble, nowMs, onStep } = deps
  /** Owners with a claim that the journal may lack. Bounded by the requests that are open. */
  const claiming = new Set<Address>()
  function found(actionHash: Hex): StoredTransfer {
    const stored = store.find(actionHash)
    assert(stored !== undefined, `${actionHash} was never claimed`)
    return stored
  }

  const callers = createCallers((actionHash) => found(actionHash).record)

  function stepped(record: TransferRecord): void {
    onStep(record)
    if (isSettled(record)) callers.wake(record.actionHash)
  }

  const change: RecordBook['change'] = (actionHash, changes, details = {}) => {
    const { record: before, blockHash } = found(actionHash)
    const changed = withoutAbsent({ ...before, ...changes })
    if (sameFields(before, changed) && details.blockHash === blockHash) return before
    const record = { ...changed, updatedAtMs: Math.max(nowMs(), before.updatedAtMs) }
    store.update(record, details)
    stepped(record)
    return record
  }

  return {
    find: (actionHash) => store.find(actionHash)?.record,
    blockHashOf: (actionHash) => store.find(actionHash)?.blockHash,
    async claim(record, request) {
      const { owner } = record
      if (claiming.has(owner) || !store.mayClaim(record)) return 'taken'
      if (trouble() !== undefined) return 'unavailable'
      claiming.add(owner)
      try {
        claims.recordClaim(record, request)
        if (!(await published())) return 'unknown'
        crash('transfer.after_append_before_record')
        store.add(record, request)
        stepped(record)
        return 'claimed'
      } finally {
        claiming.delete(owner)
      }
    },
    async decline(actionHash, { error, revert }) {
      claims.recordDecline(actionHash, { error, revert })
      if (!(await published())) return false
      change(actionHash, { status: 'rejected', error, revert })
      return true
    },
    change,
    settled: callers.settled,
    wakeAll: callers.wakeAll,
  }
}

/** Callers that wait until a record settles. Bounded by the requests that are open. */
function createCallers(
  recordOf: (actionHash: Hex) => TransferRecord,
): Pick<RecordBook, 'settled' | 'wakeAll'> & { readonly wake: (actionHash: Hex) => void } {
  const waiting = new Map<Hex, Set<() => void>>()
  return {
    settled(actionHash, withinMs) {
      const record = recordOf(actionHash)
      if (isSettled(record)) return Promise.resolve(record)
      return new Promise((resolve) => {
        const wakes = waiting.get(actionHash) ?? new Set()
        const wake = (): void => {
          clearTimeout(timer)
          wakes.delete(wake)
          if (wakes.size === 0) waiting.delete(actionHash)
          resolve(recordOf(actionHash))
        }
        const timer = setTimeout(wake, withinMs)
        waiting.set(actionHash, wakes.add(wake))
      })
    },
    wake(actionHash) {
      for (const wake of [...(waiting.get(actionHash) ?? [])]) wake()
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
  mayBeReadLater(error) || error instanceof MessagesGone
