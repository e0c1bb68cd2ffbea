import type { FillEvent } from '../interface/fill-event.js'
import type { FillRecord } from '../interface/trade.js'

/**
 * An owner's legs of matches in one market, each once: the snapshots and updates of the `fills` channel, and pages of
 * `GET /v1/fills`, in any order of arrival.
 */
export interface LocalFills {
  /** Takes a snapshot or an update; what the channel says of a leg replaces what was known of it. */
  apply(events: FillEvent | readonly FillEvent[]): void
  /** Takes fills of the history. What the channel has said of the same trade stays. */
  applyHistory(fills: readonly FillRecord[]): void
  /** Legs whose match awaits settlement. */
  pending(): FillEvent[]
  /** Every leg that counts: settled and not reversed. */
  settled(): SettledLeg[]
}

/** What the channel and the history both say of a settled leg. */
export type SettledLeg = Pick<
  FillRecord,
  | 'order_id'
  | 'trade_id'
  | 'side'
  | 'price'
  | 'size'
  | 'fee'
  | 'vm_cngn'
  | 'liquidity'
  | 'tx_hash'
  | 'created_at'
>

export interface LocalFillsOptions {
  /** So many legs that await nothing are kept, the newest; all by default. */
  readonly keep?: number
}

/** A leg is named by `settlement_id` and `order_id`; a settled one also by `trade_id` and `order_id`. */
export function createLocalFills({ keep = Infinity }: LocalFillsOptions = {}): LocalFills {
  const legs = new Map<string, FillEvent>()
  const history = new Map<string, FillRecord>()

  function applyOne(event: FillEvent): void {
    legs.set(`${event.settlement_id} ${event.order_id}`, event)
    const trade = tradeKey(event)
    if (trade !== undefined) history.delete(trade)
  }

  /** Drops the oldest. A leg that is pending stays: its outcome is still to come. */
  function trim<Leg extends FillEvent | FillRecord>(kept: Map<string, Leg>): void {
    if (kept.size <= keep) return
    const over = [...kept]
      .filter(([, leg]) => !('status' in leg) || leg.status !== 'pending')
      .sort(([, a], [, b]) => a.created_at.localeCompare(b.created_at))
      .slice(0, -keep)
    for (const [key] of over) kept.delete(key)
  }

  return {
    apply(events) {
      // A snapshot has the newest first.
      for (const event of [events].flat().reverse()) applyOne(event)
      trim(legs)
    },
    applyHistory(fills) {
      const told = new Set([...legs.values()].map(tradeKey))
      for (const fill of fills) {
        const key = tradeKey(fill)
        if (key !== undefined && !told.has(key)) history.set(key, fill)
      }
      trim(history)
    },
    pending: () => [...legs.values()].filter(({ status }) => status === 'pending'),
    settled: () => [
      ...[...legs.values()].filter(isSettled),
      ...[...history.values()].filter(({ reversed }) => reversed !== true),
    ],
  }
}

const tradeKey = (leg: Pick<FillEvent, 'trade_id' | 'order_id'>): string | undefined =>
  leg.trade_id === undefined ? undefined : `${leg.trade_id} ${leg.order_id}`

const isSettled = (leg: FillEvent): leg is FillEvent & SettledLeg => leg.status === 'settled'
