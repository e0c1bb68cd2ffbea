import {
  connect,
  consumerOpts,
  type DeliveryInfo,
  type JetStreamClient,
  type JsMsg,
  type NatsConnection,
} from 'nats'
import { once } from 'node:events'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { decodeBlock } from '../bus-schemas/blocks.js'
import { commandsSubject, feedSubject } from '../bus-schemas/subjects.js'
import { consume } from './bare-hops.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { atPace, createHttpLoad, postOf, saturate, type HttpLoad } from './http-load.js'
import { orderFlow, restingTerms, signersOf, type Signers } from './order-flow.js'
import { OPEN_BUS, type OwnVenue } from './own-venue.js'
import { interleaved, percentile, ratio } from './rounds.js'
import { decodeCommands } from './bench-market.js'

export const event: Bench = {
  name: 'event',
  title:
    'Time from the storing of the block that accepts an order to the frame at a subscriber of the book, compared with a bare message from being stored until it is consumed, on the same message server at the same constant rate.',
  versionsOf: ['nats', 'nats-server', 'ws'],
  run,
}

const MARKET = 'cNGN-USDC'
const ORDERS = { tiny: 20, usual: 400, full: 2_000 }
/** Warm-up orders at full speed: they let V8 compile the venue's code. */
const WARM = { tiny: 20, usual: 6_000, full: 12_000 }
const PER_SECOND = 200
const CONNECTIONS = 256
const GIVE_UP_AFTER_MS = 20_000
/** Close to the size of a block with one order. */
const BARE_BYTES = 1_500

/** A received frame of the book and its arrival, Unix milliseconds with fractions. */
interface Seen {
  readonly bytes: Buffer
  readonly atMs: number
}

/** A subscriber that stores its frames; they are parsed after the measurement. */
interface Subscriber {
  readonly frames: Seen[]
  close(): void
}

/** Duration of each order until its frame, ms. */
interface Latencies {
  /** From the storing of its block. */
  readonly fromStored: readonly number[]
  /** From the storing of its command. */
  readonly fromLogged: readonly number[]
}

async function run({ size, rounds, dir, startVenue }: BenchContext): Promise<Report> {
  const venue = await startVenue({ dir: join(dir, 'venue'), env: OPEN_BUS })
  let connection: NatsConnection | undefined
  try {
    connection = await connect({ servers: venue.bus.url })
    const { devnet, fanOutPort } = venue
    const subscribers = {
      direct: await subscribe(`ws://127.0.0.1:${fanOutPort}`),
      relayed: await subscribe(devnet.gateway_url.replace('http', 'ws')),
    }
    const bare = await openBare(connection)
    const signers = await signersOf(venue.devnet)
    const warm = await orderFlow(signers).next(WARM[size])
    await saturate(loadOf(venue), warm, CONNECTIONS)
    const stamps = createStamps(connection)
    const values = await interleaved(rounds, {
      venue: () => venueLatencies({ venue, signers, subscribers, stamps }, ORDERS[size]),
      bare: () => bare(ORDERS[size]),
    })
    for (const subscriber of Object.values(subscribers)) subscriber.close()
    const share = (all: readonly (readonly number[])[], part: number): number[] =>
      all.map((latencies) => percentile(latencies, part))
    const fromAccepted = values.venue.map(({ direct }) => direct.fromStored)
    const relayed = values.venue.map((each) => each.relayed.fromStored)
    const fromLogged = values.venue.map(({ direct }) => direct.fromLogged)
    const p50 = { venue: share(fromAccepted, 0.5), bare: share(values.bare, 0.5) }
    return {
      rows: [
        { what: 'order accepted to frame: p50', unit: 'ms', values: p50.venue },
        { what: 'order accepted to frame: p99', unit: 'ms', values: share(fromAccepted, 0.99) },
        { what: 'bare: p50', unit: 'ms', values: p50.bare },
        { what: 'bare: p99', unit: 'ms', values: share(values.bare, 0.99) },
        ratio('p50, venue / bare', [p50.venue, p50.bare], { atMost: 2 }),
        { what: 'through the gateway: p50', unit: 'ms', values: share(relayed, 0.5) },
        { what: 'through the gateway: p99', unit: 'ms', values: share(relayed, 0.99) },
        ratio('p50, through the gateway / bare', [share(relayed, 0.5), p50.bare]),
        { what: 'order in the log to frame: p50', unit: 'ms', values: share(fromLogged, 0.5) },
        { what: 'order in the log to frame: p99', unit: 'ms', values: share(fromLogged, 0.99) },
        ratio('p50 from the log, venue / bare', [share(fromLogged, 0.5), p50.bare]),
      ],
      notes: [
        `${PER_SECOND} orders a second, and as many bare messages of ${BARE_BYTES} bytes, without waiting for earlier ones. All times begin with the message server's timestamp, which it sets before it syncs the message. From the log on, an order's way includes two syncs, of its command and of its block; from its acceptance on it includes one, as the bare message's way does. The subscriber is on the fan-out's port; another one behind the gateway gets the same frames.`,
      ],
    }
  } finally {
    await connection?.close()
    await venue.stop()
  }
}

/** Where the orders of the log stand. */
const INTAKE_SUBJECT = commandsSubject(MARKET, 'order-intake')

/** On the clock of the message server's timestamps. */
const nowMs = (): number => performance.timeOrigin + performance.now()

async function subscribe(url: string): Promise<Subscriber> {
  const frames: Seen[] = []
  const socket = new WebSocket(new URL('/v1/ws', url))
  await once(socket, 'open')
  const subscribed = once(socket, 'message')
  socket.on('message', (bytes: Buffer) => frames.push({ bytes, atMs: nowMs() }))
  socket.send(JSON.stringify({ op: 'subscribe', channel: 'book', market: MARKET, req_id: '1' }))
  await subscribed
  return { frames, close: () => socket.terminate() }
}

/**
 * Times at which the server stored each order's command and the block that places it, read from the streams afterwards.
 */
interface Stamps {
  readonly loggedMs: ReadonlyMap<string, number>
  readonly acceptedMs: ReadonlyMap<string, number>
  /** Reads both to their end. */
  readOn(): Promise<void>
}

function createStamps(connection: NatsConnection): Stamps {
  const stream = connection.jetstream()
  const loggedMs = new Map<string, number>()
  const acceptedMs = new Map<string, number>()
  const next = { commands: 1, feed: 1 }
  return {
    loggedMs,
    acceptedMs,
    async readOn() {
      next.commands = await readToEnd(stream, INTAKE_SUBJECT, next.commands, (message) => {
        for (const { command } of decodeCommands(message.data)) {
          if (command.kind !== 'PlaceOrder') continue
          loggedMs.set(command.order.orderId, stampOf(message.info))
        }
      })
      next.feed = await readToEnd(stream, feedSubject(MARKET), next.feed, (message) => {
        for (const { kind, orderId } of decodeBlock(message.data).changes) {
          if (kind === 'OrderPlaced') acceptedMs.set(orderId, stampOf(message.info))
        }
      })
    },
  }
}

/** Time at which the server stored a message. */
const stampOf = ({ timestampNanos }: DeliveryInfo): number => timestampNanos / 1_000_000

/** Passes on every message from a sequence on, and returns the sequence after the last. */
async function readToEnd(
  stream: JetStreamClient,
  subject: string,
  fromSeq: number,
  onMessage: (message: JsMsg) => void,
): Promise<number> {
  const options = consumerOpts()
  options.orderedConsumer()
  options.startSequence(fromSeq)
  const messages = await stream.subscribe(subject, options)
  let nextSeq = fromSeq
  for await (const message of messages) {
    onMessage(message)
    nextSeq = message.seq + 1
    if (message.info.pending === 0) break
  }
  return nextSeq
}

interface Frame {
  readonly data?: { readonly order_id?: string }
}

const loadOf = ({ devnet }: OwnVenue): HttpLoad =>
  createHttpLoad(Number(new URL(devnet.gateway_url).port), CONNECTIONS)

interface Stand {
  readonly venue: OwnVenue
  readonly signers: Signers
  /** On the fan-out's port, and through the gateway. */
  readonly subscribers: Record<'direct' | 'relayed', Subscriber>
  readonly stamps: Stamps
}

async function venueLatencies(
  { venue, signers, subscribers, stamps }: Stand,
  count: number,
): Promise<Record<'direct' | 'relayed', Latencies>> {
  const bodies = []
  for (let number = 0; number < count; number += 1) {
    bodies.push(await signers.sign(restingTerms(number), number))
  }
  const requests = bodies.map((body) => postOf('/v1/orders', body))
  const { direct, relayed } = subscribers
  for (const { frames } of [direct, relayed]) frames.length = 0
  await atPace(loadOf(venue), requests, PER_SECOND)
  await until(() => direct.frames.length >= count && relayed.frames.length >= count)
  await stamps.readOn()
  const ids = bodies.map(({ order_id }) => order_id)
  return {
    direct: latenciesOf(direct.frames, ids, stamps),
    relayed: latenciesOf(relayed.frames, ids, stamps),
  }
}

/** Of the orders with these ids; throws when one has no frame. */
function latenciesOf(
  frames: readonly Seen[],
  orderIds: readonly string[],
  stamps: Stamps,
): Latencies {
  const ids = new Set(orderIds)
  const fromStored: number[] = []
  const fromLogged: number[] = []
  for (const { bytes, atMs } of frames) {
    const id = (JSON.parse(bytes.toString()) as Frame).data?.order_id ?? ''
    if (!ids.delete(id)) continue
    fromStored.push(atMs - (stamps.acceptedMs.get(id) ?? NaN))
    fromLogged.push(atMs - (stamps.loggedMs.get(id) ?? NaN))
  }
  if (ids.size > 0) throw new Error(`${ids.size} orders had no frame`)
  return { fromStored, fromLogged }
}

/** Publishes at the given rate and returns each message's time from being stored until it was consumed. */
async function openBare(
  connection: NatsConnection,
): Promise<(count: number) => Promise<readonly number[]>> {
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
    return latencies.slice(before)
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('not everything arrived')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
