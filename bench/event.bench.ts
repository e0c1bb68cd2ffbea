import { once } from 'node:events'
import { join } from 'node:path'
import {
  connect,
  consumerOpts,
  type DeliveryInfo,
  type JetStreamClient,
  type JsMsg,
  type NatsConnection,
} from 'nats'
import { WebSocket } from 'ws'
import { decodeBlock } from '../bus-schemas/block-message.js'
import { decodeCommands } from '../bus-schemas/command-message.js'
import { commandsSubject, feedSubject } from '../bus-schemas/subjects.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { atPace, createHttpLoad, postOf } from './http-load.js'
import { restingTerms, signersOf, type Signers } from './order-flow.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { interleaved, percentile, ratio } from './rounds.js'

export const event: Bench = {
  name: 'event',
  title:
    'From the moment a market has accepted an order, which is when its block is stored, to the frame at a subscriber of the book, beside a bare message from being stored until it is consumed, on the same message server at the same steady pace.',
  versionsOf: ['nats', 'nats-server', 'ws'],
  run,
}

const MARKET = 'cNGN-USDC'
const ORDERS = { tiny: 20, usual: 400, full: 2_000 }
const PER_SECOND = 200
const CONNECTIONS = 256
const GIVE_UP_AFTER_MS = 20_000
/** About the size of a block with one order. */
const BARE_BYTES = 1_500

/** What a venue shows of its orders, Unix milliseconds with fractions. */
interface Watched {
  /** When each order's command was stored. */
  readonly loggedMs: Map<string, number>
  /** When the block that places it was. */
  readonly acceptedMs: Map<string, number>
  /** When its frame came. */
  readonly seenMs: Map<string, number>
  close(): void
}

/** How long each order, or bare message, took, ms. */
interface Latencies {
  /** From when its block, or the message itself, was stored. */
  readonly fromStored: readonly number[]
  /** From when its command was stored; a bare message has none. */
  readonly fromLogged: readonly number[]
}

async function run({ size, rounds, dir }: BenchContext): Promise<Report> {
  const venue = await startOwnVenue({ dir: join(dir, 'venue') })
  let connection: NatsConnection | undefined
  try {
    connection = await connect({ servers: venue.natsUrl })
    const watched = await watch(venue, connection)
    const bare = await openBare(connection)
    const signers = await signersOf(venue.devnet)
    const values = await interleaved(rounds, {
      venue: () => venueLatencies(venue, signers, watched, ORDERS[size]),
      bare: () => bare(ORDERS[size]),
    })
    watched.close()
    const share = (all: readonly (readonly number[])[], part: number): number[] =>
      all.map((latencies) => percentile(latencies, part))
    const fromAccepted = values.venue.map((each) => each.fromStored)
    const fromLogged = values.venue.map((each) => each.fromLogged)
    const fromBare = values.bare.map((each) => each.fromStored)
    const p50 = { venue: share(fromAccepted, 0.5), bare: share(fromBare, 0.5) }
    return {
      rows: [
        { what: 'order accepted to frame: p50', unit: 'ms', values: p50.venue },
        { what: 'order accepted to frame: p99', unit: 'ms', values: share(fromAccepted, 0.99) },
        { what: 'bare: p50', unit: 'ms', values: p50.bare },
        { what: 'bare: p99', unit: 'ms', values: share(fromBare, 0.99) },
        ratio('p50, venue / bare', [p50.venue, p50.bare], { atMost: 2 }),
        { what: 'order in the log to frame: p50', unit: 'ms', values: share(fromLogged, 0.5) },
        { what: 'order in the log to frame: p99', unit: 'ms', values: share(fromLogged, 0.99) },
        ratio('p50 from the log, venue / bare', [share(fromLogged, 0.5), p50.bare]),
      ],
      notes: [
        `${PER_SECOND} orders a second, and as many bare messages of ${BARE_BYTES} bytes, whether or not earlier ones are through. All times begin with the message server's stamp, which it puts on a message before it syncs it. From the log on, an order's way holds two syncs, of its command and of its block; from its acceptance on one, as the bare message's does.`,
      ],
    }
  } finally {
    await connection?.close()
    await venue.stop()
  }
}

/** On the clock that the message server stamps with. */
const nowMs = (): number => performance.timeOrigin + performance.now()

async function watch(venue: OwnVenue, connection: NatsConnection): Promise<Watched> {
  const loggedMs = new Map<string, number>()
  const acceptedMs = new Map<string, number>()
  const seenMs = new Map<string, number>()
  const stream = connection.jetstream()
  await consume(stream, commandsSubject(MARKET), ({ data, info }) => {
    for (const { command } of decodeCommands(data)) {
      if (command.kind === 'PlaceOrder') loggedMs.set(command.order.orderId, stampOf(info))
    }
  })
  await consume(stream, feedSubject(MARKET), ({ data, info }) => {
    for (const { kind, orderId } of decodeBlock(data).changes) {
      if (kind === 'OrderPlaced') acceptedMs.set(orderId, stampOf(info))
    }
  })
  const url = venue.devnet.gateway_url.replace('http', 'ws')
  const socket = new WebSocket(new URL('/v1/ws', url))
  await once(socket, 'open')
  const subscribed = once(socket, 'message')
  socket.on('message', (bytes: Buffer) => {
    const { type, data } = JSON.parse(bytes.toString()) as Frame
    if (type === 'update' && data?.order_id !== undefined) seenMs.set(data.order_id, nowMs())
  })
  socket.send(JSON.stringify({ op: 'subscribe', channel: 'book', market: MARKET, req_id: '1' }))
  await subscribed
  return { loggedMs, acceptedMs, seenMs, close: () => socket.terminate() }
}

/** When the server stored a message. */
const stampOf = ({ timestampNanos }: DeliveryInfo): number => timestampNanos / 1_000_000

interface Frame {
  readonly type: string
  readonly data?: { readonly order_id?: string }
}

async function consume(
  stream: JetStreamClient,
  subject: string,
  onMessage: (message: JsMsg) => void,
): Promise<void> {
  const options = consumerOpts()
  options.orderedConsumer()
  options.deliverNew()
  options.callback((error, message) => {
    if (error !== null) throw error
    if (message !== null) onMessage(message)
  })
  await stream.subscribe(subject, options)
}

async function venueLatencies(
  { devnet }: OwnVenue,
  { sign }: Signers,
  { loggedMs, acceptedMs, seenMs }: Watched,
  count: number,
): Promise<Latencies> {
  const bodies = []
  for (let number = 0; number < count; number += 1) {
    bodies.push(await sign(restingTerms(number), number))
  }
  const requests = bodies.map((body) => postOf('/v1/orders', body))
  const load = createHttpLoad(Number(new URL(devnet.gateway_url).port), CONNECTIONS)
  await atPace(load, requests, PER_SECOND)
  const ids = bodies.map(({ order_id }) => order_id)
  await until(() => {
    return ids.every((id) => loggedMs.has(id) && acceptedMs.has(id) && seenMs.has(id))
  })
  const since = (start: ReadonlyMap<string, number>): number[] =>
    ids.map((id) => (seenMs.get(id) ?? NaN) - (start.get(id) ?? NaN))
  return { fromStored: since(acceptedMs), fromLogged: since(loggedMs) }
}

/** Publishes at the pace and gives how long each message took from being stored until it was consumed. */
async function openBare(
  connection: NatsConnection,
): Promise<(count: number) => Promise<Latencies>> {
  const manager = await connection.jetstreamManager()
  await manager.streams.add({ name: 'BARE', subjects: ['bare'] })
  const stream = connection.jetstream()
  let sent = 0
  const latencies: number[] = []
  await consume(stream, 'bare', ({ info }) => latencies.push(nowMs() - stampOf(info)))
  const payload = new Uint8Array(BARE_BYTES)
  return async (count) => {
    const before = sent
    const start = performance.now()
    while (sent < before + count) {
      const due = ((performance.now() - start) * PER_SECOND) / 1000
      while (sent < before + Math.min(due, count)) {
        sent += 1
        void stream.publish('bare', payload)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await until(() => latencies.length === sent)
    return { fromStored: latencies.slice(before), fromLogged: [] }
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('not everything arrived')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
