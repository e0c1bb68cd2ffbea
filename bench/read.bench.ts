import { join } from 'node:path'
import type { Address } from '../core/action.js'
import { openReadModel, type ReadModel } from '../data/history/read-model.js'
import { benchMarket } from './bench-market.js'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import { fillHistory, type FilledHistory, type HistorySize } from './fill-history.js'
import { createRandom } from './random.js'
import { interleaved, ratio, took } from './rounds.js'

export const read: Bench = {
  name: 'read',
  title:
    'Pages of the read model with a long history compared with the same pages with a short one: the cost of a page must not grow with the history.',
  versionsOf: ['better-sqlite3'],
  run,
}

const SHORT = {
  tiny: { days: 2, pairsADay: 500 },
  usual: { days: 20, pairsADay: 2_500 },
  full: { days: 20, pairsADay: 2_500 },
}
const LONG = {
  tiny: { days: 4, pairsADay: 500 },
  usual: { days: 200, pairsADay: 2_500 },
  full: { days: 2_000, pairsADay: 2_500 },
}
const CALLS = { tiny: 5, usual: 200, full: 200 }
const PAGE = 50
const BOOK_DEPTH = 100
const SEED = 11

interface History extends FilledHistory {
  readonly model: ReadModel
}

type Random = (below: number) => number
/** Runs one query and returns its number of rows. */
type Question = (history: History, random: Random) => number

const { market } = benchMarket()

/** Cursors from the middle half of the history. */
function somewhere([first, last]: readonly [number, number], random: Random): number {
  const quarter = Math.floor((last - first) / 4)
  return first + quarter + random(2 * quarter)
}
const someMoment = ({ atMs }: History, random: Random) => ({
  atMs: somewhere(atMs, random),
  key: 0,
})
const someOwner = ({ owners }: History, random: Random): Address => {
  const owner = owners[random(owners.length)]
  if (owner === undefined) throw new Error('the history has no owner')
  return owner
}

const QUESTIONS: Readonly<Record<string, Question>> = {
  'the book': ({ model }) => model.openOrders(market, BOOK_DEPTH).length / 2,
  'newest trades': ({ model }) => model.trades(market, PAGE).length,
  'trades from somewhere on': (history, random) =>
    history.model.trades(market, PAGE, somewhere(history.tradeIds, random)).length,
  'newest orders of an owner': (history, random) =>
    history.model.orderHistory(someOwner(history, random), { limit: PAGE }).length,
  'orders of an owner from somewhere on': (history, random) => {
    const page = { limit: PAGE, before: someMoment(history, random) }
    return history.model.orderHistory(someOwner(history, random), page).length
  },
  'fills of an owner from somewhere on': (history, random) => {
    const page = { limit: PAGE, before: someMoment(history, random) }
    return history.model.fills(someOwner(history, random), page).length
  },
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const open = (size: HistorySize): History => {
    const start = performance.now()
    const filled = fillHistory(join(dir, `${size.days}.db`), size)
    say(`${filled.orders} orders written in ${Math.round((performance.now() - start) / 1000)} s`)
    return { ...filled, model: openReadModel(filled.path) }
  }
  const short = open(SHORT[size])
  const long = open(LONG[size])
  const rows: Row[] = []
  for (const [what, question] of Object.entries(QUESTIONS)) {
    const ask = (history: History) => () => usPerCall(history, question, CALLS[size])
    const values = await interleaved(rounds, { short: ask(short), long: ask(long) })
    rows.push(
      { what: `${what}, ${short.orders} orders`, unit: 'µs', values: values.short },
      { what: `${what}, ${long.orders} orders`, unit: 'µs', values: values.long },
      ratio(`${what}, long / short`, [values.long, values.short], { atMost: 1.15 }),
    )
  }
  short.model.close()
  long.model.close()
  return {
    rows,
    notes: [
      `Processor time of one page of ${PAGE} rows, of the best ${BOOK_DEPTH} orders of each side for the book. Each round repeats the same ${CALLS[size]} queries. \`--full\` reads a history of ten million orders.`,
    ],
  }
}

/** The same queries in every round, so that their pages are in memory after the first. */
async function usPerCall(history: History, question: Question, calls: number): Promise<number> {
  const random = createRandom(SEED)
  let wanted = 0
  const { cpuMs } = await took(() => {
    for (let call = 0; call < calls; call += 1) {
      const rows = question(history, random)
      if (rows >= Math.min(PAGE, history.orders / history.owners.length / 8)) wanted += 1
    }
  })
  if (wanted !== calls) throw new Error(`${calls - wanted} of ${calls} pages are short`)
  return (cpuMs * 1000) / calls
}
