import { batch } from '@preact/signals'

/** Gathers what has changed and hands it on once a frame, as one change: however many messages come, views draw once. */
export interface Frames {
  /** Runs the flush at the next frame, once for many calls. */
  due(flush: () => void): void
}

/** `nextFrame` is the platform's: it runs its argument before the next paint, or soon where nothing is painted. */
export function createFrames(nextFrame: (run: () => void) => void): Frames {
  const waiting = new Set<() => void>()
  const flushAll = (): void => {
    const now = [...waiting]
    waiting.clear()
    batch(() => now.forEach((flush) => flush()))
  }
  return {
    due(flush) {
      if (waiting.size === 0) nextFrame(flushAll)
      waiting.add(flush)
    },
  }
}
