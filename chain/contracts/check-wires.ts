import { encodeFunctionData, parseAbi, zeroAddress } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { addressOfWord } from '../../core/entry/read-action.js'
import type { Market } from '../../core/model/market.js'
import {
  cashAssetAbi,
  depositModuleAbi,
  dutchAuctionAbi,
  managerAbi,
  perpAssetAbi,
  perpManagerAbi,
  spotFeedAbi,
  subAccountsAbi,
  tradeModuleAbi,
  wrappedErc20AssetAbi,
} from '../abi/contracts.js'
import { revertOf } from '../abi/errors.js'
import { orUnreachable, unreachable, type ChainClient } from '../reads/client.js'
import type { Deployment } from '../reads/deployment.js'
import { wordOf } from '../reads/read-faults.js'
import type { KeeperFinding } from './check-keeper.js'

/**
 * Facts of a deployment without which the chain refuses a match, a deposit or a withdrawal: one reading for each, and the cure
 * that fits it.
 */

export interface WiringDeps {
  readonly client: ChainClient
  readonly deployment: Deployment
}

type Call = Parameters<typeof encodeFunctionData>[0]

/** The first word that a view function returns; undefined where the contract has no such function, or reverts. */
const ask = ({ client }: WiringDeps, to: Address, call: Call): Promise<bigint | undefined> =>
  orUnreachable(
    `${call.functionName ?? 'a fact'} of ${to}`,
    wordOf({ client }, to, encodeFunctionData(call)),
  )

const askAddress = async (
  wired: WiringDeps,
  to: Address,
  call: Call,
): Promise<Address | undefined> => {
  const word = await ask(wired, to, call)
  return word === undefined ? undefined : addressOfWord(word)
}

/** All words that a view function returns; none where it reverts. */
async function askWords(
  { client }: WiringDeps,
  to: Address,
  call: Call,
): Promise<readonly bigint[]> {
  const data = encodeFunctionData(call)
  try {
    const answer = await client.request({ method: 'eth_call', params: [{ to, data }, 'latest'] })
    return (answer.slice(2).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`))
  } catch (error) {
    if (revertOf(error) !== undefined) return []
    throw unreachable(`${call.functionName ?? 'facts'} of ${to}`, error)
  }
}

/** The first that is wrong. */
async function firstOf(findings: readonly KeeperFinding[]): KeeperFinding {
  const found = await Promise.all(findings)
  return found.find((each) => typeof each === 'string')
}

// --- contracts that belong together

const belongs = async (
  wired: WiringDeps,
  name: string,
  at: Address,
  [functionName, wanted]: readonly ['matching' | 'subAccounts', Address],
): KeeperFinding => {
  const found = await askAddress(wired, at, { abi: depositModuleAbi, functionName })
  if (found === wanted) return undefined
  return `${functionName}() of the ${name} ${at} is ${found ?? 'nothing'}, not ${wanted}: correct DEPLOYMENT_FILE`
}

/** A call without actions, which each kind of module refuses with an error of its own. */
const MODULE_CALL = encodeFunctionData({
  abi: parseAbi([
    'struct VerifiedAction { uint256 subaccountId; address owner; address module; bytes data; uint256 nonce; }',
    'function executeAction(VerifiedAction[] actions, bytes actionData) returns (uint256[] newIds, address[] newOwners)',
  ]),
  args: [[], '0x'],
})
const KINDS: ReadonlyMap<string, string> = new Map([
  ['DM_InvalidDepositActionLength', 'deposit_module'],
  ['WM_InvalidWithdrawalActionLength', 'withdrawal_module'],
  ['TM_InvalidActionsLength', 'a trade module'],
])

/** A module of another kind than its place in the deployment file. */
async function isSwapped(
  { client, deployment }: WiringDeps,
  at: Address,
  wanted: string,
): KeeperFinding {
  const { matching: from } = deployment
  const call = { from, to: at, data: MODULE_CALL }
  try {
    await client.request({ method: 'eth_call', params: [call, 'latest'] })
  } catch (error) {
    const revert = revertOf(error)
    if (revert === undefined) throw unreachable(`the kind of ${at}`, error)
    const kind = KINDS.get(revert.name)
    if (kind !== undefined && kind !== wanted)
      return `${at} is ${kind}, not ${wanted}: correct DEPLOYMENT_FILE, or the row`
  }
  return undefined
}

/** Matching and the modules that all markets share, each with the others. */
export const modulesApart = (wired: WiringDeps): KeeperFinding => {
  const { matching, subAccounts, depositModule, withdrawalModule } = wired.deployment
  const modules = [
    ['deposit_module', depositModule],
    ['withdrawal_module', withdrawalModule],
  ] as const
  return firstOf([
    belongs(wired, 'matching', matching, ['subAccounts', subAccounts]),
    ...modules.flatMap(([name, at]) => [
      isSwapped(wired, at, name),
      belongs(wired, name, at, ['matching', matching]),
      belongs(wired, name, at, ['subAccounts', subAccounts]),
    ]),
  ])
}

/** The trade module of a market: of this deployment, and in the market's quote. */
export const moduleApart = (wired: WiringDeps, market: Market): KeeperFinding => {
  const { tradeModuleAddress: module, quoteAssetAddress: quote, assetAddress: asset } = market
  const { matching, subAccounts } = wired.deployment
  const pays = async (): KeeperFinding => {
    const call = { abi: tradeModuleAbi, functionName: 'quoteAsset' } as const
    const found = await askAddress(wired, module, call)
    if (found === quote) return undefined
    return `quoteAsset() of ${module} is ${found ?? 'nothing'}, not ${quote}: correct trade_module or quote_asset of the row`
  }
  const holds = async (): KeeperFinding => {
    const call = { abi: depositModuleAbi, functionName: 'subAccounts' } as const
    const found = await askAddress(wired, asset, call)
    if (found === undefined || found === subAccounts) return undefined
    return `subAccounts() of ${asset} is ${found}, not ${subAccounts}: correct asset of the row`
  }
  return firstOf([
    isSwapped(wired, module, 'a trade module'),
    belongs(wired, 'trade module', module, ['matching', matching]),
    belongs(wired, 'trade module', module, ['subAccounts', subAccounts]),
    pays(),
    holds(),
  ])
}

// --- managers and assets

/** An asset that refuses the accounts of a manager, or that a manager does not know. */
async function isUnknown(wired: WiringDeps, manager: Address, asset: Address): KeeperFinding {
  const args = [manager] as const
  const whitelisted = { abi: wrappedErc20AssetAbi, functionName: 'whitelistedManager', args }
  const cash = { abi: managerAbi, functionName: 'cashAsset' } as const
  const detail = { abi: managerAbi, functionName: 'assetDetails', args: [asset] } as const
  const [accepts, cashAsset, known] = await Promise.all([
    ask(wired, asset, whitelisted),
    askAddress(wired, manager, cash),
    ask(wired, manager, detail),
  ])
  if (accepts !== 1n)
    return `${asset} refuses accounts under ${manager}: setWhitelistManager(${manager}, true) on ${asset}`
  // A manager needs no entry for its own cash.
  if (known === 1n || cashAsset === asset) return undefined
  return `${manager} does not know ${asset}: whitelistAsset(${asset}, …) on ${manager}`
}

export const managerApart = (wired: WiringDeps, market: Market): KeeperFinding =>
  firstOf(
    [market.assetAddress, market.quoteAssetAddress].map((asset) =>
      isUnknown(wired, market.marginManagerAddress, asset),
    ),
  )

/** What posting an asset to accounts under a manager needs. */
export const collateralApart = (
  wired: WiringDeps,
  manager: Address,
  asset: Address,
): KeeperFinding =>
  firstOf([
    isUnknown(wired, manager, asset),
    tokenFault(wired, asset, tokensOf(wired.deployment).get(asset)),
  ])

/** What deposits of the venue need of the cash asset and of the manager that holds cash. */
export const cashApart = (wired: WiringDeps, manager: Address): KeeperFinding => {
  const { cashAsset, usdc } = wired.deployment
  return firstOf([isUnknown(wired, manager, cashAsset), tokenFault(wired, cashAsset, usdc)])
}

// --- the account for fees

/** An account for fees that is not there, or may not hold what it is paid in. */
export async function feeAccountFault(wired: WiringDeps, market: Market): KeeperFinding {
  const { tradeModuleAddress: module, quoteAssetAddress: quote } = market
  const { subAccounts, matching, cashAsset } = wired.deployment
  const account = await ask(wired, module, { abi: tradeModuleAbi, functionName: 'feeRecipient' })
  // The check of matches names an account that is not set.
  if (account === undefined || account === 0n) return undefined
  const of = (functionName: 'ownerOf' | 'manager') =>
    askAddress(wired, subAccounts, { abi: subAccountsAbi, functionName, args: [account] })
  const [owner, manager] = await Promise.all([of('ownerOf'), of('manager')])
  const other = `setFeeRecipient of another account on ${module}`
  if (owner === undefined)
    return `account ${account}, which is to receive fees, does not exist: ${other}`
  if (owner === matching && quote !== cashAsset)
    return `account ${account} for fees is held by matching, which allows ${module} no credit: ${other}`
  if (manager === undefined) return `account ${account} for fees has no manager: ${other}`
  const unknown = await isUnknown(wired, manager, quote)
  return typeof unknown === 'string'
    ? `of account ${account} for fees: ${unknown}, or ${other}`
    : undefined
}

// --- tokens

/** What a token of another kind than the devnet's may have. */
const tokenAbi = parseAbi([
  'function paused() view returns (bool)',
  'function isBlacklisted(address account) view returns (bool)',
  'function isBlackListed(address account) view returns (bool)',
])

/** A token that does not move at all, or not for a contract of the deployment. */
async function tokenFault(
  wired: WiringDeps,
  escrow: Address,
  wanted: Address | undefined,
): KeeperFinding {
  const call = { abi: wrappedErc20AssetAbi, functionName: 'wrappedAsset' } as const
  const token = await askAddress(wired, escrow, call)
  // A position is no token.
  if (token === undefined) return wanted && `${escrow} holds no token, not ${wanted}`
  if (wanted !== undefined && token !== wanted)
    return `wrappedAsset() of ${escrow} is ${token}, not ${wanted}: correct DEPLOYMENT_FILE`
  const paused = ask(wired, token, { abi: tokenAbi, functionName: 'paused' })
  if ((await paused) === 1n) return `the token ${token} is paused: its issuer must end that`
  const holders = [escrow, wired.deployment.depositModule]
  const barred = await Promise.all(holders.map((holder) => isBarred(wired, token, holder)))
  const first = holders.find((_, i) => barred[i])
  return first && `the token ${token} has ${first} on its blacklist: its issuer must take it off`
}

async function isBarred(wired: WiringDeps, token: Address, holder: Address): Promise<boolean> {
  const names = ['isBlacklisted', 'isBlackListed'] as const
  const found = await Promise.all(
    names.map((functionName) => ask(wired, token, { abi: tokenAbi, functionName, args: [holder] })),
  )
  return found.includes(1n)
}

/** The token that each escrow of the deployment is to hold. */
const tokensOf = ({
  wrappedUsdc,
  usdc,
  wrappedCngn,
  cngn,
  cashAsset,
}: Deployment): ReadonlyMap<Address, Address> =>
  new Map([
    [wrappedUsdc, usdc],
    [wrappedCngn, cngn],
    [cashAsset, usdc],
  ])

/** The tokens in which a market's accounts pay and are paid. */
export function tokensFault(wired: WiringDeps, market: Market): KeeperFinding {
  const tokens = tokensOf(wired.deployment)
  return firstOf(
    [market.assetAddress, market.quoteAssetAddress].map((asset) =>
      tokenFault(wired, asset, tokens.get(asset)),
    ),
  )
}

// --- oracles

const feedAbi = [
  ...spotFeedAbi,
  ...parseAbi(['function getResult() view returns (uint256 price, uint256 confidence)']),
] as const

/** Where a feed is named, and the call that names another. */
interface FeedPlace {
  readonly at: Address
  readonly call: Call
  readonly set: string
}

/** A feed that is not set or has no fresh price; nothing for a contract that names no such feed. */
async function feedFault(wired: WiringDeps, { at, call, set }: FeedPlace): KeeperFinding {
  const [feed] = await askWords(wired, at, call)
  if (feed === undefined) return undefined
  const name = `${call.functionName ?? 'a feed'} of ${at}`
  const address = addressOfWord(feed)
  if (address === undefined || address === zeroAddress) return `${name} is not set: ${set} on ${at}`
  return noPrice(wired, name, address)
}

async function noPrice({ client }: WiringDeps, name: string, feed: Address): KeeperFinding {
  const reasons: string[] = []
  for (const functionName of ['getSpot', 'getResult'] as const) {
    const data = encodeFunctionData({ abi: feedAbi, functionName })
    try {
      const answer: Hex = await client.request({
        method: 'eth_call',
        params: [{ to: feed, data }, 'latest'],
      })
      if (answer !== '0x') return undefined
    } catch (error) {
      const revert = revertOf(error)
      if (revert === undefined) throw unreachable(name, error)
      reasons.push(revert.name)
    }
  }
  if (reasons.includes('BLF_DataTooOld'))
    return `${name}, ${feed}, is old: let its signers send newer prices, or setHeartbeat on ${feed}`
  return `${name} is ${feed}, which has no price: set another feed on it`
}

/** The feeds of the market's asset, of its manager's market id, and of the stable asset. */
export async function oracleFault(wired: WiringDeps, market: Market): KeeperFinding {
  const { assetAddress: asset, marginManagerAddress: manager } = market
  const detail = { abi: managerAbi, functionName: 'assetDetails', args: [asset] } as const
  const [, , marketId] = await askWords(wired, manager, detail)
  const ofAsset = (functionName: (typeof ASSET_FEEDS)[number][0], set: string) =>
    feedFault(wired, { at: asset, call: { abi: assetFeedAbi, functionName }, set })
  const args = [marketId ?? 0n] as const
  const isKnown = marketId !== undefined && marketId !== 0n
  const ofMarket = { abi: perpManagerAbi, functionName: 'getMarketFeeds', args } as const
  const stable = { abi: perpManagerAbi, functionName: 'stableFeed' } as const
  return firstOf([
    ...ASSET_FEEDS.map(([functionName, set]) => ofAsset(functionName, set)),
    // The check of the manager names an asset without a market.
    isKnown
      ? feedFault(wired, {
          at: manager,
          call: ofMarket,
          set: `setOraclesForMarket(${marketId}, …)`,
        })
      : Promise.resolve(undefined),
    feedFault(wired, { at: manager, call: stable, set: 'setStableFeed' }),
    isCrossed(wired, asset),
  ])
}

/** Impact prices that contradict each other, which stop all trades. */
async function isCrossed({ client }: WiringDeps, asset: Address): KeeperFinding {
  const call = { abi: perpAssetAbi, functionName: 'getFundingRate' } as const
  const data = encodeFunctionData(call)
  try {
    await client.request({ method: 'eth_call', params: [{ to: asset, data }, 'latest'] })
  } catch (error) {
    const revert = revertOf(error)
    if (revert === undefined) throw unreachable(`impact prices of ${asset}`, error)
    if (revert.name === 'PA_InvalidImpactPrices')
      return `the impact bid of ${asset} is above its impact ask: sign new prices of both, or setImpactFeeds(ask, bid) on ${asset}`
  }
  return undefined
}

/** The feeds that an asset of any kind may name, and how another is set. */
const ASSET_FEEDS = [
  ['spotFeed', 'setSpotFeed'],
  ['perpFeed', 'setPerpFeed'],
  ['impactAskPriceFeed', 'setImpactFeeds'],
  ['impactBidPriceFeed', 'setImpactFeeds'],
  ['indexFeed', 'setIndexFeed'],
] as const
const assetFeedAbi = [
  ...perpAssetAbi,
  ...parseAbi(['function indexFeed() view returns (address)']),
] as const

// --- fees of managers

/** What the public managers charge besides the fees of a trade. */
const openInterestFeeAbi = parseAbi([
  'function viewer() view returns (address)',
  'function feeBypassedCaller(address sender) view returns (bool)',
  'function OIFeeRateBPS(address asset) view returns (uint256)',
])

/** A fee on open interest that the manager takes of both sides, which the venue does not count. */
export async function openInterestFee(wired: WiringDeps, market: Market): KeeperFinding {
  const { marginManagerAddress: manager, tradeModuleAddress: module, assetAddress: asset } = market
  const abi = openInterestFeeAbi
  const viewer = await askAddress(wired, manager, { abi, functionName: 'viewer' })
  if (viewer === undefined || viewer === zeroAddress) return undefined
  const rateCall = { abi, functionName: 'OIFeeRateBPS', args: [asset] } as const
  const bypassCall = { abi, functionName: 'feeBypassedCaller', args: [module] } as const
  const [rate = 0n, bypassed] = await Promise.all([
    ask(wired, viewer, rateCall),
    ask(wired, manager, bypassCall),
  ])
  if (rate === 0n || bypassed === 1n) return undefined
  return `${manager} charges ${rate} of 1e18 on open interest, which the venue does not count: setFeeBypassedCaller(${module}, true) on ${manager}`
}

// --- withdrawals

/** An auction that keeps cash from being withdrawn from every account. */
export async function cashIsBlocked(wired: WiringDeps): KeeperFinding {
  const { cashAsset } = wired.deployment
  const call = { abi: cashAssetAbi, functionName: 'liquidationModule' } as const
  const auction = await askAddress(wired, cashAsset, call)
  if (auction === undefined || auction === zeroAddress) return undefined
  const blocked = { abi: dutchAuctionAbi, functionName: 'getIsWithdrawBlocked' } as const
  if ((await ask(wired, auction, blocked)) !== 1n) return undefined
  return `an insolvent auction of ${auction} is larger than the security module: endow it, or wait for its end`
}
