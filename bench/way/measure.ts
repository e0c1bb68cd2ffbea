import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { writeCompiledProcfile } from '../compiled-procfile.js'
import { startOwnVenue } from '../own-venue.js'
import { createOrderFollower } from './follow-order.js'
import { recordersOf, type Take } from './takes.js'

/**
 * Longer than the periods of all processes' timers of one and five seconds. Rarer work can coincide with one order, but
 * not with every order.
 */
const IDLE_AT_LEAST_MS = 6_000
/**
 * Time for the work after the last frame: one poll of the chain, which some processes do each second, so that it is in
 * every order's time.
 */
const AFTERWARDS_MS = 1_500
const BLOCK_TIME_SEC = 1
/** Number of followed orders. */
const ORDERS = 3

/** Functions that ran in a venue. */
export interface Measured {
  /** Without an order. */
  readonly idle: Take
  readonly idleMs: number
  /** During one order, by order. */
  readonly orders: readonly Take[]
}

/**
 * Starts a venue, settles one match so that everything is loaded and connected, then records the functions that run
 * without an order and with one, for several orders in turn.
 */
export async function measureWay(say: (line: string) => void = () => {}): Promise<Measured> {
  const dir = await mkdtemp(join(tmpdir(), 'way-'))
  const recorded = join(dir, 'recorded')
  const recorder = fileURLToPath(new URL('./recorder.js', import.meta.url))
  const PROCFILE = await writeCompiledProcfile(dir)
  const env = { NODE_OPTIONS: `--import=${recorder}`, COVERAGE_DIR: recorded, PROCFILE }
  try {
    const venue = await startOwnVenue({
      dir: join(dir, 'venue'),
      env,
      blockTime: BLOCK_TIME_SEC,
    })
    say('the venue is ready')
    try {
      const recorders = recordersOf(recorded, await venue.pids())
      const follower = await createOrderFollower(venue.devnet)
      try {
        return await record(recorders, follower, say)
      } finally {
        follower.close()
      }
    } finally {
      await venue.stop()
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function record(
  recorders: ReturnType<typeof recordersOf>,
  follower: Awaited<ReturnType<typeof createOrderFollower>>,
  say: (line: string) => void,
): Promise<Measured> {
  const follow = async (): Promise<number> => {
    const start = performance.now()
    await follower.follow()
    await delay(AFTERWARDS_MS)
    return performance.now() - start
  }
  const warmUpMs = await follow()
  say(`the first order took ${Math.round(warmUpMs)} ms`)
  await recorders.take()
  const idleMs = Math.max(IDLE_AT_LEAST_MS, warmUpMs)
  await delay(idleMs)
  const idle = await recorders.take()
  say(`idle for ${Math.round(idleMs)} ms`)
  const orders: Take[] = []
  while (orders.length < ORDERS) {
    const tookMs = await follow()
    orders.push(await recorders.take())
    say(`order ${orders.length} of ${ORDERS} took ${Math.round(tookMs)} ms`)
  }
  return { idle, idleMs, orders }
}
