import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import type { Bench, BenchContext, Report } from './bench.js'
import { atPace, createHttpLoad, saturate, type HttpLoad } from './http-load.js'
import { orderFlow, signersOf, type OrderFlow } from './order-flow.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { cpuMsOf } from './process-usage.js'
import { interleaved, median, percentile, ratio } from './rounds.js'

export const orderPath: Bench = {
  name: 'order-path',
  title:
    'Signed orders and cancels over HTTP into the whole venue, each answered when it is durable and matched, compared with one process that combines good packages in the plainest way, on the same message server.',
  versionsOf: ['koa', 'nats', 'nats-server', 'better-sqlite3', 'viem', 'nodejs-order-book'],
  run,
}

const REQUESTS = {
  tiny: { warm: 50, venue: 60, paced: 60, naive: 30 },
  usual: { warm: 15_000, venue: 5_000, paced: 2_000, naive: 800 },
  full: { warm: 30_000, venue: 20_000, paced: 8_000, naive: 3_000 },
}
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
]

interface Stand {
  readonly connections: number
  readonly load: HttpLoad
  readonly paced: HttpLoad
  readonly flow: OrderFlow
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const counts = REQUESTS[size]
  const venue = await startOwnVenue({ dir: join(dir, 'venue') })
  let naive: ChildProcess | undefined
  try {
    const { devnet, natsUrl } = venue
    const args = [natsUrl, join(dir, 'naive.db'), `${devnet.chain_id}`, devnet.matching]
    naive = fork(fileURLToPath(new URL('./naive-venue.js', import.meta.url)), args)
    const [naivePort] = (await once(naive, 'message')) as [number]
    const signers = await signersOf(devnet)
    const stand = (port: number, connections: number): Stand => ({
      connections,
      load: createHttpLoad(port, connections),
      paced: createHttpLoad(port, PACED_CONNECTIONS),
      flow: orderFlow(signers),
    })
    const ours = stand(Number(new URL(devnet.gateway_url).port), CONNECTIONS)
    const theirs = stand(naivePort, NAIVE_CONNECTIONS)
    await subscribe(devnet.gateway_url.replace('http', 'ws'), '/v1/ws')
    await subscribe(`ws://127.0.0.1:${naivePort}`, '/')
    await saturate(ours.load, await ours.flow.next(counts.warm), CONNECTIONS)
    await saturate(theirs.load, await theirs.flow.next(counts.warm / 10), NAIVE_CONNECTIONS)
    say('warm')
    const pids = { ...(await venue.pids()), naive: naive.pid ?? 0 }
    const values = await interleaved(rounds, {
      venue: () => venueRound(venue, ours, counts),
      naive: () => measured(theirs, counts.naive, { naive: pids.naive }),
    })
    return reportOf(values.venue, values.naive)
  } finally {
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

interface Measured {
  readonly perSecond: number
  /** Processor time per order, by process. */
  readonly cpuUs: Readonly<Record<string, number>>
  readonly total: number
  /** Duration of each request at half of the rate; measured for the venue only. */
  readonly halfMs: readonly number[]
}

async function venueRound(
  venue: OwnVenue,
  stand: Stand,
  counts: { readonly venue: number; readonly paced: number },
): Promise<Measured> {
  const pids = await venue.pids()
  const path = Object.fromEntries(PATH.map((name) => [name, pids[name] ?? 0]))
  const full = await measured(stand, counts.venue, path)
  const half = await atPace(stand.paced, await stand.flow.next(counts.paced), full.perSecond / 2)
  return { ...full, halfMs: half.latenciesMs }
}

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
  const total = Object.values(cpuUs).reduce((sum, us) => sum + us, 0)
  return { perSecond: (count * 1000) / wallMs, cpuUs, total, halfMs: [] }
}

const SETTLED_MS = 300

function reportOf(venue: readonly Measured[], naive: readonly Measured[]): Report {
  const speed = (all: readonly Measured[]): number[] => all.map(({ perSecond }) => perSecond)
  const total = (all: readonly Measured[]): number[] => all.map((each) => each.total)
  const share = (part: number): number[] => venue.map(({ halfMs }) => percentile(halfMs, part))
  const parts = PATH.map((name) => {
    return `${name} ${Math.round(median(venue.map(({ cpuUs }) => cpuUs[name] ?? 0)))}`
  })
  return {
    rows: [
      { what: 'venue: requests', unit: '1/s', values: speed(venue) },
      { what: 'naive: requests', unit: '1/s', values: speed(naive) },
      ratio('venue / naive', [speed(venue), speed(naive)], { atLeast: 12 }),
      { what: 'venue: p50 at half of it', unit: 'ms', values: share(0.5), goal: { atMost: 15 } },
      { what: 'venue: p99 at half of it', unit: 'ms', values: share(0.99), goal: { atMost: 60 } },
      { what: 'venue: processor time of a request', unit: 'µs', values: total(venue) },
      { what: 'naive: processor time of a request', unit: 'µs', values: total(naive) },
      ratio('processor time, naive / venue', [total(naive), total(venue)]),
    ],
    notes: [
      'Two orders and the cancel of an earlier one in turn, none of which match, over 256 kept-alive connections (64 for the peer, which more would not make faster); every answer must be 200, and each has one subscriber of its book. The load generator shares the processors with the measured processes. The open load has half of the rate, each request timed from its scheduled time. Processor time is that of all processes on the order path, the message server included; the naive figure is its process alone, which checks only the signature and neither custody nor funds.',
      `Processor time of a request by process, µs: ${parts.join(', ')}.`,
    ],
  }
}
