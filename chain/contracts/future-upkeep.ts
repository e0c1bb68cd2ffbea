import { encodeFunctionData } from 'viem'
import type { Address } from '../../core/action.js'
import { seriesWork } from '../../core/contracts/future-calendar.js'
import { blockTimeSec } from '../../core/time.js'
import { futureDuties, NO_INDEX } from '../../core/contracts/future-upkeep.js'
import type {
  FutureTask,
  FutureUpkeep,
  LossStep,
  Rescuer,
  SeriesUpkeep,
  UpkeepAccount,
} from '../../core/contracts/future-work.js'
import { mayBeBankrupt } from '../../core/contracts/future-rescues.js'
import type { Market } from '../../core/model/market.js'
import type { Duty } from '../../core/contracts/upkeep.js'
import { addressOfWord, signedWord } from '../../core/entry/read-action.js'
import { priceE18 } from '../../core/money.js'
import { futureAssetAbi, futuresManagerAbi, spotFeedAbi } from '../abi/contracts.js'
import { NotWords, revertOf, undefinedOnRevert } from '../abi/errors.js'
import { selectorsOf } from '../abi/selectors.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import type { Holder, UpkeepCall, UpkeepCalls } from './chain-contract.js'
import { readOpenSeries } from './future-reads.js'

const of = {
  ...selectorsOf(futureAssetAbi, 'series', 'fixing', 'indexFeed', 'indexDetail'),
  ...selectorsOf(futureAssetAbi, 'markKeeper', 'seriesCreator'),
  ...selectorsOf(futuresManagerAbi, 'variation', 'pool', 'wrappedCngn', 'wrappedUsdc'),
  ...selectorsOf(futuresManagerAbi, 'getMargin', 'marginRates', 'coverLoss'),
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

type UpkeepContracts = Pick<Market, 'assetAddress' | 'marginManagerAddress'>

async function readUpkeep(market: UpkeepContracts, block: UpkeepCalls): Promise<FutureUpkeep> {
  const { marginManagerAddress: manager } = market
  const holders = block.holders.filter((holder) => holder.manager === manager)
  const [subIds, index, pool, rates, tokens] = await Promise.all([
    readOpenSeries(market, block),
    readIndex(market, block),
    block.word(manager, of.pool, []),
    block.words(manager, of.marginRates, []),
    readTokens(market, block),
  ])
  const [series, accounts, rescuers] = await Promise.all([
    Promise.all(subIds.map((subId) => readSeries(market, block, { subId, holders }))),
    Promise.all(holders.map((holder) => readKeptAccount(market, block, { holder, tokens }))),
    readRescuers(market, block, tokens),
  ])
  const losses = await readLosses(market, block, { index, accounts })
  const [, initialRate = 0n] = rates
  const { atSec, mostUsd } = block
  return {
    atSec,
    index,
    series,
    accounts,
    pool,
    initialRate,
    rescuers,
    mostUsd,
    losses,
    toOpen: await readMissing(market, block, subIds),
  }
}

/** Expiries of series that the calendar names and the chain lacks; none where another key opens them. */
async function readMissing(
  market: UpkeepContracts,
  { word, keeper, calendar, markets, atSec }: UpkeepCalls,
  subIds: readonly bigint[],
): Promise<readonly number[]> {
  if (!(await isCreator(market, { word }, keeper))) return []
  const work = seriesWork(calendar, markets, { atSec, open: new Set(subIds) })
  return work.flatMap((it) => (it.kind === 'open' ? [it.expirySec] : []))
}

const isCreator = async (
  { assetAddress: asset }: Pick<Market, 'assetAddress'>,
  { word }: Pick<PlainCalls, 'word'>,
  keeper: Address,
): Promise<boolean> => addressOfWord(await word(asset, of.seriesCreator, [])) === keeper

/** Expiries of the series that the chain has; undefined where the keeper does not open them. Rejects unless the node answers. */
export async function readOwnSeries(
  market: Pick<Market, 'assetAddress'>,
  block: PlainCalls,
  keeper: Address,
): Promise<ReadonlySet<bigint> | undefined> {
  if (!(await isCreator(market, block, keeper))) return undefined
  return new Set(await readOpenSeries(market, block))
}

/** The tokens of the manager, as assets. */
interface Tokens {
  readonly cngn: Address | undefined
  readonly usdc: Address | undefined
}

async function readTokens(
  { marginManagerAddress: manager }: UpkeepContracts,
  { constant }: UpkeepCalls,
): Promise<Tokens> {
  const address = (word: bigint | undefined) => (word === undefined ? word : addressOfWord(word))
  const [cngn, usdc] = await Promise.all([
    constant(manager, of.wrappedCngn).then(address),
    constant(manager, of.wrappedUsdc).then(address),
  ])
  return { cngn, usdc }
}

const balanceOf = ({ holdings }: Holder, token: Address | undefined): bigint =>
  holdings.find(({ asset }) => asset === token)?.balance ?? 0n

/** The newest price of the feed, also a stale one: a sample may be recorded of it. */
async function readIndex(
  { assetAddress: asset }: UpkeepContracts,
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
  return { price: priceE18(price), atSec: blockTimeSec(at), isFresh: isFresh !== 0n }
}

async function readSeries(
  { assetAddress: asset }: UpkeepContracts,
  { words }: UpkeepCalls,
  { subId, holders }: { readonly subId: bigint; readonly holders: readonly Holder[] },
): Promise<SeriesUpkeep> {
  const [state, fixing] = await Promise.all([
    words(asset, of.series, [subId]),
    words(asset, of.fixing, [subId]),
  ])
  const [, mark = 0n, markAt = 0n, settlementPrice = 0n] = state
  const [sampleAt = 0n] = fixing
  return {
    subId,
    mark: priceE18(mark),
    markAtSec: blockTimeSec(markAt),
    isSettled: settlementPrice !== 0n,
    sampleAtSec: blockTimeSec(sampleAt),
    holders: holders
      .filter(({ holdings }) =>
        holdings.some((held) => held.asset === asset && held.subId === subId),
      )
      .map(({ id }) => id),
  }
}

/** Surplus over initial or maintenance margin in USD; undefined while the index is stale. */
const readMargin = (
  { marginManagerAddress: manager }: UpkeepContracts,
  { word }: UpkeepCalls,
  { id, isInitial }: { readonly id: bigint; readonly isInitial: boolean },
): Promise<bigint | undefined> =>
  word(manager, of.getMargin, [id, isInitial ? 1n : 0n])
    .then(signedWord)
    .catch(undefinedOnRevert)

async function readKeptAccount(
  market: UpkeepContracts,
  block: UpkeepCalls,
  { holder, tokens }: { readonly holder: Holder; readonly tokens: Tokens },
): Promise<UpkeepAccount> {
  const { assetAddress: asset, marginManagerAddress: manager } = market
  const { id, holdings } = holder
  const [variation, margin] = await Promise.all([
    block.word(manager, of.variation, [id]),
    readMargin(market, block, { id, isInitial: false }),
  ])
  return {
    id,
    variation: signedWord(variation),
    margin,
    cngn: balanceOf(holder, tokens.cngn),
    usdc: balanceOf(holder, tokens.usdc),
    positions: holdings
      .filter((held) => held.asset === asset)
      .map(({ subId, balance }) => ({ subId, contracts: balance })),
  }
}

/** The keeper's accounts under the manager, with what they can take over. */
function readRescuers(
  market: UpkeepContracts,
  block: UpkeepCalls,
  { cngn }: Tokens,
): Promise<readonly Rescuer[]> {
  const own = block.rescuers.filter(({ manager }) => manager === market.marginManagerAddress)
  const read = async (holder: Holder): Promise<Rescuer> => {
    const { id } = holder
    const room = await readMargin(market, block, { id, isInitial: true })
    return { id, room, cngn: balanceOf(holder, cngn) }
  }
  return Promise.all(own.map(read))
}

/** What the contract says of the end of each debt that may have to be borne by others. */
async function readLosses(
  market: UpkeepContracts,
  block: UpkeepCalls,
  { index, accounts }: Pick<FutureUpkeep, 'index' | 'accounts'>,
): Promise<ReadonlyMap<bigint, LossStep>> {
  const lost = accounts.filter((account) => mayBeBankrupt(account, { index }))
  const steps = await Promise.all(lost.map(({ id }) => readLossStep(market, block, id)))
  return new Map(lost.flatMap(({ id }, i) => (steps[i] === undefined ? [] : [[id, steps[i]]])))
}

/** Undefined where the contract sees no such debt. What else it says is told when the call is tried. */
async function readLossStep(
  { marginManagerAddress: manager }: UpkeepContracts,
  { words }: UpkeepCalls,
  id: bigint,
): Promise<LossStep | undefined> {
  try {
    await words(manager, of.coverLoss, [id])
  } catch (error) {
    // It returns nothing.
    if (error instanceof NotWords) return 'cover'
    const revert = revertOf(error)
    if (revert === undefined) throw error
    if (revert.name === 'FM_NotAccrued') return 'accrue'
    if (revert.name === 'FM_NotAccruedAtIndex') return 'accrue_at_index'
    return revert.name === 'FM_NotBankrupt' || revert.name === 'FM_NoDebt' ? undefined : 'cover'
  }
  return 'cover'
}

/** Whether an account without a position owes or is owed cNGN. Rejects unless the node answers. */
export async function hasLedger(
  { marginManagerAddress: manager }: Pick<Market, 'marginManagerAddress'>,
  id: bigint,
  { word }: PlainCalls,
): Promise<boolean> {
  return (await word(manager, of.variation, [id])) !== 0n
}

function callOf(task: FutureTask, market: UpkeepContracts): UpkeepCall {
  const ofAsset = { abi: futureAssetAbi } as const
  const ofManager = { abi: futuresManagerAbi } as const
  const { assetAddress: asset, marginManagerAddress: manager } = market
  switch (task.call) {
    case 'move_mark': {
      const args = [task.subId, task.mark] as const
      const call = { ...ofAsset, functionName: 'updateMark', args } as const
      return { to: asset, data: encodeFunctionData(call) }
    }
    case 'create_series':
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
    case 'liquidate': {
      const args = [task.account, task.subId, task.by, task.portion] as const
      const call = { ...ofManager, functionName: 'liquidate', args } as const
      return { to: manager, data: encodeFunctionData(call) }
    }
    case 'cure': {
      const args = [task.account, task.by, task.cngn] as const
      const call = { ...ofManager, functionName: 'cure', args } as const
      return { to: manager, data: encodeFunctionData(call) }
    }
    case 'cover_loss': {
      const call = { ...ofManager, functionName: 'coverLoss', args: [task.account] } as const
      return { to: manager, data: encodeFunctionData(call) }
    }
    case 'accrue_at_index': {
      const call = { ...ofManager, functionName: 'accrueAtIndex' } as const
      return { to: manager, data: encodeFunctionData(call) }
    }
  }
}

const NAMES = {
  record_index: 'recordIndex',
  settle: 'settle',
  retire: 'retireSeries',
  create_series: 'createSeries',
} as const
