import { place, settle } from '../../support/market-acts.js'
import type { MarketAct } from '../../support/market-commands.js'

/** Trades of 2 at 0.8 and of 1 at 1 in the first minute of 2026, and one of 4 at 0.5 an hour and a half later. */
export const TRADES: readonly MarketAct[] = [
  ...[place(true, 80, 2), place(false, 80, 2), settle(0)],
  ...[{ act: 'wait', sec: 30 } as const, place(true, 100, 1), place(false, 90, 1), settle(1)],
  ...[{ act: 'wait', sec: 5_400 } as const, place(true, 50, 4), place(false, 50, 4), settle(2)],
]
