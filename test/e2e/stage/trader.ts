import { createPublicClient, http } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { subAccountsAbi } from '../../../chain/abi/contracts.js'
import {
  createRestClient,
  randomNonce,
  signOrder,
  type MarketEntry,
  type OrderBody,
  type OrderRecord,
} from '../../../client/index.js'
import type { Side } from '../../../core/model/order.js'
import { eventually } from '../../support/eventually.js'
import type { Devnet } from '../../support/venue.js'

export const SPOT = 'cNGN-USDC'

export interface OrderWish {
  readonly side: Side
  /** cNGN, decimal text. */
  readonly amount: string
  /** USDC per cNGN, decimal text. */
  readonly price: string
  readonly orderId?: string
  readonly livesSec?: number
}

export interface SpotBalances {
  readonly usdcE18: bigint
  readonly cngnE18: bigint
}

/** One of the devnet's accounts with all it needs to trade on the spot market. */
export interface Trader {
  readonly address: string
  /** A signed body for `POST /v1/orders`. */
  sign(wish: OrderWish): Promise<OrderBody>
  place(wish: OrderWish): Promise<OrderRecord>
  /** Places a body that was signed before. */
  send(body: OrderBody): Promise<OrderRecord>
  cancel(order: { readonly nonce: string }): Promise<OrderRecord>
  /** Polls the order until it has the status. */
  until(orderId: string, status: string): Promise<OrderRecord>
  /** What the chain says the spot subaccount holds. */
  balances(): Promise<SpotBalances>
}

let orders = 0

/** What a trader needs of a devnet. */
export type Place = Pick<
  Devnet,
  | 'chain_id'
  | 'matching'
  | 'sub_accounts'
  | 'wrapped_usdc'
  | 'wrapped_cngn'
  | 'rpc_url'
  | 'gateway_url'
  | 'accounts'
>

/** Where a trader trades. */
export interface Desk {
  readonly market: string
  readonly subaccountId: string
}

/** `key` signs instead of the owner where it is given: a session key. Without `desk` the spot market and account. */
export function createTrader(
  devnet: Place,
  name: number,
  key?: PrivateKeyAccount,
  desk?: Desk,
): Trader {
  const account = devnet.accounts[name]
  if (account === undefined) throw new Error(`the devnet has no account ${name}`)
  const owner = privateKeyToAccount(account.private_key)
  const signer = key ?? owner
  const rest = createRestClient(devnet.gateway_url)
  const domain = { chainId: devnet.chain_id, matching: devnet.matching }
  const { market: traded, subaccountId } = desk ?? {
    market: SPOT,
    subaccountId: account.spot_subaccount_id,
  }
  let market: Promise<MarketEntry> | undefined

  const sign = async (wish: OrderWish): Promise<OrderBody> => {
    market ??= rest.markets().then((list) => list.find((it) => it.market === traded) as MarketEntry)
    orders += 1
    const orderId = wish.orderId ?? `e2e-${process.pid}-${Date.now()}-${orders}`
    return signOrder(signer, domain, {
      market: await market,
      orderId,
      subaccountId,
      owner: owner.address,
      nonce: randomNonce(),
      expirySec: Math.floor(Date.now() / 1000) + (wish.livesSec ?? 3_600),
      side: wish.side,
      price: wish.price,
      amount: wish.amount,
    })
  }
  return {
    address: owner.address.toLowerCase(),
    sign,
    place: async (wish) => rest.placeOrder(await sign(wish)),
    send: (body) => rest.placeOrder(body),
    cancel: ({ nonce }) => rest.cancelOrder({ owner_address: owner.address, nonce }),
    until: async (orderId, status) => {
      await eventually(async () => (await rest.order(orderId)).status === status)
      return rest.order(orderId)
    },
    balances: () => readBalances(devnet, BigInt(account.spot_subaccount_id)),
  }
}

/** Spot balances of a subaccount, read from the chain itself. */
export async function readBalances(devnet: Place, subaccountId: bigint): Promise<SpotBalances> {
  const client = createPublicClient({ transport: http(devnet.rpc_url) })
  const read = (asset: `0x${string}`) =>
    client.readContract({
      address: devnet.sub_accounts,
      abi: subAccountsAbi,
      functionName: 'getBalance',
      args: [subaccountId, asset, 0n],
    })
  return { usdcE18: await read(devnet.wrapped_usdc), cngnE18: await read(devnet.wrapped_cngn) }
}

/** Decimal text as an integer at 1e18, for exact comparisons in tests. */
export function e18(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}
