import { expect } from 'chai'
import fc from 'fast-check'
import type { Hex } from '../../core/action.js'
import type { Order, Side } from '../../core/model/order.js'
import { E18 } from '../../core/money.js'
import { formatDecimal } from '../../core/decimal.js'
import { aFuture, aPerp } from '../support/builders.js'
import { openWorld, type Trader } from '../support/devnet-world.js'
import {
  INDEX,
  openFuturesWorld,
  openTraders,
  positionOf,
  setIndex,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../support/futures-world.js'
import {
  openMarginVenue,
  type MarginStage,
  type MarginVenue,
  type OrderIdea,
  type Settled,
} from '../support/margin-venue.js'
import {
  openPerpAccount,
  positionOf as perpPositionOf,
  setPrices,
  stopTheClock,
} from '../support/perp-world.js'
import { runs } from '../support/property-runs.js'

type Act =
  | {
      readonly act: 'place'
      readonly trader: number
      readonly buy: boolean
      /** Thousandths of the mark. */
      readonly price: number
      readonly size: number
      readonly reduceOnly: boolean
    }
  | { readonly act: 'settle'; readonly pick: number }
  | { readonly act: 'look'; readonly trader: number }
  /** Everything settles, then the prices move: thousandths of the first ones. */
  | { readonly act: 'prices'; readonly to: number }

const TRADERS = 5
const DAYS = 20
const trader = fc.nat(TRADERS - 1)
const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.oneof<fc.WeightedArbitrary<Act>[]>(
    {
      weight: 12,
      arbitrary: fc.record({
        act: fc.constant('place'),
        trader,
        buy: fc.boolean(),
        price: fc.integer({ min: 980, max: 1_020 }),
        size: fc.integer({ min: 1, max: 20 }),
        reduceOnly: fc.integer({ min: 1, max: 6 }).map((sixth) => sixth === 1),
      }),
    },
    { weight: 6, arbitrary: fc.record({ act: fc.constant('settle'), pick: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.record({ act: fc.constant('look'), trader }) },
    {
      weight: 2,
      arbitrary: fc.record({
        act: fc.constant('prices'),
        to: fc.integer({ min: 940, max: 1_060 }),
      }),
    },
  ),
  { minLength: 12, maxLength: 40, size: 'max' },
)

/** A market on a chain, with the first price, the least size and how its prices move. */
interface Stage extends MarginStage {
  readonly price: bigint
  readonly size: bigint
  readonly move: (thousandths: number) => Promise<void>
  readonly positionOf: (account: bigint) => Promise<bigint>
  /** Whether the chain may refuse a pure reduction that the venue lets pass. */
  readonly refusesReductions: boolean
}

const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value)

/** What all days of a market had. */
const newTally = () => ({ placed: 0, refused: 0, settled: 0, reductions: 0 })

class Day {
  private price: bigint
  constructor(
    private readonly stage: Stage,
    private readonly venue: MarginVenue,
    private readonly tally: ReturnType<typeof newTally>,
  ) {
    this.price = stage.price
  }

  async play(act: Act): Promise<void> {
    const { stage, venue } = this
    if (act.act === 'settle') return this.settle(act.pick)
    if (act.act === 'look') {
      const account = await venue.readAccount(this.traderAt(act.trader))
      venue.apply({ kind: 'AccountObserved', account })
    } else if (act.act === 'prices') {
      while (venue.waiting() > 0) await this.settle(0)
      this.price = (stage.price * BigInt(act.to)) / 1_000n
      await stage.move(act.to)
      await venue.look()
    } else {
      const { buy, reduceOnly } = act
      const isPlaced = await venue.place({
        trader: this.traderAt(act.trader),
        side: buy ? 'buy' : 'sell',
        reduceOnly,
        price: (this.price * BigInt(act.price)) / 1_000n,
        amount: BigInt(act.size) * stage.size,
      })
      this.tally[isPlaced ? 'placed' : 'refused'] += 1
    }
  }

  async end(): Promise<void> {
    while (this.venue.waiting() > 0) await this.settle(this.venue.waiting() - 1)
  }

  private traderAt(at: number): Trader {
    const found = this.stage.traders[at]
    if (found === undefined) throw new Error('no such trader')
    return found
  }

  /** The chain carries out every match; only a pure reduction may be refused where that is so, and it alone is blamed. */
  private async settle(pick: number): Promise<void> {
    const settled = await this.venue.settle(pick)
    if (settled === undefined) return
    this.tally.settled += 1
    const { outcome } = settled
    if (outcome.kind === 'success') return
    expect(this.stage.refusesReductions, outcome.revert).to.equal(true)
    this.tally.reductions += 1
    expect(outcome.revert).to.be.oneOf(['SRM_PortfolioBelowMargin', 'SRM_NoNegativeCash'])
    expect(outcome.guilty).to.be.oneOf(['maker', 'taker', 'both'])
    for (const side of ['maker', 'taker'] as const) {
      if (outcome.guilty !== side && outcome.guilty !== 'both') continue
      expect(await this.isReduction(settled, settled[side]), `${side} only reduces`).to.equal(true)
    }
  }

  private async isReduction({ match }: Settled, { subaccountId, side }: Order): Promise<boolean> {
    const position = await this.stage.positionOf(subaccountId)
    const size = match.amount / this.stage.sizeScale
    return position > 0n === (side === 'sell') && sizeOf(position) >= size
  }
}

async function openPerpStage(): Promise<Stage> {
  const world = await openWorld()
  await stopTheClock(world)
  const { at } = world
  const owners = [world.alice, world.bob, world.carol]
  const traders: Trader[] = []
  for (let i = 0; i < TRADERS; i += 1) {
    const funds = { cash: 40 + 60 * i, ...(i % 2 === 1 && { cngn: 200_000 }) }
    traders.push(await openPerpAccount(world, owners[i % 3] ?? world.alice, funds))
  }
  const price = 650_000_000_000_000n
  return {
    world,
    traders,
    price,
    sizeScale: 1n,
    size: 100_000n * E18,
    refusesReductions: true,
    market: aPerp({
      assetAddress: at.perp_asset,
      quoteAssetAddress: at.cash_asset,
      tradeModuleAddress: at.perp_trade_module,
      marginManagerAddress: at.perp_manager,
    }),
    move: (to) => setPrices(world, { index: formatDecimal((price * BigInt(to)) / 1_000n, 18) }),
    positionOf: (subaccountId) => perpPositionOf(world, { ...world.alice, subaccountId }),
  }
}

async function openFuturesStage(): Promise<Stage> {
  const world: FuturesWorld = await openFuturesWorld()
  const { at } = world
  const rich = { usdc: 900n * E18, cngn: 600_000n * E18 }
  const poor = { usdc: 300n * E18, cngn: 0n }
  // Margin for a dozen contracts, and USDC for the fees of two.
  const withoutFees = { usdc: 5n * E18, cngn: 2_500_000n * E18 }
  const traders = [
    ...(await openTraders(world, [31, 32, 33], rich)),
    ...(await openTraders(world, [34], poor)),
    ...(await openTraders(world, [35], withoutFees)),
  ]
  return {
    world,
    traders,
    price: INDEX,
    sizeScale: 1_000n,
    size: 500n * E18,
    refusesReductions: false,
    market: aFuture({
      subId: world.subId,
      assetAddress: at.future_asset,
      quoteAssetAddress: at.wrapped_usdc,
      tradeModuleAddress: at.future_trade_module,
      marginManagerAddress: at.futures_manager,
    }),
    async move(to) {
      await warpTo(world, (await timeOf(world)) + 1)
      await setIndex(world, (INDEX * BigInt(to)) / 1_000n)
    },
    positionOf: (subaccountId) => positionOf(world, subaccountId),
  }
}

async function playDays(stage: Stage): Promise<void> {
  const { client } = stage.world
  const tally = newTally()
  let snapshot: Hex = await client.snapshot()
  await fc.assert(
    fc.asyncProperty(acts, async (given) => {
      await client.revert({ id: snapshot })
      snapshot = await client.snapshot()
      const day = new Day(stage, await openMarginVenue(stage), tally)
      for (const act of given) await day.play(act)
      await day.end()
    }),
    // A failing day is shrunk for so long.
    { numRuns: runs(DAYS), interruptAfterTimeLimit: runs(150_000), markInterruptAsFailure: true },
  )
  const { placed, refused, settled } = tally
  expect([placed > 20, refused > 0, settled > 5], JSON.stringify(tally)).to.not.include(false)
}

/** At constant facts no accepted sequence of orders is refused on the chain for margin (PER-023). */
describe('orders of a perpetual that the venue accepts (PER-031)', function () {
  let stage: Stage
  let fresh: Hex

  before(async () => {
    stage = await openPerpStage()
    fresh = await stage.world.client.snapshot()
  })
  after(() => stage.world.anvil.stop())

  it('are carried out by the chain on random days', () => playDays(stage))

  it('may only be refused as reductions below initial margin, and are then blamed (PER-031)', async () => {
    await stage.world.client.revert({ id: fresh })
    const venue = await openMarginVenue(stage)
    const [poor, , , , rich] = stage.traders
    if (poor === undefined || rich === undefined) throw new Error('no traders')
    const order = (side: Side, trader: Trader, price: bigint, lots: bigint): OrderIdea => ({
      trader,
      side,
      price,
      amount: lots * stage.size,
      reduceOnly: false,
    })
    expect(await venue.place(order('buy', poor, stage.price, 6n))).to.equal(true)
    expect(await venue.place(order('sell', rich, stage.price, 6n))).to.equal(true)
    expect((await venue.settle(0))?.outcome.kind).to.equal('success')
    await stage.move(950)
    await venue.look()
    const low = (stage.price * 93n) / 100n
    expect(await venue.place(order('buy', rich, low, 1n))).to.equal(true)
    expect(await venue.place(order('sell', poor, low, 1n))).to.equal(true)
    const revert = 'SRM_PortfolioBelowMargin'
    expect((await venue.settle(0))?.outcome).to.deep.include({ revert, guilty: 'taker' })
    const holds = ['o3', 'o4'].map((id) => venue.engine.state.orders.get(id)?.hold?.reason)
    expect(holds).to.deep.equal([undefined, 'settlement_refused'])
  })
})

describe('orders of a future that the venue accepts (FUT-028)', function () {
  let stage: Stage

  before(async () => {
    stage = await openFuturesStage()
  })
  after(() => stage.world.anvil.stop())

  it('are carried out by the chain on random days', () => playDays(stage))
})
