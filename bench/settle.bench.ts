import { join } from 'node:path'
import type { Bus } from '../bus-schemas/bus.js'
import { connectNatsBus } from '../bus-schemas/nats-bus.js'
import type { Bench, BenchContext, Report, Row } from './bench.js'
import { createHttpLoad, postOf, saturate } from './http-load.js'
import { signersOf, type Signers } from './order-flow.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { cpuMsOf } from './process-usage.js'
import { interleaved, ratio } from './rounds.js'
import { blocksUnderLoad, followSettlements, type Settlements } from './settled-blocks.js'

export const settle: Bench = {
  name: 'settle',
  title:
    'Matches that executor and local chain settle in a block of 2 s, beside one match at a time, each sent when the one before has its receipt.',
  versionsOf: ['anvil', 'viem'],
  run,
}

/** Matches of a round: enough to keep the executor busy for several blocks. */
const MATCHES = {
  tiny: { together: 20, single: 1 },
  usual: { together: 4_000, single: 3 },
  full: { together: 12_000, single: 5 },
}
/** Makers that one taker's order sweeps. */
const SWEPT = 20
const PRICE = '0.00065'
const MAKER_AMOUNT = 10
const TAKER = 5
const CONNECTIONS = 64
/** What became of an order whose answer took too long, the fills tell. */
const ACCEPTED = [200, 500]
const GIVE_UP_AFTER_MS = 180_000
/** Those whose processor time is told, by their names in the Procfile. */
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
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const env = { DEVNET_SAVE_CHAIN: '0' }
  const venue = await startOwnVenue({ dir: join(dir, 'venue'), env })
  let bus: Bus | undefined
  try {
    bus = await connectNatsBus({ url: venue.natsUrl, name: 'settle-bench' })
    const signers = await signersOf(venue.devnet)
    const stand = { venue, signers, settlements: await followSettlements(bus) }
    const measured: Together[] = []
    const values = await interleaved(rounds, {
      together: async () => {
        const result = await together(stand, MATCHES[size].together)
        say(`${Math.round(result.perBlock)} a block in ${result.blocks} blocks`)
        measured.push(result)
        return result.perBlock
      },
      single: () => single(stand, MATCHES[size].single),
    })
    // The first round does not count.
    return { rows: rowsOf(measured.slice(1), values.single), notes: NOTES }
  } finally {
    await bus?.close()
    await venue.stop()
  }
}

const NOTES = [
  'Makers rest, then orders that sweep twenty of them each come at once. All blocks under load count, and no others: those before whose time began as many matches waited as a block can hold. Blocks have 240M gas, transactions at most 16.7M. The chain is anvil on the same processors, which tries every match out before it is sent and executes it again in the block; it does not save its state meanwhile.',
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

/** As many matches as possible at once. */
async function together(stand: Stand, matches: number): Promise<Together> {
  const { venue, signers, settlements } = stand
  settlements.forget()
  const load = createHttpLoad(portOf(venue), CONNECTIONS, ACCEPTED)
  const orders = async (count: number, side: 'buy' | 'sell', amount: number) => {
    const bodies = []
    for (let number = 0; number < count; number += 1) {
      const terms = { side, price: PRICE, amount: String(amount) }
      bodies.push(postOf('/v1/orders', await signers.sign(terms, takerOr(number, side))))
    }
    return bodies
  }
  const makers = await orders(matches, 'sell', MAKER_AMOUNT)
  const takers = await orders(matches / SWEPT, 'buy', MAKER_AMOUNT * SWEPT)
  await saturate(load, makers, CONNECTIONS)
  const [start, before] = [performance.now(), await cpuMs(venue)]
  await saturate(load, takers, CONNECTIONS)
  await untilSettled(settlements, matches)
  const tookMs = performance.now() - start
  const after = await cpuMs(venue)
  const blocks = await blocksUnderLoad(venue.devnet.rpc_url, settlements)
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

const takerOr = (number: number, side: 'buy' | 'sell'): number =>
  side === 'buy' ? TAKER : number % TAKER

async function cpuMs(venue: OwnVenue): Promise<Record<keyof typeof TIMED, number>> {
  const pids = await venue.pids()
  const of = (name: keyof typeof TIMED) => cpuMsOf(pids[TIMED[name]] ?? 0)
  return { executor: of('executor'), matcher: of('matcher'), chain: of('chain') }
}

/** One match after the other, each when the one before is filled: matches by block. */
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
