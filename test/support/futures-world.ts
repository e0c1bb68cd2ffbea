import { encodeFunctionData, type Abi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { matchingAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { compileContracts, type Artifacts } from '../../devnet/chain/compile-contracts.js'
import { seedTradingAccounts } from '../../devnet/chain/seed-accounts.js'
import { signSpotPrice } from '../../devnet/chain/sign-prices.js'
import { ANVIL_CHAIN_ID, ANVIL_KEY } from './anvil.js'
import { matchCall, ONE, signOrder } from './devnet-actions.js'
import {
  FEEDER_KEY,
  lower,
  openWorld,
  perform,
  testKey,
  type Call,
  type Trader,
  type World,
} from './devnet-world.js'

export const KEEPER = lower(privateKeyToAccount(FEEDER_KEY).address)
export const DAY = 86_400
export const HOUR = 3_600
/** cNGN per USDC at which the world starts. */
export const INDEX = 1_500n * ONE
/** A contract's fee at 25 bps. */
export const FEE = (25n * ONE) / 10n

/** A world with a series of its own that expires in 30 days, and an index of 1,500. */
export interface FuturesWorld extends World {
  readonly artifacts: Artifacts
  readonly subId: bigint
}

/** A fill of `amount` contracts at 1e18 between two accounts; the first side is the taker. */
export interface FutureFill {
  readonly taker: Trader
  readonly maker: Trader
  readonly takerBuys?: boolean
  readonly amount: bigint
  readonly price: bigint
  readonly takerFee?: bigint
  readonly makerFee?: bigint
  readonly worstFee?: bigint
  readonly subId?: bigint
  readonly recipientId?: bigint
  /** Of the maker's order alone. */
  readonly makerRecipientId?: bigint
  readonly asset?: Address
}

export const openFuturesWorld = async (): Promise<FuturesWorld> => withSeries(await openWorld())

/** The world with a series that expires in 30 days, and an index of 1,500. */
export async function withSeries(world: World): Promise<FuturesWorld> {
  const artifacts = await compileContracts()
  const subId = BigInt((await timeOf(world)) + 30 * DAY)
  const built = { ...world, artifacts, subId }
  // Blocks of one second may share its time, and a feed takes only newer prices.
  await warpTo(world, (await timeOf(world)) + 1)
  await setIndex(built, INDEX)
  await act(built, world.at.deployer, 'asset', 'createSeries', subId)
  return built
}

/** The expiry of the series of a world with a time of its own: 2026-11-30 14:00 UTC. */
export const SERIES_EXPIRY_SEC = 1_796_047_200

/**
 * A world at a time of its own choice, by default on one series, where a block is one second after the one before unless a test
 * says otherwise.
 */
export async function openDatedWorld(
  startSec: number,
  calendar: FuturesCalendar = [SERIES_EXPIRY_SEC],
): Promise<FuturesWorld> {
  const world = await openWorld({ startSec }, calendar)
  await world.client.setBlockTimestampInterval({ interval: 1 })
  return { ...world, artifacts: await compileContracts(), subId: BigInt(SERIES_EXPIRY_SEC) }
}

export async function timeOf(world: Pick<World, 'client'>): Promise<number> {
  return Number((await world.client.getBlock()).timestamp)
}

/** Mines a block at exactly this time. */
export async function warpTo(world: World, timeSec: number): Promise<void> {
  await world.client.setNextBlockTimestamp({ timestamp: BigInt(timeSec) })
  await world.client.mine({ blocks: 1 })
}

/** Signs and sends an index of this time, by default the newest block's. */
export async function setIndex(
  world: FuturesWorld,
  price: bigint,
  atSec?: number,
  confidence = ONE,
): Promise<void> {
  const timestampSec = BigInt(atSec ?? (await timeOf(world)))
  const update = { chainId: ANVIL_CHAIN_ID, signerKey: FEEDER_KEY, timestampSec }
  const feed = world.at.futures_index_feed
  const call = await signSpotPrice(update, feed, { price, confidence })
  await perform(world, { from: KEEPER, ...call })
}

/** A contract of the futures by its role, with its ABI. */
const CONTRACTS = {
  feed: ['futures_index_feed', 'SpotFeed'],
  asset: ['future_asset', 'FutureAsset'],
  manager: ['futures_manager', 'FuturesManager'],
  module: ['future_trade_module', 'FutureTradeModule'],
} as const

export type FuturesContract = keyof typeof CONTRACTS

function contractOf(world: FuturesWorld, role: FuturesContract): { to: Address; abi: Abi } {
  const [key, name] = CONTRACTS[role]
  return { to: world.at[key], abi: world.artifacts[name].abi }
}

/** A call as `from` would send it. */
export function callOf(
  world: FuturesWorld,
  from: Address,
  role: FuturesContract,
  ...[functionName, ...args]: readonly [string, ...unknown[]]
): Call {
  const { to, abi } = contractOf(world, role)
  return { from, to, data: encodeFunctionData({ abi, functionName, args: [...args] }) }
}

/** Sends a call, which must succeed. */
export function act(
  world: FuturesWorld,
  from: Address,
  role: FuturesContract,
  ...call: readonly [string, ...unknown[]]
) {
  return perform(world, callOf(world, from, role, ...call))
}

/** What a view function answers: one value, or a tuple of several. */
export async function ask<Answer>(
  world: FuturesWorld,
  role: FuturesContract,
  functionName: string,
  ...args: readonly unknown[]
): Promise<Answer> {
  const { to: address, abi } = contractOf(world, role)
  return (await world.client.readContract({ address, abi, functionName, args })) as Answer
}

/** Accounts under the futures manager that Matching holds, with so much of both tokens (1e18, whole token units). */
export async function openTraders(
  world: FuturesWorld,
  keys: readonly number[],
  { usdc, cngn }: { readonly usdc: bigint; readonly cngn: bigint },
): Promise<Trader[]> {
  const accounts = keys.map((key) => privateKeyToAccount(testKey(key)))
  const ids = await seedTradingAccounts(
    {
      rpcUrl: world.anvil.rpcUrl,
      privateKey: ANVIL_KEY,
      deployment: world.at,
      owners: accounts.map(({ address }) => lower(address)),
    },
    world.at.futures_manager,
    { usdc: usdc / UNIT, cngn: cngn / UNIT },
  )
  const traders = accounts.map((account, i) => ({
    account,
    address: lower(account.address),
    subaccountId: ids[i] ?? 0n,
  }))
  for (const { address } of traders) await world.client.setBalance({ address, value: 100n * ONE })
  return traders
}

const UNIT = 10n ** 12n

/** The match as the executor sends it. */
export async function fillCall(world: FuturesWorld, fill: FutureFill): Promise<Call> {
  const { taker, maker, takerBuys = true, amount, price, takerFee = 0n, makerFee = 0n } = fill
  const { worstFee = FEE, subId = world.subId } = fill
  const terms = {
    subId,
    limitPrice: price,
    desiredAmount: amount,
    worstFee,
    asset: fill.asset ?? world.at.future_asset,
  }
  const module = world.at.future_trade_module
  const sign = (trader: Trader, isBid: boolean, recipientId = fill.recipientId) =>
    signOrder(
      world,
      trader,
      { ...terms, isBid, recipientId: recipientId ?? trader.subaccountId },
      { module },
    )
  const makerOrder = await sign(maker, !takerBuys, fill.makerRecipientId ?? fill.recipientId)
  return matchCall(world, {
    taker: await sign(taker, takerBuys),
    fills: [{ maker: makerOrder, fee: makerFee }],
    takerFee,
  })
}

/** Settles a match, which must succeed. */
export async function settleFill(world: FuturesWorld, fill: FutureFill) {
  return perform(world, await fillCall(world, fill))
}

/** Takes accounts out of Matching, so that their owners act for them directly. */
export async function leaveMatching(world: World, ...traders: readonly Trader[]): Promise<void> {
  const send = (
    { address: from, subaccountId }: Trader,
    functionName: 'requestWithdrawAccount' | 'completeWithdrawAccount',
  ) =>
    perform(world, {
      from,
      to: world.at.matching,
      data: encodeFunctionData({ abi: matchingAbi, functionName, args: [subaccountId] }),
    })
  for (const trader of traders) await send(trader, 'requestWithdrawAccount')
  await warpTo(world, (await timeOf(world)) + 1_800)
  for (const trader of traders) await send(trader, 'completeWithdrawAccount')
}

/** Position of an account, contracts at 1e18. */
export function positionOf(
  world: FuturesWorld,
  accountId: bigint,
  subId = world.subId,
): Promise<bigint> {
  return world.client.readContract({
    address: world.at.sub_accounts,
    abi: world.artifacts.SubAccounts.abi,
    functionName: 'getBalance',
    args: [accountId, world.at.future_asset, subId],
  }) as Promise<bigint>
}
