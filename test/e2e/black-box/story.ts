import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Devnet } from '../../support/venue.js'
import { createChainUser, type ChainUser } from './chain.js'
import {
  createBlackBoxTrader,
  e18,
  identityOf,
  nowSec,
  traderOf,
  until,
  type Hex,
  type OrderJson,
  type BlackBoxTrader,
  type Wish,
} from './client.js'
import { createHistoryReader, type HistoryReader } from './frames.js'

/** The history of a new owner with two subaccounts. */
export interface Story {
  readonly reader: HistoryReader
  /** Whom the owner traded with, and the private reads of that account. */
  readonly other: BlackBoxTrader
  readonly othersReader: HistoryReader
  readonly first: BlackBoxTrader
  readonly second: BlackBoxTrader
  readonly orders: StoryOrders
  /** What the history called the orders of a match right after it was made. */
  readonly whileSettling: readonly unknown[]
}

export interface StoryOrders {
  /** Took SWEPT as one order, then rested, then was cancelled with a reason. */
  readonly sweep: OrderJson
  /** The two sides of a trade between the owner's subaccounts. */
  readonly ownMaker: OrderJson
  readonly ownTaker: OrderJson
  readonly hit: OrderJson
  readonly resting: OrderJson
  readonly plain: OrderJson
  readonly selfTrade: OrderJson
  readonly feeBound: OrderJson
  readonly expired: OrderJson
}

/** Prices and amounts whose products do not fit 18 decimals. */
export const SWEPT = [
  ['0.009123456789012345', '10.500001'],
  ['0.009223456789012345', '20.000003'],
  ['0.0093', '30'],
] as const

/** USDC of a fill at 1e18, rounded down as the chain moves it, and the taker's 25 bps of that. */
export const quoteOf = (price: string, amount: string): bigint =>
  (e18(price) * e18(amount)) / 10n ** 18n
export const feeOf = (quote: bigint): bigint => (quote * 25n) / 10_000n

/** Two accounts with 20 USDC each in the matching contract's custody, opened and paid for by development accounts. */
async function openTwoFor(devnet: Devnet, owner: Hex): Promise<readonly [string, string]> {
  const [dan, eve] = [4, 5].map((payer) =>
    createChainUser(devnet, devnet.accounts[payer]?.private_key as Hex),
  ) as [ChainUser, ChainUser]
  // One after the other: an account's number is known only once no other can get it.
  const one = await dan.openAccount()
  const two = await eve.openAccount()
  const fund = async (user: ChainUser, accountId: bigint) => {
    await user.giveToMatching(accountId, owner)
    await user.payUsdc(accountId, '20')
  }
  await Promise.all([fund(dan, one), fund(eve, two)])
  return [`${one}`, `${two}`]
}

/** Placed as soon as the venue has seen the account on chain. */
async function placeSoon(who: BlackBoxTrader, wish: Wish): Promise<OrderJson> {
  const { body } = await until(
    () => who.submit(wish),
    ({ status }) => status === 200,
  )
  return body.order as OrderJson
}

/** Trades through every status; resolves when all has settled. */
export async function tellStory(devnet: Devnet): Promise<Story> {
  const key = generatePrivateKey()
  const owner = privateKeyToAddress(key)
  const [one, two] = await openTwoFor(devnet, owner)
  const first = createBlackBoxTrader(devnet, identityOf(key, one))
  const second = createBlackBoxTrader(devnet, identityOf(key, two))
  const other = traderOf(devnet, 2)
  const reader = await createHistoryReader(devnet, key)
  const othersReader = await createHistoryReader(devnet, devnet.accounts[2]?.private_key as Hex)

  const resting = await placeSoon(first, { side: 'buy', price: '0.0011', amount: '1' })
  await placeSoon(second, { side: 'buy', price: '0.0011', amount: '1' }).then(second.cancel)
  const expired = await first.place({ ...EXPIRING, expiry: nowSec() + 3 })

  const sweep = await sweepOthers(first, other)
  const whileSettling: unknown[] = []
  const look = async (order: OrderJson) =>
    whileSettling.push((await reader.order(order.order_id)).status)

  const ownMaker = await first.place({ side: 'sell', price: '0.0096', amount: '25' })
  const ownTaker = await second.place({ side: 'buy', price: '0.0096', amount: '25' })
  await look(ownTaker)
  await look(ownMaker)
  const hit = await first.place({ side: 'sell', price: '0.0097', amount: '5' })
  const hitting = await other.place({ side: 'buy', price: '0.0097', amount: '5' })
  await look(hit)

  const dear = await other.place({ side: 'sell', price: '0.0098', amount: '5' })
  const feeBound = await first.place({ side: 'buy', price: '0.0098', amount: '5', worstFee: 0n })
  await other.cancel(dear)
  const plain = await first.place({ side: 'sell', price: '0.0099', amount: '5' })
  const selfTrade = await first.place({ side: 'buy', price: '0.0099', amount: '5' })
  await first.cancel(plain)

  for (const { order_id } of [ownMaker, ownTaker, hit, hitting])
    await first.orderWith(order_id, 'filled')
  await first.orderWith(expired.order_id, 'expired')
  const orders = { sweep, ownMaker, ownTaker, hit, resting, plain, selfTrade, feeBound, expired }
  return { reader, other, othersReader, first, second, orders, whileSettling }
}

const EXPIRING: Wish = { side: 'buy', price: '0.0012', amount: '1' }

/** Takes everything that the other sells, rests with 9 cNGN more, and gives up on those. */
async function sweepOthers(first: BlackBoxTrader, other: BlackBoxTrader): Promise<OrderJson> {
  for (const [price, amount] of SWEPT) await other.place({ side: 'sell', price, amount })
  const sweep = await first.place({ side: 'buy', price: '0.0094', amount: '69.500004' })
  await until(
    () => first.order(sweep.order_id),
    (it) => it.filled_amount === '60.500004',
  )
  await first.cancel(sweep, { reason: 'enough for today' })
  return sweep
}
