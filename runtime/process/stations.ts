import { channel } from 'node:diagnostics_channel'

/** Stations of a request to place or cancel an order, in their order, each with the process in which it lies. */
export const STATIONS = {
  /** Its head has been read. */
  received: 'gateway',
  /** It has come over the bus. */
  taken: 'order-intake',
  /** Its checks are done, those by the chain too. */
  verified: 'order-intake',
  /** Its id and nonce are claimed; a cancel passes here as well. */
  claimed: 'order-intake',
  /** Its command is durable in the log. */
  logged: 'order-intake',
  /** The step has decided it. */
  matched: 'matcher',
  /** Its block is durable in the feed. */
  durable: 'matcher',
  /** Its answer is handed to the connection. */
  answered: 'gateway',
} as const

export type Station = keyof typeof STATIONS

/** A request that passes a station. */
export interface Passing {
  readonly station: Station
  readonly requestId: string
}

/** Where passings are published; `npm run profile -- order-path --slowest` listens. */
export const PASSINGS = 'venue.order.station'
const passings = channel(PASSINGS)

/** Marks a station of some requests. Does nothing unless a tracer listens. */
export function pass(station: Station, requests: Iterable<{ readonly requestId?: string }>): void {
  if (!passings.hasSubscribers) return
  for (const { requestId } of requests) {
    if (requestId !== undefined) passings.publish({ station, requestId } satisfies Passing)
  }
}
