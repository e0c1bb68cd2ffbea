import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { createMetrics } from '../../../runtime/metrics/metrics.js'
import { serveMetrics } from '../../../runtime/metrics/serve-metrics.js'
import { prometheusProgram } from '../../e2e/stage/metrics.js'
import { eventually } from '../../support/eventually.js'
import { freePort } from '../../support/free-port.js'
import { tempDir } from '../../support/temp-dir.js'

/** The rules wait for as long as a restart takes; here nothing restarts. */
const SOONER = /for: \w+$/gm

describe('Prometheus with the rules of docs/operating and without a venue', function () {
  const dir = tempDir()
  const targets = join(dir.path, 'metrics')
  let prometheus: ChildProcess
  let url: string

  before(async () => {
    mkdirSync(targets)
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const sample = (name: string) => readFileSync(inProject(`docs/operating/${name}`), 'utf8')
    const file = join(dir.path, 'prometheus.yml')
    writeFileSync(
      file,
      sample('prometheus.yml')
        .replaceAll(': 5s', ': 1s')
        .replace('/var/lib/venue/metrics', targets),
    )
    writeFileSync(join(dir.path, 'alerts.yml'), sample('alerts.yml').replaceAll(SOONER, 'for: 1s'))
    prometheus = spawn(
      prometheusProgram('prometheus'),
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(dir.path, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    )
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).ok).to.equal(true))
  })
  after(async () => {
    if (prometheus?.exitCode === null) {
      const exited = once(prometheus, 'exit')
      prometheus.kill('SIGKILL')
      await exited
    }
    dir.remove()
  })

  /** Each alert that fires, with the process of its labels. */
  async function firing(): Promise<string[]> {
    const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      data: { alerts: { state: string; labels: Record<string, string> }[] }
    }
    return data.alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels: { alertname = '', process = '' } }) => `${alertname} ${process}`.trim())
      .toSorted()
  }
  const fires = (...alerts: readonly string[]) =>
    eventually(async () => expect(await firing()).to.deep.equal(alerts.toSorted()))

  it('fires for a directory of metrics that is empty, for one that is gone, and for no scrape', async () => {
    await fires('VenueNothingScraped', 'VenueWatchdog')
    rmSync(targets, { recursive: true })
    await fires('VenueNothingScraped', 'VenueWatchdog')
  })

  it('fires for each process without a target once another has one, and for a target that is silent', async () => {
    const metrics = createMetrics()
    const others = ['order-intake', 'chain-reader', 'projector', 'ws-fanout', 'executor', 'keeper']
    const missing = [...others, 'deposit-submitter', 'withdrawal-submitter'].map(
      (name) => `VenueProcessMissing ${name}`,
    )
    // It serves until this process ends, which does not wait for it.
    await serveMetrics(metrics, { process: 'gateway', dir: targets, host: '127.0.0.1', port: 0 })
    await fires('VenueWatchdog', ...missing)
    const silent = { targets: [`127.0.0.1:${await freePort()}`], labels: { process: 'gateway' } }
    writeFileSync(join(targets, 'gateway.json'), JSON.stringify([silent]))
    await fires('VenueProcessDown gateway', 'VenueWatchdog', ...missing)
  })
})
