import { futureAssetAbi } from '../../../chain/abi/contracts.js'
import type { Address } from '../../../core/action.js'
import { privateKeyToAccount } from 'viem/accounts'
import { ONE } from '../../support/devnet-actions.js'
import { lower, testKey, type Trader } from '../../support/devnet-world.js'
import {
  act,
  DAY,
  leaveMatching,
  openDatedWorld,
  openTraders,
  SERIES_EXPIRY_SEC,
  setIndex,
  timeOf,
  type FuturesWorld,
} from '../../support/futures-world.js'
import type { SeriesVenue } from '../../support/series-venue.js'
import { keepPricesFresh, openPerpAccount, setPrices, trade } from '../../support/perp-world.js'

/** The keys of the keeper, and of the owners of the accounts that fail. */
export const KEEPER_KEY = testKey(1_079)
const OWNER_KEY = 40
export const KEEPER_ADDRESS = lower(privateKeyToAccount(KEEPER_KEY).address)
/** Accounts that bid; each bids once. */
const BIDDERS = 12
/** Accounts of each kind that are opened at a time, with less and less margin. */
const FAILING = 3
/** Of the perpetual each is long so many contracts, of a series short so many USDC. */
const PERP_SIZE = 1_000_000
const FUTURE_SIZE = '10000'
/** USDC that carry such a position, the more the longer. */
const CASH = 70
const MARGIN = 1_040n
export const EXPIRY_SEC = SERIES_EXPIRY_SEC
/** Both are open from the start; the third one is opened and registered by the keeper. */
export const NEXT_EXPIRY_SEC = SERIES_EXPIRY_SEC + 31 * DAY
export const THIRD_EXPIRY_SEC = SERIES_EXPIRY_SEC + 62 * DAY
export const CALENDAR = [EXPIRY_SEC, NEXT_EXPIRY_SEC, THIRD_EXPIRY_SEC]
/** The names of the series, in that order. */
export const SERIES = ['USDC-cNGN-30NOV26', 'USDC-cNGN-31DEC26', 'USDC-cNGN-31JAN27'] as const
/** Trading in the first series ends so long before it expires, and the third one is due. */
const ROLL_SEC = 3_700
/** The key of the account that is the other side of all futures. */
export const DEALER_KEY = 31

/** A chain with a perpetual and dated futures, accounts that will fail, and what the keeper takes over with. */
export interface KeptWorld extends FuturesWorld {
  /** By which accounts the perpetual is held, and the futures. */
  readonly perpAccounts: bigint[]
  readonly futureAccounts: bigint[]
  readonly bidders: readonly bigint[]
  readonly rescuer: bigint
  readonly insurer: bigint
  readonly dealers: { readonly perp: Trader; readonly future: Trader }
}

/** USDC per cNGN at 1e18, as decimal text. */
export const asDecimal = (price: bigint): string => `0.${price.toString().padStart(18, '0')}`

/** cNGN per USDC of a price in USDC per cNGN, both at 1e18, rounded down. */
export const inverse = (price: bigint): bigint => (ONE * ONE) / price

/** Begins so long before the first series expires; no account has a position yet. */
export async function openKeptWorld(leftSec: number): Promise<KeptWorld> {
  const world = await openDatedWorld(EXPIRY_SEC - leftSec, CALENDAR)
  const { at, client } = world
  await client.setBalance({ address: KEEPER_ADDRESS, value: 1_000n * ONE })
  for (const role of ['setMarkKeeper', 'setSeriesCreator'])
    await act(world, at.deployer, 'asset', role, KEEPER_ADDRESS)
  await keepPricesFresh(world)
  const perp = await openPerpAccount(world, world.bob, { cash: 5_000_000 })
  const rich = { usdc: 1_000_000n * ONE, cngn: 1_000_000_000n * ONE }
  const [future, insurer] = await openTraders(world, [DEALER_KEY, 32], rich)
  const [rescuer] = await openTraders(world, [1_079], rich)
  if (future === undefined || insurer === undefined || rescuer === undefined)
    throw new Error('no traders')
  const bidders: Trader[] = []
  const keeper = { ...world.alice, address: KEEPER_ADDRESS }
  for (let i = 0; i < BIDDERS; i += 1)
    bidders.push(await openPerpAccount(world, keeper, { cash: 5_000 }))
  await leaveMatching(world, rescuer, ...bidders)
  await act(world, at.deployer, 'manager', 'setInsuranceAccount', insurer.subaccountId)
  return {
    ...world,
    perpAccounts: [perp.subaccountId, ...bidders.map(({ subaccountId }) => subaccountId)],
    futureAccounts: [future, insurer, rescuer].map(({ subaccountId }) => subaccountId),
    bidders: bidders.map(({ subaccountId }) => subaccountId),
    rescuer: rescuer.subaccountId,
    insurer: insurer.subaccountId,
    dealers: { perp, future },
  }
}

/** The newest series that trades in which new accounts take positions, the third one in each second group. */
async function seriesFor(world: KeptWorld, group: number): Promise<0 | 1 | 2> {
  if ((await timeOf(world)) < EXPIRY_SEC - ROLL_SEC) return 0
  return group % 2 === 0 ? 2 : 1
}

/**
 * USDC at 1e18, rounded down, that a short of the series at the price (cNGN per USDC at 1e18) needs more for its initial margin,
 * while the mark lags behind an index that has fallen.
 */
async function lossAtTheMark(world: KeptWorld, series: number, price: bigint): Promise<bigint> {
  const { client, at } = world
  const [, mark] = await client.readContract({
    address: at.future_asset,
    abi: futureAssetAbi,
    functionName: 'series',
    args: [BigInt(CALENDAR[series] ?? 0)],
  })
  if (mark <= price) return 0n
  return (BigInt(FUTURE_SIZE) * ONE * (mark - price) * 11n) / (price * 10n)
}

/**
 * Opens accounts that are long of the perpetual, and others that are short of a series by orders at the venue, all at the price
 * (USDC per cNGN): both fail when cNGN loses. The chain mines each transaction by itself meanwhile.
 */
export async function openFailing(
  { world, venue }: { readonly world: KeptWorld; readonly venue: SeriesVenue },
  price: bigint,
  group: number,
): Promise<void> {
  const { dealers, perpAccounts, futureAccounts } = world
  const text = asDecimal(price)
  await setPrices(world, { index: text })
  const series = await seriesFor(world, group)
  const market = SERIES[series]
  for (let i = 0; i < FAILING; i += 1) {
    const key = OWNER_KEY + group * FAILING + i
    const account = privateKeyToAccount(testKey(key))
    const trader = { account, address: lower(account.address), subaccountId: 0n }
    await world.client.setBalance({ address: trader.address, value: 100n * ONE })
    const long = await openPerpAccount(world, trader, { cash: CASH + 10 * i })
    await trade(world, { buyer: long, seller: dealers.perp, size: PERP_SIZE, price: text })
    const margin = (MARGIN + 60n * BigInt(i)) * ONE
    const funds = { usdc: margin + (await lossAtTheMark(world, series, inverse(price))), cngn: 0n }
    const [short] = await openTraders(world, [key], funds)
    if (short === undefined) throw new Error('no trader')
    await setIndex(world, inverse(price))
    const terms = { market, amount: FUTURE_SIZE, price: `${inverse(price) / ONE}` }
    const sides = [
      { side: 'sell', key, subaccountId: short.subaccountId, orderId: `short-${key}` },
      {
        side: 'buy',
        key: DEALER_KEY,
        subaccountId: dealers.future.subaccountId,
        orderId: `dealer-${key}`,
      },
    ] as const
    for (const side of sides) {
      const refused = await venue.place({ ...terms, ...side })
      if (refused !== undefined) throw new Error(`${side.orderId} was refused: ${refused}`)
    }
    perpAccounts.push(long.subaccountId)
    futureAccounts.push(short.subaccountId)
  }
}

/** The contracts of a market as a keeper is told. */
export const contractsOf = (asset: Address, module: Address, manager: Address) => ({
  assetAddress: lower(asset),
  tradeModuleAddress: lower(module),
  marginManagerAddress: lower(manager),
})
