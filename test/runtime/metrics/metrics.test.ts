import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alongside, createMetrics, measureHttp } from '../../../runtime/metrics/metrics.js'
import { serveMetrics } from '../../../runtime/metrics/serve-metrics.js'
import { tempDir } from '../../support/temp-dir.js'

/** The lines of the venue's own metrics that have a value. */
async function valuesOf(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  const { body } = await metrics.text()
  return body.split('\n').filter((line) => line.startsWith('venue_'))
}

describe('metrics', () => {
  it('are read at each scrape, and forget labels that are gone', async () => {
    const metrics = createMetrics()
    let markets = ['A', 'B']
    metrics.sample('venue_market_seq', () => markets.map((market) => [{ market }, 7]))
    expect(await valuesOf(metrics)).to.deep.equal([
      'venue_market_seq{market="A"} 7',
      'venue_market_seq{market="B"} 7',
    ])
    markets = ['B']
    expect(await valuesOf(metrics)).to.deep.equal(['venue_market_seq{market="B"} 7'])
  })

  it('leave out a value that cannot be read, and give the others', async () => {
    const metrics = createMetrics()
    metrics.sample('venue_sockets', () => Promise.reject(new Error('gone')))
    metrics.sample('venue_accounts_followed', () => [[{}, 3]])
    expect(await valuesOf(metrics)).to.deep.equal(['venue_accounts_followed 3'])
  })

  it('leave out a value whose source is silent, and give the others', async () => {
    const metrics = createMetrics(1)
    metrics.sample('venue_sockets', () => new Promise(() => undefined))
    metrics.sample('venue_accounts_followed', () => [[{}, 3]])
    expect(await valuesOf(metrics)).to.deep.equal(['venue_accounts_followed 3'])
  })

  it('count and time requests by route, and refusals by code; an unknown method is "other"', async () => {
    const metrics = createMetrics()
    const answered = measureHttp(metrics)
    const request = { route: '/v1/orders', status: 400, code: 'invalid_signature', seconds: 0.004 }
    answered({ ...request, method: 'POST' })
    answered({ ...request, method: 'BREW', status: 405, code: undefined })
    const values = await valuesOf(metrics)
    expect(values).to.include.members([
      'venue_http_request_seconds_bucket{le="0.005",method="POST",route="/v1/orders",status="400"} 1',
      'venue_http_request_seconds_count{method="other",route="/v1/orders",status="405"} 1',
      'venue_http_refusals_total{route="/v1/orders",code="invalid_signature"} 1',
    ])
    expect(values.filter((line) => line.startsWith('venue_http_refusals_total'))).to.have.length(1)
  })
})

describe('alongside', () => {
  it('tells the second observer after the first, with the same arguments', () => {
    const told: string[] = []
    const facts = alongside(
      {
        seen: (what: string) => void told.push(`first ${what}`),
        other: () => void told.push('other'),
      },
      { seen: (what: string) => void told.push(`second ${what}`) },
    )
    facts.seen('it')
    facts.other()
    expect(told).to.deep.equal(['first it', 'second it', 'other'])
  })
})

describe('serveMetrics', () => {
  const dir = tempDir()

  it('serves them at the address that it writes down, and replaces the address of an earlier run', async () => {
    const metrics = createMetrics()
    metrics.sample('venue_sockets', () => [[{}, 2]])
    const target = {
      process: 'ws-fanout',
      dir: join(dir.path, 'metrics'),
      host: '127.0.0.1',
      port: 0,
    }
    await serveMetrics(createMetrics(), target)
    const addressOf = () => {
      const text = readFileSync(join(dir.path, 'metrics', 'ws-fanout.json'), 'utf8')
      const [group] = JSON.parse(text) as { targets: string[]; labels: object }[]
      expect(group?.labels).to.deep.equal({ process: 'ws-fanout' })
      return group?.targets[0]
    }
    const first = addressOf()
    await serveMetrics(metrics, target)
    expect(addressOf()).to.not.equal(first)
    const answer = await fetch(`http://${addressOf()}/metrics`)
    expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/)
    const text = await answer.text()
    expect(text).to.include('\nvenue_sockets 2\n')
    expect(text).to.include('\nprocess_resident_memory_bytes ')
    const elsewhere = await fetch(`http://${addressOf()}/`)
    expect(elsewhere.status).to.equal(404)
    await elsewhere.body?.cancel()
  })
})
