import { decodeFunctionResult, encodeFunctionData, type Abi } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { variationOf } from '../../core/contracts/future-margin.js'
import { ONE } from './devnet-actions.js'
import type { FuturesWorld } from './futures-world.js'

/** What the chain says of all accounts at one block, with their worth at the index, and at a settlement price what is settled. */
export interface SolvencyState {
  readonly timeSec: number
  readonly index: bigint
  readonly series: readonly SeriesState[]
  readonly accounts: ReadonlyMap<bigint, AccountState>
  readonly pool: bigint
  /** Wrapped cNGN that pays claims. */
  readonly poolHeld: bigint
}

export interface SeriesState {
  readonly subId: bigint
  readonly mark: bigint
  /** 0 until it is settled. */
  readonly settlementPrice: bigint
}

export interface AccountState {
  readonly usdc: bigint
  readonly wrapped: bigint
  /** What it is owed, or owes, at the marks. */
  readonly variation: bigint
  readonly positions: ReadonlyMap<bigint, bigint>
  /** cNGN with all that is not settled at the index. */
  readonly cngn: bigint
  /** Sum of the sizes of positions that are not settled, contracts at 1e18. */
  readonly size: bigint
  /** In USDC at the index, times the index: exact, at 1e36. */
  readonly worth: bigint
}

interface Asked {
  readonly to: Address
  readonly abi: Abi
  readonly functionName: string
  readonly args: readonly unknown[]
}

/** Answers of view functions in one request, by position; undefined where one reverts. */
export async function askAll(
  world: FuturesWorld,
  asked: readonly Asked[],
): Promise<readonly unknown[]> {
  if (asked.length === 0) return []
  const body = asked.map((call, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_call',
    params: [{ to: call.to, data: dataOf(call) }, 'latest'],
  }))
  const response = await fetch(world.anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answers = (await response.json()) as { readonly id: number; readonly result?: Hex }[]
  const byId = new Map(answers.map(({ id, result }) => [id, result]))
  return asked.map(({ abi, functionName }, id) => {
    const data = byId.get(id)
    return data === undefined ? undefined : decodeFunctionResult({ abi, functionName, data })
  })
}

const encoded = new Map<string, Hex>()

/** Encoded once: the same questions are asked after each call. */
function dataOf({ to, abi, functionName, args }: Asked): Hex {
  const name = `${to} ${functionName} ${args.join()}`
  const known = encoded.get(name)
  if (known !== undefined) return known
  const data = encodeFunctionData({ abi, functionName, args: [...args] })
  encoded.set(name, data)
  return data
}

type Held = readonly { readonly asset: string; readonly subId: bigint; readonly balance: bigint }[]
type Series = readonly [bigint, bigint, bigint, bigint, number]

/** `index` is what was signed last; stale or not, positions are valued with it. */
export async function readState(
  world: FuturesWorld,
  ids: readonly bigint[],
  subIds: readonly bigint[],
  { index, poolAccount }: { readonly index: bigint; readonly poolAccount: bigint },
): Promise<SolvencyState> {
  const { sub_accounts, futures_manager, future_asset, wrapped_usdc, wrapped_cngn } = world.at
  const { SubAccounts, FuturesManager, FutureAsset } = world.artifacts
  const accounts = { to: sub_accounts, abi: SubAccounts.abi }
  const manager = { to: futures_manager, abi: FuturesManager.abi }
  const asset = { to: future_asset, abi: FutureAsset.abi }
  const [block, answers] = await Promise.all([
    world.client.getBlock(),
    askAll(world, [
      ...ids.map((id) => ({ ...accounts, functionName: 'getAccountBalances', args: [id] })),
      ...ids.map((id) => ({ ...manager, functionName: 'variation', args: [id] })),
      ...subIds.map((subId) => ({ ...asset, functionName: 'series', args: [subId] })),
      { ...manager, functionName: 'pool', args: [] },
      { ...accounts, functionName: 'getBalance', args: [poolAccount, wrapped_cngn, 0n] },
    ]),
  ])
  const series = subIds.map((subId, i): SeriesState => {
    const [, mark, , settlementPrice] = answers[2 * ids.length + i] as Series
    return { subId, mark, settlementPrice }
  })
  const marks = new Map(series.map((one) => [one.subId, one]))
  const states = ids.map((id, i): readonly [bigint, AccountState] => {
    const held = answers[i] as Held
    const variation = answers[ids.length + i] as bigint
    const of = (token: Address) =>
      held.find((one) => one.asset.toLowerCase() === token)?.balance ?? 0n
    const futures = held.filter((one) => one.asset.toLowerCase() === future_asset)
    const positions = new Map(futures.map(({ subId, balance }) => [subId, balance]))
    const open = futures.filter(({ subId }) => marks.get(subId)?.settlementPrice === 0n)
    const shift = open.reduce(
      (sum, { subId, balance }) => sum + variationOf(balance, marks.get(subId)?.mark ?? 0n, index),
      0n,
    )
    const usdc = of(wrapped_usdc)
    const wrapped = of(wrapped_cngn)
    const cngn = wrapped + variation + shift
    const size = open.reduce((sum, { balance }) => sum + (balance < 0n ? -balance : balance), 0n)
    const worth = usdc * index + cngn * ONE
    return [id, { usdc, wrapped, variation, positions, cngn, size, worth }]
  })
  return {
    timeSec: Number(block.timestamp),
    index,
    series,
    poolHeld: answers.at(-1) as bigint,
    accounts: new Map(states),
    pool: answers.at(-2) as bigint,
  }
}
