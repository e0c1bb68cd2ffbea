/** Calls come in bursts: what follows from them is read at most this often. */
const SOON_MS = 400

/** Runs an action soon, and once for many calls; a call while it runs has it run again after that. What fails is tried again by the next call. */
export function soon(action: () => Promise<void>, delayMs = SOON_MS): () => void {
  let [isDue, isRunning, isAgain] = [false, false, false]
  const run = async (): Promise<void> => {
    isDue = false
    isRunning = true
    await action().catch(() => undefined)
    isRunning = false
    if (!isAgain) return
    isAgain = false
    call()
  }
  const call = (): void => {
    if (isRunning) isAgain = true
    else if (!isDue) {
      isDue = true
      setTimeout(() => void run(), delayMs)
    }
  }
  return call
}
