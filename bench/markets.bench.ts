import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, BenchContext, Report } from './bench.js'
import { openTraders } from './bench-traders.js'
import { createHttpLoad, saturate, type HttpLoad, type RequestBytes } from './http-load.js'
import { orderFlow, PERP, signersOf, type OrderFlow, type Terms } from './order-flow.js'
import { listSeries } from './own-series.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { cpuMsOf } from './process-usage.js'
import { interleaved, percentile, ratio } from './rounds.js'

export const markets: Bench = {
  name: 'markets',
  title:
    'Signed orders and cancels in three markets at once, spot, perpetual and a dated future, compared with as many in the spot market alone, on the same venue.',
  versionsOf: ['koa', 'nats-server'],
  run,
}

const SIZES = {
  tiny: { warm: 30, requests: 60 },
  usual: { warm: 12_000, requests: 30_000 },
  full: { warm: 15_000, requests: 90_000 },
}
/** Orders that rest in each market between the rounds. */
const KEPT = 1_000
const CONNECTIONS = 256
const TRADERS = 6
/** Processor time is read when the work that follows the answers is done. */
const SETTLED_MS = 300

/** Prices in cNGN for a USDC, inside of the band of a series; none of them cross. */
const futureTerms: Terms = (number) => {
  const amount = String(1 + (number % 5))
  return number % 2 === 0
    ? { side: 'buy', price: String(1_500 + (number % 20)), amount }
    : { side: 'sell', price: String(1_540 + (number % 20)), amount }
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const { warm, requests } = SIZES[size]
  const venue = await startOwnVenue({
    dir: join(dir, 'venue'),
    env: { DEVNET_SAVE_CHAIN: '0', DEVNET_FEEDER: '1' },
    markets: ['cNGN-USDC', PERP.name],
  })
  try {
    const flows = await flowsOf(venue, join(dir, 'venue'))
    const load = createHttpLoad(Number(new URL(venue.devnet.gateway_url).port), CONNECTIONS)
    const [spot] = flows
    await saturate(load, await inTurn(flows, warm), CONNECTIONS)
    say('warm')
    const values = await interleaved(rounds, {
      one: () => measure({ venue, load, flows: [spot] }, requests),
      three: () => measure({ venue, load, flows }, requests),
    })
    return reportOf(values, requests)
  } finally {
    await venue.stop()
  }
}

type Flows = readonly [OrderFlow, ...OrderFlow[]]

async function flowsOf(venue: OwnVenue, dir: string): Promise<Flows> {
  const { devnet } = venue
  const name = await listSeries(venue, dir)
  const traders = await openTraders(venue, dir, {
    manager: devnet.futures_manager,
    count: TRADERS,
  })
  const future = await signersOf(devnet, { name, accounts: 'spot' }, traders)
  return [
    orderFlow(await signersOf(devnet)),
    orderFlow(await signersOf(devnet, PERP)),
    orderFlow(future, futureTerms),
  ]
}

/** So many requests in all, each market's in turn. */
async function inTurn(flows: readonly OrderFlow[], count: number): Promise<RequestBytes[]> {
  const each = Math.ceil(count / flows.length)
  const lists = await Promise.all(flows.map((flow) => flow.next(each)))
  return Array.from({ length: each }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat()
}

interface Measured {
  readonly perSecond: number
  readonly cpuUs: number
  readonly latenciesMs: readonly number[]
}

interface Stand {
  readonly venue: OwnVenue
  readonly load: HttpLoad
  readonly flows: readonly OrderFlow[]
}

async function measure({ venue, load, flows }: Stand, count: number): Promise<Measured> {
  const requests = await inTurn(flows, count)
  const pids = Object.entries(await venue.pids()).filter(([name]) => name !== 'chain')
  const cpuMs = (): number => pids.reduce((sum, [, pid]) => sum + cpuMsOf(pid), 0)
  const before = cpuMs()
  const { wallMs, latenciesMs } = await saturate(load, requests, CONNECTIONS)
  await delay(SETTLED_MS)
  const cpuUs = ((cpuMs() - before) * 1000) / requests.length
  const old = flows.flatMap((flow) => flow.cancelAllBut(KEPT))
  await saturate(load, old, CONNECTIONS)
  return { perSecond: (requests.length * 1000) / wallMs, cpuUs, latenciesMs }
}

function reportOf(
  { one, three }: Record<'one' | 'three', readonly Measured[]>,
  requests: number,
): Report {
  const speed = (all: readonly Measured[]) => all.map(({ perSecond }) => perSecond)
  const cpu = (all: readonly Measured[]) => all.map(({ cpuUs }) => cpuUs)
  const p99 = (all: readonly Measured[]) =>
    all.map(({ latenciesMs }) => percentile(latenciesMs, 0.99))
  return {
    rows: [
      { what: 'one market: requests', unit: '1/s', values: speed(one) },
      { what: 'three markets: requests', unit: '1/s', values: speed(three) },
      ratio('requests, three / one', [speed(three), speed(one)]),
      { what: 'one market: processor time of a request', unit: 'µs', values: cpu(one) },
      { what: 'three markets: processor time of a request', unit: 'µs', values: cpu(three) },
      ratio('processor time of a request, three / one', [cpu(three), cpu(one)]),
      { what: 'one market: p99 at saturation', unit: 'ms', values: p99(one) },
      { what: 'three markets: p99 at saturation', unit: 'ms', values: p99(three) },
    ],
    notes: [
      `${requests} requests a round, two orders and the cancel of an earlier one in turn, none of which match, over ${CONNECTIONS} connections; every answer must be 200. Processor time is that of all processes of the venue and of the message server, without the chain.`,
    ],
  }
}
