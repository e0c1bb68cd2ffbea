import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Bus } from '../bus-schemas/bus.js'
import { connectNatsBus } from '../bus-schemas/nats-bus.js'
import { decodePingAnswer } from '../bus-schemas/ping.js'
import { askPing, feedStream, feedSubject } from '../bus-schemas/subjects.js'
import { loadDeployedMarkets } from '../data/deployed-markets.js'
import { measurePeer, type Measurement, type Peer } from './measure-peer.js'
import { orderBurst } from './order-burst.js'
import { freePort, startOwnBus } from './own-bus.js'

const BLOCKS = 200
/** What comes without haste, to see what a delivery takes when nothing waits for it. */
const STEADY_BLOCKS = 40
const STEADY_EVERY_MS = 100
/** Fewer, because the peer takes so much longer over each that the whole burst would not end in time. */
const NAIVE_BLOCKS = 25
const PER_BLOCK = 10
const PROCESSES = 2
const SOCKETS_EACH = 1_000
const GIVE_UP_AFTER_MS = 60_000
const LOOK_EVERY_MS = 50

const deployment = {
  wrapped_cngn: `0x${'c1'.repeat(20)}`,
  wrapped_usdc: `0x${'d1'.repeat(20)}`,
  spot_trade_module: `0x${'e1'.repeat(20)}`,
  spot_manager: `0x${'f1'.repeat(20)}`,
}

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const children: ChildProcess[] = []

function keep(child: ChildProcess): ChildProcess {
  children.push(child)
  return child
}

async function startFanOut(bus: Bus, natsUrl: string, deploymentFile: string): Promise<Peer> {
  const port = await freePort()
  const env = {
    WS_FANOUT_PORT: `${port}`,
    NATS_URL: natsUrl,
    DEPLOYMENT_FILE: deploymentFile,
    LOG_LEVEL: 'silent',
  }
  const main = pathOf('../actors/ws-fanout/main.js')
  const child = keep(spawn(process.execPath, [main], { env, stdio: 'ignore' }))
  const isReady = async (): Promise<boolean> => {
    const answer = await bus.ask(askPing('ws-fanout'), new Uint8Array(), 500).catch(() => undefined)
    return answer !== undefined && decodePingAnswer(answer).ready
  }
  while (!(await isReady())) await delay(LOOK_EVERY_MS)
  return { pid: child.pid ?? 0, port }
}

async function startNaive(natsUrl: string, deploymentFile: string): Promise<Peer> {
  const port = await freePort()
  const args = [natsUrl, deploymentFile, `${port}`, `${STEADY_BLOCKS + BLOCKS + 1}`]
  const child = keep(fork(pathOf('./naive-fan-out.js'), args))
  await once(child, 'message')
  return { pid: child.pid ?? 0, port }
}

async function endAll(): Promise<void> {
  const exits = children.map((child) => once(child, 'exit'))
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await Promise.all(exits)
}

async function measureAll(bus: Bus, natsUrl: string, dir: string): Promise<Measurement[]> {
  const file = join(dir, 'deployment.json')
  await writeFile(file, JSON.stringify(deployment))
  const [market] = loadDeployedMarkets(file)
  if (market === undefined) throw new Error('there is no market')
  const names = { stream: feedStream(market.market), subject: feedSubject(market.market) }
  await bus.declareStream({ ...names, description: 'changes of a market' })
  const burst = { bus, everyMs: 0, processes: PROCESSES, socketsEach: SOCKETS_EACH }
  const blocksFrom = (firstSeq: number, blocks: number) =>
    orderBurst(market, { firstSeq, blocks, perBlock: PER_BLOCK })
  const steady = { ...burst, everyMs: STEADY_EVERY_MS, blocks: blocksFrom(1, STEADY_BLOCKS) }
  const full = { ...burst, blocks: blocksFrom(1 + STEADY_BLOCKS * PER_BLOCK, BLOCKS) }
  const before = STEADY_BLOCKS + BLOCKS
  const partial = { ...burst, blocks: blocksFrom(1 + before * PER_BLOCK, NAIVE_BLOCKS) }
  const calm = await measurePeer(await startFanOut(bus, natsUrl, file), steady)
  await endAll()
  const ours = await measurePeer(await startFanOut(bus, natsUrl, file), full)
  await endAll()
  const theirs = await measurePeer(await startNaive(natsUrl, file), partial)
  await endAll()
  return [calm, ours, theirs]
}

function rowOf(measured: Measurement): Record<string, number> {
  const { deliveries, gaps, duplicates, tookMs, p50Ms, p99Ms, cpuMs } = measured
  const rounded = (value: number, digits = 1): number => Number(value.toFixed(digits))
  return {
    deliveries,
    gaps,
    duplicates,
    'took, ms': rounded(tookMs, 0),
    'deliveries/s': rounded((deliveries * 1_000) / tookMs, 0),
    'p50, ms': p50Ms,
    'p99, ms': p99Ms,
    'CPU per delivery, us': rounded((cpuMs * 1_000) / deliveries, 2),
    'KiB per socket at rest': rounded(measured.restingKibPerSocket),
    'KiB per socket at most': rounded(measured.peakKibPerSocket),
  }
}

/** Prints the measurements side by side; false when somebody missed something or got it twice. */
function report([calm, ours, naive]: readonly Measurement[]): boolean {
  if (calm === undefined || ours === undefined || naive === undefined) return false
  const [quiet, left, right] = [rowOf(calm), rowOf(ours), rowOf(naive)]
  const table = Object.keys(left).map((name) => {
    const [fanOut = 0, peer = 0] = [left[name], right[name]]
    const ratio = fanOut === 0 ? '' : Number((peer / fanOut).toFixed(2))
    const row = { steady: quiet[name], burst: fanOut, 'naive burst': peer, 'naive / burst': ratio }
    return [name, row] as const
  })
  console.table(Object.fromEntries(table))
  return [calm, ours, naive].every(({ gaps, duplicates }) => gaps + duplicates === 0)
}

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
const giveUp = setTimeout(() => {
  console.error(`not done after ${GIVE_UP_AFTER_MS} ms`)
  process.exit(1)
}, GIVE_UP_AFTER_MS)
const dir = await mkdtemp(join(tmpdir(), 'fan-out-bench-'))
const ownBus = await startOwnBus(dir)
const bus = await connectNatsBus({ url: ownBus.url, name: 'fan-out-bench' })
try {
  const isWhole = report(await measureAll(bus, ownBus.url, dir))
  process.exitCode = isWhole ? 0 : 1
} finally {
  await bus.close()
  await endAll()
  await ownBus.stop()
  await rm(dir, { recursive: true, force: true })
  clearTimeout(giveUp)
}
