import { expect } from 'chai'
import fc from 'fast-check'
import { gunzipSync } from 'node:zlib'
import { bookMembers, createBooks } from '../../api-gateway/books/books.js'
import { createBookRenderer, type RenderedBook } from '../../api-gateway/books/render-book.js'
import { openRenderThread } from '../../api-gateway/books/render-thread.js'
import { bookRecordJson } from '../../core/records/order-record.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { openReadModel, type ReadModel } from '../../data/history/read-model.js'
import { aMarket, anOrder, progressOf } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { openHistory, streamed } from '../support/history.js'
import { silentLog } from '../support/intake-stage.js'
import { marketActs } from '../support/market-commands.js'
import { feedOf } from '../support/market-feed.js'

const market = aMarket()
const HEAD = '{"market_presentation":'

/** The body that a rendered book makes. */
function bodyOf(book: RenderedBook, depth?: number): string {
  const presentation = JSON.stringify(marketEntry(market, { lastTradeSec: book.lastTradeSec }))
  return `${HEAD}${presentation},${Buffer.concat(bookMembers(book, depth)).toString()}`
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
      { numRuns: 10 },
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

describe('the books of the gateway', () => {
  /** Renderings that the test finishes. */
  function slowBooks() {
    const finish: (() => void)[] = []
    const model = { seq: 1, projectedSeq: () => model.seq }
    const render = (): Promise<RenderedBook> => {
      const { seq } = model
      const side = { bytes: Buffer.alloc(0), ends: new Uint32Array(0) }
      const book = { seq, lastTradeSec: undefined, bids: side, asks: side }
      return new Promise((resolve) => finish.push(() => resolve(book)))
    }
    const compress = () => Promise.resolve(Buffer.alloc(0))
    return { finish, model, books: createBooks({ render, compress, readModel: model }) }
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

describe('the compressed bodies of a book', () => {
  const side = { bytes: Buffer.alloc(0), ends: new Uint32Array(0) }
  const book = { seq: 1, lastTradeSec: undefined, bids: side, asks: side }
  /** Those of one book, by tag; each is the number of the compression that made it. */
  const bodies = (compress: () => Promise<Uint8Array>) => {
    const books = createBooks({
      render: () => Promise.resolve(book),
      compress,
      readModel: { projectedSeq: () => 1 },
    })
    return async (etag: string) => Buffer.from(await books.compressed(book, etag, [])).toString()
  }

  it('are made once for each tag of the newest book', async () => {
    let made = 0
    const body = bodies(() => Promise.resolve(Buffer.from(`${(made += 1)}`)))
    expect([await body('a'), await body('a'), await body('b')]).to.deep.equal(['1', '1', '2'])
  })

  it('are made again after one that failed', async () => {
    let made = 0
    const body = bodies(() => {
      made += 1
      if (made === 1) return Promise.reject(new Error('the thread has ended'))
      return Promise.resolve(Buffer.from(`${made}`))
    })
    const failure: unknown = await body('a').catch((error: unknown) => error)
    expect(failure).to.have.property('message', 'the thread has ended')
    expect(await body('a')).to.equal('2')
  })
})

describe('the thread that renders books', () => {
  it('gives the book of the projection, and is replaced when it fails', async () => {
    const history = openHistory([market])
    const reads = openReadModel(history.path)
    const thread = openRenderThread(history.path, silentLog)
    try {
      const rendered = await thread.render(market)
      expect(bodyOf(rendered)).to.equal(plainBody(reads))
      const zipped = await thread.compress(bookMembers(rendered))
      expect(gunzipSync(zipped)).to.deep.equal(Buffer.concat(bookMembers(rendered)))
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
