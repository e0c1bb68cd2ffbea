import { join } from 'node:path'
import { openReadModel, type ReadModel } from '../data/read-model.js'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import { benchMarket } from './bench-market.js'
import { fillHistory, type FilledHistory, ownerOf } from './fill-history.js'
import { createRandom } from './random.js'
import { interleaved, ratio, took } from './rounds.js'

export const read: Bench = {
  name: 'read',
  title:
    'Pages of the read model behind a long history beside the same behind a short one: what is read must not cost more for what lies behind it.',
  versionsOf: ['better-sqlite3'],
  run,
}

const SHORT = { tiny: 2_000, usual: 100_000, full: 100_000 }
const LONG = { tiny: 4_000, usual: 1_000_000, full: 10_000_000 }
const CALLS = { tiny: 5, usual: 200, full: 200 }
const PAGE = 50
const BOOK_DEPTH = 100
const SEED = 11

interface History extends FilledHistory {
  readonly model: ReadModel
}

type Random = (below: number) => number
/** How many rows came. */
type Question = (history: History, random: Random) => number

const { market } = benchMarket()
/** A trade somewhere in the history, and a moment. */
const someTrade = ({ trades }: History, random: Random): number =>
  (6 * (Math.floor(trades / 4) + random(trades / 2)) + 4) * 256 + 256
const someMoment = ({ orders }: History, random: Random) => ({
  atMs: 1_790_000_000_000 + (orders / 4 + random(orders / 2)) * 1_000,
  key: 0,
})

const QUESTIONS: Readonly<Record<string, Question>> = {
  'the book': ({ model }) => model.openOrders(market, BOOK_DEPTH).length / 2,
  'newest trades': ({ model }) => model.trades(market, PAGE).length,
  'trades from somewhere on': (history, random) =>
    history.model.trades(market, PAGE, someTrade(history, random)).length,
  'newest orders of an owner': ({ model, owners }, random) =>
    model.orderHistory(ownerOf(random(owners)), { limit: PAGE }).length,
  'orders of an owner from somewhere on': (history, random) => {
    const page = { limit: PAGE, before: someMoment(history, random) }
    return history.model.orderHistory(ownerOf(random(history.owners)), page).length
  },
  'fills of an owner from somewhere on': (history, random) => {
    const page = { limit: PAGE, before: someMoment(history, random) }
    return history.model.fills(ownerOf(random(history.owners)), page).length
  },
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const open = (orders: number): History => {
    const start = performance.now()
    const filled = fillHistory(join(dir, `${orders}.db`), orders)
    say(`${orders} orders written in ${Math.round((performance.now() - start) / 1000)} s`)
    return { ...filled, model: openReadModel(filled.path) }
  }
  const [short, long] = [open(SHORT[size]), open(LONG[size])]
  const rows: Row[] = []
  for (const [what, question] of Object.entries(QUESTIONS)) {
    const ask = (history: History) => () => usPerCall(history, question, CALLS[size])
    const values = await interleaved(rounds, { short: ask(short), long: ask(long) })
    rows.push(
      { what: `${what}, ${short.orders} orders`, unit: 'µs', values: values.short },
      { what: `${what}, ${long.orders} orders`, unit: 'µs', values: values.long },
      ratio(`${what}, long / short`, [values.long, values.short], { atMost: 1.2 }),
    )
  }
  short.model.close()
  long.model.close()
  return {
    rows,
    notes: [
      `Processor time of one page of ${PAGE} rows, of the best ${BOOK_DEPTH} orders of each side for the book. Each round asks the same ${CALLS[size]} questions. \`--full\` reads behind ${LONG.full} orders.`,
    ],
  }
}

/** The same questions in every round, so that what they touch is in memory after the first. */
async function usPerCall(history: History, question: Question, calls: number): Promise<number> {
  const random = createRandom(SEED)
  let wanted = 0
  const { cpuMs } = await took(() => {
    for (let call = 0; call < calls; call += 1) {
      const rows = question(history, random)
      if (rows >= Math.min(PAGE, history.orders / history.owners / 8)) wanted += 1
    }
  })
  if (wanted !== calls) throw new Error(`${calls - wanted} of ${calls} pages are short`)
  return (cpuMs * 1000) / calls
}
