import type { Address } from '../../core/action.js'
import type { Command } from '../../core/engine/command.js'

/** Most leases that are known; of one that was forgotten the next renewal is written, which is harmless. */
const MAX_KNOWN = 100_000

/** The leases over all orders of an owner that this process has written, so that renewals do not fill the log. */
export interface KnownLeases {
  /** Notes a command that is in the market's log. */
  logged(market: string, command: Command): void
  /** When the lease that is in the log ends, while less than half of it is spent and it is as long as this one. */
  unspent(market: string, renewal: Renewal): number | undefined
}

interface Renewal {
  readonly owner: Address
  readonly seconds: number
  readonly nowMs: number
}

interface Known {
  readonly seconds: number
  readonly endsAtMs: number
}

export function createKnownLeases(nowMs: () => number): KnownLeases {
  const known = new Map<string, Known>()
  const keyOf = (market: string, owner: Address): string => `${owner} ${market}`
  return {
    logged(market, command) {
      if (command.kind !== 'SetLease' && command.kind !== 'EndLease') return
      if (command.leaseId !== undefined) return
      const key = keyOf(market, command.owner)
      known.delete(key)
      if (command.kind === 'EndLease') return
      known.set(key, { seconds: command.seconds, endsAtMs: nowMs() + command.seconds * 1_000 })
      const [oldest] = known.keys()
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
    },
    unspent(market, { owner, seconds, nowMs: now }) {
      const lease = known.get(keyOf(market, owner))
      if (lease?.seconds !== seconds) return undefined
      return 2 * (lease.endsAtMs - now) > seconds * 1_000 ? lease.endsAtMs : undefined
    },
  }
}
