import type { Address } from '../../core/action.js'
import { LEASE_MAX_SEC } from '../../core/limits.js'
import type { Command } from '../../core/model/command.js'
import { LEASES_MAX } from '../../core/model/limits.js'

/** Most leases that are known; of one that was forgotten the next renewal is written, which is harmless. */
const MAX_KNOWN = 100_000

/** The leases over all orders of an owner that this process has written, so that renewals do not fill the log. */
export interface KnownLeases {
  /** Notes a command that is in the market's log. */
  logged(market: string, command: Command): void
  /**
   * The end, in unix milliseconds, of a lease that need not be written again: it ends no later than the renewal asks for, and more
   * than half of the renewal's time is left. Undefined when it must be written.
   */
  unspent(market: string, renewal: Renewal): number | undefined
  /**
   * Whether an owner who has never placed an order may set one in the market: anyone can make keys, and a market has a bounded
   * number of leases. Of such owners NEWCOMERS_MAX are admitted in a day, the longest that a lease lasts.
   */
  admitsNewcomer(market: string, owner: Address): boolean
}

export const NEWCOMERS_MAX = LEASES_MAX / 4

interface Renewal {
  readonly owner: Address
  readonly seconds: number
  readonly nowMs: number
}

/** Owners without an order that were admitted in a market until a time in unix milliseconds. */
interface Newcomers {
  readonly untilMs: number
  readonly owners: Set<Address>
}

export function createKnownLeases(nowMs: () => number): KnownLeases {
  /** When each ends, in unix milliseconds. */
  const known = new Map<string, number>()
  const keyOf = (market: string, owner: Address): string => `${owner} ${market}`
  const newcomers = new Map<string, Newcomers>()
  return {
    admitsNewcomer(market, owner) {
      const before = newcomers.get(market)
      const isOver = before === undefined || nowMs() >= before.untilMs
      const { untilMs, owners } = isOver
        ? { untilMs: nowMs() + LEASE_MAX_SEC * 1_000, owners: new Set<Address>() }
        : before
      newcomers.set(market, { untilMs, owners })
      if (owners.size < NEWCOMERS_MAX) owners.add(owner)
      return owners.has(owner)
    },
    logged(market, command) {
      if (command.kind !== 'SetLease' && command.kind !== 'EndLease') return
      if (command.leaseId !== undefined) return
      const key = keyOf(market, command.owner)
      known.delete(key)
      if (command.kind === 'EndLease') return
      known.set(key, nowMs() + command.seconds * 1_000)
      const [oldest] = known.keys()
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
    },
    unspent(market, { owner, seconds, nowMs: now }) {
      const endsAtMs = known.get(keyOf(market, owner))
      if (endsAtMs === undefined || endsAtMs > now + seconds * 1_000) return undefined
      return 2 * (endsAtMs - now) > seconds * 1_000 ? endsAtMs : undefined
    },
  }
}
