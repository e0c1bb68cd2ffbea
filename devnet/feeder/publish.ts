import { createPublicClient, http } from 'viem'
import { spotFeedAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { divHalfUp } from '../../core/decimal.js'
import { E18 } from '../../core/money.js'
import type { FeedPrices } from '../chain/perp-parameters.js'
import { signPrices, signSpotPrice, type FeedAddresses } from '../chain/sign-prices.js'
import { createBatch } from '../chain/transaction-batch.js'
import { waitFor } from '../launcher/wait-for.js'

const FEED_GAS = 300_000n
/** A chain that was killed loses transactions: prices are sent again after this. */
const RECEIPT_WITHIN_MS = 8_000

export interface Publisher {
  /**
   * Sends signed prices to all feeds, and to that of the futures the inverse of the index, in cNGN per USDC. Resolves once
   * all are mined. Throws BatchError when a feed refused its price or a transaction was lost, and the client's error when the node does not answer.
   */
  publish(prices: FeedPrices): Promise<void>
}

export interface PublisherOptions {
  readonly rpcUrl: string
  readonly feeds: FeedAddresses
  readonly futuresIndexFeed: Address
  readonly privateKey: Hex
}

/** Publishes prices with one key, which must have no other sender. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { rpcUrl, feeds, privateKey } = options
  const client = createPublicClient({ transport: http(rpcUrl) })

  /** Time of the newest block, once it is later than the prices on the chain: feeds ignore prices as old as theirs. */
  async function nextTimestampSec(): Promise<bigint> {
    const call = { address: feeds.spot_feed, abi: spotFeedAbi, functionName: 'spotDetail' } as const
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
      const calls = [...(await signPrices(update))]
      if (prices.index !== 0n) {
        const price = { price: divHalfUp(E18 * E18, prices.index), confidence: E18 }
        calls.push(await signSpotPrice(update, options.futuresIndexFeed, price))
      }
      for (const call of calls) await batch.send({ ...call, gas: FEED_GAS })
      await batch.flush()
    },
  }
}
