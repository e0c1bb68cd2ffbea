import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { decodePingAnswer } from '../bus-schemas/operations.js'
import { askPing } from '../bus-schemas/subjects.js'
import type { Bus } from '../runtime/bus/bus.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import { atPace, createHttpLoad, postOf, saturate, type HttpLoad } from './http-load.js'
import { all, percentiles, startSubscribers } from './measure-peer.js'
import { restingTerms, signersOf, type Signers } from './order-flow.js'
import { interleaved, percentile, ratio } from './rounds.js'
import type { Received } from './subscriber-messages.js'

export const sockets: Bench = {
  name: 'sockets',
  title:
    'Latency of an order, and the time from sending it to its frame, with few subscribers of the book and with many, connected to the fan-out directly or through the gateway.',
  versionsOf: ['ws', 'nats-server'],
  run,
}

const MARKET = 'cNGN-USDC'
const SIZES = {
  tiny: { orders: 10, warm: 20, many: 20 },
  usual: { orders: 250, warm: 3_000, many: 1_000 },
  full: { orders: 2_000, warm: 6_000, many: 1_000 },
}
/** So many that the frames of 1,000 sockets take a third of a processor. */
const PER_SECOND = 25
const CONNECTIONS = 64
const PROCESSES = 2
/** What the venue publishes for an order is folded by then. */
const SETTLED_MS = 500

interface Measured {
  readonly orderMs: readonly number[]
  /** From sending an order to its frame at a socket. */
  readonly frame: { readonly p50Ms: number; readonly p99Ms: number }
}

async function run({ size, rounds, dir, say, startVenue }: BenchContext): Promise<Report> {
  const { orders, warm, many } = SIZES[size]
  const venue = await startVenue({ dir: join(dir, 'venue') })
  const bus = await connectNatsBus({ ...venue.bus, name: 'sockets-bench', user: 'auditor' })
  try {
    const signers = await signersOf(venue.devnet)
    const gatewayPort = Number(new URL(venue.devnet.gateway_url).port)
    const load = createHttpLoad(gatewayPort, CONNECTIONS)
    await saturate(load, await signed(signers, warm), CONNECTIONS)
    say('warm')
    const round = (port: number, count: number) => async (): Promise<Measured> =>
      measure({ bus, load, requests: await signed(signers, orders), port, count })
    const values = await interleaved(rounds, {
      few: round(venue.fanOutPort, PROCESSES),
      direct: round(venue.fanOutPort, many),
      relayed: round(gatewayPort, many),
    })
    const name = new Intl.NumberFormat('en').format(many)
    return {
      rows: rowsOf(values, name),
      notes: [
        `${PER_SECOND} orders a second that rest, each timed from its scheduled time, and each with a frame to every subscriber. "Few" are ${PROCESSES}. The subscribers are ${PROCESSES} processes on the same machine, which have no part in the venue.`,
      ],
    }
  } finally {
    await bus.close()
    await venue.stop()
  }
}

function rowsOf(values: Record<'few' | 'direct' | 'relayed', Measured[]>, many: string): Row[] {
  const order = (measured: readonly Measured[], part: number): number[] =>
    measured.map(({ orderMs }) => percentile(orderMs, part))
  const frame = (measured: readonly Measured[], part: 'p50Ms' | 'p99Ms'): number[] =>
    measured.map((each) => each.frame[part])
  const { few, direct, relayed } = values
  const named = [
    ['few sockets', few],
    [`${many} sockets`, direct],
    [`${many} through the gateway`, relayed],
  ] as const
  return [
    ...named.flatMap(([of, measured]): Row[] => [
      { what: `${of}: order, p50`, unit: 'ms', values: order(measured, 0.5) },
      { what: `${of}: order, p99`, unit: 'ms', values: order(measured, 0.99) },
      { what: `${of}: order sent to frame, p50`, unit: 'ms', values: frame(measured, 'p50Ms') },
      { what: `${of}: order sent to frame, p99`, unit: 'ms', values: frame(measured, 'p99Ms') },
    ]),
    ratio(`order p99, ${many} sockets / few`, [order(direct, 0.99), order(few, 0.99)]),
    ratio(`order p99, ${many} through the gateway / few`, [order(relayed, 0.99), order(few, 0.99)]),
    ratio('order sent to frame p50, through the gateway / direct', [
      frame(relayed, 'p50Ms'),
      frame(direct, 'p50Ms'),
    ]),
  ]
}

/** Orders that rest, as requests. */
async function signed({ sign }: Signers, count: number) {
  const bodies = Array.from({ length: count }, (_, number) => sign(restingTerms(number), number))
  return (await Promise.all(bodies)).map((body) => postOf('/v1/orders', body))
}

interface Stand {
  readonly bus: Bus
  readonly load: HttpLoad
  readonly requests: readonly Buffer[]
  /** Where the subscribers connect. */
  readonly port: number
  readonly count: number
}

/** Connects the subscribers, sends the orders, and waits until every subscriber has the frame of each. */
async function measure({ bus, load, requests, port, count }: Stand): Promise<Measured> {
  await delay(SETTLED_MS)
  const firstSeq = (await headSeq(bus)) + 1
  const task = { port, sockets: count / PROCESSES, firstSeq, changes: requests.length }
  const children = Array.from({ length: PROCESSES }, () => startSubscribers(task))
  await all(children)
  const receiving = all(children)
  const startMs = performance.timeOrigin + performance.now()
  const { latenciesMs } = await atPace(load, requests, PER_SECOND)
  await receiving
  const sentMs = requests.map((_, index) => startMs + (index * 1_000) / PER_SECOND)
  const answers = all<Received>(children)
  for (const child of children) child.send(sentMs)
  const received = await answers
  const wrong = received.some(({ gaps, duplicates }) => gaps + duplicates > 0)
  if (wrong) throw new Error('frames were missing or came twice')
  return { orderMs: latenciesMs, frame: percentiles(received) }
}

/** The newest sequence of the market that the fan-out has. */
async function headSeq(bus: Bus): Promise<number> {
  const answer = await bus.ask(askPing('ws-fanout'), new Uint8Array(), 5_000)
  return decodePingAnswer(answer).positions[MARKET] ?? 0
}
