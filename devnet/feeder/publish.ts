import { createPublicClient, encodeFunctionData, http, parseAbi } from 'viem'
import { perpAssetAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import type { FeedPrices } from '../chain/perp-parameters.js'
import { signPrices, type FeedAddresses } from '../chain/sign-prices.js'
import { BatchError, createBatch } from '../chain/transaction-batch.js'
import { waitFor } from '../launcher/wait-for.js'

const FEED_GAS = 300_000n
const FUNDING_GAS = 400_000n
/** A chain that was killed loses transactions: prices are sent again after this. */
const RECEIPT_WITHIN_MS = 8_000

const feedAbi = parseAbi([
  'function spotDetail() view returns (uint96 price, uint64 confidence, uint64 timestamp)',
])

export interface Publisher {
  /**
   * Sends signed prices to all feeds, then touches the perpetual, so that funding accrues at them. Resolves once all are
   * mined. Throws BatchError when a feed refused its price or a transaction was lost, and the client's error when the node does not answer.
   */
  publish(prices: FeedPrices): Promise<void>
}

export interface PublisherOptions {
  readonly rpcUrl: string
  readonly feeds: FeedAddresses
  readonly perpAsset: Address
  /** An account without a position: touching it has no effect but on funding. */
  readonly fundingAccount: bigint
  readonly privateKey: Hex
}

/** Publishes prices with one key, which must have no other sender. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { rpcUrl, feeds, privateKey } = options
  const client = createPublicClient({ transport: http(rpcUrl) })

  /** Time of the newest block, once it is later than the prices on the chain: feeds ignore prices as old as theirs. */
  async function nextTimestampSec(): Promise<bigint> {
    const call = { address: feeds.spot_feed, abi: feedAbi, functionName: 'spotDetail' } as const
    const [, , publishedSec] = await client.readContract(call)
    return waitFor('a block newer than the prices', RECEIPT_WITHIN_MS, async () => {
      const { timestamp } = await client.getBlock()
      return timestamp > publishedSec ? timestamp : undefined
    })
  }

  return {
    async publish(prices) {
      const batch = await createBatch({ rpcUrl, privateKey, receiptWithinMs: RECEIPT_WITHIN_MS })
      const { chainId } = batch
      const timestampSec = await nextTimestampSec()
      const update = { chainId, feeds, signerKey: privateKey, prices, timestampSec }
      for (const call of await signPrices(update)) await batch.send({ ...call, gas: FEED_GAS })
      await batch.flush()
      await batch.send({
        to: options.perpAsset,
        data: touch(options.fundingAccount),
        gas: FUNDING_GAS,
      })
      await batch.flush().catch((error: unknown) => {
        // The perpetual refuses to be touched while its impact prices cross; funding waits for other prices.
        if (!(error instanceof BatchError)) throw error
      })
    },
  }
}

function touch(accountId: bigint): Hex {
  const args = [accountId] as const
  return encodeFunctionData({ abi: perpAssetAbi, functionName: 'realizeAccountPNL', args })
}
