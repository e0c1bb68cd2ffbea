import { expect } from 'chai'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeenSeqs } from '../../client/index.js'
import { cureOf } from '../../mcp/refusals.js'
import { BadDocument, readToolsOf } from '../../mcp/read-tools.js'
import { errorCodes } from '../../interface/error-codes.js'
import { anOrderStage, type OrderStage } from '../api-gateway/stage/order-stage.js'
import { testPrivateKey } from '../support/builders.js'
import { addressOf } from '../support/cancel-proofs.js'
import { gatewayDocument } from '../support/documented.js'
import { anAssistant, type Assistant } from './stage.js'

const ORDERS = ['validateOrder', 'placeOrder', 'cancelList', 'cancelAll']
const PRIVATE = ['listOrders', 'listFills', 'listCloseOuts', 'listBalances']
const E18 = 10n ** 18n
const BOUNDS = { largestE18: 10n * E18, totalE18: 25n * E18 }

describe('the tools of venue-mcp', () => {
  let stage: OrderStage
  let folder: string
  let keyFile: string
  let venueUrl: string
  let reader: Assistant
  let trader: Assistant
  before(async () => {
    stage = await anOrderStage()
    folder = mkdtempSync(join(tmpdir(), 'mcp-'))
    keyFile = join(folder, 'key')
    writeFileSync(keyFile, testPrivateKey)
    chmodSync(keyFile, 0o600)
    venueUrl = `http://127.0.0.1:${stage.port}`
    reader = await anAssistant({ venueUrl })
    trader = await anAssistant({ venueUrl, keyFile, bounds: BOUNDS })
  })
  after(async () => {
    await reader?.close()
    await trader?.close()
    await stage?.close()
    rmSync(folder, { recursive: true })
  })

  const namesOf = async ({ client }: Assistant) =>
    (await client.listTools()).tools.map(({ name }) => name)

  it('without a key read what is public, each endpoint of the document once', async () => {
    const names = await namesOf(reader)
    expect(names).to.include.members(['listMarkets', 'readBook', 'listCandles', 'lookUpOrder'])
    expect(names).not.to.include.members(PRIVATE)
    const reads = Object.values(gatewayDocument.paths).flatMap(({ get }) =>
      get === undefined ? [] : [(get as { operationId: string }).operationId],
    )
    expect(reads).to.include.members(names)
    expect(new Set(names).size).to.equal(names.length)
    const { tools } = await reader.client.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).to.equal(true)
  })

  it('with a key file also what is private, and orders with the flag alone', async () => {
    const own = await anAssistant({ venueUrl, keyFile })
    const names = await namesOf(own)
    expect(names).to.include.members(PRIVATE)
    expect(names.filter((name) => ORDERS.includes(name))).to.deep.equal([])
    const none = own.call('placeOrder', ORDER)
    expect(await none.catch((error: Error) => error.message)).to.include('no tool is placeOrder')
    await own.close()
    expect(await namesOf(trader)).to.deep.equal([...names, ...ORDERS])
  })

  it('say what they take as the document does, with nothing to look up elsewhere', async () => {
    const { tools } = await reader.client.listTools()
    const candles = tools.find(({ name }) => name === 'listCandles')
    expect(candles?.inputSchema.properties).to.have.all.keys(
      ...['symbol', 'asset_address', 'sub_id', 'interval', 'limit', 'start', 'end'],
    )
    expect(JSON.stringify(tools)).not.to.include('$ref')
    const lookUp = tools.find(({ name }) => name === 'lookUpOrder')
    expect(lookUp?.inputSchema).to.deep.include({ required: ['order_id'] })
  })

  it('answer as the venue does, the query and the path filled in', async () => {
    const { json } = await reader.call('readBook', { symbol: 'cNGN-USDC', depth: 2 })
    const book = await stage.send('GET', '/v1/book?symbol=cNGN-USDC&depth=2')
    expect(json).to.deep.equal(book.json)
    const { json: none } = await reader.call('lookUpOrder', { order_id: 'no/such order' })
    expect(none).to.include({ code: 'order_not_found' })
  })

  it('pass a refusal through with its cure', async () => {
    const { isRefused, json } = await reader.call('readBook', { symbol: 'NGN-EUR' })
    expect(isRefused).to.equal(true)
    expect(json).to.include({ code: 'unknown_market', cure: cureOf('unknown_market') })
    expect(json.answer).to.include.keys('request_id')
    for (const { code } of [...errorCodes.values()].flat())
      expect(cureOf(code.replaceAll(/<[^>]+>/g, 'word')), code).not.to.include('/docs/codes')
    expect(cureOf('owner_address_required')).to.equal('Send it.')
  })

  it('refuse an argument that they do not take, and a call without one that they need', async () => {
    const { isRefused, json } = await reader.call('readBook', { market: 'cNGN-USDC' })
    expect([isRefused, json.code]).to.deep.equal([true, 'unknown_argument'])
    expect(json.cure).to.include('symbol')
    for (const args of [{}, { order_id: '' }])
      expect((await reader.call('lookUpOrder', args)).json.code).to.equal('missing_argument')
  })

  const ORDER = {
    market: 'cNGN-USDC',
    side: 'buy',
    price: '0.5',
    amount: '4',
    subaccount_id: '7',
  }

  it('say what would become of an order, and place nothing', async () => {
    const before = await stage.kept()
    const { isRefused, json } = await trader.call('validateOrder', ORDER)
    expect(isRefused).to.equal(false)
    expect(json).to.deep.include({
      valid: true,
      engine_order: { side: 'buy', price: '0.5', amount: '4' },
    })
    expect(await stage.kept()).to.deep.equal(before)
  })

  it('place an order that is valid, which ends after an hour, for the owner of the key', async () => {
    const given = { ...ORDER, price: '0.001', order_id: 'of an assistant', post_only: 'reject' }
    const placer = await anAssistant({ venueUrl, keyFile, bounds: BOUNDS })
    const { json } = await placer.call('placeOrder', given)
    expect(json.order).to.include({
      order_id: 'of an assistant',
      owner_address: addressOf(testPrivateKey),
      post_only: 'reject',
      limit_price: '0.001',
    })
    expect(json.order).to.include({ expiry: stage.nowSec + 3_600 })
    const { json: twice } = await placer.call('placeOrder', given)
    expect(twice).to.include({ code: 'duplicate_order_id' })
    await placer.close()
  })

  it('do not send an order that the venue finds not valid', async () => {
    const before = await stage.kept()
    const { isRefused, json } = await trader.call('placeOrder', { ...ORDER, reduce_only: true })
    expect(isRefused).to.equal(true)
    expect(json).to.include({
      code: 'reduce_only_unsupported',
      cure: cureOf('reduce_only_unsupported'),
    })
    expect(await stage.kept()).to.deep.equal(before)
  })

  it('send no order beyond the bound of one, nor beyond what is left of all', async () => {
    const before = await stage.kept()
    const large = { ...ORDER, price: '1', amount: '10.000001' }
    for (const tool of ['validateOrder', 'placeOrder']) {
      const { isRefused, json } = await trader.call(tool, large)
      expect([isRefused, json.code], tool).to.deep.equal([true, 'above_max_notional'])
    }
    expect(await stage.kept()).to.deep.equal(before)

    const small = { ...ORDER, price: '1', amount: '9' }
    const spent = await anAssistant({
      venueUrl,
      keyFile,
      bounds: { largestE18: 10n * E18, totalE18: 10n * E18 },
    })
    const both = await Promise.all([
      spent.call('placeOrder', small),
      spent.call('placeOrder', small),
    ])
    const codes = both.map(({ isRefused, json }) => (isRefused ? json.code : 'placed'))
    expect(codes.toSorted()).to.deep.equal(['above_max_total', 'placed'])
    await spent.close()
  })

  it('take trader terms where they are asked to, and bound them alike', async () => {
    const trader10 = { ...ORDER, terms: 'trader', side: 'sell', price: '2', amount: '3' }
    const { json } = await trader.call('validateOrder', trader10)
    expect(json.engine_order).to.deep.equal({ side: 'buy', price: '0.5', amount: '6' })
    const large = await trader.call('validateOrder', { ...trader10, amount: '11' })
    expect(large.json.code).to.equal('above_max_notional')
  })

  it('cancel with proofs, two of the same within a second too', async () => {
    const one = await trader.call('cancelList', { order_ids: ['none'] })
    const two = await trader.call('cancelList', { order_ids: ['none'] })
    expect([one, two].map(({ json }) => json.left)).to.deep.equal([0, 0])
  })

  const BEYOND = `${2n ** 256n}`
  for (const wrong of [
    { amount: '-1' },
    { amount: 4 },
    { side: 'long' },
    { expires_in_sec: 1 },
    { subaccount_id: BEYOND },
    { subaccount_id: 'first' },
  ]) {
    it(`do not take ${JSON.stringify(wrong)}`, async () => {
      const { isRefused, json } = await trader.call('placeOrder', { ...ORDER, ...wrong })
      expect([isRefused, json.code]).to.deep.equal([true, 'bad_arguments'])
    })
  }

  it('are made from no document that refers to nothing or to itself', () => {
    const parts = { venueUrl, seen: createSeenSeqs() }
    const content = { 'application/json': {} }
    const operation = (schema: object) => ({
      operationId: 'read',
      tags: [],
      summary: 'Read',
      parameters: [{ name: 'a', in: 'query', schema }],
      responses: { 200: { content } },
    })
    const ref = { $ref: '#/components/schemas/A' }
    const documentOf = (schemas: object) => ({
      paths: { '/v1/read': { get: operation(ref) } },
      components: { schemas },
    })
    expect(readToolsOf(documentOf({ A: { type: 'string' } }), parts)).to.have.length(1)
    for (const document of [documentOf({}), documentOf({ A: { items: ref } }), {}, null])
      expect(() => readToolsOf(document, parts)).to.throw(BadDocument)
  })
})
