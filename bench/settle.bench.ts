import { join } from 'node:path'
import { decodeBlock } from '../bus-schemas/block-message.js'
import type { Bus } from '../bus-schemas/bus.js'
import { connectNatsBus } from '../bus-schemas/nats-bus.js'
import { feedStream } from '../bus-schemas/subjects.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { createHttpLoad, postOf, saturate } from './http-load.js'
import { signersOf, type Signers } from './order-flow.js'
import { startOwnVenue, type OwnVenue } from './own-venue.js'
import { interleaved, ratio } from './rounds.js'

export const settle: Bench = {
  name: 'settle',
  title:
    'Matches that executor and local chain settle in a block of 2 s, beside one match at a time, each sent when the one before has its receipt.',
  versionsOf: ['anvil', 'viem'],
  run,
}

const MARKET = 'cNGN-USDC'
/** Matches of a round. */
const MATCHES = {
  tiny: { together: 20, single: 1 },
  usual: { together: 1_600, single: 3 },
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

interface Settled {
  /** Of the blocks that could be filled: all but the first and the last when there are more. */
  readonly perBlock: number
  readonly gasShare: number
  readonly perSecond: number
}

interface Stand {
  readonly venue: OwnVenue
  readonly signers: Signers
  /** Settled matches by block of the chain. */
  readonly settled: Map<bigint, number>
}

async function run({ size, rounds, dir, say }: BenchContext): Promise<Report> {
  const venue = await startOwnVenue({ dir: join(dir, 'venue') })
  let bus: Bus | undefined
  try {
    bus = await connectNatsBus({ url: venue.natsUrl, name: 'settle-bench' })
    const signers = await signersOf(venue.devnet)
    const stand = { venue, signers, settled: await countSettled(bus) }
    const values = await interleaved(rounds, {
      together: async () => {
        const result = await together(stand, MATCHES[size].together)
        say(`${Math.round(result.perBlock)} a block`)
        return result
      },
      single: () => single(stand, MATCHES[size].single),
    })
    const perBlock = values.together.map((each) => each.perBlock)
    const alone = values.single.map((each) => each.perBlock)
    const gasShare = values.together.map((each) => 100 * each.gasShare)
    return {
      rows: [
        { what: 'settled in a block', unit: 'matches', values: perBlock },
        { what: 'matches', unit: '1/s', values: values.together.map((each) => each.perSecond) },
        { what: 'gas of the block they use', unit: '%', values: gasShare, goal: { atLeast: 80 } },
        { what: 'settled in a block, receipt by receipt', unit: 'matches', values: alone },
        ratio('venue / receipt by receipt', [perBlock, alone], { atLeast: 100 }),
      ],
      notes: [
        'Makers rest, then orders that sweep twenty of them each come at once; from then on it is counted, until the last fill is in the feed. Blocks have 240M gas, transactions at most 16.7M. The chain is anvil on the same processors, which tries every match out before it is sent and executes it again in the block.',
      ],
    }
  } finally {
    await bus?.close()
    await venue.stop()
  }
}

async function countSettled(bus: Bus): Promise<Map<bigint, number>> {
  const settled = new Map<bigint, number>()
  await bus.follow({
    stream: feedStream(MARKET),
    fromSeq: 1,
    onMessage: ({ data }) => {
      for (const change of decodeBlock(data).changes) {
        if (change.kind !== 'OrderFilled' || change.fill.liquidity !== 'taker') continue
        const { blockNumber } = change.fill
        settled.set(blockNumber, (settled.get(blockNumber) ?? 0) + 1)
      }
    },
    onError: (error) => {
      throw error
    },
  })
  return settled
}

/** As many matches as possible at once. */
async function together(stand: Stand, matches: number): Promise<Settled> {
  stand.settled.clear()
  const port = Number(new URL(stand.venue.devnet.gateway_url).port)
  const load = createHttpLoad(port, CONNECTIONS, ACCEPTED)
  const orders = async (count: number, side: 'buy' | 'sell', amount: number) => {
    const bodies = []
    for (let number = 0; number < count; number += 1) {
      const terms = { side, price: PRICE, amount: String(amount) }
      bodies.push(postOf('/v1/orders', await stand.signers.sign(terms, takerOr(number, side))))
    }
    return bodies
  }
  const makers = await orders(matches, 'sell', MAKER_AMOUNT)
  const takers = await orders(matches / SWEPT, 'buy', MAKER_AMOUNT * SWEPT)
  await saturate(load, makers, CONNECTIONS)
  const start = performance.now()
  await saturate(load, takers, CONNECTIONS)
  await untilSettled(stand, matches)
  const perSecond = (matches * 1000) / (performance.now() - start)
  const blocks = [...stand.settled].sort(([a], [b]) => Number(a - b))
  const whole = blocks.length > 2 ? blocks.slice(1, -1) : blocks
  const shares = await Promise.all(whole.map(([number]) => gasShareOf(stand.venue, number)))
  return {
    perBlock: mean(whole.map(([, count]) => count)),
    gasShare: mean(shares),
    perSecond,
  }
}

const takerOr = (number: number, side: 'buy' | 'sell'): number =>
  side === 'buy' ? TAKER : number % TAKER

/** One match after the other, each when the one before is filled. */
async function single(stand: Stand, matches: number): Promise<Settled> {
  stand.settled.clear()
  const load = createHttpLoad(Number(new URL(stand.venue.devnet.gateway_url).port), 1)
  const start = performance.now()
  for (let number = 1; number <= matches; number += 1) {
    const terms = { price: PRICE, amount: String(MAKER_AMOUNT) }
    const maker = await stand.signers.sign({ side: 'sell', ...terms }, 0)
    const taker = await stand.signers.sign({ side: 'buy', ...terms }, TAKER)
    await saturate(load, [postOf('/v1/orders', maker), postOf('/v1/orders', taker)], 1)
    await untilSettled(stand, number)
  }
  const numbers = [...stand.settled.keys()].map(Number)
  const blocks = Math.max(...numbers) - Math.min(...numbers) + 1
  const perSecond = (matches * 1000) / (performance.now() - start)
  return { perBlock: matches / blocks, gasShare: 0, perSecond }
}

async function untilSettled({ settled }: Stand, matches: number): Promise<void> {
  const deadline = performance.now() + GIVE_UP_AFTER_MS
  const count = (): number => [...settled.values()].reduce((sum, each) => sum + each, 0)
  while (count() < matches) {
    if (performance.now() > deadline) throw new Error(`${count()} of ${matches} were settled`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function gasShareOf({ devnet }: OwnVenue, block: bigint): Promise<number> {
  const params = [`0x${block.toString(16)}`, false]
  const answer = await fetch(devnet.rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params }),
  })
  const { result } = (await answer.json()) as {
    readonly result: { readonly gasUsed: string; readonly gasLimit: string }
  }
  return Number(result.gasUsed) / Number(result.gasLimit)
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
