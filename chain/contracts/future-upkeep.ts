import { encodeFunctionData } from 'viem'
import type { Address } from '../../core/action.js'
import { exactNumber } from '../../core/decimal.js'
import {
  futureDuties,
  NO_INDEX,
  type FutureTask,
  type FutureUpkeep,
  type SeriesUpkeep,
  type VariationAccount,
} from '../../core/contracts/future-upkeep.js'
import type { Market } from '../../core/model/market.js'
import type { Duty } from '../../core/contracts/upkeep.js'
import { addressOfWord, signedWord } from '../../core/entry/read-action.js'
import { priceE18 } from '../../core/money.js'
import { futureAssetAbi, futuresManagerAbi, spotFeedAbi } from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import { selectorsOf } from '../abi/selectors.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import type { Holder, UpkeepCall, UpkeepCalls } from './chain-contract.js'
import { readOpenSeries } from './future-reads.js'

const of = {
  ...selectorsOf(futureAssetAbi, 'series', 'fixing', 'indexFeed', 'indexDetail'),
  ...selectorsOf(futureAssetAbi, 'markKeeper'),
  ...selectorsOf(futuresManagerAbi, 'variation', 'pool', 'wrappedCngn'),
  ...selectorsOf(spotFeedAbi, 'spotDetail'),
}

/**
 * What all open series of a market's asset need at the block, with the calls that do it. Rejects unless the node answers
 * all reads.
 */
export async function readFutureDuties(
  market: Market,
  block: UpkeepCalls,
): Promise<readonly Duty<UpkeepCall>[]> {
  const seen = await readUpkeep(market, block)
  return futureDuties(seen).map((duty) => ({ ...duty, task: callOf(duty.task, market) }))
}

/** Who moves the marks of the market's asset, where that is not the keeper. Rejects unless the node answers. */
export async function readKeeperFault(
  { assetAddress: asset }: Pick<Market, 'assetAddress'>,
  { word }: PlainCalls,
  keeper: Address,
): Promise<string | undefined> {
  const named = addressOfWord(await word(asset, of.markKeeper, []))
  if (named === keeper) return undefined
  return `${named} moves the marks: setMarkKeeper(${keeper}) on ${asset}`
}

type Contracts = Pick<Market, 'assetAddress' | 'marginManagerAddress'>

async function readUpkeep(market: Contracts, block: UpkeepCalls): Promise<FutureUpkeep> {
  const { assetAddress: asset, marginManagerAddress: manager } = market
  const holders = block.holders.filter(
    (holder) => holder.manager === manager && holder.holdings.some((held) => held.asset === asset),
  )
  const [subIds, index, pool, cngn] = await Promise.all([
    readOpenSeries(market, block),
    readIndex(market, block),
    block.word(manager, of.pool, []),
    block.word(manager, of.wrappedCngn, []),
  ])
  const [series, accounts] = await Promise.all([
    Promise.all(subIds.map((subId) => readSeries(market, block, { subId, holders }))),
    Promise.all(holders.map((holder) => readVariation(market, block, { holder, cngn }))),
  ])
  return { atSec: block.atSec, index, series, accounts, pool }
}

/** The newest price of the feed, also a stale one: a sample may be recorded of it. */
async function readIndex(
  { assetAddress: asset }: Contracts,
  { word, words }: UpkeepCalls,
): Promise<FutureUpkeep['index']> {
  const [feedWord, [, , isFresh = 0n]] = await Promise.all([
    word(asset, of.indexFeed, []),
    words(asset, of.indexDetail, []),
  ])
  const feed = feedWord === 0n ? undefined : addressOfWord(feedWord)
  if (feed === undefined) return NO_INDEX
  const detail = await words(feed, of.spotDetail, []).catch(undefinedOnRevert)
  if (detail === undefined) return NO_INDEX
  const [price = 0n, , at = 0n] = detail
  return { price: priceE18(price), atSec: exactNumber(at), isFresh: isFresh !== 0n }
}

async function readSeries(
  { assetAddress: asset }: Contracts,
  { words }: UpkeepCalls,
  { subId, holders }: { readonly subId: bigint; readonly holders: readonly Holder[] },
): Promise<SeriesUpkeep> {
  const [state, fixing] = await Promise.all([
    words(asset, of.series, [subId]),
    words(asset, of.fixing, [subId]),
  ])
  const [, mark = 0n, markAt = 0n, settlementPrice = 0n] = state
  const [sampleAt = 0n, , , , isComplete = 0n] = fixing
  return {
    ...{ subId, mark: priceE18(mark), markAtSec: exactNumber(markAt) },
    ...{ isSettled: settlementPrice !== 0n, isFixingComplete: isComplete !== 0n },
    sampleAtSec: exactNumber(sampleAt),
    holders: holders
      .filter(({ holdings }) =>
        holdings.some((held) => held.asset === asset && held.subId === subId),
      )
      .map(({ id }) => id),
  }
}

async function readVariation(
  { marginManagerAddress: manager }: Contracts,
  { word }: UpkeepCalls,
  { holder, cngn }: { readonly holder: Holder; readonly cngn: bigint },
): Promise<VariationAccount> {
  const { id, holdings } = holder
  const asset = addressOfWord(cngn)
  return {
    id,
    variation: signedWord(await word(manager, of.variation, [id])),
    cngn: holdings.find((held) => held.asset === asset)?.balance ?? 0n,
  }
}

function callOf(task: FutureTask, market: Contracts): UpkeepCall {
  const ofAsset = { abi: futureAssetAbi } as const
  const ofManager = { abi: futuresManagerAbi } as const
  const { assetAddress: asset, marginManagerAddress: manager } = market
  switch (task.call) {
    case 'move_mark': {
      const args = [task.subId, task.mark] as const
      const call = { ...ofAsset, functionName: 'updateMark', args } as const
      return { to: asset, data: encodeFunctionData(call) }
    }
    case 'record_index':
    case 'settle':
    case 'retire': {
      const functionName = NAMES[task.call]
      const call = { ...ofAsset, functionName, args: [task.subId] } as const
      return { to: asset, data: encodeFunctionData(call) }
    }
    case 'close_out': {
      const args = [task.subId, task.accounts] as const
      const call = { ...ofManager, functionName: 'closeOut', args } as const
      return { to: manager, data: encodeFunctionData(call) }
    }
    case 'settle_variation': {
      const call = { ...ofManager, functionName: 'settleVariation', args: [task.accounts] } as const
      return { to: manager, data: encodeFunctionData(call) }
    }
  }
}

const NAMES = { record_index: 'recordIndex', settle: 'settle', retire: 'retireSeries' } as const
