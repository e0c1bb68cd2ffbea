import { expect } from 'chai'
import { connect } from 'node:net'
import { once } from 'node:events'
import type { BookRecord } from '../../interface/order.js'
import type { OpenOrder } from '../../core/records/order-record.js'
import { anOrder, progressOf } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const ORDERS = 400

const someOrders = (count: number): OpenOrder[] =>
  Array.from({ length: count }, (_, index) => {
    const order = anOrder({ orderId: `order-${index}` })
    return { order, progress: progressOf(order), rank: index + 1 }
  })

describe('the whole book over HTTP', () => {
  let gateway: GatewayStage
  let url: string

  beforeEach(async () => {
    gateway = await aGatewayStage()
    gateway.readModel.open = someOrders(ORDERS)
    gateway.readModel.projected = ORDERS
    url = `http://127.0.0.1:${gateway.port}/v1/book?symbol=cNGN-USDC`
  })
  afterEach(() => gateway.close())

  const read = (headers: Record<string, string> = {}, query = '') =>
    fetch(`${url}${query}`, { headers: { 'Accept-Encoding': 'identity', ...headers } })
  const idsOf = async (answer: Response): Promise<string[]> => {
    const { bids, asks } = (await answer.json()) as BookRecord
    return [...bids, ...asks].map(({ order_id }) => order_id)
  }
  const allIds = Array.from({ length: ORDERS }, (_, index) => `order-${index}`)

  it('is complete, whatever its size, plain and compressed (REA-012)', async () => {
    const plain = await read()
    expect(Number(plain.headers.get('content-length'))).to.be.above(ORDERS * 1_000)
    expect(await idsOf(plain)).to.have.members(allIds)
    const compressed = await read({ 'Accept-Encoding': 'gzip' })
    expect(compressed.headers.get('content-encoding')).to.equal('gzip')
    expect(compressed.headers.get('vary')).to.equal('Origin, Accept-Encoding')
    expect(await idsOf(compressed)).to.have.members(allIds)
  })

  it('to a depth beyond a short one is cut from the whole', async () => {
    expect(await idsOf(await read({}, '&depth=101'))).to.have.length(101)
    expect(await idsOf(await read({}, `&depth=${ORDERS + 1}`))).to.have.length(ORDERS)
  })

  it('is answered 304 to its own ETag until it changes', async () => {
    const etag = (await read()).headers.get('etag') ?? ''
    const same = await read({ 'If-None-Match': etag })
    expect([same.status, await same.text(), same.headers.get('etag')]).to.deep.equal([
      ...[304, '', etag],
    ])
    expect((await read({ 'If-None-Match': etag }, '&depth=200')).status).to.equal(200)
    gateway.readModel.open = someOrders(ORDERS + 1)
    gateway.readModel.projected += 1
    const changed = await read({ 'If-None-Match': etag })
    expect(changed.status).to.equal(200)
    expect(await idsOf(changed)).to.have.length(ORDERS + 1)
  })

  it('does not wait in memory for a client that stops reading, and does not hold up others', async () => {
    gateway.readModel.open = someOrders(6_000)
    gateway.readModel.projected += 1
    const lazy = connect(gateway.port, '127.0.0.1')
    lazy.on('error', () => undefined)
    await once(lazy, 'connect')
    lazy.write('GET /v1/book?symbol=cNGN-USDC HTTP/1.1\r\nHost: venue\r\n\r\n')
    lazy.pause()
    expect(await idsOf(await read())).to.have.length(6_000)
    await eventually(async () => {
      const connections = await new Promise<number>((resolve, reject) =>
        gateway.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      )
      return connections >= 1
    })
    lazy.destroy()
  })
})
