import { expect } from 'chai'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Books } from '../../api-gateway/books/books.js'
import { createReadsInFlight, LARGE_READ_LIMITS } from '../../api-gateway/reads-in-flight.js'
import { anOrder, progressOf } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import {
  aBookShelf,
  aFakeReadModel,
  aGatewayStage,
  type GatewayStage,
} from '../support/gateway-stage.js'

describe('the large reads in flight', () => {
  it('are bounded for each client, and altogether except for the first of a client (REA-035)', () => {
    const reads = createReadsInFlight({ maxPerAddress: 2, max: 3 })
    const first = reads.enter('a')
    expect(first).not.to.equal(undefined)
    expect(reads.enter('a')).not.to.equal(undefined)
    expect(reads.enter('a')).to.equal(undefined)
    expect(reads.enter('b')).not.to.equal(undefined)
    expect(reads.enter('b'), 'the second, of too many in all').to.equal(undefined)
    expect(reads.enter('c'), 'the first').not.to.equal(undefined)
    first?.()
    expect(reads.enter('a'), 'the second, of too many in all').to.equal(undefined)
  })
})

describe('large reads of the gateway', () => {
  /** Book reads that wait for `open`. */
  let waiting: (() => void)[]
  let isOpen: boolean
  let gateway: GatewayStage
  const maxPerAddress = 3

  async function stage(trustedProxies: number): Promise<void> {
    ;[waiting, isOpen] = [[], false]
    const shelf = aBookShelf(aFakeReadModel())
    const books: Books = {
      ...shelf,
      async book(market) {
        if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
        return shelf.book(market)
      },
    }
    gateway = await aGatewayStage({ books, trustedProxies, largeReads: { maxPerAddress } })
  }
  afterEach(() => gateway.close())

  const open = (): void => {
    isOpen = true
    for (const goOn of waiting) goOn()
  }
  const readFrom = (address: string, path = '/v1/book?symbol=cNGN-USDC') =>
    gateway.send('GET', path, { headers: { 'X-Forwarded-For': address } })

  it('above the bound of an address are answered 503 with Retry-After until others have ended (REA-034)', async () => {
    await stage(1)
    const admitted = Array.from({ length: maxPerAddress }, () => readFrom('203.0.113.1'))
    await eventually(() => waiting.length === maxPerAddress)
    for (const path of [
      '/v1/book?symbol=cNGN-USDC',
      '/v1/book?symbol=cNGN-USDC&depth=101',
      '/v1/trades?symbol=cNGN-USDC',
      '/v1/candles?symbol=cNGN-USDC',
      '/v1/levels?symbol=cNGN-USDC',
      '/v1/tickers',
      '/v1/accounts',
      '/v1/orders',
      '/v1/fills',
      '/v1/close-outs',
      '/v1/liquidations',
      '/docs/swagger-ui-bundle.js',
    ]) {
      const refused = await readFrom('6.6.6.6, 203.0.113.1', path)
      expect([refused.status, refused.json.code, refused.headers['retry-after']]).to.deep.equal([
        ...[503, 'too_many_reads', '1'],
      ])
    }
    const validation = await gateway.send('POST', '/v1/orders/validate', {
      headers: { 'X-Forwarded-For': '203.0.113.1' },
      body: {},
    })
    expect([validation.status, validation.json.code]).to.deep.equal([503, 'too_many_reads'])
    const others = readFrom('203.0.113.2')
    await eventually(() => waiting.length === maxPerAddress + 1)
    const small = await readFrom('203.0.113.1', '/v1/book?symbol=cNGN-USDC&depth=100')
    expect(small.status).to.equal(200)
    open()
    for (const { status } of await Promise.all([...admitted, others])) expect(status).to.equal(200)
    expect((await readFrom('203.0.113.1')).status).to.equal(200)
  })

  it('that were refused keep their connection, which is read again later', async () => {
    await stage(0)
    const admitted = Array.from({ length: maxPerAddress }, () =>
      gateway.send('GET', '/v1/book?symbol=cNGN-USDC'),
    )
    await eventually(() => waiting.length === maxPerAddress)
    const socket = connect(gateway.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    const request = 'GET /v1/book?symbol=cNGN-USDC HTTP/1.1\r\nHost: venue\r\n\r\n'
    socket.write(request)
    await eventually(() => text.startsWith('HTTP/1.1 503 '))
    open()
    await Promise.all(admitted)
    text = ''
    socket.write(request)
    await eventually(() => text.startsWith('HTTP/1.1 200 '))
    socket.destroy()
  })

  it('that were refused on a connection which sends on without an answer end it', async () => {
    await stage(0)
    const admitted = Array.from({ length: maxPerAddress }, () =>
      gateway.send('GET', '/v1/book?symbol=cNGN-USDC'),
    )
    await eventually(() => waiting.length === maxPerAddress)
    const socket = connect(gateway.port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    socket.write('GET /v1/book?symbol=cNGN-USDC HTTP/1.1\r\nHost: venue\r\n\r\n'.repeat(50))
    await once(socket, 'close')
    open()
    await Promise.all(admitted)
  })
})

describe('large reads whose connection ends', () => {
  it('make room, those that wait behind another answer too', async () => {
    let begun = 0
    const books: Books = {
      ...aBookShelf(aFakeReadModel()),
      book() {
        begun += 1
        return new Promise(() => undefined)
      },
    }
    const gateway = await aGatewayStage({ books, largeReads: { maxPerAddress: 3 } })
    const request = 'GET /v1/book?symbol=cNGN-USDC HTTP/1.1\r\nHost: venue\r\n\r\n'
    for (const expected of [3, 6, 9]) {
      const socket = connect(gateway.port, '127.0.0.1')
      socket.write(request.repeat(3))
      await eventually(() => begun === expected)
      const closed = once(socket, 'close')
      socket.destroy()
      await closed
      const sockets = () =>
        new Promise<number>((resolve) =>
          gateway.server.getConnections((_, count) => resolve(count)),
        )
      await eventually(async () => (await sockets()) === 0)
    }
    await gateway.close()
  })
})

describe('a gateway with a hostile client', () => {
  const ATTACKER = '203.0.113.66'
  /** More than the buffers of a connection take. */
  const BOOK = 5_000
  const READERS = 12
  const QUIET = 10
  const ORDERS = 10

  it('goes on accepting orders and serving others, and disconnects what stands still', async function () {
    const gateway = await aGatewayStage(
      { trustedProxies: 1, largeReads: { maxPerAddress: 4, max: 4 } },
      {
        graceMs: 200,
        minBytesPerMs: 1024 * 1024,
        checkEveryMs: 50,
        headersTimeoutMs: 2_000,
        requestTimeoutMs: 2_000,
      },
    )
    gateway.readModel.open = Array.from({ length: BOOK }, (_, index) => {
      const order = anOrder({ orderId: `order-${index}` })
      return { order, progress: progressOf(order), rank: index + 1 }
    })
    gateway.readModel.projected = BOOK
    const order = anOrder()
    gateway.answerWith({
      kind: 'order',
      feed_seq: BOOK,
      market: order.market,
      order,
      progress: progressOf(order),
    })

    const book = `http://127.0.0.1:${gateway.port}/v1/book?symbol=cNGN-USDC`
    let bytes = 0
    let isOver = false
    const statuses = new Set<number>()
    const attack = Array.from({ length: READERS }, async () => {
      while (!isOver) {
        const answer = await fetch(book, { headers: { 'X-Forwarded-For': ATTACKER } })
        statuses.add(answer.status)
        await answer.arrayBuffer()
      }
    })
    const quiet = (text: string) =>
      Array.from({ length: QUIET }, () => {
        const socket = connect(gateway.port, '127.0.0.1')
        socket.on('error', () => undefined)
        const state = { isClosed: false, received: 0 }
        socket.on('close', () => (state.isClosed = true))
        socket.write(text)
        return { socket, state }
      })
    const isClosed = ({ state }: { readonly state: { readonly isClosed: boolean } }) =>
      state.isClosed
    const poll = () => fetch(book, { headers: { 'X-Forwarded-For': '203.0.113.7' } })
    const forwarded = `Host: venue\r\nX-Forwarded-For: 203.0.113.67\r\n`
    // Those that are refused would be kept open for their next request.
    const once = `${forwarded}Connection: close\r\n`
    const lazy = quiet(`GET /v1/book?symbol=cNGN-USDC HTTP/1.1\r\n${once}\r\n`)
    const halfOpen = quiet(`POST /v1/orders HTTP/1.1\r\n${forwarded}Content-Length: 900\r\n\r\n{`)
    const idle = quiet('')
    for (const { socket } of [...halfOpen, ...idle]) socket.resume()

    await eventually(() => statuses.has(503))
    for (let n = 0; n < ORDERS; n += 1) {
      const placed = await gateway.send('POST', '/v1/orders', { body: { order_id: `o-${n}` } })
      expect(placed.status).to.equal(200)
      if (n % 5 !== 0) continue
      const polled = await poll()
      expect(polled.status).to.equal(200)
      bytes = (await polled.arrayBuffer()).byteLength
    }
    expect(gateway.asked).to.have.length(ORDERS)
    await eventually(() => [...halfOpen, ...idle].every(isClosed))
    isOver = true
    await Promise.all(attack)
    // Only what was on its way to those that did not read still arrives.
    for (const { socket, state } of lazy) {
      socket.on('data', (chunk) => (state.received += chunk.length))
    }
    await eventually(() => lazy.every(isClosed))
    for (const { state } of lazy) expect(state.received).to.be.below(bytes)
    expect([...statuses].sort()).to.deep.equal([200, 503])
    await gateway.close()
  })

  it('has a bound by default that leaves room for a page and its panels', () => {
    expect(LARGE_READ_LIMITS.maxPerAddress).to.be.at.least(10)
    expect(LARGE_READ_LIMITS.max).to.be.at.least(LARGE_READ_LIMITS.maxPerAddress)
  })
})
