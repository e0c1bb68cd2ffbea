import { ReadFailure } from './read-failure.js'

/** The actor that asked is stopping, and does not await the answer. */
export class HungUp extends ReadFailure {
  override readonly name = 'HungUp'
}

/**
 * Throws the HungUp that an error shows, also where viem has wrapped it. For reads without which the caller goes on: what it would
 * record without the answer outlasts the process.
 */
export function throwHungUp(error: unknown): void {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof HungUp) throw at
}

/**
 * Ends the open questions of an actor that stops: a node that does not answer would delay its stop beyond the time that a process has.
 * An abort signal would not do: viem aborts by it in place of its own time-out.
 */
export interface HangUp {
  /** Asks, and resolves with the answer. Rejects with HungUp once it is hung up; from then on nothing is asked. */
  answered<Answer>(ask: () => Promise<Answer>): Promise<Answer>
  /** Hangs up in two seconds, in which a node that works has answered. Called once. */
  soon(): void
}

/** Less than half of what a process may take to stop. */
const HUNG_UP_AFTER_MS = 2_000

export function createHangUp(afterMs = HUNG_UP_AFTER_MS): HangUp {
  /** Bounded by the questions in flight. */
  const waiting = new Set<(why: HungUp) => void>()
  let isHungUp = false
  return {
    answered: (ask) =>
      new Promise((resolve, reject) => {
        if (isHungUp) return reject(new HungUp('the process is stopping'))
        waiting.add(reject)
        ask()
          .finally(() => waiting.delete(reject))
          .then(resolve, reject)
      }),
    soon() {
      const hangUp = (): void => {
        isHungUp = true
        for (const reject of waiting) reject(new HungUp('the process is stopping'))
        waiting.clear()
      }
      // It alone does not keep its process from ending.
      setTimeout(hangUp, afterMs).unref()
    },
  }
}
