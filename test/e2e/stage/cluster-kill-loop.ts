import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { createRestClient } from '../../../client/index.js'
import { eventually } from '../../support/eventually.js'
import type { TestVenue } from '../../support/venue.js'
import { furtherLosses, neededLosses, untilDoubled, type Loss } from './cluster-losses.js'
import type { ClusterVenue } from './cluster-venue.js'
import {
  dealFrom,
  describeTrades,
  expectAudited,
  keepOpen,
  placedIds,
  type KillLoopOptions,
  type KillLoopResult,
} from './kill-loop.js'
import { endlessSteps, randomNumbers, startLoad, type Answered, type Load } from './load.js'
import { expectReconciled, readAllBalances } from './reconcile.js'
import { createTrader, SPOT } from './trader.js'

/** Few: two copies of every process and three servers share the machine. */
const PER_SECOND = 8
const TRADERS = [0, 1, 2, 3]
const QUIET_WITHIN_MS = 180_000
const SETTLED_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 100
/** What is promised of the loss of one server, process or host. */
export const RECOVERED_WITHIN_MS = 20_000

/** What a loss cost. */
interface Pause {
  readonly what: string
  /** Until all orders sent before it were answered, and one sent after it. */
  readonly ordersMs: number
  /** Until a match that was made after that was settled and shown. */
  readonly settledMs: number
  /** The longest wait of one order for its answer, with the return of what was lost. */
  readonly longestMs: number
}

/** The result with the pauses of all cycles. */
export interface ClusterKillLoopResult extends KillLoopResult {
  readonly pauses: readonly Pause[]
  /** What a run of more cycles would have lost as well. */
  readonly spared: readonly string[]
}

type Options = Omit<KillLoopOptions, 'venue'> & { readonly cluster: ClusterVenue }

/**
 * Takes a server, a process or the set of a host away, or cuts a server off, one in each cycle: in an order that the seed
 * gives, first each that a run must lose, then each other, then again. Measures the pause, gives it back, and at every
 * reconciliation looks for all that was ever sent. Throws what is found.
 */
export async function runClusterKillLoop(options: Options): Promise<ClusterKillLoopResult> {
  const { cluster, cycles, seed, reconcileEvery, say } = options
  const [{ venue }, other] = cluster.hosts
  const losses = inRounds(cluster, randomNumbers(seed))
  const traders = TRADERS.map((name) => createTrader(venue.devnet, name))
  // A trader reads its market before it signs for the first time, which no loss must come between.
  await eventually(() => createRestClient(venue.gatewayUrl).markets())
  for (const trader of traders) await trader.sign({ side: 'buy', amount: '1', price: '1' })
  const steps = endlessSteps(traders)
  const before = await readAllBalances(venue)
  const answered: Answered[] = []
  const pauses: Pause[] = []
  const lost = new Set<string>()
  let trades: KillLoopResult['trades'] = new Map()
  say(`seed ${seed}`)
  for (let cycle = 1; cycle <= cycles;) {
    const load = startLoad({
      gatewayUrl: venue.gatewayUrl,
      otherUrls: [other.venue.gatewayUrl],
      steps: keepOpen(steps),
      perSecond: PER_SECOND,
    })
    await load.untilAnswered()
    const last = Math.min(cycles, cycle + reconcileEvery - 1)
    try {
      for (; cycle <= last; cycle += 1) {
        const loss = losses.next().value
        const pause = await pauseOf(cluster, load, loss)
        lost.add(loss.what)
        pauses.push(pause)
        say(`cycle ${cycle}: ${describePause(pause)}`)
      }
    } finally {
      load.stop()
    }
    answered.push(...(await load.answered()))
    trades = await expectReconciled(venue, answered, { before, quietWithinMs: QUIET_WITHIN_MS })
    await expectAudited(venue, { ...cluster.busEnvironment, RPC_URL: venue.devnet.rpc_url })
    say(
      `reconciled after ${cycle - 1} cycles: ${placedIds(answered).length} orders, ${describeTrades(trades)}`,
    )
  }
  const spared = neededLosses(cluster).filter(({ what }) => !lost.has(what))
  return {
    kills: pauses.length,
    orderIds: placedIds(answered),
    trades,
    pauses,
    spared: spared.map(({ what }) => what),
  }
}

export const describePause = ({ what, ordersMs, settledMs, longestMs }: Pause): string => {
  const [orders, settled, longest] = [ordersMs, settledMs, longestMs].map((ms) =>
    (ms / 1_000).toFixed(1),
  )
  return `${what}: orders after ${orders} s, settled after ${settled} s, longest wait ${longest} s`
}

/** Rounds of all losses without end, in each first those that a run must have. */
function* inRounds(
  cluster: ClusterVenue,
  random: (below: number) => number,
): Generator<Loss, never> {
  for (;;)
    for (const losses of [neededLosses(cluster), furtherLosses(cluster)]) {
      const deal = dealFrom<Loss>(random)
      for (let left = losses.length; left > 0; left -= 1) yield deal(losses)
    }
}

async function pauseOf(cluster: ClusterVenue, load: Load, loss: Loss): Promise<Pause> {
  load.takeLongest()
  const where = await loss.lose()
  const lostAt = performance.now()
  await load.untilAnswered()
  const ordersMs = performance.now() - lostAt
  await untilTraded(cluster)
  const settledMs = performance.now() - lostAt
  await loss.mend()
  await cluster.nats.mend()
  for (const { venue } of cluster.hosts) await venue.untilReady()
  await untilDoubled(cluster)
  await load.untilAnswered()
  const what = [loss.what, where].filter(Boolean).join(' ')
  return { what, ordersMs, settledMs, longestMs: load.takeLongest() }
}

/** Resolves when a gateway shows a trade that neither showed before. */
async function untilTraded({ hosts }: ClusterVenue): Promise<void> {
  const newest = async (): Promise<number> => {
    const shown = await Promise.all(hosts.map(({ venue }) => newestTrade(venue)))
    return Math.max(...shown)
  }
  const before = await newest()
  const giveUpAt = performance.now() + SETTLED_WITHIN_MS
  while ((await newest()) <= before) {
    expect(performance.now(), 'nothing was settled').to.be.lessThan(giveUpAt)
    await delay(LOOK_EVERY_MS)
  }
}

/** 0 where the gateway does not answer. */
async function newestTrade({ gatewayUrl }: TestVenue): Promise<number> {
  try {
    const { trades } = await createRestClient(gatewayUrl).trades(SPOT, { limit: 1 })
    return trades[0]?.trade_id ?? 0
  } catch {
    return 0
  }
}
