import { createPublicClient, encodeFunctionData, http } from 'viem'
import { futureAssetAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import { exactNumber } from '../../core/decimal.js'
import { BatchError, createBatch, type BatchSenderOptions } from '../chain/transaction-batch.js'

const CREATE_GAS = 400_000n
/** The next series cannot be opened; the message is one line. */
export class NoNextSeries extends Error {
  override readonly name = 'NoNextSeries'
}

/**
 * Expiries of the series that are open on the chain of a deployment, rising, in unix seconds; empty where the deployment has no futures.
 */
export async function readOpenSeries(
  rpcUrl: string,
  deployment: Readonly<Record<string, unknown>>,
): Promise<readonly number[]> {
  const address = deployment.future_asset as Address | undefined
  if (address === undefined) return []
  const client = createPublicClient({ transport: http(rpcUrl) })
  const asset = { address, abi: futureAssetAbi } as const
  const open = await client.readContract({ ...asset, functionName: 'openSeries' })
  return open.map(exactNumber).toSorted((a, b) => a - b)
}

/**
 * Opens a series on the chain. The sender is the asset's series creator, or its owner, who is creator meanwhile. Throws
 * NoNextSeries when the chain refuses it or does not answer.
 */
export async function createSeries(
  sender: BatchSenderOptions,
  futureAsset: Address,
  expirySec: number,
): Promise<void> {
  const batch = await createBatch(sender).catch((cause: unknown) => {
    const message = `the chain at ${sender.rpcUrl} does not answer: is the venue running?`
    throw new NoNextSeries(message, { cause })
  })
  const creator = await readCreator(sender.rpcUrl, futureAsset)
  const abi = futureAssetAbi
  const create = encodeFunctionData({
    abi,
    functionName: 'createSeries',
    args: [BigInt(expirySec)],
  })
  const name = (address: Address) =>
    encodeFunctionData({ abi, functionName: 'setSeriesCreator', args: [address] })
  const isCreator = creator === batch.sender
  const calls = isCreator ? [create] : [name(batch.sender), create, name(creator)]
  for (const data of calls) await batch.send({ to: futureAsset, data, gas: CREATE_GAS })
  await batch.flush().catch((error: unknown) => {
    if (!(error instanceof BatchError)) throw error
    throw new NoNextSeries(
      `the chain opened no series: it must be new, its expiry more than an hour ahead, and the index fresh (${error.message})`,
    )
  })
}

async function readCreator(rpcUrl: string, address: Address): Promise<Address> {
  const client = createPublicClient({ transport: http(rpcUrl) })
  const call = { address, abi: futureAssetAbi, functionName: 'seriesCreator' } as const
  return (await client.readContract(call)).toLowerCase() as Address
}
