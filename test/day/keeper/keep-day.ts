import { expect } from 'chai'
import { rowOfNextSeries } from '../../../data/series-row.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { ANVIL_CHAIN_ID } from '../../support/anvil.js'
import { ONE } from '../../support/devnet-actions.js'
import { FEEDER_KEY, send } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { startNatsServer } from '../../support/nats-server.js'
import { randomNumbers } from '../../support/random-numbers.js'
import { openSeriesVenue, type SeriesVenue } from '../../support/series-venue.js'
import { START_PRICES } from '../../../devnet/chain/perp-parameters.js'
import { signPrices, signSpotPrice } from '../../../devnet/chain/sign-prices.js'
import { auditContracts, auditMoney, auditTrades } from './audit.js'
import { createFundingModel, createInsuranceModel, createWatch, openSeriesOf } from './model.js'
import { startKeepers, type VenueBus } from './processes.js'
import {
  CALENDAR,
  EXPIRY_SEC,
  inverse,
  NEXT_EXPIRY_SEC,
  openFailing,
  openKeptWorld,
  SERIES,
  type KeptWorld,
} from './world.js'

const BLOCK_SEC = 12n
const BLOCKS_A_MINUTE = 5
/** Accounts take half an hour to leave matching. */
const SETUP_SEC = 2_400
/** Every so many minutes cNGN loses, and then recovers. */
const JUMP_EVERY_MIN = 20
const JUMP_AT_MIN = 4
const RECOVERS_AT_MIN = 12
/** In tenths of a percent: what an account below maintenance margin survives, and what leaves debts. */
const JUMPS = { small: { least: 55, more: 25 }, large: { least: 120, more: 15 } } as const
/** Every so many minutes the premium of the perpetual changes. */
const PREMIUM_EVERY_MIN = 10
/** New accounts that will fail, so often in a short day and in a long one. */
const OPEN_EVERY_MIN = { short: 14, long: 60 } as const
const SHORT_MIN = 60
const SAID_EVERY_MIN = 10
/** By the clock of the machine: registered markets are looked after each few seconds. */
const ROLLED_WITHIN_MS = 60_000

export interface KeptDay {
  /** How long it is by the clock of the chain. */
  readonly minutes: number
  readonly seed: number
  readonly say: (line: string) => void
}

/** What has happened. */
export interface KeptDayFacts {
  readonly blocks: number
  readonly failed: number
  readonly killed: number
  readonly insurance: { readonly security: bigint; readonly usdc: bigint; readonly cngn: bigint }
  readonly funding: bigint
  readonly openSeries: readonly number[]
  /** The markets of the venue, public at the end. */
  readonly listed: readonly string[]
}

/**
 * A day of a chain whose clock is moved, and of a venue on it, with two keepers of which one is killed every minute; the first
 * series ends in the middle of it. Throws where an account below maintenance margin is left for more than three blocks, where
 * funding, insurance, positions or money are not as modelled, or where the series do not follow each other.
 */
export async function keepDay({ minutes, seed, say }: KeptDay): Promise<KeptDayFacts> {
  // Trading in the first series ends an hour before it expires.
  const leftSec = Math.max(minutes * 30, 3_600) + SETUP_SEC
  const world = await openKeptWorld(leftSec)
  const nats = await startNatsServer()
  const bus = await connectNatsBus({ url: nats.url, name: 'day' })
  const first = rowOfNextSeries([], EXPIRY_SEC)
  const rows = [first, rowOfNextSeries([first], NEXT_EXPIRY_SEC)]
  const venue = await openSeriesVenue(world, rows, CALENDAR, bus)
  try {
    await openFailing({ world, venue }, START_PRICES.index, 0)
    return await run({ world, venue, bus, natsUrl: nats.url }, { minutes, seed, say })
  } finally {
    await venue.close()
    await bus.close()
    await Promise.all([nats.stop(), world.anvil.stop()])
  }
}

interface Kept extends VenueBus {
  readonly world: KeptWorld
  readonly venue: SeriesVenue
}

async function run(kept: Kept, { minutes, seed, say }: KeptDay): Promise<KeptDayFacts> {
  const { world, venue } = kept
  const keepers = startKeepers(world, kept)
  const { client } = world
  const prices = createPrices(seed)
  await client.setAutomine(false)
  const block = createBlocks(world)
  const openEvery = OPEN_EVERY_MIN[minutes <= SHORT_MIN ? 'short' : 'long']
  try {
    // The fixing of the first series begins an hour before it expires, and so before a short day does.
    const startSec = BigInt(EXPIRY_SEC - minutes * 30)
    for (let head = await client.getBlock(); head.timestamp < startSec - 60n;) {
      head = await block(prices.now(), 60n)
      await keepers.untilSeen(head.number)
    }
    const watch = createWatch(world)
    const funding = await createFundingModel(world)
    const insurance = await createInsuranceModel(world)
    for (let minute = 0; minute < minutes; minute += 1) {
      if (minute % openEvery === 0 && minute > 0) {
        await client.setAutomine(true)
        await openFailing(kept, prices.index(), minute / openEvery)
        await client.setAutomine(false)
        await funding.changed((await client.getBlock()).timestamp)
      }
      prices.pass(minute)
      await venue.openNew()
      await venue.run()
      if (minute % SAID_EVERY_MIN === 0)
        say(`minute ${minute}, ${watch.failed.size} accounts have failed`)
      for (let i = 0; i < BLOCKS_A_MINUTE; i += 1) {
        const { number, timestamp } = await block(i === 0 ? prices.now() : undefined)
        if (i === 0) await funding.changed(timestamp)
        // The chain goes on while a keeper is dead.
        if (i === 1) await keepers.killOldest()
        else await keepers.untilSeen(number)
        await watch.look(number)
      }
    }
    await client.setAutomine(true)
    const facts = {
      blocks: minutes * BLOCKS_A_MINUTE,
      failed: watch.failed.size,
      killed: keepers.killed(),
      insurance: await insurance.check(),
      funding: (await funding.check()).paid,
      openSeries: await openSeriesOf(world),
      listed: await untilRolled(venue),
    }
    await auditContracts(world)
    await auditMoney(world)
    await auditTrades(world, venue)
    say(
      JSON.stringify(facts, (_, value: unknown) =>
        typeof value === 'bigint' ? `${value}` : value,
      ),
    )
    return facts
  } finally {
    await keepers.stop()
  }
}

/** The markets of the venue once the first series is disabled, and the third one is registered. */
async function untilRolled(venue: SeriesVenue): Promise<readonly string[]> {
  let listed: readonly string[] = []
  await eventually(async () => {
    await venue.openNew()
    listed = (await venue.listed()).map(({ market }) => market)
    expect(listed).to.have.members(SERIES.slice(1))
  }, ROLLED_WITHIN_MS)
  return listed
}

/** What the feeds are told. */
type Prices = typeof START_PRICES

/** Prices that wander, jump and recover, the same for a seed. */
function createPrices(seed: number) {
  const random = randomNumbers(seed)
  const base = START_PRICES.index
  let wandered = 0n
  let jump = 0n
  let premium = 0n
  const index = (): bigint => base + wandered + (base * jump) / 1_000n
  return {
    index,
    /** A minute later. */
    pass(minute: number): void {
      const within = minute % JUMP_EVERY_MIN
      const { least, more } =
        Math.floor(minute / JUMP_EVERY_MIN) % 2 === 0 ? JUMPS.large : JUMPS.small
      if (within === JUMP_AT_MIN) jump = -BigInt(least + random(more))
      if (within === RECOVERS_AT_MIN) jump = 0n
      if (minute % PREMIUM_EVERY_MIN === 0) premium = (base * BigInt(random(41) - 20)) / 10_000n
      wandered += (base * BigInt(random(21) - 10)) / 10_000n
      if (wandered > base / 50n || wandered < -base / 50n) wandered = 0n
    },
    now(): Prices {
      const at = index()
      const half = base / 1_000n
      const middle = at + premium
      return { ...START_PRICES, index: at, mark: at, bid: middle - half, ask: middle + half }
    },
  }
}

/** Mines a block after the newest one, by default 12 seconds, with these prices of its time and what waits in the pool. */
function createBlocks(world: KeptWorld) {
  const { client, at } = world
  return async (prices?: Prices, afterSec = BLOCK_SEC) => {
    const timestamp = (await client.getBlock()).timestamp + afterSec
    if (prices !== undefined) {
      const update = { chainId: ANVIL_CHAIN_ID, signerKey: FEEDER_KEY, timestampSec: timestamp }
      const price = { price: inverse(prices.index), confidence: ONE }
      const calls = [
        ...(await signPrices({ ...update, feeds: at, prices })),
        await signSpotPrice(update, at.futures_index_feed, price),
      ]
      for (const call of calls) await send(world, { from: at.deployer, ...call }, FEED_GAS)
    }
    await client.setNextBlockTimestamp({ timestamp })
    await client.mine({ blocks: 1 })
    return client.getBlock()
  }
}

const FEED_GAS = 500_000n
