import { decrease } from '../runtime/http/connections.js'

/** Bounds of the reads that take long to answer: whole books and pages of history. */
export interface ReadLimits {
  /** In flight for one client address: from the request until its answer is sent. */
  readonly maxPerAddress: number
  /** In flight altogether; above it an address may have one. */
  readonly max: number
}

export const LARGE_READ_LIMITS: ReadLimits = { maxPerAddress: 16, max: 256 }

/** Counts the large reads in flight by client address. */
export interface ReadsInFlight {
  /** Counts one more and returns what ends it; undefined when the client has too many. One is always admitted. */
  enter(client: string): (() => void) | undefined
}

export function createReadsInFlight({ maxPerAddress, max }: ReadLimits): ReadsInFlight {
  const inFlight = new Map<string, number>()
  let total = 0
  return {
    enter(client) {
      const ofClient = inFlight.get(client) ?? 0
      if (ofClient > 0 && (ofClient >= maxPerAddress || total >= max)) return undefined
      total += 1
      inFlight.set(client, ofClient + 1)
      return () => {
        total -= 1
        decrease(inFlight, client)
      }
    },
  }
}
