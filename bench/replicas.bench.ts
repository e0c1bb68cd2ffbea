import { commandsStream, commandsSubject } from '../bus-schemas/subjects.js'
import type { Bus } from '../runtime/bus/bus.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import { drive, groupedAppend, placements, type Figures } from './append.bench.js'
import { benchMarket } from './bench-market.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { startOwnCluster } from './own-cluster.js'
import { cpuMsOf } from './process-usage.js'
import { interleaved, median, ratio } from './rounds.js'

export const replicas: Bench = {
  name: 'replicas',
  title:
    'Orders made durable in a command log on three servers, compared with one that is stored on one of the same three servers.',
  versionsOf: ['nats', 'nats-server'],
  run,
}

const ORDERS = { tiny: 200, usual: 10_000, full: 40_000 }
/** Appends one after the other, for the latency of one. */
const SERIAL = { tiny: 10, usual: 100, full: 400 }

interface Measured extends Figures {
  /** Of this process and the three servers together. */
  readonly allCpuUs: number
  readonly serialMs: number
}

async function run({ size, rounds, dir }: BenchContext): Promise<Report> {
  const cluster = await startOwnCluster(dir)
  const { url, monitorUrls, pids } = cluster
  const buses: Bus[] = []
  const serversMs = (): number => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0)
  const commands = placements(ORDERS[size])
  const contender = async (count: number) => {
    const bus = await connectNatsBus({ url, monitorUrls, replicas: count, name: `bench-${count}` })
    buses.push(bus)
    const name = `${benchMarket().market}-${count}`
    const subject = commandsSubject(name)
    await bus.declareStream({ stream: commandsStream(name), subject, description: 'bench' })
    return async (): Promise<Measured> => {
      const before = serversMs()
      const figures = await drive(ORDERS[size], groupedAppend(bus, subject, commands))
      const allCpuUs = figures.cpuUs + ((serversMs() - before) * 1_000) / ORDERS[size]
      const waits: number[] = []
      for (let n = 0; n < SERIAL[size]; n += 1) {
        const startedAt = performance.now()
        await bus.append(subject, new Uint8Array(400))
        waits.push(performance.now() - startedAt)
      }
      return { ...figures, allCpuUs, serialMs: median(waits) }
    }
  }
  try {
    const one = await contender(1)
    const three = await contender(3)
    return report(await interleaved(rounds, { one, three }))
  } finally {
    for (const bus of buses) await bus.close()
    await cluster.stop()
  }
}

function report({ one, three }: Record<'one' | 'three', readonly Measured[]>): Report {
  const of = (measured: readonly Measured[], figure: keyof Measured) =>
    measured.map((each) => each[figure])
  const both = (what: string, unit: string, figure: keyof Measured) => [
    { what: `one server: ${what}`, unit, values: of(one, figure) },
    { what: `three servers: ${what}`, unit, values: of(three, figure) },
    ratio(`${what}, three / one`, [of(three, figure), of(one, figure)]),
  ]
  return {
    rows: [
      ...both('grouped append', 'orders/s', 'perSecond'),
      ...both('processor time of an order, servers included', 'µs', 'allCpuUs'),
      ...both('one append alone, median', 'ms', 'serialMs'),
    ],
    notes: [
      'All three servers share the processors and the disk of one machine here; on three machines each has its own, and the network is added.',
    ],
  }
}
