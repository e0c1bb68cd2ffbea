import { join } from 'node:path'
import type { Bus } from '../runtime/bus/bus.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { createHttpLoad, postOf, saturate } from './http-load.js'
import { openTraders } from './bench-traders.js'
import { PERP, signersOf, SPOT, type Signers } from './order-flow.js'
import { listSeries } from './own-series.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { cpuMsOf } from './process-usage.js'
import { interleaved, median } from './rounds.js'
import {
  futureRowsOf,
  NOTES,
  pairRowsOf,
  perpRowsOf,
  rowsOf,
  TAKERS,
  TIMED,
  type Alone,
  type Together,
} from './settle-rows.js'
import {
  blocksUnderLoad,
  followSettlements,
  gasOfMatch,
  type Settlements,
} from './settled-blocks.js'

export const settle: Bench = {
  name: 'settle',
  title:
    'Matches that executor and local chain settle in a block of 2 s, compared with one match at a time, each sent when the one before has its receipt, and with those of one maker on the perpetual, of one maker and a hundred takers on a dated future, and of five hundred makers and takers each.',
  versionsOf: ['anvil', 'viem'],
  run,
}

/** Matches per round: enough for several blocks. */
const MATCHES = {
  tiny: { together: 20, single: 1, oneMaker: 20, pairs: 4 },
  usual: { together: 4_000, single: 3, oneMaker: 2_000, pairs: 500 },
  full: { together: 12_000, single: 5, oneMaker: 6_000, pairs: 500 },
}
/** Makers that one taker's order fills. */
const SWEPT = 20
const PRICE = '0.00065'
/** cNGN per USDC, in the band of a series. */
const FUTURE_PRICE = '1530'
const MAKER_AMOUNT = 10
const TAKER = 5
const CONNECTIONS = 64
/** Accepted statuses: the fills show the outcome of an order whose answer timed out. */
const ACCEPTED = [200, 500]
const GIVE_UP_AFTER_MS = 180_000

interface Stand {
  readonly venue: OwnVenue
  readonly signers: Signers
  readonly settlements: Settlements
  readonly price: string
  /** Matches that fill a block. */
  readonly blockHolds: number
}

/** Matches that fill a block of 240M gas. */
const SPOT_BLOCK = 857
const PERP_BLOCK = 480
const FUTURE_BLOCK = 500

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const counts = MATCHES[size]
  const measure = async (into: Together[], load: Promise<Together>): Promise<void> => {
    const result = await load
    say(`${Math.round(result.perBlock)} a block in ${result.blocks} blocks`)
    into.push(result)
  }
  const results: Record<'spot' | 'pairs' | 'perp' | 'future', Together[]> = {
    spot: [],
    pairs: [],
    perp: [],
    future: [],
  }
  const { spot, pairs, perp, future } = results
  const alone = await onVenue(join(dir, 'spot'), onSpot(counts.pairs), async ([six, many]) => {
    const values = await interleaved(rounds, {
      together: () => measure(spot, together(six, swept(counts.together))),
      pairs: () => measure(pairs, together(many, paired(counts.together / 2, counts.pairs))),
      single: () => single(six, counts.single),
    })
    return values.single
  })
  await onVenue(join(dir, 'margin'), onMargin, ([ofPerp, ofFuture]) =>
    interleaved(rounds, {
      perp: () => measure(perp, together(ofPerp, oneMaker(counts.oneMaker, TAKER))),
      future: () => measure(future, together(ofFuture, oneMaker(counts.oneMaker, TAKERS))),
    }),
  )
  // The first round is the warm-up.
  for (const each of [spot, pairs, perp, future]) each.shift()
  const rows = [...rowsOf(spot, alone), ...pairRowsOf(pairs, spot), ...perpRowsOf(perp, spot)]
  return { rows: [...rows, ...futureRowsOf(future, spot)], notes: NOTES }
}

/** Who trades in a market, at what price, and how many of their matches fill a block. */
type Traded = Pick<Stand, 'signers' | 'price' | 'blockHolds'>

/** A venue of the bench and what is traded on it. */
interface Scene {
  readonly markets: readonly string[]
  readonly feeder: boolean
  readonly traded: (venue: OwnVenue, dir: string) => Promise<readonly [Traded, Traded]>
}

/** Spot by the devnet's six accounts, and by two for each of so many pairs. */
const onSpot = (pairs: number): Scene => ({
  markets: [SPOT.name],
  feeder: false,
  traded: async (venue, dir) => {
    const { devnet } = venue
    const many = await openTraders(venue, dir, { manager: devnet.spot_manager, count: 2 * pairs })
    const terms = { price: PRICE, blockHolds: SPOT_BLOCK }
    return [
      { ...terms, signers: await signersOf(devnet) },
      { ...terms, signers: await signersOf(devnet, SPOT, many) },
    ]
  },
})

/** The perpetual by six accounts, and a dated future by one for each taker and one more. */
const onMargin: Scene = {
  markets: [SPOT.name, PERP.name],
  feeder: true,
  traded: async (venue, dir) => {
    const { devnet } = venue
    const name = await listSeries(venue, dir)
    const traders = { manager: devnet.futures_manager, count: TAKERS + 1 }
    const accounts = await openTraders(venue, dir, traders)
    const future = await signersOf(devnet, { name, accounts: 'spot' }, accounts)
    return [
      { signers: await signersOf(devnet, PERP), price: PRICE, blockHolds: PERP_BLOCK },
      { signers: future, price: FUTURE_PRICE, blockHolds: FUTURE_BLOCK },
    ]
  },
}

/** Measures on a venue, which it starts and stops. */
async function onVenue<T>(
  dir: string,
  scene: Scene,
  use: (stands: readonly [Stand, Stand]) => Promise<T>,
): Promise<T> {
  const { markets, feeder, traded } = scene
  const env = { DEVNET_SAVE_CHAIN: '0', DEVNET_FEEDER: feeder ? '1' : '0' }
  const venue = await startOwnVenue({ dir, env, markets })
  let bus: Bus | undefined
  try {
    const opened = await connectNatsBus({ ...venue.bus, name: 'settle-bench', user: 'auditor' })
    bus = opened
    const [first, second] = await traded(venue, dir)
    const stand = async (one: Traded): Promise<Stand> => {
      const settlements = await followSettlements(opened, one.signers.market.market)
      return { venue, settlements, ...one }
    }
    return await use([await stand(first), await stand(second)])
  } finally {
    await bus?.close()
    await venue.stop()
  }
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
    count: matches / SWEPT,
    side: 'buy',
    amount: MAKER_AMOUNT * SWEPT,
    by: () => TAKER,
  },
})

/** One maker's order fills all takers, which are of so many accounts. */
const oneMaker = (matches: number, takers: number): Shape => ({
  makers: { count: 1, side: 'sell', amount: MAKER_AMOUNT * matches, by: () => takers },
  takers: { count: matches, side: 'buy', amount: MAKER_AMOUNT, by: (order) => order % takers },
})

/** Each taker's order fills one maker's; both sides have so many accounts. */
const paired = (matches: number, pairs: number): Shape => ({
  makers: { count: matches, side: 'sell', amount: MAKER_AMOUNT, by: (order) => order % pairs },
  takers: {
    count: matches,
    side: 'buy',
    amount: MAKER_AMOUNT,
    by: (order) => pairs + (order % pairs),
  },
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
      const terms = { side, price: stand.price, amount: String(amount) }
      bodies.push(postOf('/v1/orders', await signers.sign(terms, by(number))))
    }
    return bodies
  }
  const makers = await orders(shape.makers)
  const takers = await orders(shape.takers)
  await saturate(load, makers, CONNECTIONS)
  const start = performance.now()
  const before = await cpuMs(venue)
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
    gasOfMatch: await gasOfMatch(venue.devnet.rpc_url, settlements),
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

/** Sequential matches, each sent when the one before is filled. */
async function single(
  { venue, signers, settlements, price }: Stand,
  matches: number,
): Promise<Alone> {
  settlements.forget()
  const settledSec: number[] = []
  const load = createHttpLoad(portOf(venue), 1)
  for (let number = 1; number <= matches; number += 1) {
    const terms = { price, amount: String(MAKER_AMOUNT) }
    const maker = await signers.sign({ side: 'sell', ...terms }, 0)
    const taker = await signers.sign({ side: 'buy', ...terms }, TAKER)
    await saturate(load, [postOf('/v1/orders', maker)], 1)
    const sentAt = performance.now()
    await saturate(load, [postOf('/v1/orders', taker)], 1)
    await untilSettled(settlements, number)
    settledSec.push((performance.now() - sentAt) / 1000)
  }
  const numbers = [...settlements.settled.keys()].map(Number)
  const perBlock = matches / (Math.max(...numbers) - Math.min(...numbers) + 1)
  return { perBlock, settledSec: median(settledSec) }
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
