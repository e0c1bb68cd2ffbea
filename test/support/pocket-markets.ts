import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MarketEntry } from '../../client/index.js'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { dateCodeOf } from '../../core/contracts/future.js'
import type { Market } from '../../core/model/market.js'
import { defaultMarketFile, loadMarkets } from '../../data/markets.js'
import { administer, type Trader, type World } from './devnet-world.js'
import { withSeries } from './futures-world.js'
import { keepPricesFresh, openPerpAccount, perpAdminAbi } from './perp-world.js'
import type { MoreMarkets, OrderMarket, PocketProcess } from './pocket-venue.js'
import { seriesRow } from './series-rows.js'

/** A market of one kind on a pocket venue, and two accounts that trade in it. */
export interface PocketMarket extends OrderMarket {
  readonly name: string
  readonly row: Market
  readonly module: Address
  readonly matcher: PocketProcess
  /** Of an order of AMOUNT as the module counts it. */
  readonly filled: bigint
  readonly seller: Trader
  readonly buyer: Trader
}

/** The size of every order: 1,000 cNGN, or one contract of 1,000 USDC. */
export const AMOUNT = '1000'
const AMOUNT_E18 = 1_000n * 10n ** 18n
const FOREVER_SEC = 10n ** 9n
/** What one account needs for as many orders as a suite has. */
const PERP_CASH = 10_000

const PLANS = [
  { kind: 'spot', matcher: 'matcher', price: '0.00065' },
  { kind: 'perpetual', matcher: 'perpMatcher', price: '0.00065' },
  { kind: 'future', matcher: 'futureMatcher', price: '1500' },
] as const

export type PocketKind = (typeof PLANS)[number]['kind']

export interface PocketMarkets {
  /** Hands the markets to a pocket venue. */
  readonly prepare: (world: World, dataDir: string) => Promise<MoreMarkets>
  /** Once they were prepared. */
  readonly of: (kind: PocketKind) => PocketMarket
}

/**
 * Spot, the perpetual and a series that expires in thirty days, on prices that do not age. The chain reader has to run, and a
 * matcher for each of them.
 */
export function pocketMarkets(): PocketMarkets {
  const byKind = new Map<PocketKind, PocketMarket>()
  return {
    async prepare(world, dataDir) {
      await keepPricesFresh(world)
      const feed = world.at.futures_index_feed
      await administer(world, feed, perpAdminAbi, 'setHeartbeat', FOREVER_SEC)
      const { subId } = await withSeries(world)
      const marketsFile = join(dataDir, 'markets.json')
      writeFileSync(marketsFile, JSON.stringify(rowsWith(subId)))
      const { markets } = loadMarkets(world.at as never, marketsFile)
      const perp = {
        seller: await openPerpAccount(world, world.bob, { cash: PERP_CASH }),
        buyer: await openPerpAccount(world, world.alice, { cash: PERP_CASH }),
      }
      for (const { kind, ...plan } of PLANS) {
        const market = markets.find(({ contractType }) => contractType === kind)
        assert(market !== undefined, `the market file has no ${kind}`)
        const traders = kind === 'perpetual' ? perp : { seller: world.bob, buyer: world.alice }
        byKind.set(kind, { ...plan, ...termsOf(market), ...traders })
      }
      return {
        settings: { MARKETS_FILE: marketsFile },
        marketOf: Object.fromEntries([...byKind.values()].map((it) => [it.matcher, it.name])),
      }
    },
    of(kind) {
      const market = byKind.get(kind)
      assert(market !== undefined, `${kind} was not prepared`)
      return market
    },
  }
}

/** The shipped markets, with a series of our own instead of the shipped one, which may have ended. */
function rowsWith(subId: bigint): readonly unknown[] {
  const shipped = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as { contract_type: string }[]
  const others = shipped.filter(({ contract_type: kind }) => kind !== 'future')
  return [...others, seriesRow(`USDC-cNGN-${dateCodeOf(subId)}`, others.length, subId)]
}

/** All that signing needs of the market's record. */
function termsOf(market: Market) {
  const { contractType, assetAddress, subId, tradeModuleAddress: module, amountScale } = market
  const entry = {
    asset_address: assetAddress,
    sub_id: `${subId}`,
    trade_module_address: module,
    contract_multiplier: `${market.contractMultiplier}`,
    ...(contractType === 'future' && { future: { amount_scale: `${amountScale}` } }),
  } as MarketEntry
  const filled = (AMOUNT_E18 * amountScale) / 10n ** 18n
  return { name: market.market, row: market, module, entry, filled }
}
