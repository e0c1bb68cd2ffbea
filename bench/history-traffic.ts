import { applyMessage } from '../core/engine/apply-message.js'
import { emptyMatcherState } from '../core/engine/empty-state.js'
import type { Command } from '../core/model/command.js'
import type { Order, Side } from '../core/model/order.js'
import { openingOf } from '../core/model/market-terms.js'
import type { StreamedBlock } from '../data/history/project.js'
import { benchMarket } from './bench-market.js'
import { benchOrder, cancelling, logged, placing } from './bench-orders.js'

export const DAY_MS = 86_400_000
/** Offset between the order numbers of consecutive days. */
export const NUMBERS_A_DAY = 10_000_000
/** Blocks of the chain, one every two seconds. */
export const CHAIN_BLOCKS_A_DAY = DAY_MS / 2_000
/** Open orders at the end. */
export const OPEN_ORDERS = 1_000
/** A midnight at which the first day begins. */
export const FIRST_MIDNIGHT_MS = 1_790_035_200_000

/**
 * Every order's number has the same number of decimal and of hexadecimal digits, and occurs nowhere else in its text.
 */
const FIRST_NUMBER = 271_828_000_000
const FIRST_CHAIN_BLOCK = 30_000_000n
/** Orders of a side whose numbers are equal modulo this have the same account. */
const ACCOUNTS = 500
/** Accounts that trade: few, so that each has orders in the whole history. */
const TRADERS = 50
const MIDDLE = 6_500
const DEPTH = 50
const LOTS = 10
/** On the last day one order in this many is cancelled as soon as it rests. */
const CANCELLED_ONE_IN = 6

/** Increments of a market's counters per day. */
export interface DayCounts {
  readonly seqs: number
  readonly ranks: number
  readonly trades: number
  readonly blocks: number
}

/**
 * A market's traffic by day, as blocks of its feed. Every day has the same events at the same hours with other orders
 * of the same accounts and ends with an empty book, so that one day can be copied; the last day fills the book.
 */
export function createTraffic(pairsADay: number) {
  const state = emptyMatcherState(openingOf(benchMarket()))
  let [streamSeq, sourceNo] = [0, 0]

  function play(atMs: number, commands: readonly Command[]): StreamedBlock[] {
    const message = commands.map((command) => ({ ...logged(command, (sourceNo += 1)), atMs }))
    return [...applyMessage(state, 1, message)].flatMap(({ block }) =>
      block === undefined ? [] : [{ streamSeq: (streamSeq += 1), block }],
    )
  }

  /**
   * Pairs of orders of which one rests and the other takes it; the rest of the larger one is cancelled after the trade.
   */
  function day(day: number): StreamedBlock[] {
    return Array.from({ length: pairsADay }, (_, pair) => {
      const atMs = FIRST_MIDNIGHT_MS + day * DAY_MS + Math.floor((pair * DAY_MS) / pairsADay)
      const [maker, taker] = pairOf(day, pair)
      const traded = play(atMs, [placing(maker), placing(taker)])
      const later = atMs + Math.floor(DAY_MS / pairsADay / 2)
      const settled = play(later, settlementsOf(traded, taker))
      const left = [maker, taker].filter(({ orderId }) => state.orders.has(orderId))
      return [...traded, ...settled, ...play(later, left.map(cancelling))]
    }).flat()
  }

  /** Orders that do not trade, a few of them cancelled. */
  function lastDay(day: number): StreamedBlock[] {
    const orders = (OPEN_ORDERS * CANCELLED_ONE_IN) / (CANCELLED_ONE_IN - 1)
    return Array.from({ length: orders }, (_, index) => {
      const side = sideOf(index)
      const level = Math.floor(index / 2)
      const away = 1 + (level % DEPTH)
      const price = side === 'buy' ? MIDDLE - away : MIDDLE + away
      const order = orderOf(day, index, { side, price, lots: LOTS })
      const isCancelled = level % CANCELLED_ONE_IN === CANCELLED_ONE_IN - 1
      const commands = [placing(order), ...(isCancelled ? [cancelling(order)] : [])]
      return play(FIRST_MIDNIGHT_MS + day * DAY_MS + index * 1_000, commands)
    }).flat()
  }

  /** Advances the counters as if `days` more days had followed the first. */
  function skip(days: number): DayCounts {
    const { seq: seqs, rank: ranks, tradeNo: trades } = state
    const counts = { seqs, ranks, trades, blocks: streamSeq }
    state.seq += days * counts.seqs
    state.rank += days * counts.ranks
    state.tradeNo += days * counts.trades
    streamSeq += days * counts.blocks
    return counts
  }
  return { day, lastDay, skip }
}

const sideOf = (index: number): Side => (index % 2 === 0 ? 'sell' : 'buy')

function orderOf(day: number, index: number, terms: Omit<OrderOnGrid, 'number'>): Order {
  const inDay = ACCOUNTS * Math.floor(index / TRADERS) + (index % TRADERS)
  return benchOrder({ number: FIRST_NUMBER + day * NUMBERS_A_DAY + inDay, ...terms })
}
type OrderOnGrid = Parameters<typeof benchOrder>[0]

/** Sellers and buyers rest in turn; the taker's amount is equal to, less than or more than the maker's. */
function pairOf(day: number, pair: number): [maker: Order, taker: Order] {
  const price = MIDDLE + (pair % DEPTH) - DEPTH / 2
  const makers = sideOf(pair)
  const takers = sideOf(pair + 1)
  return [
    orderOf(day, 2 * pair, { side: makers, price, lots: LOTS }),
    orderOf(day, 2 * pair + 1, { side: takers, price, lots: LOTS + 4 * ((pair % 3) - 1) }),
  ]
}

/** The chain settles every match in a transaction and a block of its own. */
function settlementsOf(blocks: readonly StreamedBlock[], { orderId }: Order): Command[] {
  const changes = blocks.flatMap(({ block }) => block.changes)
  return changes.flatMap((change) => {
    if (change.kind !== 'OrderMatched') return []
    const txHash = `0x${orderId.slice(-12).padStart(64, 'ab')}` as const
    const chainBlocks = Math.floor((change.atMs - FIRST_MIDNIGHT_MS) / 2_000)
    const blockNumber = FIRST_CHAIN_BLOCK + BigInt(chainBlocks)
    const outcome = { kind: 'success', txHash, blockNumber } as const
    const { settlementId } = change.match
    return [{ kind: 'SettlementReported', settlementId, outcome }]
  })
}
