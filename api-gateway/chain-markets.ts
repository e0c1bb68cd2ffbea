import { setTimeout as delay } from 'node:timers/promises'
import { createPositionsReader } from '../chain/contracts/positions-reader.js'
import { createMarketReader } from '../chain/contracts/market-reader.js'
import { createChainClient, type ClientPurpose } from '../chain/reads/client.js'
import { loadDeployment } from '../chain/reads/deployment.js'
import { guardChain, type ChainGuardOptions } from '../chain/reads/guard-chain.js'
import { createPermitNonceReader } from '../chain/reads/read-transfer.js'
import type { Market } from '../core/model/market.js'
import type { ShownOfMarket } from '../core/records/market-entry.js'
import type { GatewayConfig } from './config.js'
import type { GatewayDeps } from './context.js'

/** How long what the chain shows of a market is kept (PER-001). */
const CACHE_MS = 10_000

/**
 * Reads of the chain: of markets, each tried once with a short time-out, and of accounts, tried again within a bounded
 * time. Without a node there are none.
 */
export async function openChainReads(
  config: Pick<GatewayConfig, 'RPC_URL' | 'DEPLOYMENT_FILE'>,
  watched: Pick<ChainGuardOptions, 'log' | 'show' | 'onFatal'>,
): Promise<Pick<GatewayDeps, 'chainMarkets' | 'positions' | 'permitNonce' | 'deployment'>> {
  const { RPC_URL: rpcUrl } = config
  const deployment = await loadDeployment(config.DEPLOYMENT_FILE)
  if (rpcUrl === undefined) return { deployment }
  await guardChain({ ...watched, rpcUrl, chainId: deployment.chainId })
  const clientFor = (purpose: ClientPurpose) => ({
    client: createChainClient(rpcUrl, purpose),
    deployment,
    nowMs: Date.now,
  })
  return {
    deployment,
    chainMarkets: createMarketReader({ ...clientFor('probe'), cacheMs: CACHE_MS }),
    positions: createPositionsReader(clientFor('read')),
    permitNonce: createPermitNonceReader(createChainClient(rpcUrl, 'read'), deployment.usdc),
  }
}

/** A read that takes longer goes on for the next request; this one is answered without it (PER-002). */
const OBSERVE_WITHIN_MS = 2_000

type ChainDeps = Pick<GatewayDeps, 'chainMarkets' | 'indexLimit' | 'nowMs'>

/** What market entries show of the chain. */
export type ShownOnChain = Pick<ShownOfMarket, 'observed' | 'indexLag'>

/** What the chain shows of a market; nothing when it does not answer in time, or shows nothing of such markets. */
export async function shownOnChain(
  { chainMarkets, indexLimit, nowMs }: ChainDeps,
  market: Market,
): Promise<ShownOnChain> {
  if (chainMarkets === undefined) return {}
  const observed = await withinBound(chainMarkets.readMarket(market))
  return observed === undefined ? {} : { observed, indexLag: await indexLimit?.lag(nowMs()) }
}

async function withinBound<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  const giveUp = new AbortController()
  const tooLate = delay(OBSERVE_WITHIN_MS, undefined, { ref: false, signal: giveUp.signal })
  try {
    return await Promise.race([reading, tooLate])
  } finally {
    tooLate.catch(() => undefined)
    giveUp.abort()
  }
}

/** The same of each enabled market, by its name. */
export async function marketsOnChain(
  deps: ChainDeps & Pick<GatewayDeps, 'markets'>,
): Promise<ReadonlyMap<string, ShownOnChain>> {
  const shown = async (market: Market) => [market.market, await shownOnChain(deps, market)] as const
  return new Map(await Promise.all(deps.markets.filter(({ enabled }) => enabled).map(shown)))
}
