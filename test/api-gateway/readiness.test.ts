import { createServer, type Server } from 'node:http'
import { expect } from 'chai'
import { createReadiness } from '../../api-gateway/health.js'
import { openingOf } from '../../core/model/market-terms.js'
import { OPEN } from '../../core/model/market.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import { closeServer, listen } from '../../runtime/http/server.js'
import { answerPing } from '../../runtime/process/process.js'
import { aMarket } from '../support/builders.js'
import { aFakeReadModel, aGatewayStage } from '../support/gateway-stage.js'

const processes = [
  'order-intake',
  'matcher-cNGN-USDC',
  'chain-reader',
  'projector',
  'ws-fanout',
  'deposit-submitter',
  'withdrawal-submitter',
]

describe('readiness', () => {
  let bus: MemoryBus
  let executor: Server
  let executorUrl: URL
  let executorStatus: number
  let executorSays: string

  beforeEach(async () => {
    bus = createMemoryBus()
    executorStatus = 200
    executorSays = ''
    executor = createServer((request, response) => {
      response.statusCode = request.url === '/readyz' ? executorStatus : 404
      response.end(executorSays)
    })
    executorUrl = new URL(`http://127.0.0.1:${await listen(executor, 0, '127.0.0.1')}`)
  })
  afterEach(() => closeServer(executor, 0))

  const start = (names: readonly string[], ready = true) =>
    Promise.all(
      names.map((name) =>
        answerPing(bus, name, () => ({ ready, detail: 'replaying', positions: {} })),
      ),
    )
  const readiness = (readModel = aFakeReadModel()) =>
    createReadiness({ bus, readModel, markets: [aMarket()], executorUrls: [executorUrl] })

  it('misses nothing when every part answers', async () => {
    await start(processes)
    expect(await readiness().missing()).to.deep.equal({})
  })

  it('names every process that does not answer, or is not ready', async () => {
    for (const absent of processes) {
      bus = createMemoryBus()
      await start(processes.filter((name) => name !== absent))
      expect(Object.keys(await readiness().missing())).to.deep.equal([absent])
    }
    bus = createMemoryBus()
    await start(processes.slice(1))
    await start(processes.slice(0, 1), false)
    expect(await readiness().missing()).to.deep.equal({ 'order-intake': 'replaying' })
  })

  it('names the executor, the projection and the bus', async () => {
    await start(processes)
    executorStatus = 503
    const broken = {
      ...aFakeReadModel(),
      projectedSeq: () => {
        throw new Error('disk I/O error')
      },
    }
    expect(await readiness(broken).missing()).to.deep.equal({
      projection: 'disk I/O error',
      executor: 'answered 503',
    })
    executorSays = JSON.stringify({ error: 'the chain does not answer' })
    expect(await readiness().missing()).to.deep.equal({ executor: 'the chain does not answer' })
    bus.setConnected(false)
    expect(Object.keys(await readiness().missing())).to.include.members(['bus', ...processes])
  })

  it('names a market that has a log and is not registered, unless it was disabled', async () => {
    await start(processes)
    const terms = (market: string, enabled: boolean) => ({
      ...openingOf(aMarket({ market, enabled })),
      standing: OPEN,
    })
    const allTerms = () => [terms('cNGN-USDC', true), terms('LOST', true), terms('SETTLED', false)]
    const missing = await readiness({ ...aFakeReadModel(), allTerms }).missing()
    expect(missing).to.deep.equal({
      markets: 'LOST has a log and is not registered: restore the stream MARKETS',
    })
  })

  it('asks once for all who ask within a second', async () => {
    const answers = await start(processes)
    const asked = readiness()
    expect(await asked.missing()).to.deep.equal({})
    await Promise.all(answers.map((subscription) => subscription.stop()))
    expect(await asked.missing()).to.deep.equal({})
    expect(Object.keys(await readiness().missing())).to.deep.equal(processes)
  })

  it('names on GET /readyz the listed markets that are not open, ready or not', async () => {
    let missing = {}
    const held = { status: 'held', reason: 'BM_AdjustmentsPaused' } as const
    const other = { ordinal: 1, aliases: [] }
    const gateway = await aGatewayStage({
      readiness: { missing: () => Promise.resolve(missing) },
      markets: [
        aMarket(),
        { ...aMarket({ ...other, market: 'HELD', subId: 1n }), standing: held },
        { ...aMarket({ ...other, market: 'GONE', subId: 2n, enabled: false }), standing: held },
      ],
    })
    const markets = {
      HELD: { trading_status: 'held', trading_status_reason: 'BM_AdjustmentsPaused' },
    }
    expect((await gateway.send('GET', '/readyz')).json).to.deep.include({ markets })
    missing = { projector: 'no answer' }
    expect((await gateway.send('GET', '/readyz')).json).to.deep.include({ missing, markets })
    await gateway.close()
  })

  it('counts on GET /readyz and in GET /v1/health the pairs of signers that wait, of listed markets', async () => {
    const other = aMarket({ ordinal: 1, aliases: [], market: 'B', subId: 1n })
    const gateway = await aGatewayStage({ markets: [aMarket(), other] })
    const places = {
      pending_settlements: 0,
      oldest_pending_settlement_s: 0,
      late_settlements: 0,
    }
    const answers = (market: string, pairs: number) =>
      answerPing(gateway.bus, `matcher-${market}`, () => ({
        ready: true,
        detail: 'live',
        positions: { ...places, waiting_pairs: pairs },
      }))
    await answers('cNGN-USDC', 2)
    await answers('B', 0)
    expect((await gateway.send('GET', '/readyz')).json).to.deep.equal({
      status: 'ready',
      waiting_pairs: { 'cNGN-USDC': 2 },
    })
    const { json } = await gateway.send('GET', '/v1/health')
    const { markets } = json as { markets: Record<string, { waiting_pairs?: number }> }
    expect(markets['cNGN-USDC']?.waiting_pairs).to.equal(2)
    expect(markets.B?.waiting_pairs).to.equal(0)
    await gateway.close()
  })

  it('is 200 or 503 with what is missing on GET /readyz (REA-042)', async () => {
    let missing = {}
    const gateway = await aGatewayStage({
      readiness: { missing: () => Promise.resolve(missing) },
    })
    expect(await gateway.send('GET', '/readyz')).to.deep.include({
      status: 200,
      json: { status: 'ready' },
    })
    missing = { projector: 'no answer' }
    const answer = await gateway.send('GET', '/readyz')
    expect(answer.status).to.equal(503)
    expect(answer.json).to.deep.include({ error: 'not ready: projector', missing })
    await gateway.close()
  })
})
