import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readCommandLine } from '../runtime/process/command-line.js'
import { writeCompiledProcfile } from './compiled-procfile.js'
import { atPace, createHttpLoad, saturate, withRequestId, type HttpLoad } from './http-load.js'
import { orderFlow, signersOf, type OrderFlow } from './order-flow.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { slowestOf } from './slowest.js'
import { topOfProfile } from './top-of-profile.js'
import type { Trace } from './tracer.js'

/**
 * Profile of the order path by process: `npm run profile -- order-path`. Prints the most expensive functions, and
 * writes the profiles to bench/results/profiles/ for a browser's developer tools. With `--slowest` no profile but a trace: the
 * slowest requests at half of the load, by trace span.
 */
const WARM = { profile: 2_000, trace: 15_000 }
const REQUESTS = 6_000
/** Requests of the trace: those that show the rate, and those that are traced. */
const TO_SATURATE = 20_000
const TRACED = 20_000
const CONNECTIONS = 256
/** Orders that rest when the trace begins. */
const KEPT = 5_000
const LINES = 25
/** Procfile name, and the folder of its program. */
const PROFILED = {
  gateway: 'api-gateway',
  'order-intake': 'order-intake',
  'matcher-cngn-usdc': 'matcher',
  projector: 'projector',
  'ws-fanout': 'ws-fanout',
  'chain-reader': 'chain-reader',
}
const WRITTEN_WITHIN_MS = 20_000

const USAGE = 'usage: npm run profile -- order-path [--slowest]'
const { positionals, values } = readCommandLine(USAGE, {
  allowPositionals: true,
  options: { slowest: { type: 'boolean', default: false } },
})
if (positionals.join() !== 'order-path') {
  console.error(USAGE)
  process.exit(2)
}
const profiles = fileURLToPath(new URL('../../bench/results/profiles/', import.meta.url))
await rm(profiles, { recursive: true, force: true })
const dir = await mkdtemp(join(tmpdir(), 'profile-'))
const loaded = values.slowest ? './tracer.js' : './profiler.js'
const program = fileURLToPath(new URL(loaded, import.meta.url))
const env = {
  NODE_OPTIONS: `--import=${program}`,
  PROFILE_DIR: profiles,
  PROCFILE: await writeCompiledProcfile(dir),
  DEVNET_SAVE_CHAIN: '0',
}
const venue = await startOwnVenue({ dir: join(dir, 'venue'), env })
try {
  const load = createHttpLoad(Number(new URL(venue.devnet.gateway_url).port), CONNECTIONS)
  const flow = orderFlow(await signersOf(venue.devnet))
  await (values.slowest ? traceSlowest(venue, load, flow) : profileAll(venue, load, flow))
} finally {
  await venue.stop()
  await rm(dir, { recursive: true, force: true })
}

/** Starts or ends what is loaded into the processes of the order path. */
async function toggle(of: OwnVenue): Promise<void> {
  const pids = await of.pids()
  for (const name of Object.keys(PROFILED)) process.kill(pids[name] ?? 0, 'SIGUSR2')
}

async function profileAll(of: OwnVenue, load: HttpLoad, flow: OrderFlow): Promise<void> {
  const warm = await flow.next(WARM.profile)
  const counted = await flow.next(REQUESTS)
  await saturate(load, warm, CONNECTIONS)
  await toggle(of)
  const { wallMs } = await saturate(load, counted, CONNECTIONS)
  await delay(500)
  await toggle(of)
  console.log(`${Math.round((REQUESTS * 1000) / wallMs)} requests/s, slowed by the profilers`)
  for (const [name, folder] of Object.entries(PROFILED)) {
    const path = join(profiles, `${folder}.cpuprofile`)
    await written(path)
    console.log(
      `\n${name}: µs of a request, self and with all it calls\n${topOfProfile(path, REQUESTS, LINES)}`,
    )
  }
}

/** Sends half of what the venue answers at saturation, and prints what held up the slowest. */
async function traceSlowest(of: OwnVenue, load: HttpLoad, flow: OrderFlow): Promise<void> {
  await saturate(load, await flow.next(WARM.trace), CONNECTIONS)
  const full = await saturate(load, await flow.next(TO_SATURATE), CONNECTIONS)
  const perSecond = (TO_SATURATE * 500) / full.wallMs
  await saturate(load, flow.cancelAllBut(KEPT), CONNECTIONS)
  const requests = (await flow.next(TRACED)).map((each, i) => withRequestId(each, `traced-${i}`))
  await toggle(of)
  const { startedAtMs, latenciesMs } = await atPace(load, requests, perSecond)
  await delay(500)
  await toggle(of)
  await delay(WRITTEN_WITHIN_MS / 4)
  const traced = latenciesMs.map((tookMs, i) => {
    return { id: `traced-${i}`, dueMs: startedAtMs + (i * 1000) / perSecond, tookMs }
  })
  console.log(`${Math.round(perSecond)} requests/s, half of the rate at saturation`)
  console.log(slowestOf(traced, await tracesIn(profiles)))
}

async function tracesIn(folder: string): Promise<Trace[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.trace.json'))
  const texts = names.map((name) => readFile(join(folder, name), 'utf8'))
  return (await Promise.all(texts)).map((text) => JSON.parse(text) as Trace)
}

async function written(path: string): Promise<void> {
  for (let waitedMs = 0; !existsSync(path) && waitedMs < WRITTEN_WITHIN_MS; waitedMs += 100)
    await delay(100)
  // The file exists before it is complete.
  await delay(500)
}
