import { revertName } from '../../chain/abi/errors.js'
import type { Hex } from '../../core/action.js'
import { cngnValue, variationOf } from '../../core/contracts/future-margin.js'
import { E18 } from '../../core/money.js'
import { ONE } from './devnet-actions.js'
import { balanceOf, revertOf, type Call, type Trader } from './devnet-world.js'
import { readWealth } from './futures-rescue.js'
import {
  act,
  ask,
  INDEX,
  KEEPER,
  leaveMatching,
  openFuturesWorld,
  openTraders,
  positionOf,
  setIndex,
  timeOf,
  warpTo,
  type FuturesWorld,
} from './futures-world.js'

/** 1,500 and thirty per cent; the mark stays at 1,500, for no legal one exists. */
export const JUMPED = 1_950n * ONE
export const TEN = 10n * ONE

interface Cast {
  readonly world: FuturesWorld
  /** Has 1,100 USDC. */
  readonly poor: Trader
  /** Two accounts of one owner, with 5,000 USDC each. */
  readonly owner: readonly [Trader, Trader]
  readonly rich: readonly [Trader, Trader]
  /** Rich, and owns its NFT. */
  readonly rescuer: Trader
}

/** A world for tests of jumps, as it was opened before each test, with what they ask of it. Registers the hooks of mocha. */
export function useJumpStage() {
  let cast: Cast | undefined
  let snapshot: Hex
  const now = (): Cast => {
    if (cast === undefined) throw new Error('the stage is not open yet')
    return cast
  }
  before(async () => {
    cast = await openCast()
  })
  beforeEach(async () => {
    snapshot = await now().world.client.snapshot()
  })
  afterEach(() => now().world.client.revert({ id: snapshot }))
  after(() => cast?.world.anvil.stop())

  const balance = (token: 'wrapped_usdc' | 'wrapped_cngn') => (trader: Trader) =>
    balanceOf(now().world, trader.subaccountId, now().world.at[token])
  return {
    get world() {
      return now().world
    },
    get poor() {
      return now().poor
    },
    get owner() {
      return now().owner
    },
    get rich() {
      return now().rich
    },
    get rescuer() {
      return now().rescuer
    },
    nameOf: async (call: Call | Promise<Call>): Promise<string> => {
      const data = await revertOf(now().world, await call)
      return data === 'none' ? 'success' : revertName(data)
    },
    jump: async (price = JUMPED): Promise<void> => {
      await warpTo(now().world, (await timeOf(now().world)) + 60)
      await setIndex(now().world, price)
    },
    staleIndex: async () => warpTo(now().world, (await timeOf(now().world)) + 400),
    cngnOf: balance('wrapped_cngn'),
    usdcOf: balance('wrapped_usdc'),
    owed: ({ subaccountId }: Trader) =>
      ask<bigint>(now().world, 'manager', 'variation', subaccountId),
    margin: ({ subaccountId }: Trader, isInitial: boolean) =>
      ask<bigint>(now().world, 'manager', 'getMargin', subaccountId, isInitial),
    settle: (...traders: readonly Trader[]) =>
      act(
        ...([now().world, KEEPER, 'manager', 'settleVariation'] as const),
        traders.map(({ subaccountId }) => subaccountId),
      ),
    liquidation: (of: Trader, portion = ONE) =>
      [
        ...([now().world, now().rescuer.address, 'manager', 'liquidate'] as const),
        ...([of.subaccountId, now().world.subId, now().rescuer.subaccountId, portion] as const),
      ] as const,
    /** Wealth in USD at an index, with the position valued at it as well. */
    worthOf: async ({ subaccountId }: Trader, index: bigint): Promise<bigint> => {
      const { world } = now()
      const { usdc, cngn } = await readWealth(world, subaccountId)
      const [, mark = 0n] = await ask<readonly bigint[]>(world, 'asset', 'series', world.subId)
      const moved = variationOf(await positionOf(world, subaccountId), mark, index)
      return usdc + cngnValue(cngn + moved, index, E18)
    },
  }
}

async function openCast(): Promise<Cast> {
  const world = await openFuturesWorld()
  const [poor] = await openTraders(world, [11], { usdc: 1_100n * ONE, cngn: 0n })
  const [b, c] = await openTraders(world, [12, 13], { usdc: 5_000n * ONE, cngn: 0n })
  const funds = { usdc: 10n ** 6n * ONE, cngn: 10n ** 9n * ONE }
  const [d, e, rescuer] = await openTraders(world, [14, 15, 16], funds)
  if (poor === undefined || b === undefined || c === undefined) throw new Error('no traders')
  if (d === undefined || e === undefined || rescuer === undefined) throw new Error('no traders')
  await leaveMatching(world, rescuer)
  await setIndex(world, INDEX)
  return { world, poor, owner: [b, c], rich: [d, e], rescuer }
}
