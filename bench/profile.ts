import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endAtHelp } from '../runtime/process/command-line.js'
import { createHttpLoad, saturate } from './http-load.js'
import { orderFlow, signersOf } from './order-flow.js'
import { startOwnVenue } from './own-venue.js'
import { topOfProfile } from './top-of-profile.js'

/**
 * Profile of the order path by process: `npm run profile -- order-path`. Prints the most expensive functions, and
 * writes the profiles to bench/results/profiles/ for a browser's developer tools.
 */
const WARM = 2_000
const REQUESTS = 6_000
const CONNECTIONS = 256
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

const USAGE = 'usage: npm run profile -- order-path'
endAtHelp(USAGE)
if (process.argv[2] !== 'order-path') {
  console.error(USAGE)
  process.exit(2)
}
const profiles = fileURLToPath(new URL('../../bench/results/profiles/', import.meta.url))
await rm(profiles, { recursive: true, force: true })
const dir = await mkdtemp(join(tmpdir(), 'profile-'))
const profiler = fileURLToPath(new URL('./profiler.js', import.meta.url))
const env = { NODE_OPTIONS: `--import=${profiler}`, PROFILE_DIR: profiles }
const venue = await startOwnVenue({ dir: join(dir, 'venue'), env })
try {
  const pids = await venue.pids()
  const toggle = (): void => {
    for (const name of Object.keys(PROFILED)) process.kill(pids[name] ?? 0, 'SIGUSR2')
  }
  const load = createHttpLoad(Number(new URL(venue.devnet.gateway_url).port), CONNECTIONS)
  const flow = orderFlow(await signersOf(venue.devnet))
  const [warm, counted] = [await flow.next(WARM), await flow.next(REQUESTS)]
  await saturate(load, warm, CONNECTIONS)
  toggle()
  const { wallMs } = await saturate(load, counted, CONNECTIONS)
  await delay(500)
  toggle()
  console.log(`${Math.round((REQUESTS * 1000) / wallMs)} requests/s, slowed by the profilers`)
  for (const [name, folder] of Object.entries(PROFILED)) {
    const path = join(profiles, `${folder}.cpuprofile`)
    await written(path)
    console.log(
      `\n${name}: µs of a request, self and with all it calls\n${topOfProfile(path, REQUESTS, LINES)}`,
    )
  }
} finally {
  await venue.stop()
  await rm(dir, { recursive: true, force: true })
}

async function written(path: string): Promise<void> {
  for (let waitedMs = 0; !existsSync(path) && waitedMs < WRITTEN_WITHIN_MS; waitedMs += 100)
    await delay(100)
  // The file exists before it is complete.
  await delay(500)
}
