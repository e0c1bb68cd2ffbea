import { encodeFunctionData } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { blockTimeSec } from '../../core/time.js'
import type { Market } from '../../core/model/market.js'
import { matchingAbi, perpAssetAbi, subAccountsAbi, tradeModuleAbi } from '../abi/contracts.js'
import { readHead } from '../reads/blocks.js'
import { ChainUnreachable, orUnreachable, type ChainClient } from '../reads/client.js'
import { DeploymentMismatch, guardDeployment, type Deployment } from '../reads/deployment.js'
import { isTrue, readDeploymentFault, readMarketFault, wordOf } from '../reads/read-faults.js'
import { doesWalletVouch } from '../signing/ask-wallet.js'
import { accountChecks, keeperChecks, type KeeperFinding } from './check-keeper.js'
import {
  cashApart,
  cashIsBlocked,
  collateralApart,
  feeAccountFault,
  managerApart,
  moduleApart,
  modulesApart,
  openInterestFee,
  oracleFault,
  tokensFault,
} from './check-wires.js'
import { holdCureOf } from './cures.js'
import { newestCalls, observeMarket } from './observe-account.js'
import { chainContractOf } from './registry.js'
import { trials } from './trials.js'
import type { TriedOut } from './try-out.js'
import { readWiring } from './wiring.js'

/** One thing that a deployment needs, and whether it has it. */
export interface DeploymentCheck {
  readonly what: string
  /**
   * `unknown`: the node did not answer. `not_checked`: the node cannot do what the check needs, so nothing is known.
   * `not_listed`: a market that the venue will not have, which its operator may have meant.
   */
  readonly result: 'ok' | 'failed' | 'unknown' | 'not_checked' | 'not_listed'
  /** What is wrong and how it is cured; otherwise what there is to know, mostly nothing. */
  readonly detail: string
}

/** A key of the venue's that sends transactions. */
export interface SenderKey {
  /** `executor`, `deposit submitter`, `withdrawal submitter` or `keeper`. */
  readonly role: string
  readonly address: Address
  readonly reserveWei: bigint
}

export interface CheckedDeployment {
  readonly client: ChainClient
  readonly deployment: Deployment
  readonly markets: readonly Market[]
  /** Settles the matches. */
  readonly executor: SenderKey
  /** Send deposits and withdrawals themselves, so that each is a trade executor. */
  readonly submitters: readonly SenderKey[]
  /** Keeps the contracts; absent where nothing of the venue's does. */
  readonly keeper?: SenderKey
  /** With which the keeper takes over; none by default. */
  readonly keeperAccounts?: readonly bigint[]
  readonly nowMs: () => number
}

/**
 * Checks on the chain everything that a venue needs of a deployment before it trades, and changes nothing. The checks
 * are independent: one without an answer leaves the others. Never rejects for a node that does not answer.
 */
export function checkDeployment(deps: CheckedDeployment): Promise<DeploymentCheck[]> {
  const { deployment, markets, executor, submitters, keeper } = deps
  const senders = [executor, ...submitters, ...(keeper === undefined ? [] : [keeper])]
  const checks: Check[] = [
    ['chain and contracts', () => contractsThere(deps)],
    ['the chain moves', () => standsStill(deps)],
    ['matching and its modules belong together', () => modulesApart(deps)],
    ['the executor may settle', () => mayNotSettle(deps)],
    ['contract wallets can be asked about signatures', () => cannotAsk(deps)],
    ...submitters.map(
      ({ role, address }) =>
        [`the ${role} is a trade executor`, () => isNoTradeExecutor(deps, address)] as const,
    ),
    ['deposits are allowed', () => isNoModule(deps, 'deposit module', deployment.depositModule)],
    [
      'withdrawals are allowed',
      () => isNoModule(deps, 'withdrawal module', deployment.withdrawalModule),
    ],
    ...cashChecks(deps),
    ...senders.map(
      (sender) => [`gas of the ${sender.role}`, () => lacksGas(deps, sender)] as const,
    ),
    ...markets.flatMap((market) => marketChecks(deps, market)),
    ...accountChecks(deps),
  ]
  return Promise.all([
    ...checks.map(([what, find]) => verdict(what, find)),
    ...trials({ ...deps, executor: executor.address }).map(([what, attempt]) =>
      trialVerdict(what, attempt),
    ),
    ...seriesVerdicts(deps),
  ])
}

/** What deposits and withdrawals of cash need, where the venue has any. */
function cashChecks(deps: CheckedDeployment): readonly Check[] {
  const { perpManager } = deps.deployment
  if (perpManager === undefined) return []
  return [
    ['cash can be deposited', () => cashApart(deps, perpManager)],
    ['cash can be withdrawn', () => cashIsBlocked(deps)],
  ]
}

/** What a key that is to send transactions needs; `submitter` for one that calls matching itself, `keeper` for one that never does. */
export function checkNewSender(
  deps: Pick<CheckedDeployment, 'client' | 'deployment'>,
  sender: SenderKey,
  as: 'executor' | 'submitter' | 'keeper',
): Promise<DeploymentCheck[]> {
  const { role, address } = sender
  const right = (): KeeperFinding =>
    as === 'executor'
      ? mayNotSettle({ ...deps, executor: sender })
      : isNoTradeExecutor(deps, address)
  return Promise.all([
    verdict('chain and contracts', () => contractsThere(deps)),
    ...(as === 'keeper' ? [] : [verdict(`the new ${role} may send`, right)]),
    verdict(`gas of the new ${role}`, () => lacksGas(deps, sender)),
    verdict(`the new ${role} has sent nothing yet`, () => isUsed(deps, address)),
  ])
}

/** A key that was used elsewhere may be used there again. */
async function isUsed({ client }: ChainReads, address: Address): KeeperFinding {
  const count = await orUnreachable('nonce', client.getTransactionCount({ address }))
  return count === 0 ? undefined : `${address} has sent ${count} transactions: take a fresh key`
}

type Check = readonly [what: string, find: () => KeeperFinding]
type ChainReads = Pick<CheckedDeployment, 'client' | 'deployment'>
type Answer = Omit<DeploymentCheck, 'what'>

/** A line with the answer, or with the reason why the node gave none. */
async function answered(what: string, ask: () => Promise<Answer>): Promise<DeploymentCheck> {
  try {
    return { what, ...(await ask()) }
  } catch (error) {
    if (error instanceof ChainUnreachable) return { what, result: 'unknown', detail: error.message }
    throw error
  }
}

const verdict = (what: string, find: () => KeeperFinding): Promise<DeploymentCheck> =>
  answered(what, async () => {
    const detail = await find()
    if (typeof detail === 'string') return { result: 'failed', detail }
    return { result: 'ok', detail: detail?.note ?? '' }
  })

const trialVerdict = (what: string, attempt: () => Promise<TriedOut>): Promise<DeploymentCheck> =>
  answered(what, async () => {
    const tried = await attempt()
    if (tried.kind === 'passes') return { result: 'ok', detail: tried.note ?? '' }
    return { result: tried.kind === 'refused' ? 'failed' : 'not_checked', detail: tried.why }
  })

/** A line for each asset with series: those that are open on the chain without a row. */
function seriesVerdicts(deps: CheckedDeployment): Promise<DeploymentCheck>[] {
  const { markets, nowMs } = deps
  const ofAssets = new Map(markets.map((market) => [market.assetAddress, market]))
  return [...ofAssets.values()].flatMap((market) => {
    const { readSeriesAfter } = chainContractOf(market) ?? {}
    if (readSeriesAfter === undefined) return []
    const { assetAddress: asset } = market
    const listed = new Set(markets.map(({ assetAddress, subId }) => `${assetAddress}:${subId}`))
    const what = `the open series of ${asset} are markets of the venue`
    const find = async (): Promise<Answer> => {
      const atSec = Math.floor(nowMs() / 1_000)
      const open = await orUnreachable(what, readSeriesAfter(market, newestCalls(deps), atSec))
      const without = open.filter((subId) => !listed.has(`${asset}:${subId}`))
      if (without.length === 0) return { result: 'ok', detail: '' }
      const detail = `no row that is enabled lists ${without.join(', ')}: see ./venue market row`
      return { result: 'not_listed', detail }
    }
    return [answered(what, find)]
  })
}

function marketChecks(deps: CheckedDeployment, market: Market) {
  const { market: name, assetAddress, quoteAssetAddress } = market
  const { client, executor, deployment } = deps
  const faults = { client, deployment, sender: executor.address }
  const refusesMatches = async (): KeeperFinding => {
    const fault = await readMarketFault(faults, market)
    if (fault === undefined) return undefined
    const cures: Partial<Record<string, string>> = {
      M_OnlyAllowedModule: `setAllowedModule(${market.tradeModuleAddress}, true) on ${deployment.matching}`,
      MW_UnknownManager: `setFeeRecipient of an account under ${market.marginManagerAddress}`,
      BM_AdjustmentsPaused: 'its guardian ends that: setAdjustmentsPaused(false)',
    }
    return `${fault.why}: ${cures[fault.revert] ?? 'see docs/OPERATING.md'}`
  }
  return [
    [`${name}: wiring`, () => readWiring(deps, market)],
    [`${name}: its trade module is its own`, () => moduleApart(deps, market)],
    [`${name}: manager and assets know each other`, () => managerApart(deps, market)],
    [`${name}: tokens move`, () => tokensFault(deps, market)],
    [`${name}: matches are allowed`, refusesMatches],
    [`${name}: oracles are set`, () => oracleFault(deps, market)],
    [`${name}: prices are fresh`, () => isHeld(deps, market)],
    [`${name}: caps leave room`, () => isCapped(deps, market, [assetAddress, quoteAssetAddress])],
    [`${name}: its collateral can be posted`, () => collateralFault(deps, market)],
    [`${name}: the account for fees is there`, () => feeAccountFault(deps, market)],
    [`${name}: fees can be credited`, () => takesNoFees(deps, market)],
    [`${name}: the manager charges no fee of its own`, () => openInterestFee(deps, market)],
    ...keeperChecks(deps, market),
  ] as const
}

/** A chain that moves has a block of the last minute, whatever its interval. */
const STILL_AFTER_SEC = 60

/** A newest block that is old, or of a time that is not yet. */
async function standsStill({ client, nowMs }: CheckedDeployment): KeeperFinding {
  const { timestamp, number } = await readHead(client)
  const ageSec = Math.floor(nowMs() / 1_000) - blockTimeSec(timestamp)
  if (ageSec > STILL_AFTER_SEC)
    return `the newest block, ${number}, is ${ageSec} s old: the node is behind, or the chain stands still; take another RPC_URL`
  if (ageSec < 0 - STILL_AFTER_SEC)
    return `the newest block, ${number}, is ${0 - ageSec} s ahead of this machine: set its clock`
  return undefined
}

async function contractsThere({ client, deployment }: ChainReads): KeeperFinding {
  const { chainId, perpManager, ...contracts } = deployment
  const guard = guardDeployment(client, {
    chainId,
    contracts: { ...contracts, ...(perpManager && { perpManager }), deployedAtBlock: undefined },
  })
  try {
    await guard()
    return undefined
  } catch (error) {
    if (error instanceof DeploymentMismatch)
      return `${error.message}; correct DEPLOYMENT_FILE or RPC_URL`
    throw error
  }
}

const mayNotSettle = async ({
  client,
  deployment,
  executor,
}: ChainReads & Pick<CheckedDeployment, 'executor'>): KeeperFinding =>
  (await readDeploymentFault({ client, deployment, sender: executor.address }))?.why

/** Rejects where orders of wallets would stay unchecked; what the contract answers does not matter. */
async function cannotAsk({ client, deployment, executor }: CheckedDeployment): KeeperFinding {
  const { matching, subAccounts } = deployment
  const asked = { signer: subAccounts, digest: NO_DIGEST, signature: '0x' } as const
  await doesWalletVouch(client, { ...asked, matching, sender: executor.address })
  return undefined
}

const NO_DIGEST: Hex = `0x${'0'.repeat(64)}`

async function isNoTradeExecutor(deps: ChainReads, address: Address): KeeperFinding {
  const { matching } = deps.deployment
  const call = { abi: matchingAbi, functionName: 'tradeExecutors', args: [address] } as const
  if (await orUnreachable('trade executors', isTrue(deps, matching, encodeFunctionData(call))))
    return undefined
  return `${address} is not a trade executor: setTradeExecutor(${address}, true) on ${matching}`
}

async function isNoModule(deps: CheckedDeployment, name: string, module: Address): KeeperFinding {
  const { matching } = deps.deployment
  const call = { abi: matchingAbi, functionName: 'allowedModules', args: [module] } as const
  if (await orUnreachable('allowed modules', isTrue(deps, matching, encodeFunctionData(call))))
    return undefined
  return `the ${name} is not allowed: setAllowedModule(${module}, true) on ${matching}`
}

async function lacksGas({ client }: ChainReads, sender: SenderKey): KeeperFinding {
  const { address, reserveWei } = sender
  const balance = await orUnreachable('balance', client.getBalance({ address }))
  return balance >= reserveWei
    ? undefined
    : `${address} has ${balance} wei, its reserve is ${reserveWei}: send gas money`
}

/** A market that its own facts hold, for example by an old price. */
async function isHeld(deps: CheckedDeployment, market: Market): KeeperFinding {
  const { holdOf } = tradingOf(market)
  if (holdOf === undefined || chainContractOf(market)?.readMarketFacts === undefined)
    return undefined
  const head = await readHead(deps.client)
  const nowMs = deps.nowMs()
  const observed = await orUnreachable(
    `facts of ${market.market}`,
    observeMarket(deps, market, head, nowMs),
  )
  const hold = holdOf(observed, nowMs)
  if (hold === undefined) return undefined
  return `held: ${hold.reason}; ${holdCureOf(hold.reason, market)}`
}

/** An asset that accounts may post besides what the market trades, and that the chain refuses. */
async function collateralFault(deps: CheckedDeployment, market: Market): KeeperFinding {
  const { readCollateral } = chainContractOf(market) ?? {}
  if (readCollateral === undefined) return undefined
  const read = readCollateral(market, newestCalls(deps))
  const asset = await orUnreachable(`collateral of ${market.market}`, read)
  if (asset === undefined) return undefined
  const apart = await collateralApart(deps, market.marginManagerAddress, asset)
  return apart ?? isCapped(deps, market, [asset])
}

/** A cap of an asset that the positions under the market's manager have reached. */
async function isCapped(
  deps: CheckedDeployment,
  market: Market,
  assets: readonly Address[],
): KeeperFinding {
  const { marginManagerAddress: manager } = market
  for (const address of assets) {
    const read = (functionName: 'totalPosition' | 'totalPositionCap') => {
      const data = encodeFunctionData({ abi: perpAssetAbi, functionName, args: [manager] })
      return orUnreachable(`caps of ${market.market}`, wordOf(deps, address, data))
    }
    const [total, cap] = await Promise.all([read('totalPosition'), read('totalPositionCap')])
    if (total === undefined || cap === undefined || total < cap) continue
    return `${total} of ${cap} are used: setTotalPositionCap(${manager}, …) on ${address}`
  }
  return undefined
}

/** Below this, in quote at 1e18, the next fees may be more than is allowed. */
const LEAST_ALLOWANCE = 10n ** 18n

/** An account for fees that a trade module may not credit: a wrapped asset asks for consent, cash does not. */
async function takesNoFees({ client, deployment }: ChainReads, market: Market): KeeperFinding {
  const { tradeModuleAddress: module, quoteAssetAddress: quote } = market
  const { subAccounts, cashAsset, matching } = deployment
  if (quote === cashAsset) return undefined
  const read = (to: Address, data: Hex) =>
    orUnreachable(`fees of ${market.market}`, wordOf({ client }, to, data))
  const ofModule = { abi: tradeModuleAbi, functionName: 'feeRecipient' } as const
  const account = await read(module, encodeFunctionData(ofModule))
  // The check of matches names an account that is missing.
  if (account === undefined || account === 0n) return undefined
  const ofOwner = { abi: subAccountsAbi, functionName: 'ownerOf', args: [account] } as const
  const owner = await read(subAccounts, encodeFunctionData(ofOwner))
  if (owner === undefined || owner === BigInt(module)) return undefined
  // Matching gives no allowance; the check of the account names it.
  if (owner === BigInt(matching)) return undefined
  const ownerAddress: Address = `0x${owner.toString(16).padStart(40, '0')}`
  const args = [account, ownerAddress, quote, module] as const
  const call = { abi: subAccountsAbi, functionName: 'positiveAssetAllowance', args } as const
  const allowed = await read(subAccounts, encodeFunctionData(call))
  if (allowed === undefined || allowed >= LEAST_ALLOWANCE) return undefined
  return `${module} may credit ${allowed} of ${quote} to account ${account}: setAssetAllowances(${account}, ${module}, …) on ${subAccounts}, as ${ownerAddress}`
}
