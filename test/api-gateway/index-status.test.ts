import { expect } from 'chai'
import { openIndexLagWatch, type IndexLagWatch } from '../../actors/order-intake/market-halts.js'
import { hidePerpetual } from '../../core/contracts/perpetual-facts.js'
import { priceE18 } from '../../core/money.js'
import type { MarketEntry } from '../../interface/market.js'
import { aPerp } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import { silentLog } from '../support/intake-stage.js'
import { e18, perpetualFacts } from '../support/perpetual.js'

const PATH = '/v1/internal/index-status'
const NOW_MS = Date.parse('2026-11-21T10:00:00Z')
const indexToken = { header: 'X-Index-Token', value: 'a token' }
const headers = { 'X-Index-Token': 'a token' }
const body = { at_ms: NOW_MS - 2_000, usdc_per_cngn: '0.000606', sample_ok: true }

describe('reports on the index', () => {
  let gateway: GatewayStage
  let intake: IndexLagWatch | undefined
  afterEach(async () => {
    await intake?.stop()
    intake = undefined
    await gateway.close()
  })

  const facts = hidePerpetual(perpetualFacts({ index: priceE18(e18('0.0006')) }))
  const observed = { facts, blockNumber: 1n, blockTimeSec: 1, readAtMs: 1_000 }
  const open = async (token?: typeof indexToken) => {
    gateway = await aGatewayStage({
      markets: [aPerp()],
      chainMarkets: { readMarket: () => Promise.resolve(observed) },
      ...(token && { indexToken: token }),
    })
  }
  const openIntake = async (enforced: boolean | undefined) => {
    const gate = enforced === undefined ? undefined : { enforced, maxBps: 50, maxAgeMs: 300_000 }
    intake = await openIndexLagWatch(
      { bus: gateway.bus, log: silentLog, indexLimit: gate },
      'order-intake',
    )
  }
  const report = async (sent: unknown = body, more: Record<string, string> = headers) => {
    const { status, text, json } = await gateway.send('POST', PATH, { body: sent, headers: more })
    return status === 204 ? `204${text}` : `${status} ${String(json.code)}`
  }
  const shown = async () => {
    const { text } = await gateway.send('GET', '/v1/markets')
    return (JSON.parse(text) as MarketEntry[])[0]?.perp?.index_lag
  }

  it('are taken with the token alone, and shown with the lag (PER-020)', async () => {
    await open(indexToken)
    await openIntake(true)
    expect(await shown()).to.deep.equal({ enforced: true, max_bps: 50 })
    expect(await report(body, {})).to.equal('401 index_token')
    expect(await report(body, { 'X-Index-Token': 'another' })).to.equal('401 index_token')
    expect(await report({ ...body, at_ms: 'now' })).to.equal('400 invalid_index_status')
    expect(await report('{')).to.equal('400 invalid_index_status')
    expect(await report({ ...body, at_ms: NOW_MS + 61_000 })).to.equal('400 index_status_ahead')
    expect(await report()).to.equal('204')
    await eventually(async () =>
      expect(await shown()).to.deep.equal({
        enforced: true,
        max_bps: 50,
        lag_bps: 100,
        spot_sample_at: NOW_MS / 1_000 - 2,
        spot_usdc_per_cngn: '0.000606',
        sample_age_sec: 2,
      }),
    )
    expect(intake?.lag(NOW_MS)?.sample).to.include({ isFresh: true, ageMs: 2_000 })
  })

  it('have no place where there is no token, or no gate (PER-020)', async () => {
    await open()
    expect(await report()).to.equal('404 index_status_off')
    await gateway.close()
    await open(indexToken)
    await openIntake(undefined)
    expect(await report()).to.equal('404 index_status_off')
    expect(await shown()).to.equal(undefined)
  })

  it('say that they were not recorded while the intake does not answer', async () => {
    await open(indexToken)
    expect(await report()).to.equal('503 index_status_unavailable')
  })
})
