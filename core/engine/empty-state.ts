import { tradingOf } from '../contracts/registry.js'
import type { MarketOpening } from '../model/market-terms.js'
import { OPEN } from '../model/market.js'
import { amountE18 } from '../money.js'
import { emptyBook } from './book.js'
import { noCodeWindows } from './code-windows.js'
import { noDeadlines } from './deadlines.js'
import { FIRST_ENGINE_VERSION } from './engine-version.js'
import { leasesOf } from './leases.js'
import { failedPairsOf } from './signer-pairs.js'
import type { MatcherState } from './state.js'

/** The state of a market that was just opened. */
export function emptyMatcherState({ identity, rules, enabled }: MarketOpening): MatcherState {
  return {
    identity,
    rules,
    enabled,
    cancelUpToRank: 0,
    trading: tradingOf(identity),
    engineVersion: FIRST_ENGINE_VERSION,
    seq: 0,
    rank: 0,
    tradeNo: 0,
    nowMs: 0,
    clock: undefined,
    orders: new Map(),
    owners: new Map(),
    book: emptyBook(),
    matches: new Map(),
    awaiting: amountE18(0n),
    deadlines: noDeadlines(),
    observed: undefined,
    holds: new Map(),
    standing: OPEN,
    closed: false,
    fault: undefined,
    refusedPrices: new Set(),
    failedPairs: failedPairsOf([]),
    codeSigners: new Set(),
    windows: noCodeWindows(),
    accounts: new Map(),
    idleAccounts: new Set(),
    reviews: new Set(),
    lastSourceNo: new Map(),
    reversals: { upTo: 0, beyond: new Set() },
    capture: undefined,
    refusedOrders: new Map(),
    leases: leasesOf([]),
    massCancels: new Map(),
  }
}
