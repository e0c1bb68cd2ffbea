import { ReadFailure } from './read-failure.js'

/** Who has asked is stopping, and awaits no answer any more. */
export class HungUp extends ReadFailure {
  override readonly name = 'HungUp'
}

/** Ends what an actor still asks a node when it stops: a node that answers nothing would keep it longer than a process may take. */
export interface HangUp {
  /** The answer to a question; rejects with HungUp once it is hung up, unasked from then on. */
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
