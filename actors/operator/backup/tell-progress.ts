const TELL_EVERY_MS = 5_000
const PER_CENT = 100

/** Counts bytes of a whole and says how far it is, at most every five seconds. */
export function countProgress(options: {
  /** Such as "checked": what was done with so much of the whole. */
  readonly done: string
  readonly totalBytes: number
  readonly tell: (line: string) => void
  readonly nowMs: () => number
}): (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array> {
  const { done, totalBytes, tell, nowMs } = options
  let bytes = 0
  let toldMs = nowMs()
  return async function* (chunks) {
    for await (const chunk of chunks) {
      yield chunk
      bytes += chunk.length
      const now = nowMs()
      if (now - toldMs < TELL_EVERY_MS) continue
      toldMs = now
      // Rounded down: the whole is not said to be done before it is.
      const percent = Math.floor((bytes * PER_CENT) / totalBytes)
      tell(`${done} ${percent} % of ${totalBytes} bytes`)
    }
  }
}
