import { SPARED_FACTS_VERSION } from '../../core/engine/engine-version.js'
import type { Market } from '../../core/model/market.js'
import type { LastNumbers } from '../../runtime/actor/last-numbers.js'
import { mayBeReadLater, MessagesGone } from '../../runtime/bus/bus.js'
import type { AccountWatch } from './account-watch.js'

/** For so long a market has had no order before its facts rest, in milliseconds: one that empties for a moment keeps its pace. */
export const QUIET_AFTER_MS = 60_000
/** How often the log is read on for the engine version of a market whose facts may not rest, in milliseconds. */
const LOOK_EVERY_MS = 10_000
/** About so many messages of a log are read at once for it: the facts of all markets wait meanwhile. An idle log grows by ten. */
export const LOOK_MESSAGES_MAX = 1_000

/** What a feed has shown of a market's orders. */
export interface FollowedOrders {
  readonly watch: Pick<AccountWatch, 'isIdle'>
  /** Whether the feed was read from its first message to where it ended. */
  readonly isKnown: () => boolean
  /** Called after each block of the feed. */
  onBlock: () => void
}

export interface QuietMarketOptions {
  readonly market: Market
  readonly lastNumbers: Pick<LastNumbers, 'read' | 'engineVersion'>
  readonly orders: FollowedOrders
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Called once when a market whose facts rest has an order. */
  readonly onLife: () => void
}

/** Whether the facts of a market need not be logged each second. */
export interface QuietMarket {
  /**
   * True while the market has had no order for QUIET_AFTER_MS, and its log is of an engine version that spares facts then. Of what is not
   * known it is false.
   */
  mayRest(): Promise<boolean>
}

export function createQuietMarket(options: QuietMarketOptions): QuietMarket {
  const { market, lastNumbers, orders, nowMs, onLife } = options
  const { market: name } = market
  let busyAtMs = nowMs()
  let lookedAtMs: number | undefined
  let isResting = false

  const isSpared = (): boolean => lastNumbers.engineVersion(name) >= SPARED_FACTS_VERSION
  /** Reads the log on: the matcher of a new market sets its version after it was opened. */
  const look = async (): Promise<void> => {
    if (lookedAtMs !== undefined && Math.abs(nowMs() - lookedAtMs) < LOOK_EVERY_MS) return
    lookedAtMs = nowMs()
    try {
      await lastNumbers.read(market, LOOK_MESSAGES_MAX)
    } catch (error) {
      if (!mayBeReadLater(error) && !(error instanceof MessagesGone)) throw error
    }
  }
  orders.onBlock = () => {
    if (!isResting || orders.watch.isIdle()) return
    isResting = false
    onLife()
  }
  return {
    async mayRest() {
      isResting = false
      if (!orders.isKnown() || !orders.watch.isIdle()) {
        busyAtMs = nowMs()
        return false
      }
      if (nowMs() - busyAtMs < QUIET_AFTER_MS) return false
      if (!isSpared()) await look()
      // An order may have come meanwhile.
      isResting = isSpared() && orders.watch.isIdle()
      return isResting
    },
  }
}
