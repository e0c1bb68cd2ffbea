import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { perpAssetAbi } from '../../chain/abi/contracts.js'
import type { Hex } from '../../core/action.js'
import { callChain } from '../../devnet/chain/anvil.js'
import { pricesFile, pricesSchema, type PricesAsText } from '../../devnet/feeder/prices.js'
import { writeJsonDurably } from '../../data/durable-file.js'
import { eventually } from './eventually.js'
import type { TestVenue } from './venue.js'

const PUBLISHED_WITHIN_MS = 30_000

/** Sets the prices of a venue that runs a feeder; resolves once they are on its chain. */
export async function publishPrices(venue: TestVenue, prices: PricesAsText): Promise<void> {
  const { index, mark, bid, ask } = pricesSchema.parse(prices)
  await writeJsonDurably(pricesFile(venue.dataDir), prices)
  await eventually(async () => {
    const [indexNow] = await read(venue, 'getIndexPrice')
    const [markNow] = await read(venue, 'getPerpPrice')
    const [bidNow, askNow] = await read(venue, 'getImpactPrices')
    return indexNow === index && markNow === mark && bidNow === bid && askNow === ask
  }, PUBLISHED_WITHIN_MS)
}

type Read = 'getIndexPrice' | 'getPerpPrice' | 'getImpactPrices'

async function read({ devnet }: TestVenue, functionName: Read): Promise<readonly [bigint, bigint]> {
  const data = encodeFunctionData({ abi: perpAssetAbi, functionName })
  const call = { to: devnet.perp_asset, data }
  const answer = (await callChain(devnet.rpc_url, 'eth_call', [call, 'latest'])) as Hex
  return decodeFunctionResult({ abi: perpAssetAbi, functionName, data: answer })
}
