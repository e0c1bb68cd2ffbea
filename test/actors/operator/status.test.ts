import { expect } from 'chai'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { printStatus } from '../../../actors/operator/print.js'
import { readStatus } from '../../../actors/operator/status.js'
import { createMetrics } from '../../../runtime/metrics/metrics.js'
import { serveMetrics } from '../../../runtime/metrics/serve-metrics.js'
import { tempDir } from '../../support/temp-dir.js'

const ADDRESS = '0x00000000000000000000000000000000000000aa'

describe('readStatus', () => {
  const dir = tempDir()
  const running = join(dir.path, 'running')
  const stopped = join(dir.path, 'stopped')
  const gateway = createServer((request, response) => {
    const markets = { 'cNGN-USDC': { projected_seq: 3, ...trading } }
    response.end(JSON.stringify(request.url === '/readyz' ? { status: 'ready' } : { markets }))
  })
  let gatewayUrl = ''
  let isServerUp = 1
  let lost = 0
  let trading: object = { trading_status: 'open' }
  before(async () => {
    gateway.listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`
    const metrics = createMetrics()
    metrics.sample('venue_market_seq', () =>
      ['cNGN-USDC', 'cNGN-PERP'].map((market) => [{ market }, 3]),
    )
    metrics.sample('venue_bus_server_up', () => [[{ server: 'host-b:4323' }, isServerUp]])
    const wallet = { wallet: 'executor', address: ADDRESS }
    metrics.sample('venue_gas_balance_wei', () => [[wallet, 5e18]])
    metrics.sample('venue_gas_reserve_wei', () => [[wallet, 1e16]])
    metrics.sample('venue_lost_gas', () => [[{}, lost]])
    metrics.sample('venue_lost_gas_since_timestamp_seconds', () => [[{}, 86_400]])
    metrics.sample('venue_lost_gas_top', () => [
      [{ signer: '0x11', owner: '0x22' }, 1_000_000],
      [{ signer: '0x33', owner: '0x44' }, 2_500_000],
    ])
    const place = { dir: join(running, 'metrics'), host: '127.0.0.1', port: 0 }
    await serveMetrics(metrics, { ...place, process: 'matchers' })
    for (const [worker, seq] of [
      [1, 3],
      [2, 1],
    ] as const) {
      const own = createMetrics()
      own.sample('venue_follower_seq', () => [[{ follower: 'sockets', market: 'cNGN-USDC' }, seq]])
      await serveMetrics(own, { ...place, process: `ws-fanout-${worker}` })
    }
    mkdirSync(join(stopped, 'metrics'), { recursive: true })
    // The port of no service.
    const targets = JSON.stringify([{ targets: ['127.0.0.1:1'], labels: {} }])
    for (const process of ['executor', 'gateway'])
      writeFileSync(join(stopped, 'metrics', `${process}.json`), targets)
  })
  after(() => {
    gateway.closeAllConnections()
    gateway.close()
    dir.remove()
  })

  it('calls a market disabled that the gateway lists no longer, which is no trouble', async () => {
    const status = await readStatus({ dataDir: running, gatewayUrl, nowMs: 0 })
    expect(status.markets.map(({ market, status }) => [market, status])).to.deep.equal([
      ['cNGN-PERP', 'disabled'],
      ['cNGN-USDC', 'open'],
    ])
    expect([status.isWell, status.troubles]).to.deep.equal([true, []])
  })

  it('calls a series ended whose time is over, which is no trouble, and any other hold one', async () => {
    const read = async (reason: string) => {
      trading = { trading_status: 'held', trading_status_reason: reason }
      const { markets, troubles } = await readStatus({ dataDir: running, gatewayUrl, nowMs: 0 })
      trading = { trading_status: 'open' }
      return [markets[1]?.status, troubles]
    }
    expect(await read('trading_ended')).to.deep.equal(['ended (trading_ended)', []])
    const held = 'held (index_stale)'
    expect(await read('index_stale')).to.deep.equal([held, [`cNGN-USDC: ${held}`]])
  })

  it('says how many pairs of signers wait, which is no trouble', async () => {
    trading = { trading_status: 'open', waiting_pairs: 1 }
    const { markets, troubles } = await readStatus({ dataDir: running, gatewayUrl, nowMs: 0 })
    trading = { trading_status: 'open' }
    expect(markets[1]?.status).to.equal('open (pairs of signers that wait: 1)')
    expect(troubles).to.deep.equal([])
  })

  it('shows how far the slowest copy of a reader is behind', async () => {
    const { markets } = await readStatus({ dataDir: running, gatewayUrl, nowMs: 0 })
    expect(markets.find(({ market }) => market === 'cNGN-USDC')?.socketsLag).to.equal(2)
  })

  it('does not know of any market whether it is enabled while the gateway does not answer', async () => {
    const status = await readStatus({ dataDir: running, gatewayUrl: undefined, nowMs: 0 })
    expect(status.markets.map(({ status }) => status)).to.deep.equal(['unknown', 'unknown'])
    expect(status.isWell).to.equal(false)
  })

  it('takes a gateway that answers something else for none', async () => {
    const elsewhere = createServer((_, response) => response.end('{"error":"not found"}'))
    elsewhere.listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
    const status = await readStatus({ dataDir: running, gatewayUrl: url, nowMs: 0 })
    elsewhere.closeAllConnections()
    elsewhere.close()
    expect(status.troubles).to.include('the gateway does not answer')
  })

  it('names a server of the bus that is not reached', async () => {
    isServerUp = 0
    const status = await readStatus({ dataDir: running, gatewayUrl, nowMs: 0 })
    expect(status.troubles).to.deep.equal(['the message server host-b:4323 does not answer'])
  })

  it('shows where to send funds for gas', async () => {
    const status = await readStatus({ dataDir: running, gatewayUrl, nowMs: 0 })
    expect(printStatus(status)).to.match(
      new RegExp(`\\nexecutor +${ADDRESS} +5\\.000000 +0\\.010000 +pays\\n`),
    )
  })

  it('names who burned what, while a signer did', async () => {
    const shown = async () =>
      printStatus(await readStatus({ dataDir: running, gatewayUrl, nowMs: 0 }))
    expect(await shown()).not.to.include('gas lost')
    lost = 3_500_000
    expect(await shown()).to.match(
      /\ngas lost by .* the last hour: 3500000 \(counted since 1970-01-02T00:00:00.000Z\)\nSIGNER +OWNER +GAS\n0x33 +0x44 +2500000\n0x11 +0x22 +1000000\n/,
    )
  })

  it('says in one line that no process answers', async () => {
    const status = await readStatus({ dataDir: stopped, gatewayUrl: undefined, nowMs: 0 })
    expect(status.troubles).to.deep.equal(['no process answers: is the venue running?'])
  })
})
