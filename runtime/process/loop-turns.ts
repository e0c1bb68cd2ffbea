import type { Pieces } from '../../core/pieces.js'

/** How long the work of all users of a loop may take in one of its turns; what waits for input gets to run in between. */
const TURN_MS = 10

/** Divides the event loop of a process among long work: a replay, a restored state, a checkpoint. */
export interface LoopTurns {
  /**
   * To be called between two pieces of work. Undefined while this turn of the loop has time left; else it resolves in a later turn, in which
   * of all that wait one goes on. Pieces of a few milliseconds at most keep the promise.
   */
  pause(): Promise<void> | undefined
}

/** `nowMs`: monotonic milliseconds. */
export function createLoopTurns(nowMs: () => number = () => performance.now()): LoopTurns {
  const waiting: (() => void)[] = []
  /** When the work of this turn began; undefined before. */
  let begunAtMs: number | undefined
  const begin = (): void => {
    begunAtMs = nowMs()
    setImmediate(end)
  }
  const end = (): void => {
    begunAtMs = undefined
    const next = waiting.shift()
    if (next === undefined) return
    begin()
    next()
  }
  return {
    pause() {
      if (begunAtMs === undefined) begin()
      if (nowMs() - (begunAtMs ?? 0) < TURN_MS) return undefined
      return new Promise((resolve) => waiting.push(resolve))
    },
  }
}

/** Carries out the pieces with pauses between them; `onPiece` is called before each. */
export async function inTurns<T>(
  work: Pieces<T>,
  turns: LoopTurns,
  onPiece: () => void = () => undefined,
): Promise<T> {
  for (;;) {
    const pause = turns.pause()
    if (pause !== undefined) await pause
    onPiece()
    const piece = work.next()
    if (piece.done === true) return piece.value
  }
}
