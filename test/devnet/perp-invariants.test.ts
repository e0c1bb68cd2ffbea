import { expect } from 'chai'
import fc from 'fast-check'
import { cashAssetAbi, erc20Abi, perpAssetAbi } from '../../chain/abi/contracts.js'
import type { Hex } from '../../core/action.js'
import { formatDecimal } from '../../core/decimal.js'
import { openWorld, perform, type Trader, type World } from '../support/devnet-world.js'
import {
  administerPerp,
  keepPricesFresh,
  openPerpAccount,
  positionOf,
  setPrices,
  settleCall,
  trade,
} from '../support/perp-world.js'
import { runs } from '../support/property-runs.js'

const RUNS = 8
const TRADERS = 3

type Step =
  | {
      readonly kind: 'trade'
      readonly buyer: number
      readonly seller: number
      readonly size: number
    }
  | { readonly kind: 'price'; readonly pips: number }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'settle'; readonly who: number }

const someone = fc.integer({ min: 0, max: TRADERS - 1 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc
      .record({ buyer: someone, seller: someone, size: fc.integer({ min: 1, max: 99_999 }) })
      .map((terms) => ({ kind: 'trade' as const, ...terms })),
    fc.integer({ min: 600, max: 700 }).map((pips) => ({ kind: 'price' as const, pips })),
    fc.integer({ min: 1, max: 90_000 }).map((seconds) => ({ kind: 'wait' as const, seconds })),
    someone.map((who) => ({ kind: 'settle' as const, who })),
  ),
  { minLength: 4, maxLength: 12 },
)

/** Random trades at 0.00065, prices, times and settlements between accounts with plenty of cash. */
describe('cash of a perpetual', function () {
  let world: World
  let traders: Trader[]

  before(async () => {
    world = await openWorld()
    await keepPricesFresh(world)
    const { alice, bob, carol } = world
    traders = []
    for (const trader of [alice, bob, carol])
      traders.push(await openPerpAccount(world, trader, { cash: 1_000_000 }))
  })
  after(() => world.anvil.stop())

  const read = <Name extends 'totalSupply' | 'totalBorrow' | 'netSettledCash'>(
    functionName: Name,
  ) => world.client.readContract({ address: world.at.cash_asset, abi: cashAssetAbi, functionName })

  /** Cash that is not backed by tokens: profit that was settled before the losses behind it. */
  async function unbacked(): Promise<bigint> {
    const escrowed = await world.client.readContract({
      address: world.at.usdc,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [world.at.cash_asset],
    })
    return (await read('totalSupply')) - (await read('totalBorrow')) - escrowed * 10n ** 12n
  }

  async function take(step: Step): Promise<void> {
    if (step.kind === 'wait') {
      const { timestamp } = await world.client.getBlock()
      await world.client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(step.seconds) })
      return
    }
    if (step.kind === 'price') {
      const index = formatDecimal(BigInt(step.pips), 6)
      return setPrices(world, { index, bid: index, ask: '0.0008' })
    }
    if (step.kind === 'settle') {
      await perform(world, settleCall(world, traderAt(step.who)))
      return
    }
    if (step.buyer === step.seller) return
    const parties = { buyer: traderAt(step.buyer), seller: traderAt(step.seller) }
    await trade(world, { ...parties, size: step.size, takerFee: '0.123' })
  }

  const traderAt = (i: number): Trader => {
    const trader = traders[i]
    if (trader === undefined) throw new Error('no such trader')
    return trader
  }

  async function positions(): Promise<bigint[]> {
    return Promise.all(traders.map((trader) => positionOf(world, trader)))
  }

  it('is backed but for what was settled on one side only, and sums to zero once all is settled', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const snapshot: Hex = await world.client.snapshot()
        for (const step of given) {
          await take(step)
          expect(await unbacked()).to.equal(await read('netSettledCash'))
        }
        const held = await positions()
        expect(held.reduce((sum, size) => sum + size, 0n)).to.equal(0n)
        const abs = held.map((size) => (size < 0n ? -size : size))
        const total = { address: world.at.perp_asset, abi: perpAssetAbi } as const
        const counted = await world.client.readContract({
          ...total,
          functionName: 'totalPosition',
          args: [world.at.perp_manager],
        })
        expect(counted).to.equal(abs.reduce((sum, size) => sum + size, 0n))
        // From now on no funding accrues, so that all are settled to the same.
        await administerPerp(world, world.at.perp_asset, 'setRateBounds', 0n)
        for (const trader of traders) await perform(world, settleCall(world, trader))
        const rounding = await read('netSettledCash')
        // Each touch truncates both of its products, by less than one unit each.
        const bound = BigInt(4 * TRADERS * (given.length + 1))
        expect(rounding <= bound && rounding >= -bound).to.equal(true)
        await world.client.revert({ id: snapshot })
      }),
      { numRuns: runs(RUNS) },
    )
  })
})
