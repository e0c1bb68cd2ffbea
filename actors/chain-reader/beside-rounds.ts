import { ChainUnreachable } from '../../chain/reads/client.js'

/** Work that no round waits for, because facts of markets are good for seconds only: at most one piece of each name at a time. */
export interface BesideRounds {
  /** Begins a piece of work, unless one of this name runs. */
  begin(name: string, work: () => Promise<void>): void
  /** The names whose last piece had no answer from the chain. Throws what a piece has failed with otherwise. */
  unanswered(): ReadonlyMap<string, ChainUnreachable>
  /** Resolves when nothing runs. */
  ended(): Promise<void>
}

export function createBesideRounds(): BesideRounds {
  const running = new Map<string, Promise<void>>()
  const unanswered = new Map<string, ChainUnreachable>()
  const defects: unknown[] = []
  const run = async (name: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
      unanswered.delete(name)
    } catch (error) {
      if (error instanceof ChainUnreachable) unanswered.set(name, error)
      else defects.push(error)
    } finally {
      running.delete(name)
    }
  }
  return {
    begin(name, work) {
      if (!running.has(name)) running.set(name, run(name, work))
    },
    unanswered() {
      if (defects.length > 0) throw defects[0]
      return unanswered
    },
    ended: async () => void (await Promise.all(running.values())),
  }
}
