/** Calls come in bursts: what follows from them is read at most this often. */
const SOON_MS = 400

/** Runs an action soon, and once for many calls. What fails is tried again by the next call. */
export function soon(action: () => Promise<void>, delayMs = SOON_MS): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      action().catch(() => undefined)
    }, delayMs)
  }
}
