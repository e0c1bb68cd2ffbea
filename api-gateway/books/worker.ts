import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { assert } from '../../core/assert.js'
import { openReadModel } from '../../data/history/read-model.js'
import { createBookRenderer, type Piece } from './render-book.js'
import type { RenderAnswer, RenderCall } from './render-thread.js'

/**
 * A thread that renders books: with a large one that takes longer than an order may wait for the gateway's event loop. It hands
 * each piece over once, without a copy, and names it afterwards.
 */

/** Behind the threads that pass orders on; on Linux the priority is that of the thread. */
const PRIORITY = 10

const { path } = z.object({ path: z.string() }).parse(workerData)
const port = parentPort
assert(port !== null, 'books are rendered in a worker thread')
setPriority(0, PRIORITY)
const render = createBookRenderer(openReadModel(path))

/** The pieces of the newest book of each market, which the other side keeps as well. */
const handedOver = new Map<string, ReadonlySet<Piece>>()

port.on('message', ({ id, market }: RenderCall) => {
  const book = render(market)
  const known = handedOver.get(market.market)
  const pieces = [...book.bids, ...book.asks]
  const fresh = pieces.filter((piece) => known?.has(piece) !== true)
  const nameKnown = (piece: Piece) => (known?.has(piece) === true ? piece.id : piece)
  const { bids, asks } = book
  const answer: RenderAnswer = {
    id,
    book: { ...book, bids: bids.map(nameKnown), asks: asks.map(nameKnown) },
  }
  handedOver.set(market.market, new Set(pieces))
  port.postMessage(answer, fresh.flatMap(buffersOf))
})

const buffersOf = ({ bytes, ends, deflated }: Piece): ArrayBuffer[] =>
  [bytes, ends, deflated].map(({ buffer }) => buffer as ArrayBuffer)
