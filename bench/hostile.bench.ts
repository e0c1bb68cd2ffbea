import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Bench, BenchContext, Report } from './bench.js'
import type { HostileCounts, HostileTask } from './hostile-client.js'
import { atPace, type Loaded } from './http-load.js'
import { interleaved, median, percentile, ratio } from './rounds.js'
import { fillStandingBook, kill, messageOf } from './standing-book.js'

export const hostile: Bench = {
  name: 'hostile',
  title:
    'Latency of an order while one client reads whole books in a loop on many connections, leaves answers unread, stops uploads half-way and keeps idle connections, compared with the same venue left alone.',
  versionsOf: ['koa'],
  run,
}

const SIZES = {
  tiny: { book: 20, warm: 20, orders: 20, readers: 5, slow: 2, halfOpen: 2, idle: 10 },
  usual: {
    book: 1_000,
    warm: 3_000,
    orders: 500,
    readers: 200,
    slow: 8,
    halfOpen: 100,
    idle: 3_000,
  },
  full: {
    book: 10_000,
    warm: 6_000,
    orders: 4_000,
    readers: 200,
    slow: 8,
    halfOpen: 200,
    idle: 9_000,
  },
}
const PER_SECOND = 50

async function run({ size, rounds, dir, say, startVenue }: BenchContext): Promise<Report> {
  const { book, warm, orders, ...attack } = SIZES[size]
  const venue = await startVenue({ dir: join(dir, 'venue') })
  const counts: HostileCounts[] = []
  try {
    const { port, load, flow } = await fillStandingBook(venue, { book, warm })
    say('warm')
    const measure = async (): Promise<Loaded> => atPace(load, await flow.next(orders), PER_SECOND)
    const values = await interleaved(rounds, {
      alone: measure,
      hostile: async () => {
        const attacker = await startAttack({ port, ...attack })
        try {
          const measured = await measure()
          counts.push(await countsOf(attacker))
          return measured
        } finally {
          await kill(attacker)
        }
      },
    })
    return reportOf(values.alone, values.hostile, { counts, attack })
  } finally {
    await venue.stop()
  }
}

async function startAttack(task: HostileTask): Promise<ChildProcess> {
  const attacker = fork(fileURLToPath(new URL('./hostile-client.js', import.meta.url)))
  attacker.send(task)
  await messageOf(attacker)
  return attacker
}

async function countsOf(attacker: ChildProcess): Promise<HostileCounts> {
  attacker.send('counts')
  return messageOf(attacker)
}

interface Attack {
  readonly counts: readonly HostileCounts[]
  readonly attack: Omit<HostileTask, 'port'>
}

function reportOf(
  alone: readonly Loaded[],
  attacked: readonly Loaded[],
  { counts, attack }: Attack,
): Report {
  const share = (all: readonly Loaded[], part: number): number[] =>
    all.map(({ latenciesMs }) => percentile(latenciesMs, part))
  const p50 = [share(attacked, 0.5), share(alone, 0.5)] as const
  const p99 = [share(attacked, 0.99), share(alone, 0.99)] as const
  const { readers, slow, halfOpen, idle } = attack
  return {
    rows: [
      { what: 'alone: p50', unit: 'ms', values: p50[1] },
      { what: 'alone: p99', unit: 'ms', values: p99[1] },
      { what: 'attacked: p50', unit: 'ms', values: p50[0] },
      { what: 'attacked: p99', unit: 'ms', values: p99[0] },
      ratio('p50, attacked / alone', p50),
      ratio('p99, attacked / alone', p99, { atMost: 2 }),
    ],
    notes: [
      `${PER_SECOND} orders and cancels a second, each answered 200, timed from its scheduled time. The attacker is one process of low priority on the same machine: ${readers} connections that read whole books, ${slow} that do not read theirs, ${halfOpen} uploads that stop, ${idle} idle connections; what is closed is opened again. It got ${median(counts.map(({ books }) => books))} books a round and was refused ${median(counts.map(({ refused }) => refused))}. It shares the processors with the venue, which an attacker elsewhere does not.`,
    ],
  }
}
