import { fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench, BenchContext, Report } from './bench.js'
import { atPace, type Loaded } from './http-load.js'
import type { PollingCounts, PollingTask } from './polling-client.js'
import { interleaved, median, percentile, ratio } from './rounds.js'
import { fillStandingBook, kill, messageOf } from './standing-book.js'

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
/** Each poller has an address of its own. */
const ENV = { TRUSTED_PROXIES: '1' }

async function run({ size, rounds, dir, say, startVenue }: BenchContext): Promise<Report> {
  const { book, warm, orders, ...polling } = SIZES[size]
  const venue = await startVenue({ dir: join(dir, 'venue'), env: ENV })
  const counts: PollingCounts[] = []
  try {
    const { port, load, flow } = await fillStandingBook(venue, { book, warm })
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
  try {
    clients.send(task)
    await messageOf(clients)
    const measured = await measure()
    clients.send('counts')
    const counts = await messageOf<PollingCounts>(clients)
    if (counts.refused > 0) throw new Error(`${counts.refused} polls were refused`)
    onCounts(counts)
    return measured
  } finally {
    await kill(clients)
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
