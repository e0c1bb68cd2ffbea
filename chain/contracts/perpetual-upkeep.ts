import { encodeFunctionData } from 'viem'
import type { Address } from '../../core/action.js'
import { blockTimeSec } from '../../core/time.js'
import type { Market } from '../../core/model/market.js'
import {
  perpetualDuties,
  type Bidder,
  type LiveAuction,
  type MarginedAccount,
  type PerpetualTask,
  type PerpetualUpkeep,
} from '../../core/contracts/perpetual-upkeep.js'
import type { Duty } from '../../core/contracts/upkeep.js'
import { addressOfWord, signedWord } from '../../core/entry/read-action.js'
import { dutchAuctionAbi, managerAbi, perpAssetAbi, tradeModuleAbi } from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import { selectorsOf } from '../abi/selectors.js'
import type { UpkeepCall, UpkeepCalls } from './chain-contract.js'
import { readAuction } from './perpetual-reads.js'

const of = {
  ...selectorsOf(perpAssetAbi, 'openInterest', 'lastFundingPaidAt'),
  ...selectorsOf(managerAbi, 'getMargin'),
  ...selectorsOf(tradeModuleAbi, 'feeRecipient', 'quoteAsset'),
  ...selectorsOf(dutchAuctionAbi, 'isAuctionLive', 'getAuction', 'getAuctionStatus'),
  ...selectorsOf(dutchAuctionAbi, 'getCurrentBidPrice'),
}

/** What a perpetual needs at the block, with the calls that do it. Rejects unless the node answers all reads. */
export async function readPerpetualDuties(
  market: Market,
  block: UpkeepCalls,
): Promise<readonly Duty<UpkeepCall>[]> {
  const { assetAddress: perp, tradeModuleAddress: module } = market
  const [auction, feeAccount] = await Promise.all([
    readAuction(market, block),
    block.word(module, of.feeRecipient, []),
  ])
  const seen = await readUpkeep(market, block, auction)
  return perpetualDuties(seen).map((duty) => ({
    ...duty,
    task: callOf(duty.task, { perp, auction, feeAccount }),
  }))
}

async function readUpkeep(
  market: Market,
  block: UpkeepCalls,
  auction: Address | undefined,
): Promise<PerpetualUpkeep> {
  const { assetAddress: perp, marginManagerAddress: manager, subId } = market
  const holders = block.holders.filter(
    (holder) => holder.manager === manager && holder.holdings.some(({ asset }) => asset === perp),
  )
  const [openInterest, fundingAt, accounts] = await Promise.all([
    block.word(perp, of.openInterest, [subId]),
    block.word(perp, of.lastFundingPaidAt, []),
    Promise.all(holders.map(({ id }) => readAccount(market, block, { id, auction }))),
  ])
  return {
    atSec: block.atSec,
    openInterest,
    fundingAtSec: blockTimeSec(fundingAt),
    hasAuctions: auction !== undefined,
    accounts,
    mostCash: block.mostUsd,
    bidders: await readBidders(market, block),
  }
}

/** The keeper's accounts under the market's manager, with their cash. */
async function readBidders(
  { tradeModuleAddress: module, marginManagerAddress }: Market,
  { rescuers, constant }: UpkeepCalls,
): Promise<readonly Bidder[]> {
  const own = rescuers.filter(({ manager }) => manager === marginManagerAddress)
  const quote = own.length === 0 ? undefined : await constant(module, of.quoteAsset)
  const cash = quote === undefined ? undefined : addressOfWord(quote)
  return own.map(({ id, holdings }) => ({
    id,
    cash: holdings.find(({ asset }) => asset === cash)?.balance ?? 0n,
    isCashOnly: holdings.every(({ asset }) => asset === cash),
  }))
}

async function readAccount(
  { marginManagerAddress: manager }: Market,
  { word, words }: UpkeepCalls,
  { id, auction }: { readonly id: bigint; readonly auction: Address | undefined },
): Promise<MarginedAccount> {
  const [margin, live] = await Promise.all([
    word(manager, of.getMargin, [id, 0n]).then(signedWord).catch(undefinedOnRevert),
    auction === undefined ? 0n : word(auction, of.isAuctionLive, [id]),
  ])
  if (auction === undefined || live === 0n) return { id, margin }
  const [held, status, price] = await Promise.all([
    words(auction, of.getAuction, [id]),
    words(auction, of.getAuctionStatus, [id]).catch(undefinedOnRevert),
    word(auction, of.getCurrentBidPrice, [id]).then(signedWord).catch(undefinedOnRevert),
  ])
  const [, , isInsolvent = 0n, , , startTime = 0n, reservedCash = 0n] = held
  const [canEnd = 0n, , , bufferMargin = 0n] = status ?? []
  const found: LiveAuction = {
    isInsolvent: isInsolvent !== 0n,
    price,
    canEnd: canEnd !== 0n,
    reservedCash,
    startedAtSec: blockTimeSec(startTime),
    bufferMargin: signedWord(bufferMargin),
  }
  return { id, margin, auction: found }
}

interface PerpetualContracts {
  readonly perp: Address
  readonly auction: Address | undefined
  /** Holds no position: touching it changes nothing but the funding of all. */
  readonly feeAccount: bigint
}

function callOf(
  task: PerpetualTask,
  { perp, auction, feeAccount }: PerpetualContracts,
): UpkeepCall {
  if (task.call === 'accrue_funding' || auction === undefined) {
    const call = { abi: perpAssetAbi, functionName: 'realizeAccountPNL' } as const
    return { to: perp, data: encodeFunctionData({ ...call, args: [feeAccount] }) }
  }
  const { account } = task
  const abi = dutchAuctionAbi
  switch (task.call) {
    case 'start': {
      const args = [account, NO_SCENARIO] as const
      const data = encodeFunctionData({ abi, functionName: 'startAuction', args })
      return { to: auction, data }
    }
    case 'convert': {
      const call = { abi, functionName: 'convertToInsolventAuction', args: [account] } as const
      return { to: auction, data: encodeFunctionData(call) }
    }
    case 'end': {
      const call = { abi, functionName: 'terminateAuction', args: [account] } as const
      return { to: auction, data: encodeFunctionData(call) }
    }
    case 'bid': {
      const args = [account, task.by, task.portion, task.most, ANY_TRADE] as const
      const data = encodeFunctionData({ abi, functionName: 'bid', args })
      return { to: auction, data }
    }
  }
}

/** Scenarios are of other managers: this kind's ignores which is named. */
const NO_SCENARIO = 0n
/** The account may have changed since: what a bid pays is bounded. */
const ANY_TRADE = 0n
