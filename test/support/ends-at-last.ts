/**
 * Of a program that a test runs synchronously: what hangs is killed, because no time limit of a test ends it. Far more than any
 * of them takes on a busy machine.
 */
export const ENDS_AT_LAST = { timeout: 300_000, killSignal: 'SIGKILL' } as const
