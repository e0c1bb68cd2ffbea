import { encodeAbiParameters, encodeFunctionData, parseAbi, parseAbiParameters } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'
import type { FeedPrices } from './perp-parameters.js'

/** The feeds by their names in the deployment file. */
export type FeedAddresses = Readonly<
  Record<'spot_feed' | 'perp_feed' | 'impact_bid_feed' | 'impact_ask_feed' | 'stable_feed', Address>
>

export interface PriceUpdate {
  readonly chainId: number
  readonly feeds: FeedAddresses
  readonly signerKey: Hex
  readonly prices: FeedPrices
  /** Not after the time of the block that accepts the prices; feeds ignore prices that are not newer than theirs. */
  readonly timestampSec: bigint
}

/** How long a signed price may wait for its block. */
const ACCEPTED_FOR_SEC = 3_600n

const FEED_TYPES = {
  FeedData: [
    { name: 'data', type: 'bytes' },
    { name: 'deadline', type: 'uint256' },
    { name: 'timestamp', type: 'uint64' },
  ],
} as const
const feedAbi = parseAbi(['function acceptData(bytes data)'])
const FEED_DATA = parseAbiParameters([
  'FeedData feedData',
  'struct FeedData { bytes data; uint256 deadline; uint64 timestamp; address[] signers; bytes[] signatures; }',
])
const SPOT_DATA = parseAbiParameters('uint96 price, uint64 confidence')
const DIFF_DATA = parseAbiParameters('int96 diff, uint64 confidence')

/** Calls that any sender may send, in this order, to update all feeds: mark and impact prices follow the index. */
export async function signPrices(
  update: PriceUpdate,
): Promise<readonly { readonly to: Address; readonly data: Hex }[]> {
  const { feeds, prices } = update
  const { index, confidence } = prices
  const spot = (price: bigint) => encodeAbiParameters(SPOT_DATA, [price, confidence])
  const diff = (price: bigint) => encodeAbiParameters(DIFF_DATA, [price - index, confidence])
  return Promise.all([
    signedCall(update, 'LyraSpotFeed', feeds.stable_feed, spot(prices.stable)),
    signedCall(update, 'LyraSpotFeed', feeds.spot_feed, spot(index)),
    signedCall(update, 'LyraSpotDiffFeed', feeds.perp_feed, diff(prices.mark)),
    signedCall(update, 'LyraSpotDiffFeed', feeds.impact_bid_feed, diff(prices.bid)),
    signedCall(update, 'LyraSpotDiffFeed', feeds.impact_ask_feed, diff(prices.ask)),
  ])
}

/** The call that gives a spot feed its next price; any sender may send it. */
export const signSpotPrice = (
  update: Omit<PriceUpdate, 'feeds' | 'prices'>,
  feed: Address,
  { price, confidence }: { readonly price: bigint; readonly confidence: bigint },
): Promise<{ readonly to: Address; readonly data: Hex }> =>
  signedCall(update, 'LyraSpotFeed', feed, encodeAbiParameters(SPOT_DATA, [price, confidence]))

async function signedCall(
  update: Omit<PriceUpdate, 'feeds' | 'prices'>,
  domain: string,
  feed: Address,
  data: Hex,
) {
  const { chainId, timestampSec: timestamp } = update
  const account = privateKeyToAccount(update.signerKey)
  const deadline = timestamp + ACCEPTED_FOR_SEC
  const signature = await account.signTypedData({
    domain: { name: domain, version: '1', chainId, verifyingContract: feed },
    types: FEED_TYPES,
    primaryType: 'FeedData',
    message: { data, deadline, timestamp },
  })
  const signers = [account.address]
  const signed = { data, deadline, timestamp, signers, signatures: [signature] }
  const argument = encodeAbiParameters(FEED_DATA, [signed])
  const call = encodeFunctionData({ abi: feedAbi, functionName: 'acceptData', args: [argument] })
  return { to: feed, data: call }
}
