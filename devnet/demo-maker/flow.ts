import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeJsonDurably } from '../../data/durable-file.js'
import type { Logger } from '../../runtime/process/log.js'
import { isPassing, type Desk } from './desk.js'
import { pause } from './pause.js'
import { takerOf, type QuoteCentre, type Grid, type Quote } from './quotes.js'

/** A market in which quotes are taken. */
export interface FlowMarket {
  readonly market: string
  readonly grid: Grid
  readonly around: () => QuoteCentre | undefined
  /** The quotes that stand in the book. */
  readonly quotes: () => readonly Quote[]
  /** The account that takes them. */
  readonly taker: Pick<Desk, 'sign' | 'place'>
}

/** Numbers in 0 … below - 1. */
type Random = (below: number) => number

/** Of ten orders, so many go where the last one of the market went. */
const FOLLOWS_IN_TEN = 6

/**
 * Takes part of the best quote of a side, chosen at random with some inertia. Resolves with whether an order was accepted;
 * without a quote to take it sends nothing. Throws OutcomeUnknown.
 */
export function createFlow(random: Random): (at: FlowMarket) => Promise<boolean> {
  const lastSide = new Map<string, Quote['side']>()
  return async ({ market, grid, around, quotes, taker }) => {
    const now = around()
    const last = lastSide.get(market) ?? 'buy'
    const side = random(10) < FOLLOWS_IN_TEN ? last : last === 'buy' ? 'sell' : 'buy'
    const quote = bestOf(quotes(), side)
    if (now === undefined || quote === undefined) return false
    const lots = grid.firstSize / grid.lot
    // Two thirds of the quote at most: what is left shows the level until it is quoted again.
    const most = Math.max(1, Number((2n * lots) / 3n))
    const order = takerOf(grid, now, quote, grid.lot * BigInt(1 + random(most)))
    if (order === undefined) return false
    lastSide.set(market, side)
    return taker.place(await taker.sign(order))
  }
}

/** The best of the quotes that orders of the side take. */
function bestOf(quotes: readonly Quote[], takerSide: Quote['side']): Quote | undefined {
  const [first, ...others] = quotes.filter(({ side }) => side !== takerSide)
  const isBetter = (a: Quote, b: Quote): boolean =>
    takerSide === 'buy' ? a.priceUnits < b.priceUnits : a.priceUnits > b.priceUnits
  return others.reduce((best, each) => (best && isBetter(best, each) ? best : each), first)
}

/** Orders that take quotes in the life of a devnet: its chain's state grows by some 4 kB with each. */
export const FLOW_MOST = 5_000
const FIRST_PAUSE_MS = 4_000
/** After so many orders the pause has grown by the first one. */
const SLOWER_EACH = 100

/**
 * Pause before the next order of all markets, which grows with the orders made so far: the first hundred take some ten
 * minutes, all of them a week. Undefined when there are no more.
 */
export function nextPauseMs(made: number, random: Random): number | undefined {
  if (made >= FLOW_MOST) return undefined
  const middle = FIRST_PAUSE_MS + Math.floor((FIRST_PAUSE_MS * made) / SLOWER_EACH)
  return middle / 2 + random(middle)
}

/** Random numbers that the seed decides. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface FlowParts {
  /** Those with quotes now. */
  readonly markets: () => readonly FlowMarket[]
  readonly count: FlowCount
  readonly seed: number
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Takes quotes of the markets in turn until the signal is aborted or FLOW_MOST orders were made. */
export async function runFlow({ markets, count, seed, signal, log }: FlowParts): Promise<void> {
  const random = seededRandom(seed + count.made)
  const takeQuote = createFlow(random)
  for (let turn = 0; !signal.aborted; turn += 1) {
    const pauseMs = nextPauseMs(count.made, random)
    if (pauseMs === undefined) return log.info({ orders: count.made }, 'no more quotes are taken')
    await pause(pauseMs, signal)
    const all = markets()
    const market = all[turn % all.length]
    if (market === undefined || signal.aborted) continue
    try {
      if (await takeQuote(market)) await count.add()
    } catch (error) {
      if (!isPassing(error)) throw error
      log.info({ err: error, market: market.market }, 'no quote taken')
    }
  }
}

const countSchema = z.object({ orders: z.int().min(0) })

/** How many orders have taken quotes since the devnet began, kept in `DATA_DIR/demo-flow.json`. */
interface FlowCount {
  readonly made: number
  /** Resolves when the file has the new count. */
  add(): Promise<void>
}

/** Counts from zero without the file. Throws when the file has another form. */
export function openFlowCount(dataDir: string): FlowCount {
  const file = join(dataDir, 'demo-flow.json')
  let made = readCount(file)
  return {
    get made() {
      return made
    },
    async add() {
      made += 1
      await writeJsonDurably(file, { orders: made })
    },
  }
}

function readCount(file: string): number {
  try {
    return countSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).orders
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
