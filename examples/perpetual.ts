import { setTimeout as delay } from 'node:timers/promises'
import {
  createPublicClient,
  createWalletClient,
  http,
  type Address,
  type Hex,
  formatUnits,
  parseAbi,
  parseUnits,
  type TransactionReceipt,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  createRestClient,
  randomNonce,
  signTraderOrder,
  type MarketEntry,
  type OrderRecord,
  type PerpState,
  type PositionsBody,
} from '../client/index.js'
import type { Devnet, DevnetAccount } from './devnet.js'

/** What the examples of the perpetual have in common. */

const MARKET = 'cNGN-PERP'
const FIVE_MINUTES = 300
const LOOK_EVERY_MS = 500
const GIVE_UP_AFTER_MS = 60_000

/** The perpetual's entry with its state on the chain. */
export async function readPerpetual(
  devnet: Devnet,
): Promise<{ readonly market: MarketEntry; readonly perp: PerpState }> {
  const markets = await createRestClient(devnet.gateway_url).markets()
  const market = markets.find((one) => one.market === MARKET)
  if (market?.perp === undefined) throw new Error(`the venue shows no ${MARKET}`)
  return { market, perp: market.perp }
}

const settlementEvents = parseAbi([
  'event PositionSettled(uint256 indexed account, int256 pnlChange, int256 totalPnl, uint256 perpPrice)',
  'event PerpSettled(uint256 indexed accountId, address perp, int256 pnl, int256 funding)',
])

/** What the chain says of an account's cash beyond its fills; the venue shows neither, but where the chain is. */
export interface Settlements {
  /** Marks by the hash of the transaction, at 18 decimals: a fill pays the difference to the mark at which it settles. */
  readonly marks: ReadonlyMap<string, bigint>
  /** Gain and funding that came into cash, USDC at 18 decimals. */
  readonly gainE18: bigint
}

/** A range of blocks that public nodes accept. */
const BLOCKS_AT_ONCE = 1_000

/** Of the blocks after `from`, until `to`: read in ranges that a node answers. */
export async function settlementsOf(
  rpcUrl: string,
  contracts: { readonly asset: Address; readonly manager: Address },
  of: { readonly subaccountId: string; readonly from: number; readonly to: number },
): Promise<Settlements> {
  const chain = createPublicClient({ transport: http(rpcUrl) })
  const account = BigInt(of.subaccountId)
  const [positionSettled, perpSettled] = settlementEvents
  const marks = new Map<string, bigint>()
  let gainE18 = 0n
  for (let first = of.from + 1; first <= of.to; first += BLOCKS_AT_ONCE) {
    const last = Math.min(first + BLOCKS_AT_ONCE - 1, of.to)
    const blocks = { strict: true, fromBlock: BigInt(first), toBlock: BigInt(last) } as const
    const [touches, settlements] = await Promise.all([
      chain.getLogs({
        ...blocks,
        address: contracts.asset,
        event: positionSettled,
        args: { account },
      }),
      chain.getLogs({
        ...blocks,
        address: contracts.manager,
        event: perpSettled,
        args: { accountId: account },
      }),
    ])
    for (const { transactionHash, args } of touches) marks.set(transactionHash, args.perpPrice)
    for (const { args } of settlements) gainE18 += args.pnl + args.funding
  }
  return { marks, gainE18 }
}

export interface PerpetualOrder {
  readonly account: DevnetAccount
  /** Default: the account's first one. */
  readonly subaccountId?: string
  readonly side: 'buy' | 'sell'
  readonly price: string
  /** cNGN, whole. */
  readonly size: string
  readonly reduceOnly?: boolean
}

/** Signs an order and places it. */
export async function placeOrder(
  devnet: Devnet,
  { account, subaccountId = account.perp_subaccount_id, ...terms }: PerpetualOrder,
): Promise<OrderRecord> {
  const { market } = await readPerpetual(devnet)
  const nonce = randomNonce()
  const domain = { chainId: devnet.chain_id, matching: devnet.matching }
  const venue = createRestClient(devnet.gateway_url)
  const bestBid = await venue.bestBid(market.market)
  const body = await signTraderOrder(privateKeyToAccount(account.private_key), domain, {
    market,
    orderId: `example-${nonce}`,
    subaccountId,
    nonce,
    expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
    bestBid,
    ...terms,
  })
  return venue.placeOrder(body)
}

/** A limit 1 % worse than the price: where another order has taken the resting one, the quotes around it fill this. */
export const takingPrice = (side: 'buy' | 'sell', price: string): string =>
  formatUnits((parseUnits(price, 18) * (side === 'buy' ? 101n : 99n)) / 100n, 18)

/** Asks again until the answer is as wanted. */
export async function until<Answer>(
  ask: () => Promise<Answer>,
  isWanted: (answer: Answer) => boolean,
): Promise<Answer> {
  const giveUpAtMs = Date.now() + GIVE_UP_AFTER_MS
  for (;;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    if (Date.now() > giveUpAtMs) throw new Error(`still ${JSON.stringify(answer)}`)
    await delay(LOOK_EVERY_MS)
  }
}

/** Waits until the chain has settled all of the order. */
export const untilFilled = (devnet: Devnet, { order_id }: OrderRecord): Promise<OrderRecord> =>
  until(
    () => createRestClient(devnet.gateway_url).order(order_id),
    ({ status }) => status === 'filled',
  )

/** Waits until the account's position, signed, is this large. */
export const untilPosition = (
  devnet: Devnet,
  subaccountId: string,
  size: string,
): Promise<PositionsBody> =>
  until(
    () => createRestClient(devnet.gateway_url).positions(subaccountId),
    ({ positions }) => (positions[0]?.engine_position ?? '0') === size,
  )

/** Sends a transaction of the account's own and waits until it is mined; throws when it reverts. */
export async function send(
  devnet: Devnet,
  { private_key: key }: DevnetAccount,
  call: { readonly to: Address; readonly data: Hex },
): Promise<TransactionReceipt> {
  const transport = http(devnet.rpc_url)
  const from = privateKeyToAccount(key)
  const wallet = createWalletClient({ account: from, transport })
  const chain = createPublicClient({ transport, pollingInterval: LOOK_EVERY_MS })
  // Prices and auctions move on until the transaction is mined, and with them the gas that it takes.
  const gas = 2n * (await chain.estimateGas({ account: from, ...call }))
  const hash = await wallet.sendTransaction({ ...call, gas, chain: null })
  const receipt = await chain.waitForTransactionReceipt({ hash })
  if (receipt.status !== 'success') throw new Error(`${hash} reverted`)
  return receipt
}
