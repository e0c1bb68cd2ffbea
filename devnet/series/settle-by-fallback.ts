import { createPublicClient, encodeFunctionData, http } from 'viem'
import { futureAssetAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import { createBatch, type BatchSenderOptions } from '../chain/transaction-batch.js'

const FALLBACK_GAS = 400_000n

/**
 * Settles a series whose fixing is incomplete, a day and more after its expiry, with the key of the asset's owner. The price is
 * the average of what samples there are, rounded down, or without any the last mark. Resolves with it (cNGN per USDC at 1e18),
 * and with undefined where the series is settled, or its fixing is complete. Throws as a batch does.
 */
export async function settleByFallback(
  { rpcUrl, privateKey }: BatchSenderOptions,
  address: Address,
  subId: bigint,
): Promise<bigint | undefined> {
  const client = createPublicClient({ transport: http(rpcUrl) })
  const asset = { address, abi: futureAssetAbi, args: [subId] } as const
  const series = await client.readContract({ ...asset, functionName: 'series' })
  const fixing = await client.readContract({ ...asset, functionName: 'fixing' })
  const [, mark, , settlementPrice] = series
  const [, priceSeconds, coveredSec, , isComplete] = fixing
  // A complete fixing is the keeper's to settle.
  if (settlementPrice !== 0n || isComplete) return undefined
  const price = coveredSec === 0n ? mark : priceSeconds / coveredSec
  const batch = await createBatch({ rpcUrl, privateKey })
  const call = { abi: futureAssetAbi, functionName: 'setFallbackPrice' } as const
  const data = encodeFunctionData({ ...call, args: [subId, price] })
  await batch.send({ to: address, data, gas: FALLBACK_GAS })
  await batch.flush()
  return price
}
