import { setTimeout as delay } from 'node:timers/promises'

/** Resolves after the delay, or as soon as the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
}
