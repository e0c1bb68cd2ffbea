import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench, BenchContext, Report } from './bench.js'
import { atPace, createHttpLoad, postOf, saturate, type Loaded } from './http-load.js'
import { orderFlow, restingTerms, signersOf } from './order-flow.js'
import type { PollingCounts, PollingTask } from './polling-client.js'
import { interleaved, median, percentile, ratio } from './rounds.js'

export const pollers: Bench = {
  name: 'pollers',
  title:
    'Latency of an order while twenty clients each read the whole book once a second, compared with the same venue without them.',
  versionsOf: ['koa'],
  run,
}

const SIZES = {
  tiny: { book: 20, warm: 20, orders: 20, pollers: 1 },
  usual: { book: 10_000, warm: 3_000, orders: 1_500, pollers: 20 },
  full: { book: 10_000, warm: 6_000, orders: 10_000, pollers: 20 },
}
const PER_SECOND = 100
const CONNECTIONS = 64
/** Each poller has an address of its own. */
const ENV = { TRUSTED_PROXIES: '1' }

async function run({ size, rounds, dir, say, startVenue }: BenchContext): Promise<Report> {
  const { book, warm, orders, ...polling } = SIZES[size]
  const venue = await startVenue({ dir: join(dir, 'venue'), env: ENV })
  const counts: PollingCounts[] = []
  try {
    const signers = await signersOf(venue.devnet)
    const port = Number(new URL(venue.devnet.gateway_url).port)
    const load = createHttpLoad(port, CONNECTIONS)
    const flow = orderFlow(signers)
    const resting = Array.from({ length: book }, async (_, number) =>
      postOf('/v1/orders', await signers.sign(restingTerms(number), number)),
    )
    await saturate(load, await Promise.all(resting), CONNECTIONS)
    await saturate(load, await flow.next(warm), CONNECTIONS)
    say('warm')
    const measure = async (): Promise<Loaded> => atPace(load, await flow.next(orders), PER_SECOND)
    const values = await interleaved(rounds, {
      alone: measure,
      polled: () => beside({ port, ...polling }, measure, (each) => counts.push(each)),
    })
    // The first round is the warm-up.
    return reportOf(values.alone, values.polled, counts.slice(1))
  } finally {
    await venue.stop()
  }
}

/** Measures while the pollers read; rejects when one of them was refused, since polling once a second never is. */
async function beside(
  task: PollingTask,
  measure: () => Promise<Loaded>,
  onCounts: (counts: PollingCounts) => void,
): Promise<Loaded> {
  const clients = fork(fileURLToPath(new URL('./polling-client.js', import.meta.url)))
  const exited = once(clients, 'exit')
  const message = async (): Promise<unknown> => {
    const ended = exited.then(() => {
      throw new Error('the pollers have ended')
    })
    const [value] = (await Promise.race([once(clients, 'message'), ended])) as [unknown]
    return value
  }
  try {
    const ready = message()
    clients.send(task)
    await ready
    const measured = await measure()
    const answer = message()
    clients.send('counts')
    const counts = (await answer) as PollingCounts
    if (counts.refused > 0) throw new Error(`${counts.refused} polls were refused`)
    onCounts(counts)
    return measured
  } finally {
    clients.kill('SIGKILL')
    await exited.catch(() => undefined)
  }
}

function reportOf(
  alone: readonly Loaded[],
  polled: readonly Loaded[],
  counts: readonly PollingCounts[],
): Report {
  const share = (all: readonly Loaded[], part: number): number[] =>
    all.map(({ latenciesMs }) => percentile(latenciesMs, part))
  const p99 = [share(polled, 0.99), share(alone, 0.99)] as const
  const mib = median(counts.map(({ bytes, books }) => bytes / books / 1024 / 1024))
  return {
    rows: [
      { what: 'alone: p50', unit: 'ms', values: share(alone, 0.5) },
      { what: 'alone: p99', unit: 'ms', values: p99[1] },
      { what: 'with pollers: p50', unit: 'ms', values: share(polled, 0.5) },
      { what: 'with pollers: p99', unit: 'ms', values: p99[0] },
      ratio('p99, with pollers / alone', p99, { atMost: 1.5 }),
      { what: 'books read in a round', unit: 'books', values: counts.map(({ books }) => books) },
    ],
    notes: [
      `${PER_SECOND} orders and cancels a second, timed from when each is due. Each poller asks for the compressed book, ${mib.toFixed(1)} MiB, on a connection of its own and waits for the rest of the second; none may be refused. The pollers are one process of low priority on the same machine.`,
    ],
  }
}
