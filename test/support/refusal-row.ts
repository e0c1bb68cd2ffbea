import type { Json, SignedBody } from './order-changes.js'

/**
 * What is done to a valid signed order (buy 10 cNGN at 0.0001) and what is answered then. A change that returns text
 * is sent as it stands. `nowSec` is the venue's time.
 */
export interface OrderRefusal {
  readonly what: string
  readonly change: (body: SignedBody, nowSec: number) => Json | string
  /** The exact text, or how it begins when it repeats what the client wrote. */
  readonly error: string | RegExp
}

/** One row for each value. */
export function each<T>(values: readonly T[], row: (value: T) => OrderRefusal): OrderRefusal[] {
  return values.map(row)
}

export const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 40) ?? 'nothing'
