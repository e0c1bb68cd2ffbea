import { applyMessage } from '../core/apply-message.js'
import type { Command } from '../core/command.js'
import { emptyMatcherState } from '../core/matcher-state.js'
import type { Order, Side } from '../core/order.js'
import type { StreamedBlock } from '../data/apply-block.js'
import { benchMarket } from './bench-market.js'
import { benchOrder, cancelling, logged, placing } from './bench-orders.js'

export const DAY_MS = 86_400_000
/** How far the numbers of one day's orders lie from those of the next day's. */
export const NUMBERS_A_DAY = 10_000_000
/** Blocks of the chain, one each two seconds. */
export const CHAIN_BLOCKS_A_DAY = DAY_MS / 2_000
/** Orders that are open at the end. */
export const OPEN_ORDERS = 1_000
/** A midnight, from which the days are counted. */
export const FIRST_MIDNIGHT_MS = 1_790_035_200_000

/** Every order's number has as many digits, in tens and in sixteens, and is found in its text nowhere else. */
const FIRST_NUMBER = 271_828_000_000
const FIRST_CHAIN_BLOCK = 30_000_000n
/** Orders of a side whose numbers leave the same rest by this are of one account. */
const ACCOUNTS = 500
/** Those of them that trade: few, so that each has orders all through the history. */
const TRADERS = 50
const MIDDLE = 6_500
const DEPTH = 50
const LOTS = 10
/** Of so many orders of the last day one is cancelled as soon as it stands in the book. */
const CANCELLED_ONE_IN = 6

/** What a day adds to a market's counts. */
export interface DayCounts {
  readonly seqs: number
  readonly ranks: number
  readonly blocks: number
}

/**
 * A market's traffic by the day, as blocks of its feed. Every day does the same at the same hours with other orders of
 * the same people and ends with an empty book, so that one can be counted for many; the last one fills the book.
 */
export function createTraffic(pairsADay: number) {
  const state = emptyMatcherState(benchMarket())
  let [streamSeq, sourceNo] = [0, 0]

  function play(atMs: number, commands: readonly Command[]): StreamedBlock[] {
    const message = commands.map((command) => ({ ...logged(command, (sourceNo += 1)), atMs }))
    return [...applyMessage(state, 1, message)].flatMap(({ block }) =>
      block === undefined ? [] : [{ streamSeq: (streamSeq += 1), block }],
    )
  }

  /** Pairs of orders of which one rests and the other takes it; what one has more is cancelled when they have traded. */
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
      const [side, level] = [sideOf(index), Math.floor(index / 2)]
      const away = 1 + (level % DEPTH)
      const price = side === 'buy' ? MIDDLE - away : MIDDLE + away
      const order = orderOf(day, index, { side, price, lots: LOTS })
      const isCancelled = level % CANCELLED_ONE_IN === CANCELLED_ONE_IN - 1
      const commands = [placing(order), ...(isCancelled ? [cancelling(order)] : [])]
      return play(FIRST_MIDNIGHT_MS + day * DAY_MS + index * 1_000, commands)
    }).flat()
  }

  /** Counts on as if so many more days had followed the first. */
  function skip(days: number): DayCounts {
    const counts = { seqs: state.seq, ranks: state.rank, blocks: streamSeq }
    state.seq += days * counts.seqs
    state.rank += days * counts.ranks
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

/** Sellers rest and buyers rest in turn; the taker has as much as the maker, or less, or more. */
function pairOf(day: number, pair: number): [maker: Order, taker: Order] {
  const price = MIDDLE + (pair % DEPTH) - DEPTH / 2
  const [makers, takers] = [sideOf(pair), sideOf(pair + 1)]
  return [
    orderOf(day, 2 * pair, { side: makers, price, lots: LOTS }),
    orderOf(day, 2 * pair + 1, { side: takers, price, lots: LOTS + 4 * ((pair % 3) - 1) }),
  ]
}

/** The chain carries out every match, in a transaction and a block of its own. */
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
