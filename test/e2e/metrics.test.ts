import { expect } from 'chai'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DiscardPolicy, StorageType } from 'nats'
import { createTestClient, http, type Address } from 'viem'
import { feedSubject } from '../../bus-schemas/subjects.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { METRICS } from '../../runtime/metrics/table.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { tempDir } from '../support/temp-dir.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { connectPlainly, venueBusPlace } from '../support/venue-bus.js'
import { prometheusProgram, scrape, targetsOf } from './stage/metrics.js'
import { createTrader, SPOT } from './stage/trader.js'
import { ENDS_AT_LAST } from '../support/ends-at-last.js'

/** More than what the bus reserves for nonces; a full bus is tried at a tenth of the alert's share, to write less. */
const BUS_BYTES = 1_200_000_000
const FULL_SHARE = 0.03
const FILLER_BYTES = 500_000
const FIRES_WITHIN_MS = 90_000

/** Metrics of which nothing is seen until something goes wrong, and on a venue without futures. */
const NOT_SEEN = new Set([
  ...['venue_checkpoint_failures_total', 'venue_market_held', 'venue_lost_gas_top'],
  'venue_pair_wait_seconds',
  'venue_series_due_timestamp_seconds',
  // Without its key the keeper does nothing.
  ...['venue_upkeep_late_seconds', 'venue_upkeep_total', 'venue_upkeep_lost_wei'],
])

/** The names of the venue's metrics that have a value in any process. */
async function namesShown(dataDir: string): Promise<Set<string>> {
  const names = new Set<string>()
  for (const process of targetsOf(dataDir).keys())
    for (const { series } of await scrape(dataDir, process))
      names.add(series.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, ''))
  return names
}

describe('metrics of a running venue', function () {
  let venue: TestVenue
  /** Of the taker of a settled trade. */
  let traded: string
  before(async () => {
    venue = await startVenue({ env: { NATS_MAX_STORED_BYTES: `${BUS_BYTES}` } })
  })
  after(async () => {
    await venue?.stop()
  })

  it('has a target for each process, and after a trade and a refusal a value of each metric', async () => {
    const maker = createTrader(venue.devnet, 0)
    const taker = createTrader(venue.devnet, 1)
    const terms = { amount: '5', price: '0.00070' }
    await maker.place({ side: 'sell', ...terms })
    traded = (await taker.place({ side: 'buy', ...terms })).order_id
    await taker.until(traded, 'filled')
    const refused = await fetch(new URL('/v1/orders/none', venue.gatewayUrl))
    expect(refused.status).to.equal(404)
    await refused.body?.cancel()
    expect([...targetsOf(venue.dataDir).keys()].toSorted()).to.deep.equal([
      'chain-reader',
      'deposit-submitter',
      'executor',
      'gateway',
      'keeper',
      `matcher-${SPOT}`,
      'order-intake',
      'projector',
      'withdrawal-submitter',
      'ws-fanout',
    ])
    const wanted = Object.keys(METRICS).filter((name) => !NOT_SEEN.has(name))
    await eventually(async () => {
      const shown = await namesShown(venue.dataDir)
      expect(wanted.filter((name) => !shown.has(name))).to.deep.equal([])
    })
  })

  /** Runs `./venue` as an operator does. */
  const operator = (...words: readonly string[]) =>
    spawnSync('./venue', [...words], {
      cwd: inProject('.'),
      encoding: 'utf8' as const,
      ...ENDS_AT_LAST,
      env: { PATH: process.env.PATH, DATA_DIR: venue.dataDir },
    })

  it('says by ./venue status how it is, for a person and as JSON', async () => {
    await venue.untilReady()
    const { status, stdout } = operator('status')
    expect(stdout).to.match(/^venue http\S+: well\n/)
    expect(status).to.equal(0)
    expect(stdout).to.match(/\nPROCESS +STATE +MEMORY/)
    const { isWell, markets, wallets, processes } = JSON.parse(
      operator('status', '--json').stdout,
    ) as {
      readonly processes: readonly { readonly eventLoopP99Sec?: number }[]
      isWell: boolean
      markets: Record<string, unknown>[]
      wallets: { wallet: string }[]
    }
    expect(isWell).to.equal(true)
    expect(markets.map(({ market, status }) => [market, status])).to.deep.equal([[SPOT, 'open']])
    // Without the interval of the timer that measures it, which is 100 ms.
    expect(processes.some(({ eventLoopP99Sec = 1 }) => eventLoopP99Sec < 0.1)).to.equal(true)
    expect(wallets.map(({ wallet }) => wallet).toSorted()).to.deep.equal([
      ...['deposit-submitter', 'executor', 'withdrawal-submitter'],
    ])
  })

  it('shows by ./venue inspect an order, its trade, its settlement and the receipt, by each of their names', () => {
    interface Shown {
      readonly orders: { order: { orderId: string; nonce: string } }[]
      readonly trades: { settlementId: string; takerOrderId: string }[]
      readonly settlements: { transactions: { outcome: string; minedHash: string }[] }[]
      readonly chain: { hash: string; status: string }[]
    }
    const shown = (subject: string) => {
      const { stdout, stderr } = operator('inspect', subject, '--json')
      expect(stderr).to.equal('')
      return JSON.parse(stdout) as Shown
    }
    const found = shown(traded)
    const [trade] = found.trades
    const [{ transactions: [transaction] = [] } = {}] = found.settlements
    const hash = transaction?.minedHash ?? ''
    expect(trade?.takerOrderId).to.equal(traded)
    expect(transaction?.outcome).to.equal('success')
    expect(found.chain).to.deep.include({ ...found.chain[0], hash, status: 'success' })
    const nonce = found.orders.find(({ order }) => order.orderId === traded)?.order.nonce ?? ''
    for (const name of [nonce, trade?.settlementId ?? '', hash])
      expect(shown(name).trades, name).to.deep.equal(found.trades)
    const nothing = operator('inspect', 'no-such-order')
    expect([nothing.status, nothing.stderr]).to.deep.equal([
      ...[1, 'venue: nothing is known of no-such-order\n'],
    ])
  })

  alertsFire(() => venue)
})

function alertsFire(running: () => TestVenue): void {
  const dir = tempDir()
  let prometheus: ChildProcess
  let url: string
  before(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const file = join(dir.path, 'prometheus.yml')
    const config = readFileSync(inProject('docs/operating/prometheus.yml'), 'utf8')
      .replaceAll(': 5s', ': 1s')
      .replace('/var/lib/venue', running().dataDir)
    writeFileSync(file, config)
    const rules = readFileSync(inProject('docs/operating/alerts.yml'), 'utf8')
    const share = 'venue_bus_max_bytes > 0.8'
    expect(rules).to.include(share)
    const sooner = rules.replace(share, `venue_bus_max_bytes > ${FULL_SHARE}`)
    writeFileSync(join(dir.path, 'alerts.yml'), sooner)
    prometheus = spawn(
      prometheusProgram('prometheus'),
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(dir.path, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    )
    await eventually(async () => (await fetch(`${url}/-/ready`)).ok)
  })
  after(async () => {
    if (prometheus === undefined || prometheus.exitCode !== null) return
    const exited = once(prometheus, 'exit')
    prometheus.kill('SIGKILL')
    await exited
  })

  /** The alerts that fire, each as its name and its labels. */
  async function firing(): Promise<string[]> {
    const { data } = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
      data: { alerts: { state: string; labels: Record<string, string> }[] }
    }
    return data.alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels: { alertname, process, wallet } }) =>
        [alertname, process ?? wallet].filter(Boolean).join(' '),
      )
  }

  const fires = (...alerts: readonly string[]) =>
    eventually(async () => {
      const now = await firing()
      expect(alerts.filter((alert) => !now.includes(alert))).to.deep.equal([])
    }, FIRES_WITHIN_MS)

  it('fires no alert while the venue is well, once every process is scraped', async () => {
    const processes = targetsOf(running().dataDir).size
    await eventually(async () => {
      const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent('sum(up)')}`)
      const { data } = (await answer.json()) as { data: { result: { value: [number, string] }[] } }
      expect(Number(data.result[0]?.value[1])).to.equal(processes)
    })
    expect(await firing()).to.not.include('VenueGasEmpty executor')
    expect(await firing()).to.not.include(`VenueProcessDown matcher-${SPOT}`)
  })

  it('fires for a matcher that was killed, an empty gas wallet, a full bus, then for a silent chain', async () => {
    const venue = running()
    const { devnet, dataDir } = venue
    const { 'matcher-cngn-usdc': matcher = 0, chain = 0 } = await venue.pids()
    expect(matcher).to.be.above(0)
    const client = createTestClient({ mode: 'anvil', transport: http(devnet.rpc_url) })
    // Which would start it again within a second.
    process.kill(venue.launcherPid, 'SIGSTOP')
    process.kill(matcher, 'SIGKILL')
    try {
      await client.setBalance({ address: executorOf(dataDir), value: 1n })
      await fillBus(dataDir)
      await fires(
        `VenueProcessDown matcher-${SPOT}`,
        'VenueGasEmpty executor',
        'VenueBusFull projector',
      )
      process.kill(chain, 'SIGSTOP')
      await fires('VenueChainSilent chain-reader')
    } finally {
      for (const pid of [venue.launcherPid, chain]) process.kill(pid, 'SIGCONT')
    }
  })
}

/** The address of the executor's wallet, as its log states it. */
function executorOf(dataDir: string): Address {
  const log = readFileSync(join(dataDir, 'logs', 'executor.log'), 'utf8')
  const [, address] = /"sender":"(0x[0-9a-fA-F]{40})"/.exec(log) ?? []
  if (address === undefined) throw new Error('the log of the executor does not name its address')
  return address as Address
}

/** Stores more than FULL_SHARE of what the bus may store. */
async function fillBus(dataDir: string): Promise<void> {
  const connection = await connectPlainly(venueBusPlace(dataDir), 'matcher')
  try {
    const manager = await connection.jetstreamManager({ checkAPI: false })
    await manager.streams.add({
      name: 'FILLER',
      subjects: [feedSubject('filler')],
      storage: StorageType.File,
      discard: DiscardPolicy.New,
    })
    const filler = new Uint8Array(FILLER_BYTES)
    for (let stored = 0; stored < 1.1 * FULL_SHARE * BUS_BYTES; stored += FILLER_BYTES)
      await connection.jetstream().publish(feedSubject('filler'), filler)
  } finally {
    await connection.close()
  }
}
