import { captureState } from '../../core/engine/capture.js'
import type { MatcherSnapshot } from '../../core/engine/snapshot.js'
import type { MatcherState } from '../../core/engine/state.js'

/** The state as it is now, read at once. */
export function takeSnapshot(state: MatcherState): MatcherSnapshot {
  const reading = startCapture(state)
  reading.read(Infinity)
  return reading.finish()
}

/** A state that is read row by row, in the order of a checkpoint, while steps go on. */
export interface CaptureReading {
  /** Reads so many rows more, as far as there are any. */
  read(rows: number): void
  /** Reads what is left, ends the capture and returns all of it. */
  finish(): MatcherSnapshot
}

export function startCapture(state: MatcherState): CaptureReading {
  const { snapshot, release } = captureState(state)
  const lists = new Map<string, unknown[]>()
  function* rowByRow(): Generator<void> {
    for (const [name, list] of Object.entries(snapshot) as [string, unknown][]) {
      if (typeof list !== 'object' || list === null || !(Symbol.iterator in list)) continue
      const rows: unknown[] = []
      lists.set(name, rows)
      for (const row of list as Iterable<unknown>) {
        rows.push(row)
        yield
      }
    }
  }
  const rows = rowByRow()
  const read = (count: number): void => {
    for (let done = 0; done < count && rows.next().done !== true;) done += 1
  }
  return {
    read,
    finish: () => {
      read(Infinity)
      release()
      return { ...snapshot, ...Object.fromEntries(lists) }
    },
  }
}
