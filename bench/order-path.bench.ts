import { connect, type NatsConnection } from 'nats'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { openBareHops } from './bare-hops.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { seedCrowd } from './crowd.js'
import { atPace, createHttpLoad, saturate, type HttpLoad, type RequestBytes } from './http-load.js'
import { orderFlow, signersOf, SPOT, type OrderFlow } from './order-flow.js'
import { OPEN_BUS, type OwnVenue } from './own-venue.js'
import { cpuMsOf } from './process-usage.js'
import { interleaved, median, percentile, ratio } from './rounds.js'

export const orderPath: Bench = {
  name: 'order-path',
  title:
    'Signed orders and cancels over HTTP into the whole venue, each answered when it is durable and matched, compared with one process that combines good packages in the plainest way, on the same message server.',
  versionsOf: ['koa', 'nats', 'nats-server', 'better-sqlite3', 'viem', 'nodejs-order-book'],
  run,
}

/** `windowSec` is the least time at saturation: longer than a checkpoint takes to come round. */
const REQUESTS = {
  tiny: { warm: 950, windowSec: 0.1, paced: 60, naive: 30, naivePaced: 30, hops: 30, crowd: 25 },
  usual: {
    warm: 15_000,
    windowSec: 30,
    paced: 30_000,
    crowd: 10_000,
    naive: 800,
    naivePaced: 2_000,
    hops: 10_000,
  },
  full: {
    warm: 30_000,
    windowSec: 60,
    paced: 60_000,
    crowd: 10_000,
    naive: 3_000,
    naivePaced: 10_000,
    hops: 30_000,
  },
}
/** Orders of each kind of load that rest between its windows: a market bounds how many rest. */
const KEPT = 5_000
const CONNECTIONS = 256
/** More would not make the peer faster, and its publishes would time out. */
const NAIVE_CONNECTIONS = 64
/** With an open load the requests in flight do not bound the requests sent, so that more connections may be needed. */
const PACED_CONNECTIONS = 512
/** Processes on the path of an order that does not match; the others only do periodic work. */
const PATH = [
  'gateway',
  'order-intake',
  'matcher-cngn-usdc',
  'projector',
  'ws-fanout',
  'chain-reader',
  'nats-server',
  'chain',
]

interface Stand {
  readonly connections: number
  readonly load: HttpLoad
  readonly paced: HttpLoad
  readonly flow: OrderFlow
}

async function run({ size, rounds, dir, say, startVenue }: BenchContext): Promise<Report> {
  const counts = REQUESTS[size]
  const env = { DEVNET_SAVE_CHAIN: '0', ...OPEN_BUS }
  const venue = await startVenue({ dir: join(dir, 'venue'), env })
  let naive: ChildProcess | undefined
  let connection: NatsConnection | undefined
  try {
    const { devnet, bus } = venue
    const args = [bus.url, join(dir, 'naive.db'), `${devnet.chain_id}`, devnet.matching]
    naive = fork(fileURLToPath(new URL('./naive-venue.js', import.meta.url)), args)
    const [naivePort] = (await once(naive, 'message')) as [number]
    const signers = await signersOf(devnet)
    const stand = (port: number, connections: number, by = signers): Stand => ({
      connections,
      load: createHttpLoad(port, connections),
      paced: createHttpLoad(port, PACED_CONNECTIONS),
      flow: orderFlow(by),
    })
    const gatewayPort = Number(new URL(devnet.gateway_url).port)
    const ours = stand(gatewayPort, CONNECTIONS)
    const members = await seedCrowd(devnet, counts.crowd)
    say(`${members.length} accounts are open`)
    const crowd = stand(gatewayPort, CONNECTIONS, await signersOf(devnet, SPOT, members))
    const theirs = stand(naivePort, NAIVE_CONNECTIONS)
    await subscribe(devnet.gateway_url.replace('http', 'ws'), '/v1/ws')
    await subscribe(`ws://127.0.0.1:${naivePort}`, '/')
    const { wallMs } = await saturate(ours.load, await ours.flow.next(counts.warm), CONNECTIONS)
    const window = Math.ceil((counts.windowSec * 1000 * counts.warm) / wallMs)
    const sizes = { window, paced: counts.paced }
    await saturate(crowd.load, await crowd.flow.next(counts.warm), CONNECTIONS)
    await saturate(theirs.load, await theirs.flow.next(counts.warm / 10), NAIVE_CONNECTIONS)
    say('warm')
    const pids = { ...(await venue.pids()), naive: naive.pid ?? 0 }
    connection = await connect({ servers: bus.url })
    const hops = await openBareHops(connection)
    // The warm-up round sends them at the pace of the venue's.
    let pace = 0
    const values = await interleaved(rounds, {
      venue: async () => {
        const round = await venueRound(venue, ours, sizes)
        pace = round.perSecond / 2
        return round
      },
      hops: async () => ({ halfMs: await hops(counts.hops, pace) }),
      crowd: () => venueRound(venue, crowd, sizes),
      naive: async () => {
        const round = await measured(theirs, counts.naive, { naive: pids.naive })
        const requests = await theirs.flow.next(counts.naivePaced)
        return { ...round, halfMs: await atHalf(theirs, requests, round) }
      },
    })
    return reportOf(values)
  } finally {
    await connection?.close()
    naive?.kill('SIGKILL')
    await venue.stop()
  }
}

/** One subscriber of the book, which discards its frames. */
async function subscribe(url: string, path: string): Promise<void> {
  const socket = new WebSocket(new URL(path, url))
  await once(socket, 'open')
  socket.send(
    JSON.stringify({ op: 'subscribe', channel: 'book', market: 'cNGN-USDC', req_id: '1' }),
  )
}

interface Halved {
  /** Duration of each request at half of the rate; of the bare hops at the venue's pace. */
  readonly halfMs: readonly number[]
}

interface Measured extends Halved {
  readonly perSecond: number
  /** Processor time per order, by process. */
  readonly cpuUs: Readonly<Record<string, number>>
  readonly total: number
  /** Of these, the chain's node; none for the peer. */
  readonly chainUs: number
  /** Of the durations, the cancels. */
  readonly cancelMs: readonly number[]
}

async function venueRound(
  venue: OwnVenue,
  stand: Stand,
  sizes: { readonly window: number; readonly paced: number },
): Promise<Measured> {
  const pids = await venue.pids()
  const path = Object.fromEntries(PATH.map((name) => [name, pids[name] ?? 0]))
  const full = await measured(stand, sizes.window, path)
  const requests = await stand.flow.next(sizes.paced)
  const halfMs = await atHalf(stand, requests, full)
  const cancelMs = halfMs.filter((_, i) => isCancel(requests[i]))
  await saturate(stand.load, stand.flow.cancelAllBut(KEPT), stand.connections)
  return { ...full, halfMs, cancelMs }
}

/** The requests at half of the rate that was reached; how long each took. */
async function atHalf(
  { paced }: Stand,
  requests: readonly RequestBytes[],
  { perSecond }: Measured,
): Promise<readonly number[]> {
  const { latenciesMs } = await atPace(paced, requests, perSecond / 2)
  return latenciesMs
}

const isCancel = (request: RequestBytes | undefined): boolean =>
  request?.toString('latin1', 0, CANCEL.length) === CANCEL
const CANCEL = 'POST /v1/orders/cancel'

/** Processor time is read after the work that follows the answers is complete. */
async function measured(
  { load, flow, connections }: Stand,
  count: number,
  pids: Readonly<Record<string, number>>,
): Promise<Measured> {
  const requests = await flow.next(count)
  const before = Object.entries(pids).map(([name, pid]) => [name, pid, cpuMsOf(pid)] as const)
  const { wallMs } = await saturate(load, requests, connections)
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
  const cpuUs = Object.fromEntries(
    before.map(([name, pid, was]) => [name, ((cpuMsOf(pid) - was) * 1000) / count]),
  )
  const { chain: chainUs = 0 } = cpuUs
  const total = Object.values(cpuUs).reduce((sum, us) => sum + us, 0) - chainUs
  return { perSecond: (count * 1000) / wallMs, cpuUs, total, chainUs, halfMs: [], cancelMs: [] }
}

const SETTLED_MS = 300

function reportOf({
  venue,
  crowd,
  naive,
  hops,
}: Record<Contender, readonly Measured[]> & { readonly hops: readonly Halved[] }): Report {
  return {
    rows: [
      ratio('processor time, naive / venue', [total(naive), total(venue)], { atLeast: 7 }),
      ratio('processor time, naive / 10,000 accounts', [total(naive), total(crowd)], {
        atLeast: 6,
      }),
      ...latencyRows('venue', venue),
      ...peerLatencyRows({ venue, naive, hops }),
      { what: 'venue: requests', unit: '1/s', values: speed(venue) },
      { what: 'naive: requests', unit: '1/s', values: speed(naive) },
      ratio('venue / naive', [speed(venue), speed(naive)]),
      { what: 'venue: processor time of a request', unit: 'µs', values: total(venue) },
      { what: 'naive: processor time of a request', unit: 'µs', values: total(naive) },
      ratio('processor time with the node, six accounts / 10,000', [whole(venue), whole(crowd)], {
        atLeast: 0.8,
      }),
      ratio('requests, 10,000 accounts / six', [speed(crowd), speed(venue)], { atLeast: 0.8 }),
      { what: '10,000 accounts: requests', unit: '1/s', values: speed(crowd) },
      { what: '10,000 accounts: processor time of a request', unit: 'µs', values: total(crowd) },
      ...latencyRows('10,000 accounts', crowd),
    ],
    notes: [
      'Two orders and the cancel of an earlier one in turn, none of which match, over 256 kept-alive connections (64 for the peer, which more would not make faster); every answer must be 200, and each has one subscriber of its book. The load generator shares the processors with the measured processes. The open load has half of the rate, each request timed from its scheduled time. Processor time is that of all processes on the order path, the message server included; the naive figure is its process alone, which checks only the signature and neither custody nor funds.',
      'With 10,000 accounts custody, code and funds are read for the first order of each, in the warm-up, and again when a block has touched the account or five minutes have passed. The node of the development chain is counted in the ratio with it, because these reads are work for it too.',
      `Processor time of a request by process, µs: ${byProcess(venue)}; of 10,000 accounts: ${byProcess(crowd)}.`,
    ],
  }
}

type Contender = 'venue' | 'crowd' | 'naive'

const speed = (all: readonly Measured[]): number[] => all.map(({ perSecond }) => perSecond)
const total = (all: readonly Measured[]): number[] => all.map((each) => each.total)
const whole = (all: readonly Measured[]): number[] => all.map((each) => each.total + each.chainUs)

const halfAt = (all: readonly Halved[], part: number): number[] =>
  all.map(({ halfMs }) => percentile(halfMs, part))

/** The venue's latency beside those of its peers. */
function peerLatencyRows({
  venue,
  naive,
  hops,
}: Record<'venue' | 'naive' | 'hops', readonly Halved[]>): Report['rows'] {
  const p99 = halfAt(venue, 0.99)
  return [
    { what: 'two bare hops at the same pace: p50', unit: 'ms', values: halfAt(hops, 0.5) },
    { what: 'two bare hops at the same pace: p99', unit: 'ms', values: halfAt(hops, 0.99) },
    { what: 'naive: p50 at half of its own rate', unit: 'ms', values: halfAt(naive, 0.5) },
    { what: 'naive: p99 at half of its own rate', unit: 'ms', values: halfAt(naive, 0.99) },
    ratio('p50, venue / two bare hops', [halfAt(venue, 0.5), halfAt(hops, 0.5)], { atMost: 4 }),
    ratio('p99, venue / two bare hops', [p99, halfAt(hops, 0.99)], { atMost: 4 }),
    ratio('p99, venue / naive at half of its own rate', [p99, halfAt(naive, 0.99)], { atMost: 1 }),
    {
      what: 'venue: p99 of the slowest round / of the median round',
      unit: 'x',
      values: [Math.max(...p99) / median(p99)],
      goal: { atMost: 3 },
    },
  ]
}

function latencyRows(what: string, all: readonly Measured[]): Report['rows'] {
  const at = (part: number): number[] => halfAt(all, part)
  const ofCancels = (part: number) => all.map(({ cancelMs }) => percentile(cancelMs, part))
  return [
    { what: `${what}: p50 at half of it`, unit: 'ms', values: at(0.5) },
    { what: `${what}: p99 at half of it`, unit: 'ms', values: at(0.99) },
    { what: `${what}: cancel, p50 at half of it`, unit: 'ms', values: ofCancels(0.5) },
    { what: `${what}: cancel, p99 at half of it`, unit: 'ms', values: ofCancels(0.99) },
    ratio(`${what}: cancel / all, p99`, [ofCancels(0.99), at(0.99)], { atMost: 1.2 }),
  ]
}

const byProcess = (all: readonly Measured[]): string =>
  PATH.map(
    (name) => `${name} ${Math.round(median(all.map(({ cpuUs }) => cpuUs[name] ?? 0)))}`,
  ).join(', ')
