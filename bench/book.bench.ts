import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import pino from 'pino'
import { bookMembers } from '../api-gateway/books/book-body.js'
import type { RenderedBook } from '../api-gateway/books/render-book.js'
import { openBooks } from '../api-gateway/books/render-thread.js'
import type { Change } from '../core/model/change.js'
import { amountE18 } from '../core/money.js'
import { bookOrdersJson } from '../core/records/order-record.js'
import { createProjection, HISTORY_FILE } from '../data/history/project.js'
import { openReadModel, type ReadModel } from '../data/history/read-model.js'
import { openDatabase } from '../data/open.js'
import { benchMarket } from './bench-market.js'
import { benchOrder } from './bench-orders.js'
import type { Bench, BenchContext, Goal, Report, Row } from './bench.js'
import { interleaved, ratio, took, type Took } from './rounds.js'

export const book: Bench = {
  name: 'book',
  title:
    'The whole book after one change, as the gateway renders it for all who ask, compared with rendering it on the event loop.',
  versionsOf: ['better-sqlite3'],
  run,
}

const ORDERS = {
  tiny: [100, 200],
  usual: [1_000, 10_000, 50_000],
  full: [1_000, 10_000, 50_000],
}
const PRICES = 500
const START_MS = 1_790_000_000_000

const market = benchMarket()

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const rows: Row[] = []
  const most = Math.max(...ORDERS[size])
  for (const orders of ORDERS[size]) {
    const goal = orders === most ? { atMost: 1.5 } : undefined
    rows.push(...(await measure(orders, { rounds, dir, say, goal })))
  }
  return {
    rows,
    notes: [
      `Wall time, orders at ${PRICES} prices. Before each measurement one order of the book changes. The peer reads all open orders and writes them as text in one turn of the event loop; the venue renders the changed order, and its piece of the book plain and deflated, in a thread. The longest turn is that of the event loop of the gateway's main thread meanwhile, which passes orders on. Processor time is that of all threads, with the change of the order read from the projection.`,
    ],
  }
}

async function measure(
  orders: number,
  {
    rounds,
    dir,
    say,
    goal,
  }: Pick<BenchContext, 'rounds' | 'dir' | 'say'> & { readonly goal: Goal | undefined },
): Promise<Row[]> {
  const path = join(dir, `${orders}.db`)
  const history = fillBook(path, orders)
  const reads = openReadModel(path)
  const books = openBooks(path, reads, pino({ level: 'silent' }))
  try {
    const fragments = fragmentsOf(await books.book(market))
    const values = await interleaved(rounds, {
      venue: async () => {
        history.change()
        return longestTurn(async () => {
          const parts = bookMembers(await books.book(market))
          const bytes = parts.reduce((sum, { bytes: { length } }) => sum + length, 0)
          if (bytes < orders * 500) throw new Error(`a book of ${bytes} bytes`)
        })
      },
      peer: () => {
        history.change()
        return longestTurn(() => Promise.resolve(plainBook(reads)))
      },
      concat: () => longestTurn(() => Promise.resolve(Buffer.concat(fragments))),
    })
    const cpuOf = (all: readonly Pick<Took, 'cpuMs'>[]) => all.map(({ cpuMs }) => cpuMs)
    const wallOf = (all: readonly Measured[]) => all.map(({ wallMs }) => wallMs)
    const turnOf = (all: readonly Measured[]) => all.map(({ turnMs }) => turnMs)
    say(`${orders} orders measured`)
    const of = `${orders} orders`
    return [
      { what: `${of}, peer: the turn of the event loop`, unit: 'ms', values: wallOf(values.peer) },
      { what: `${of}, venue: until rendered`, unit: 'ms', values: wallOf(values.venue) },
      { what: `${of}, venue: longest turn meanwhile`, unit: 'ms', values: turnOf(values.venue) },
      ratio(`${of}, longest turn, peer / venue`, [wallOf(values.peer), turnOf(values.venue)]),
      { what: `${of}, venue: processor time`, unit: 'ms', values: cpuOf(values.venue) },
      { what: `${of}, Buffer.concat of them`, unit: 'ms', values: cpuOf(values.concat) },
      ratio(`${of}, venue / Buffer.concat`, [cpuOf(values.venue), cpuOf(values.concat)], goal),
    ]
  } finally {
    await books.stop()
    reads.close()
    history.close()
  }
}

const plainBook = (reads: ReadModel): string =>
  bookOrdersJson(market, reads.openOrders(market.market))

/** A shorter turn counts as one of this length. */
const RESOLUTION_MS = 1

interface Measured extends Took {
  readonly turnMs: number
}

/** Each order's text as a buffer of its own. */
const fragmentsOf = ({ bids, asks }: RenderedBook): Buffer[] =>
  [...bids, ...asks].flatMap(({ bytes, ends }) =>
    Array.from(ends, (end, index) => Buffer.from(bytes.slice(ends[index - 1] ?? 0, end))),
  )

/** How long the work takes, and the longest that the event loop was busy at a stretch meanwhile. */
async function longestTurn(work: () => Promise<unknown>): Promise<Measured> {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  const cost = await took(async () => void (await work()))
  delays.disable()
  return { ...cost, turnMs: Math.max(RESOLUTION_MS, delays.max / 1e6) }
}

/** Writes a market with so many resting orders; `change` changes one of them after the other. */
function fillBook(path: string, orders: number) {
  const db = openDatabase({ path, ...HISTORY_FILE })
  const projection = createProjection(db, [market])
  let seq = 0
  const apply = (changes: readonly Change[]): void => {
    const firstSeq = changes[0]?.seq ?? 0
    const block = {
      market: market.market,
      commandSeq: firstSeq,
      commandIndex: 0,
      firstSeq,
      changes,
    }
    projection.applyBatch([{ streamSeq: (streamSeq += 1), block }])
  }
  let streamSeq = 0
  const placements = Array.from({ length: orders }, (_, index) => placement((seq += 1), index))
  apply(placements)
  return {
    change(): void {
      const placed = placements[seq % orders]
      if (placed === undefined) throw new Error('no order to change')
      const { orderId, owner, side, limitPrice, desired, filled, pending, open, status } = placed
      const same = { orderId, owner, side, limitPrice, desired, filled, pending, open, status }
      seq += 1
      apply([{ ...same, kind: 'OrderReleased', seq, atMs: START_MS + seq, openDelta: 0n }])
    },
    close: () => db.close(),
  }
}

function placement(seq: number, index: number): Extract<Change, { kind: 'OrderPlaced' }> {
  const isBuy = index % 2 === 0
  const price = isBuy ? 5_000 - (index % PRICES) : 6_000 + (index % PRICES)
  const order = benchOrder({ number: index + 1, side: isBuy ? 'buy' : 'sell', price, lots: 3 })
  const { orderId, owner, side, limitPrice, desiredAmount } = order
  return {
    kind: 'OrderPlaced',
    seq,
    atMs: START_MS + seq,
    order,
    rank: index + 1,
    orderId,
    owner,
    side,
    limitPrice,
    desired: desiredAmount,
    status: 'active',
    filled: amountE18(0n),
    pending: amountE18(0n),
    open: desiredAmount,
    openDelta: desiredAmount,
  }
}
