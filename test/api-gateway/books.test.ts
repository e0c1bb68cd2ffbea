import { expect } from 'chai'
import fc from 'fast-check'
import { gunzipSync } from 'node:zlib'
import { bookMembers } from '../../api-gateway/books/book-body.js'
import { createBooks } from '../../api-gateway/books/books.js'
import {
  createBookRenderer,
  type Piece,
  type RenderedBook,
} from '../../api-gateway/books/render-book.js'
import { openRenderThread } from '../../api-gateway/books/render-thread.js'
import { bodyPart, gzipOf } from '../../runtime/http/gzip-parts.js'
import { bookRecordJson } from '../../core/records/order-record.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { openReadModel, type ReadModel } from '../../data/history/read-model.js'
import { aMarket, anOrder, progressOf } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { openHistory, streamed } from '../support/history.js'
import { silentLog } from '../support/intake-stage.js'
import { marketActs } from '../support/market-commands.js'
import { feedOf } from '../support/market-feed.js'
import { runs } from '../support/property-runs.js'

const market = aMarket()
const HEAD = '{"market_presentation":'

/** The body that a rendered book makes, plain and out of gzip. */
function bodyOf(book: RenderedBook, depth?: number): string {
  const presentation = JSON.stringify(marketEntry(market, { lastTradeSec: book.lastTradeSec }))
  const head = bodyPart(Buffer.from(`${HEAD}${presentation},`))
  const parts = [head, ...bookMembers(book, depth)]
  const plain = Buffer.concat(parts.map(({ bytes }) => bytes))
  expect(gunzipSync(Buffer.concat(gzipOf(parts))).equals(plain)).to.equal(true)
  return plain.toString()
}

/** The same rendered at once from all open orders. */
function plainBody(reads: ReadModel, depth?: number): string {
  const name = market.market
  const lastTradeSec = reads.lastTradeSec(name)
  return bookRecordJson(market, reads.openOrders(name), { lastTradeSec, depth })
}

describe('rendered books', () => {
  it('are those of all open orders after every block, to any depth, whatever was rendered before', () => {
    fc.assert(
      fc.property(marketActs(60), fc.integer({ min: 1, max: 5 }), (acts, depth) => {
        const history = openHistory([market])
        const reads = openReadModel(history.path)
        try {
          const render = createBookRenderer(reads)
          for (const block of streamed(feedOf(market, acts))) {
            history.projection.applyBatch([block])
            const book = render(market)
            expect(book.seq).to.equal(reads.projectedSeq(market.market))
            expect(bodyOf(book)).to.equal(plainBody(reads))
            expect(bodyOf(book, depth)).to.equal(plainBody(reads, depth))
          }
        } finally {
          reads.close()
          history.remove()
        }
      }),
      { numRuns: runs(10) },
    )
  })

  it('read the contents of an order once, and again when it or its market has changed', () => {
    const order = anOrder()
    const open = { order, progress: progressOf(order), rank: 7 }
    const known: boolean[] = []
    let updatedSeq = 3
    const render = createBookRenderer({
      book: (_, isKnown) => {
        known.push(isKnown(7, updatedSeq))
        const row = { key: 7, updatedSeq, ...(known.at(-1) !== true && { open }) }
        return { seq: updatedSeq, lastTradeSec: undefined, bids: [row], asks: [] }
      },
    })
    const first = bodyOf(render(market))
    expect(bodyOf(render(market))).to.equal(first)
    updatedSeq = 4
    render(market)
    render({ ...market, takerFeeBps: 30 })
    expect(known).to.deep.equal([false, true, false, false])
  })
})

describe('the pieces of a rendered book', () => {
  const order = anOrder()
  const open = { order, progress: progressOf(order), rank: 1 }
  /** A side of orders with these keys, and a renderer of it. */
  function aSide(keys: number[]) {
    const seqs = new Map<number, number>()
    const side = { keys, change: (key: number) => seqs.set(key, (seqs.get(key) ?? 1) + 1) }
    const render = createBookRenderer({
      book: (_, isKnown) => {
        const bids = side.keys.map((key) => {
          const updatedSeq = seqs.get(key) ?? 1
          return { key, updatedSeq, ...(!isKnown(key, updatedSeq) && { open }) }
        })
        return { seq: 1, lastTradeSec: undefined, bids, asks: [] }
      },
    })
    return { side, pieces: () => render(market).bids }
  }
  const from = (first: number, count: number, step = 1) =>
    Array.from({ length: count }, (_, index) => first + index * step)
  const isIn = (pieces: readonly Piece[]) => {
    const set = new Set(pieces)
    return (piece: Piece) => set.has(piece)
  }
  const ordersOf = (pieces: readonly Piece[]) => pieces.map(({ ends }) => ends.length)

  /** The keys of each piece. */
  const keysOf = (keys: readonly number[], pieces: readonly Piece[]): number[][] => {
    let at = 0
    return pieces.map(({ ends }) => keys.slice(at, (at += ends.length)))
  }
  /** A side of several pieces, rendered once, with the keys of its second piece. */
  function rendered() {
    const { side, pieces } = aSide(from(1, 640))
    const first = pieces()
    const [, second = []] = keysOf(side.keys, first)
    expect([first.length > 4, second.length > 2]).to.deep.equal([true, true])
    return { side, pieces, first, second }
  }
  /** Whether each piece is as it was, where only these are not. */
  const butFor = (length: number, ...others: number[]) =>
    Array.from({ length }, (_, index) => !others.includes(index))

  it('are the same objects while none of their orders changes, and one is new where one does', () => {
    const { side, pieces, first, second } = rendered()
    expect(pieces().every(isIn(first))).to.equal(true)
    side.change(second[1] ?? 0)
    expect(pieces().map(isIn(first))).to.deep.equal(butFor(first.length, 1))
  })

  it('stay where orders come and go beside them', () => {
    const { side, pieces, first, second } = rendered()
    side.keys = side.keys.filter((key) => key !== second[1])
    const without = pieces()
    expect(without.map(isIn(first))).to.deep.equal(butFor(first.length, 1))
    expect(ordersOf(without)[1]).to.equal(second.length - 1)
    // A new best order belongs to the piece that was the first.
    side.keys = [(second[1] ?? 0) + 2 ** 30, ...side.keys]
    expect(pieces().slice(-first.length).map(isIn(without))).to.deep.equal(butFor(first.length, 0))
  })

  it('are made again without a comma where one becomes the first', () => {
    const { side, pieces, first, second } = rendered()
    side.keys = second
    const alone = pieces()
    expect(alone.map(isIn(first))).to.deep.equal([false])
    const text = Buffer.from(alone[0]?.bytes ?? []).toString()
    expect(JSON.parse(`[${text}]`)).to.have.length(second.length)
  })

  it('have some 64 orders, whatever the steps of the keys are', () => {
    for (const step of [1, 2, 7, 1_000, 1_024, 65_536, 2 ** 21, 2 ** 32]) {
      const counts = ordersOf(aSide(from(step, 6_400, step)).pieces())
      expect(counts.length, `steps of ${step}`).to.be.within(60, 160)
    }
  })

  it('are bounded where no order ends one', () => {
    const { side, pieces } = aSide(from(1, 2_000))
    side.keys = keysOf(side.keys, pieces()).flatMap((keys) => keys.slice(0, -1))
    const counts = ordersOf(pieces())
    expect(counts.slice(0, -1).every((count) => count === 256)).to.equal(true)
    expect(counts.length).to.equal(Math.ceil(side.keys.length / 256))
  })

  it('have numbers of their own', () => {
    const { side, pieces, first, second } = rendered()
    side.change(second[0] ?? 0)
    const ids = new Set([...first, ...pieces()].map(({ id }) => id))
    expect(ids.size).to.equal(first.length + 1)
  })
})

describe('the books of the gateway', () => {
  /** Renderings that the test finishes. */
  function slowBooks() {
    const finish: (() => void)[] = []
    const model = { seq: 1, projectedSeq: () => model.seq }
    const render = (): Promise<RenderedBook> => {
      const { seq } = model
      const book = { seq, lastTradeSec: undefined, bids: [], asks: [] }
      return new Promise((resolve) => finish.push(() => resolve(book)))
    }
    return { finish, model, books: createBooks({ render, readModel: model }) }
  }

  it('share one rendering until the projection moves', async () => {
    const { finish, model, books } = slowBooks()
    const asked = [books.book(market), books.book(market), books.book(market)]
    await eventually(() => finish.length === 1)
    finish.shift()?.()
    expect((await Promise.all(asked)).map(({ seq }) => seq)).to.deep.equal([1, 1, 1])
    expect((await books.book(market)).seq).to.equal(1)
    expect(finish).to.have.length(0)
    model.seq = 2
    const again = books.book(market)
    await eventually(() => finish.length === 1)
    finish.shift()?.()
    expect((await again).seq).to.equal(2)
  })

  it('are never older than the projection was when they were asked for', async () => {
    const { finish, model, books } = slowBooks()
    const first = books.book(market)
    await eventually(() => finish.length === 1)
    model.seq = 2
    const second = books.book(market)
    const third = books.book(market)
    finish.shift()?.()
    expect((await first).seq).to.equal(1)
    await eventually(() => finish.length === 1)
    finish.shift()?.()
    expect([(await second).seq, (await third).seq]).to.deep.equal([2, 2])
    expect(finish).to.have.length(0)
  })

  it('rest four times as long as a rendering took, at most 400 ms, and give the newest state then', async () => {
    const model = { seq: 1, projectedSeq: () => model.seq }
    const pauses: number[] = []
    let [nowMs, takesMs] = [1_000, 20]
    const books = createBooks({
      readModel: model,
      render: () => {
        nowMs += takesMs
        return Promise.resolve({ seq: model.seq, lastTradeSec: undefined, bids: [], asks: [] })
      },
      elapsedMs: () => nowMs,
      pause: (ms) => {
        pauses.push(ms)
        nowMs += ms
        model.seq += 1
        return Promise.resolve()
      },
    })
    const seqAfter = async (waitedMs: number): Promise<number> => {
      nowMs += waitedMs
      model.seq += 1
      return (await books.book(market)).seq
    }
    expect([await seqAfter(0), pauses]).to.deep.equal([2, []])
    expect([await seqAfter(30), pauses]).to.deep.equal([4, [50]])
    takesMs = 60_000
    expect([await seqAfter(80), pauses]).to.deep.equal([5, [50]])
    expect([await seqAfter(1), pauses]).to.deep.equal([7, [50, 399]])
  })

  it('are rendered again when their market reads otherwise', async () => {
    const { finish, books } = slowBooks()
    const before = books.book(market)
    await eventually(() => finish.length === 1)
    finish.shift()?.()
    await before
    const after = books.book({ ...market, takerFeeBps: 30 })
    await eventually(() => finish.length === 1)
    finish.shift()?.()
    await after
  })
})

describe('the thread that renders books', () => {
  it('gives the book of the projection after each change, and is replaced when it fails', async () => {
    const [acts = []] = fc.sample(marketActs(60), { seed: 1, numRuns: 1 })
    const history = openHistory([market])
    const reads = openReadModel(history.path)
    const thread = openRenderThread(history.path, silentLog)
    try {
      for (const block of streamed(feedOf(market, acts))) {
        history.projection.applyBatch([block])
        expect(bodyOf(await thread.render(market))).to.equal(plainBody(reads))
      }
      const first = await thread.render(market)
      const second = await thread.render(market)
      const isSame = second.bids.map((piece, index) => piece === first.bids[index])
      expect(isSame, 'a piece is handed over once').to.deep.equal(first.bids.map(() => true))
      const broken = { ...market, presentation: undefined } as unknown as typeof market
      const failure: unknown = await thread.render(broken).catch((error: unknown) => error)
      expect(failure).to.have.property('name', 'RendererEnded')
      expect(bodyOf(await thread.render(market))).to.equal(plainBody(reads))
    } finally {
      await thread.stop()
      reads.close()
      history.remove()
    }
  })
})
