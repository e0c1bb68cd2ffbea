import type { Market } from '../../core/model/market.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import type { OpenOrderRow } from '../../data/history/read-book.js'
import type { ReadModel } from '../../data/history/read-model.js'
import { bodyPart, type BodyPart } from '../../runtime/http/gzip-parts.js'

/** Orders that follow each other in a side of a book: their records as JSON, each after a comma but the side's first. */
export interface Piece extends BodyPart {
  /** Unique among the pieces of a renderer. */
  readonly id: number
  /** Where each record ends in `bytes`. */
  readonly ends: Uint32Array
}

/** The visible book of a market as of a feed `seq`. */
export interface RenderedBook {
  readonly seq: number
  /** Unix seconds of the newest fill; undefined before the first. */
  readonly lastTradeSec: number | undefined
  /** Best first. */
  readonly bids: readonly Piece[]
  readonly asks: readonly Piece[]
}

interface RenderedOrder {
  readonly key: number
  readonly updatedSeq: number
  readonly json: Buffer
}

/** A piece, and what it was made of. */
interface MadeBook {
  readonly piece: Piece
  readonly orders: readonly RenderedOrder[]
  readonly isFirst: boolean
}

interface RenderedBody {
  readonly form: string
  readonly orders: Map<number, RenderedOrder>
  /** By the first order of each. */
  readonly pieces: Map<RenderedOrder | undefined, MadeBook>
}

/**
 * Renders books in pieces. An order is rendered again only when it or its market's presentation has changed, and a piece only
 * when one of its orders has; an unchanged piece is the same object as in the book before. What is kept follows the books,
 * not the history.
 */
export function createBookRenderer(
  readModel: Pick<ReadModel, 'book'>,
): (market: Market) => RenderedBook {
  const kept = new Map<string, RenderedBody>()
  let pieces = 0

  function pieceOf(orders: readonly RenderedOrder[], isFirst: boolean): Piece {
    pieces += 1
    return { id: pieces, ...joined(orders, isFirst) }
  }

  return (market) => {
    const form = JSON.stringify(marketEntry(market))
    const found = kept.get(market.market)
    const before = found?.form === form ? found : emptyBook(form)
    const after = emptyBook(form)
    const isKnown = (key: number, updatedSeq: number): boolean =>
      before.orders.get(key)?.updatedSeq === updatedSeq
    const { bids, asks, seq, lastTradeSec } = readModel.book(market.market, isKnown)

    const sideOf = (rows: readonly OpenOrderRow[]): Piece[] => {
      const orders = rows.flatMap(
        (row) => rendering(market, row) ?? before.orders.get(row.key) ?? [],
      )
      for (const order of orders) after.orders.set(order.key, order)
      return cut(orders).map((run, index) => {
        const isFirst = index === 0
        const same = before.pieces.get(run[0])
        const made = isMadeOf(same, run, isFirst)
          ? same
          : { piece: pieceOf(run, isFirst), orders: run, isFirst }
        after.pieces.set(run[0], made)
        return made.piece
      })
    }
    const rendered = { seq, lastTradeSec, bids: sideOf(bids), asks: sideOf(asks) }
    kept.set(market.market, after)
    return rendered
  }
}

const emptyBook = (form: string): RenderedBody => ({ form, orders: new Map(), pieces: new Map() })

function rendering(
  market: Market,
  { key, updatedSeq, open }: OpenOrderRow,
): RenderedOrder | undefined {
  if (open === undefined) return undefined
  const text = orderRecordJson(market, open)
  // Not from the pool of small buffers, of which one kept order would hold back many others.
  const json = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  json.write(text)
  return { key, updatedSeq, json }
}

/** Bounds what one change renders again. */
const MOST_ORDERS = 256

/**
 * Whether a piece ends with the order, whichever its neighbours are: a change moves the ends of no other piece. One order of 64
 * does, by the highest bits of its key times the golden ratio, which are even for keys in steps of any length.
 */
const endsPiece = (key: number): boolean =>
  Math.imul(key ^ Math.floor(key / 2 ** 32), 0x9e3779b1) >>> 26 === 0

/** Divides the orders of a side. */
function cut(orders: readonly RenderedOrder[]): RenderedOrder[][] {
  const runs: RenderedOrder[][] = []
  let run: RenderedOrder[] = []
  for (const order of orders) {
    run.push(order)
    if (endsPiece(order.key) || run.length === MOST_ORDERS) {
      runs.push(run)
      run = []
    }
  }
  return run.length === 0 ? runs : [...runs, run]
}

const isMadeOf = (
  made: MadeBook | undefined,
  orders: readonly RenderedOrder[],
  isFirst: boolean,
): made is MadeBook =>
  made?.isFirst === isFirst &&
  made.orders.length === orders.length &&
  made.orders.every((order, index) => order === orders[index])

const COMMA = Buffer.from(',')

function joined(orders: readonly RenderedOrder[], isFirst: boolean): Omit<Piece, 'id'> {
  const ends = new Uint32Array(orders.length)
  const length = orders.reduce((sum, { json }) => sum + json.length + 1, isFirst ? -1 : 0)
  const bytes = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const [index, { json }] of orders.entries()) {
    if (index > 0 || !isFirst) at += COMMA.copy(bytes, at)
    at += json.copy(bytes, at)
    ends[index] = at
  }
  return { ...bodyPart(bytes), ends }
}
