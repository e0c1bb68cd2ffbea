import type { ContractType, Market } from '../../core/model/market.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { AT } from './chain-state.js'

/** Kinds of market that can be simulated. */
export const KINDS = ['spot', 'perpetual', 'future'] as const satisfies readonly ContractType[]
export type Kind = (typeof KINDS)[number]

/** Throws for a text that names none. */
export function kindOf(text: string): Kind {
  const kind = KINDS.find((one) => one === text)
  if (kind === undefined) throw new Error(`a kind is one of ${KINDS.join(', ')}, not ${text}`)
  return kind
}

/** The markets of a simulation, as they are registered. */
export interface MarketPlan {
  readonly markets: readonly Market[]
  readonly rowOf: (market: string) => Market
}

export interface PlanOptions {
  readonly kinds: readonly Kind[]
  /** Expiry of the series, unix seconds. */
  readonly expirySec: number
}

/** One market of each kind. */
export function planMarkets({ kinds, expirySec }: PlanOptions): MarketPlan {
  const markets = kinds.map((kind) => marketOf(kind, expirySec))
  const rows = new Map(markets.map((market) => [market.market, market]))
  const rowOf = (name: string): Market => {
    const row = rows.get(name)
    if (row === undefined) throw new Error(`${name} is not simulated`)
    return row
  }
  return { markets, rowOf }
}

function marketOf(kind: Kind, expirySec: number): Market {
  switch (kind) {
    case 'spot':
      return aMarket({
        tradeModuleAddress: AT.spotModule,
        marginManagerAddress: AT.manager,
        assetAddress: AT.cngn,
        quoteAssetAddress: AT.usdc,
      })
    case 'perpetual':
      return aPerp({
        tradeModuleAddress: AT.perpModule,
        marginManagerAddress: AT.perpManager,
        assetAddress: AT.perpAsset,
        quoteAssetAddress: AT.cash,
      })
    case 'future':
      return aFuture({
        tradeModuleAddress: AT.futureModule,
        marginManagerAddress: AT.manager,
        assetAddress: AT.futureAsset,
        quoteAssetAddress: AT.usdc,
        subId: BigInt(expirySec),
      })
  }
}
