import { setTimeout as delay } from 'node:timers/promises'
import { AppendRefused, AppendUnknown, BusUnavailable } from '../../bus-schemas/bus.js'
import type { Bus } from '../../bus-schemas/bus.js'
import { transferSubject } from '../../bus-schemas/subjects.js'
import { encodeTransferProgress } from '../../bus-schemas/transfer-requests.js'
import type { TransferStep, TransferStore } from '../../data/transfer-store.js'

const STEPS_PER_READ = 64
const RETRY_MS = 500

export interface StepPublisherDeps {
  readonly bus: Pick<Bus, 'append'>
  readonly store: Pick<TransferStore, 'outbox' | 'markPublished'>
  readonly onTrouble: (cause: unknown) => void
  /** The store failed: nothing more can be promised. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Publishes the steps of records in the order in which they were written. A step may be there twice, one right behind
 * the other: an append without an answer is made again.
 */
export interface StepPublisher {
  /** There is something in the outbox. */
  wake(): void
  /** Finishes the append under way; the rest stays in the outbox. */
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
