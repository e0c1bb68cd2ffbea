import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeRegistration } from '../bus-schemas/register.js'
import {
  feedStream,
  feedSubject,
  registerStream,
  registerSubject,
} from '../bus-schemas/subjects.js'
import { entryOf } from '../core/contracts/market-register.js'
import type { Block } from '../core/model/change.js'
import type { Market } from '../core/model/market.js'
import { loadDeployedMarkets } from '../data/markets.js'
import type { Bus } from '../runtime/bus/bus.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import { BENCH_ADDRESSES } from './bench-market.js'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import {
  startFanOut,
  startNaive,
  startRelay,
  type FeedPlace,
  type RunningPeer,
} from './fan-out-peers.js'
import { measurePeer, type Measurement } from './measure-peer.js'
import { orderBurst } from './order-burst.js'
import { startOwnBus } from './own-bus.js'
import { interleaved, ratio } from './rounds.js'

export const fanOut: Bench = {
  name: 'fan-out',
  title:
    'Processor time of a frame that reaches a subscriber of the book, one frame at a time and sixteen of a block together, compared with a peer on the same feed that encodes and sends each frame for each client separately.',
  versionsOf: ['ws', 'nats-server'],
  run,
}

const SOCKETS = { tiny: [20], usual: [100, 1_000, 5_000], full: [100, 1_000, 5_000] }
const PROCESSES = 2
/** Frames of a block that are queued together for the socket. */
const QUEUED = 16
/** Deliveries of a round: so many that a single garbage collection or compilation does not change the figure. */
const DELIVERIES = {
  tiny: { one: 400, queued: 1_600 },
  usual: { one: 50_000, queued: 250_000 },
  full: { one: 200_000, queued: 1_600_000 },
}
/**
 * Interval between blocks: the venue finishes one before the next arrives. The peer falls behind with sixteen frames,
 * which makes it cheaper, because it never idles.
 */
const pauseMs = (sockets: number): number => 5 + sockets / 50

/** Consecutive blocks of a market's feed, and the position of the feed. */
interface Feed {
  readonly place: FeedPlace
  blocks(count: number, perBlock: number): Block[]
  appended(): number
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const deploymentFile = join(dir, 'deployment.json')
  await writeFile(deploymentFile, JSON.stringify(BENCH_ADDRESSES))
  const [market] = loadDeployedMarkets({ DEPLOYMENT_FILE: deploymentFile }).markets
  if (market === undefined) throw new Error('there is no market')
  const ownBus = await startOwnBus(dir)
  const bus = await connectNatsBus({ url: ownBus.url, name: 'fan-out-bench' })
  try {
    const names = { stream: feedStream(market.market), subject: feedSubject(market.market) }
    await bus.declareStream({ ...names, description: 'changes of a market' })
    await register(bus, market)
    const feed = createFeed(market, { bus, natsUrl: ownBus.url, deploymentFile })
    const rows: Row[] = []
    const memory = new Map<number, readonly number[]>()
    for (const sockets of SOCKETS[size]) {
      const values = await roundsAt(feed, { sockets, rounds, deliveries: DELIVERIES[size] })
      rows.push(...rowsOf(sockets, values))
      memory.set(
        sockets,
        values.ours.map(({ residentKib }) => residentKib),
      )
      say(`${sockets} sockets`)
    }
    return { rows: [...rows, ...memoryOfASocket(memory)], notes: NOTES }
  } finally {
    await bus.close()
    await ownBus.stop()
  }
}

/** The fan-out serves the markets of the register, which the order intake writes in a venue. */
async function register(bus: Bus, market: Market): Promise<void> {
  const names = { stream: registerStream, subject: registerSubject }
  await bus.declareStream({ ...names, description: 'the markets' })
  const registration = { by: 'bench', reason: 'bench', entries: [entryOf(market)] }
  await bus.append(registerSubject, encodeRegistration(registration))
}

const NOTES = [
  'Every subscriber must get every frame exactly once. Processor time is that of the serving process alone and includes reading the feed; through the gateway it is that of the fan-out and of a process with the gateway’s relay, which answers nothing else. Latency is from before the append of a block to the arrival at each subscriber; the subscribers share the processors. The memory of a socket is the difference between the process with 5,000 and the one with 1,000 before the first frame, per socket.',
]

function createFeed(market: Market, place: FeedPlace): Feed {
  let [seq, count] = [1, 0]
  return {
    place,
    blocks: (blocks, perBlock) => {
      const burst = orderBurst(market, { firstSeq: seq, blocks, perBlock })
      seq += blocks * perBlock
      count += blocks
      return burst
    },
    appended: () => count,
  }
}

interface Scale {
  readonly sockets: number
  readonly rounds: number
  readonly deliveries: { readonly one: number; readonly queued: number }
}

type Contender = 'ours' | 'oursQueued' | 'relayed' | 'relayedQueued' | 'naive' | 'naiveQueued'

async function roundsAt(feed: Feed, { sockets, rounds, deliveries }: Scale) {
  const ours = await startFanOut(feed.place)
  const relay = await startRelay(ours)
  const naive = await startNaive(feed.place, feed.appended() + 1)
  const round = async (peer: RunningPeer, perBlock: number, goal: number) => {
    const blocks = feed.blocks(Math.max(2, Math.round(goal / sockets / perBlock)), perBlock)
    const socketsEach = sockets / PROCESSES
    const pace = { everyMs: pauseMs(sockets), processes: PROCESSES, socketsEach }
    const measured = await measurePeer(peer, { bus: feed.place.bus, blocks, ...pace })
    const wrong = measured.gaps + measured.duplicates
    if (wrong > 0) throw new Error(`${wrong} frames were missing or came twice`)
    return measured
  }
  try {
    return await interleaved(rounds, {
      ours: () => round(ours, 1, deliveries.one),
      naive: () => round(naive, 1, deliveries.one),
      relayed: () => round(relay, 1, deliveries.one),
      oursQueued: () => round(ours, QUEUED, deliveries.queued),
      relayedQueued: () => round(relay, QUEUED, deliveries.queued),
      naiveQueued: () => round(naive, QUEUED, deliveries.queued),
    })
  } finally {
    await relay.end()
    await ours.end()
    await naive.end()
  }
}

function rowsOf(sockets: number, values: Record<Contender, Measurement[]>): Row[] {
  const { ours, naive, oursQueued, naiveQueued, relayed, relayedQueued } = values
  const us = (all: readonly Measurement[]): number[] =>
    all.map(({ cpuMs, deliveries }) => (cpuMs * 1000) / deliveries)
  const at = `${new Intl.NumberFormat('en').format(sockets)} sockets`
  // With few sockets a large part is the reading of the feed, which both do.
  const goal = (atLeast: number) => (sockets >= MANY_SOCKETS ? { atLeast } : undefined)
  return [
    { what: `${at}: one frame`, unit: 'µs', values: us(ours) },
    { what: `${at}: one frame, naive`, unit: 'µs', values: us(naive) },
    ratio(`${at}: one frame, naive / venue`, [us(naive), us(ours)], goal(1.3)),
    { what: `${at}: one frame, p99 latency`, unit: 'ms', values: ours.map(({ p99Ms }) => p99Ms) },
    { what: `${at}: sixteen, each`, unit: 'µs', values: us(oursQueued) },
    { what: `${at}: sixteen, each, naive`, unit: 'µs', values: us(naiveQueued) },
    ratio(`${at}: sixteen, naive / venue`, [us(naiveQueued), us(oursQueued)], goal(15)),
    { what: `${at}: one frame, through the gateway`, unit: 'µs', values: us(relayed) },
    ratio(`${at}: one frame, through the gateway / direct`, [us(relayed), us(ours)]),
    {
      what: `${at}: one frame, through the gateway, p99 latency`,
      unit: 'ms',
      values: relayed.map(({ p99Ms }) => p99Ms),
    },
    ratio(`${at}: sixteen, through the gateway / direct`, [us(relayedQueued), us(oursQueued)]),
  ]
}

/** With fewer sockets the difference of memory is smaller than the variance of a process's. */
const MANY_SOCKETS = 1_000

/** Additional memory of the process with the most sockets, divided by its additional sockets. */
function memoryOfASocket(memory: ReadonlyMap<number, readonly number[]>): Row[] {
  const many = [...memory.keys()].filter((sockets) => sockets >= MANY_SOCKETS)
  const fewer = Math.min(...many)
  const most = Math.max(...many)
  if (fewer >= most) return []
  const less = memory.get(fewer) ?? []
  const values = (memory.get(most) ?? []).map(
    (kib, round) => (kib - (less[round] ?? NaN)) / (most - fewer),
  )
  return [{ what: 'memory of a socket', unit: 'KiB', values }]
}
