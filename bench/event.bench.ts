import { join } from 'node:path'
import { connect, consumerOpts, type JetStreamClient, type JsMsg, type NatsConnection } from 'nats'
import { WebSocket } from 'ws'
import { decodeCommands } from '../bus-schemas/command-message.js'
import { commandsSubject } from '../bus-schemas/subjects.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { atPace, createHttpLoad, postOf } from './http-load.js'
import { restingTerms, signersOf, type Signers } from './order-flow.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { interleaved, percentile, ratio } from './rounds.js'

export const event: Bench = {
  name: 'event',
  title:
    'From the moment an order is stored in the log of its market to the frame at a subscriber of the book, beside a bare publish until it is consumed, on the same message server at the same steady pace.',
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

/** What a venue shows of its orders: when each was stored, and when its frame came, Unix milliseconds with fractions. */
interface Watched {
  readonly storedMs: Map<string, number>
  readonly seenMs: Map<string, number>
  close(): void
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
    const p50 = { venue: share(values.venue, 0.5), bare: share(values.bare, 0.5) }
    return {
      rows: [
        { what: 'venue: p50', unit: 'ms', values: p50.venue },
        { what: 'venue: p99', unit: 'ms', values: share(values.venue, 0.99) },
        { what: 'bare: p50', unit: 'ms', values: p50.bare },
        { what: 'bare: p99', unit: 'ms', values: share(values.bare, 0.99) },
        ratio('p50, venue / bare', [p50.venue, p50.bare], { atMost: 2 }),
      ],
      notes: [
        `${PER_SECOND} orders a second, and as many bare messages of ${BARE_BYTES} bytes, whether or not earlier ones are through. The message server stamps a message before it syncs it, so that the way of an order holds two syncs, of its command and of its block, and that of the bare message one.`,
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
  const storedMs = new Map<string, number>()
  const seenMs = new Map<string, number>()
  await consume(connection.jetstream(), commandsSubject(MARKET), ({ data, info }) => {
    for (const { command } of decodeCommands(data)) {
      if (command.kind !== 'PlaceOrder') continue
      storedMs.set(command.order.orderId, info.timestampNanos / 1_000_000)
    }
  })
  const url = venue.devnet.gateway_url.replace('http', 'ws')
  const socket = new WebSocket(new URL('/v1/ws', url))
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  const subscribed = new Promise((resolve) => socket.once('message', resolve))
  socket.on('message', (bytes: Buffer) => {
    const { type, data } = JSON.parse(bytes.toString()) as Frame
    if (type === 'update' && data?.order_id !== undefined) seenMs.set(data.order_id, nowMs())
  })
  socket.send(JSON.stringify({ op: 'subscribe', channel: 'book', market: MARKET, req_id: '1' }))
  await subscribed
  return { storedMs, seenMs, close: () => socket.terminate() }
}

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
  { storedMs, seenMs }: Watched,
  count: number,
): Promise<number[]> {
  const bodies = []
  for (let number = 0; number < count; number += 1) {
    bodies.push(await sign(restingTerms(number), number))
  }
  const requests = bodies.map((body) => postOf('/v1/orders', body))
  const load = createHttpLoad(Number(new URL(devnet.gateway_url).port), CONNECTIONS)
  await atPace(load, requests, PER_SECOND)
  const ids = bodies.map(({ order_id }) => order_id)
  await until(() => ids.every((id) => storedMs.has(id) && seenMs.has(id)))
  return ids.map((id) => (seenMs.get(id) ?? NaN) - (storedMs.get(id) ?? NaN))
}

/** Publishes at the pace and gives how long each message took until it was consumed. */
async function openBare(connection: NatsConnection): Promise<(count: number) => Promise<number[]>> {
  const manager = await connection.jetstreamManager()
  await manager.streams.add({ name: 'BARE', subjects: ['bare'] })
  const stream = connection.jetstream()
  const sentMs: number[] = []
  const latencies: number[] = []
  await consume(stream, 'bare', ({ seq }) => {
    latencies.push(nowMs() - (sentMs[seq - 1] ?? NaN))
  })
  const payload = new Uint8Array(BARE_BYTES)
  return async (count) => {
    const before = sentMs.length
    const start = performance.now()
    while (sentMs.length < before + count) {
      const due = ((performance.now() - start) * PER_SECOND) / 1000
      while (sentMs.length < before + Math.min(due, count)) {
        sentMs.push(nowMs())
        void stream.publish('bare', payload)
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await until(() => latencies.length === sentMs.length)
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
