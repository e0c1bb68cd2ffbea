import type { Bus } from '../bus-schemas/bus.js'
import { decodePingAnswer } from '../bus-schemas/ping.js'
import { askPing } from '../bus-schemas/subjects.js'

const PATIENCE_MS = 1_000
const CACHED_MS = 1_000

/** A market's matches whose outcome on the chain is not known yet, as its matcher counts them. */
export interface SettlementsHealth {
  readonly pending_settlements: number
  /** How long the oldest of them has waited, in seconds; 0 without any. */
  readonly oldest_pending_settlement_s: number
  /** How many have waited for longer than they should. */
  readonly late_settlements: number
}

/** Asks a market's matcher at most once a second; undefined while it does not answer. Never rejects. */
export function createSettlementsHealth(
  bus: Pick<Bus, 'ask'>,
): (market: string) => Promise<SettlementsHealth | undefined> {
  const asked = new Map<
    string,
    { readonly atMs: number; readonly health: ReturnType<typeof ask> }
  >()
  return (market) => {
    const nowMs = performance.now()
    const kept = asked.get(market)
    if (kept !== undefined && nowMs - kept.atMs < CACHED_MS) return kept.health
    const health = ask(bus, market)
    asked.set(market, { atMs: nowMs, health })
    return health
  }
}

async function ask(bus: Pick<Bus, 'ask'>, market: string): Promise<SettlementsHealth | undefined> {
  try {
    const answer = await bus.ask(askPing(`matcher-${market}`), new Uint8Array(), PATIENCE_MS)
    const { positions } = decodePingAnswer(answer)
    const {
      pending_settlements: pending,
      oldest_pending_settlement_s: oldest,
      late_settlements: late,
    } = positions
    if (pending === undefined || oldest === undefined || late === undefined) return undefined
    return {
      pending_settlements: pending,
      oldest_pending_settlement_s: oldest,
      late_settlements: late,
    }
  } catch {
    // Silence is an answer here: nobody runs the market at this moment, which readiness tells.
    return undefined
  }
}
