import { setTimeout as delay } from 'node:timers/promises'

/** An error that the operator can correct; the launcher prints the message without a stack and exits with 1. */
export class LauncherError extends Error {
  override readonly name = 'LauncherError'
}

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100
/** Work that leads to nothing ends then. */
const LONGEST_WAIT_MS = 30 * 60_000

/**
 * Polls, with growing pauses up to 100 ms, until the callback returns a value; resolves with it. An exception counts as
 * "not yet". Throws LauncherError naming `what` after `withinMs`, with the last exception as its cause; where `hasMoved` says each
 * time whether there was progress since it was last asked, after `withinMs` without any, and after half an hour in any case.
 */
export async function waitFor<T>(
  what: string,
  withinMs: number,
  ask: () => Promise<T | undefined>,
  hasMoved: () => boolean = () => false,
): Promise<T> {
  const begunAt = performance.now()
  let deadline = begunAt + withinMs
  let pauseMs = FIRST_PAUSE_MS
  let lastError: unknown
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      lastError = error
    }
    if (performance.now() >= deadline) {
      const isOver = performance.now() - begunAt >= LONGEST_WAIT_MS
      if (isOver || !hasMoved())
        throw new LauncherError(`waited ${isOver ? LONGEST_WAIT_MS : withinMs} ms for ${what}`, {
          cause: lastError,
        })
      deadline = performance.now() + withinMs
    }
    await delay(pauseMs)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}
