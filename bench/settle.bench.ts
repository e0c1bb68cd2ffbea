import { join } from 'node:path'
import type { Bus } from '../runtime/bus/bus.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import { createHttpLoad, postOf, saturate } from './http-load.js'
import { PERP, signersOf, SPOT, type Signers, type TradedMarket } from './order-flow.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { cpuMsOf } from './process-usage.js'
import { interleaved, ratio } from './rounds.js'
import { blocksUnderLoad, followSettlements, type Settlements } from './settled-blocks.js'

export const settle: Bench = {
  name: 'settle',
  title:
    'Matches that executor and local chain settle in a block of 2 s, compared with one match at a time, each sent when the one before has its receipt, and with those of one maker on the perpetual.',
  versionsOf: ['anvil', 'viem'],
  run,
}

/** Matches per round: enough for several blocks. */
const MATCHES = {
  tiny: { together: 20, single: 1, oneMaker: 20 },
  usual: { together: 4_000, single: 3, oneMaker: 2_000 },
  full: { together: 12_000, single: 5, oneMaker: 6_000 },
}
/** Makers that one taker's order fills. */
const SWEPT = 20
const PRICE = '0.00065'
const MAKER_AMOUNT = 10
const TAKER = 5
const CONNECTIONS = 64
/** Accepted statuses: the fills show the outcome of an order whose answer timed out. */
const ACCEPTED = [200, 500]
const GIVE_UP_AFTER_MS = 180_000
/** Processes whose processor time is reported, by Procfile name. */
const TIMED = { executor: 'executor', matcher: 'matcher-cngn-usdc', chain: 'chain' }

interface Together {
  /** Of the blocks under load. */
  readonly blocks: number
  readonly perBlock: number
  readonly gasShare: number
  readonly perSecond: number
  /** Processor time of a match, by process. */
  readonly cpuUs: Readonly<Record<keyof typeof TIMED, number>>
}

interface Stand {
  readonly venue: OwnVenue
  readonly signers: Signers
  readonly settlements: Settlements
  /** Matches that fill a block. */
  readonly blockHolds: number
}

/** Matches that fill a block of 240M gas. */
const SPOT_BLOCK = 857
const PERP_BLOCK = 480

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const counts = MATCHES[size]
  const measured: Together[] = []
  const measure = async (load: Promise<Together>): Promise<number> => {
    const result = await load
    say(`${Math.round(result.perBlock)} a block in ${result.blocks} blocks`)
    measured.push(result)
    return result.perBlock
  }
  const alone = await onVenue(join(dir, 'spot'), SPOT, async (stand) => {
    const { single: values } = await interleaved(rounds, {
      together: () => measure(together(stand, swept(counts.together))),
      single: () => single(stand, counts.single),
    })
    return values
  })
  // The first round is the warm-up.
  const spot = measured.splice(0).slice(1)
  await onVenue(join(dir, 'perpetual'), PERP, (stand) =>
    interleaved(rounds, { oneMaker: () => measure(together(stand, oneMaker(counts.oneMaker))) }),
  )
  return { rows: [...rowsOf(spot, alone), ...perpRowsOf(measured.slice(1), spot)], notes: NOTES }
}

/** Measures on a venue with the market, which it starts and stops. */
async function onVenue<T>(
  dir: string,
  market: TradedMarket,
  use: (stand: Stand) => Promise<T>,
): Promise<T> {
  const isPerp = market === PERP
  const env = { DEVNET_SAVE_CHAIN: '0', DEVNET_FEEDER: isPerp ? '1' : '0' }
  const markets = [...new Set([SPOT.name, market.name])]
  const venue = await startOwnVenue({ dir, env, markets })
  let bus: Bus | undefined
  try {
    bus = await connectNatsBus({ url: venue.natsUrl, name: 'settle-bench' })
    const signers = await signersOf(venue.devnet, market)
    const settlements = await followSettlements(bus, market.name)
    const blockHolds = isPerp ? PERP_BLOCK : SPOT_BLOCK
    return await use({ venue, signers, settlements, blockHolds })
  } finally {
    await bus?.close()
    await venue.stop()
  }
}

const NOTES = [
  'Makers rest, then orders that each fill twenty of them arrive at once. Only blocks under load count: at least a full block of matches was pending as their interval began. Blocks have 240M gas, transactions at most 16.7M. The chain is anvil on the same processors, which simulates every match before it is sent and executes it again in the block; it does not save its state meanwhile.',
]

function rowsOf(rounds: readonly Together[], alone: readonly number[]): Row[] {
  const perBlock = rounds.map((each) => each.perBlock)
  const gasShare = rounds.map((each) => 100 * each.gasShare)
  const cpu = Object.keys(TIMED) as (keyof typeof TIMED)[]
  return [
    { what: 'settled in a block', unit: 'matches', values: perBlock },
    { what: 'blocks under load', unit: 'blocks', values: rounds.map(({ blocks }) => blocks) },
    { what: 'matches', unit: '1/s', values: rounds.map((each) => each.perSecond) },
    { what: 'gas of the block they use', unit: '%', values: gasShare, goal: { atLeast: 80 } },
    { what: 'settled in a block, receipt by receipt', unit: 'matches', values: alone },
    ratio('venue / receipt by receipt', [perBlock, alone], { atLeast: 100 }),
    ...cpu.map((name) => {
      const values = rounds.map(({ cpuUs }) => cpuUs[name])
      return { what: `processor time of a match, ${name}`, unit: 'µs', values }
    }),
  ]
}

/** A match of the perpetual takes more gas, so blocks are compared by the gas that they use. */
function perpRowsOf(rounds: readonly Together[], spot: readonly Together[]): Row[] {
  const gasShare = (all: readonly Together[]) => all.map((each) => 100 * each.gasShare)
  return [
    {
      what: 'perpetual, one maker: settled in a block',
      unit: 'matches',
      values: rounds.map((each) => each.perBlock),
    },
    {
      what: 'perpetual, one maker: gas of the block they use',
      unit: '%',
      values: gasShare(rounds),
    },
    ratio('perpetual / spot, by gas', [gasShare(rounds), gasShare(spot)], { atLeast: 0.75 }),
  ]
}

/** Orders that rest, and those that take them. */
interface Shape {
  readonly makers: Orders
  readonly takers: Orders
}

interface Orders {
  readonly count: number
  readonly side: 'buy' | 'sell'
  readonly amount: number
  /** Number of the account that places the order. */
  readonly by: (order: number) => number
}

/** Each taker's order fills twenty makers of five accounts. */
const swept = (matches: number): Shape => ({
  makers: { count: matches, side: 'sell', amount: MAKER_AMOUNT, by: (order) => order % TAKER },
  takers: {
    ...{ count: matches / SWEPT, side: 'buy', amount: MAKER_AMOUNT * SWEPT },
    by: () => TAKER,
  },
})

/** One maker's order fills all takers. */
const oneMaker = (matches: number): Shape => ({
  makers: { count: 1, side: 'sell', amount: MAKER_AMOUNT * matches, by: () => TAKER },
  takers: { count: matches, side: 'buy', amount: MAKER_AMOUNT, by: (order) => order % TAKER },
})

/** All matches of a round at once. */
async function together(stand: Stand, shape: Shape): Promise<Together> {
  const { venue, signers, settlements } = stand
  const matches = Math.max(shape.makers.count, shape.takers.count)
  settlements.forget()
  const load = createHttpLoad(portOf(venue), CONNECTIONS, ACCEPTED)
  const orders = async ({ count, side, amount, by }: Orders) => {
    const bodies = []
    for (let number = 0; number < count; number += 1) {
      const terms = { side, price: PRICE, amount: String(amount) }
      bodies.push(postOf('/v1/orders', await signers.sign(terms, by(number))))
    }
    return bodies
  }
  const makers = await orders(shape.makers)
  const takers = await orders(shape.takers)
  await saturate(load, makers, CONNECTIONS)
  const [start, before] = [performance.now(), await cpuMs(venue)]
  await saturate(load, takers, CONNECTIONS)
  await untilSettled(settlements, matches)
  const tookMs = performance.now() - start
  const after = await cpuMs(venue)
  const blocks = await blocksUnderLoad(venue.devnet.rpc_url, settlements, stand.blockHolds)
  const usOf = (name: keyof typeof TIMED) => ((after[name] - before[name]) * 1000) / matches
  return {
    blocks: blocks.length,
    perBlock: mean(blocks.map((block) => block.settled)),
    gasShare: mean(blocks.map((block) => block.gasShare)),
    perSecond: (matches * 1000) / tookMs,
    cpuUs: { executor: usOf('executor'), matcher: usOf('matcher'), chain: usOf('chain') },
  }
}

const portOf = ({ devnet }: OwnVenue): number => Number(new URL(devnet.gateway_url).port)

async function cpuMs(venue: OwnVenue): Promise<Record<keyof typeof TIMED, number>> {
  const pids = await venue.pids()
  const of = (name: keyof typeof TIMED) => cpuMsOf(pids[TIMED[name]] ?? 0)
  return { executor: of('executor'), matcher: of('matcher'), chain: of('chain') }
}

/** Sequential matches, each sent when the one before is filled; returns matches by block. */
async function single({ venue, signers, settlements }: Stand, matches: number): Promise<number> {
  settlements.forget()
  const load = createHttpLoad(portOf(venue), 1)
  for (let number = 1; number <= matches; number += 1) {
    const terms = { price: PRICE, amount: String(MAKER_AMOUNT) }
    const maker = await signers.sign({ side: 'sell', ...terms }, 0)
    const taker = await signers.sign({ side: 'buy', ...terms }, TAKER)
    await saturate(load, [postOf('/v1/orders', maker), postOf('/v1/orders', taker)], 1)
    await untilSettled(settlements, number)
  }
  const numbers = [...settlements.settled.keys()].map(Number)
  return matches / (Math.max(...numbers) - Math.min(...numbers) + 1)
}

async function untilSettled({ settled }: Settlements, matches: number): Promise<void> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS
  const count = (): number => [...settled.values()].reduce((sum, each) => sum + each, 0)
  while (count() < matches) {
    if (performance.now() > deadline) throw new Error(`${count()} of ${matches} were settled`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
