import { encodeFunctionData } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { tradingOf } from '../../core/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import { matchingAbi, perpAssetAbi, subAccountsAbi, tradeModuleAbi } from '../abi/contracts.js'
import { readHead } from '../reads/blocks.js'
import { ChainUnreachable, orUnreachable, type ChainClient } from '../reads/client.js'
import { DeploymentMismatch, guardDeployment, type Deployment } from '../reads/deployment.js'
import { isTrue, readDeploymentFault, readMarketFault, wordOf } from '../reads/read-faults.js'
import { doesWalletVouch } from '../signing/ask-wallet.js'
import { accountChecks, keeperChecks, type Finding } from './check-keeper.js'
import { observeMarket } from './observe-account.js'
import { chainContractOf } from './registry.js'
import { readWiring } from './wiring.js'

/** One thing that a deployment needs, and whether it has it. */
export interface DeploymentCheck {
  readonly what: string
  /** `unknown`: the node did not answer. */
  readonly result: 'ok' | 'failed' | 'unknown'
  /** What is wrong and how it is cured; otherwise what there is to know, mostly nothing. */
  readonly detail: string
}

/** A key of the venue's that sends transactions. */
export interface Sender {
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
  readonly executor: Sender
  /** Send deposits and withdrawals themselves, so that each is a trade executor. */
  readonly submitters: readonly Sender[]
  /** Keeps the contracts; absent where nothing of the venue's does. */
  readonly keeper?: Sender
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
  const checks: (readonly [what: string, find: () => Finding])[] = [
    ['chain and contracts', () => contractsThere(deps)],
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
    ...senders.map(
      (sender) => [`gas of the ${sender.role}`, () => lacksGas(deps, sender)] as const,
    ),
    ...markets.flatMap((market) => marketChecks(deps, market)),
    ...accountChecks(deps),
  ]
  return Promise.all(checks.map(([what, find]) => verdict(what, find)))
}

/** What a key that is to send transactions needs; `submitter` for one that calls matching itself, `keeper` for one that never does. */
export function checkNewSender(
  deps: Pick<CheckedDeployment, 'client' | 'deployment'>,
  sender: Sender,
  as: 'executor' | 'submitter' | 'keeper',
): Promise<DeploymentCheck[]> {
  const { role, address } = sender
  const right = (): Finding =>
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
async function isUsed({ client }: ChainReads, address: Address): Finding {
  const count = await orUnreachable('nonce', client.getTransactionCount({ address }))
  return count === 0 ? undefined : `${address} has sent ${count} transactions: take a fresh key`
}

type ChainReads = Pick<CheckedDeployment, 'client' | 'deployment'>

async function verdict(what: string, find: () => Finding): Promise<DeploymentCheck> {
  try {
    const detail = await find()
    if (typeof detail === 'string') return { what, result: 'failed', detail }
    return { what, result: 'ok', detail: detail?.note ?? '' }
  } catch (error) {
    if (error instanceof ChainUnreachable) return { what, result: 'unknown', detail: error.message }
    throw error
  }
}

function marketChecks(deps: CheckedDeployment, market: Market) {
  const name = market.market
  const { client, executor, deployment } = deps
  const faults = { client, deployment, sender: executor.address }
  return [
    [`${name}: wiring`, () => readWiring(deps, market)],
    [`${name}: matches are allowed`, async () => (await readMarketFault(faults, market))?.why],
    [`${name}: prices are fresh`, () => isHeld(deps, market)],
    [`${name}: caps leave room`, () => isCapped(deps, market)],
    [`${name}: fees can be credited`, () => takesNoFees(deps, market)],
    ...keeperChecks(deps, market),
  ] as const
}

async function contractsThere({ client, deployment }: ChainReads): Finding {
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
}: ChainReads & Pick<CheckedDeployment, 'executor'>): Finding =>
  (await readDeploymentFault({ client, deployment, sender: executor.address }))?.why

/** Rejects where orders of wallets would stay unchecked; what the contract answers does not matter. */
async function cannotAsk({ client, deployment, executor }: CheckedDeployment): Finding {
  const { matching, subAccounts } = deployment
  const asked = { signer: subAccounts, digest: NO_DIGEST, signature: '0x' } as const
  await doesWalletVouch(client, { ...asked, matching, sender: executor.address })
  return undefined
}

const NO_DIGEST: Hex = `0x${'0'.repeat(64)}`

async function isNoTradeExecutor(deps: ChainReads, address: Address): Finding {
  const { matching } = deps.deployment
  const call = { abi: matchingAbi, functionName: 'tradeExecutors', args: [address] } as const
  if (await orUnreachable('trade executors', isTrue(deps, matching, encodeFunctionData(call))))
    return undefined
  return `${address} is not a trade executor: setTradeExecutor(${address}, true) on ${matching}`
}

async function isNoModule(deps: CheckedDeployment, name: string, module: Address): Finding {
  const { matching } = deps.deployment
  const call = { abi: matchingAbi, functionName: 'allowedModules', args: [module] } as const
  if (await orUnreachable('allowed modules', isTrue(deps, matching, encodeFunctionData(call))))
    return undefined
  return `the ${name} is not allowed: setAllowedModule(${module}, true) on ${matching}`
}

async function lacksGas({ client }: ChainReads, sender: Sender): Finding {
  const { address, reserveWei } = sender
  const balance = await orUnreachable('balance', client.getBalance({ address }))
  return balance >= reserveWei
    ? undefined
    : `${address} has ${balance} wei, its reserve is ${reserveWei}: send gas money`
}

/** A market that its own facts hold, for example by an old price. */
async function isHeld(deps: CheckedDeployment, market: Market): Finding {
  const { gate } = tradingOf(market)
  if (gate === undefined || chainContractOf(market)?.readMarketFacts === undefined) return undefined
  const head = await readHead(deps.client)
  const nowMs = deps.nowMs()
  const observed = await orUnreachable(
    `facts of ${market.market}`,
    observeMarket(deps, market, head, nowMs),
  )
  const hold = gate(observed, nowMs)
  return (
    hold &&
    `held: ${hold.reason}; see that its feeds are updated (./venue up runs a feeder on a local chain only)`
  )
}

/** A cap that the positions under the market's manager have reached. */
async function isCapped(deps: CheckedDeployment, market: Market): Finding {
  const { assetAddress: address, marginManagerAddress: manager } = market
  const read = (functionName: 'totalPosition' | 'totalPositionCap') => {
    const data = encodeFunctionData({ abi: perpAssetAbi, functionName, args: [manager] })
    return orUnreachable(`caps of ${market.market}`, wordOf(deps, address, data))
  }
  const [total, cap] = await Promise.all([read('totalPosition'), read('totalPositionCap')])
  if (total === undefined || cap === undefined || total < cap) return undefined
  return `${total} of ${cap} are used: raise the cap of ${manager} on ${address}`
}

/** Below this, in quote at 1e18, the next fees may be more than is allowed. */
const LEAST_ALLOWANCE = 10n ** 18n

/** An account for fees that a trade module may not credit: a wrapped asset asks for consent, cash does not. */
async function takesNoFees({ client, deployment }: ChainReads, market: Market): Finding {
  const { tradeModuleAddress: module, quoteAssetAddress: quote } = market
  const { subAccounts, cashAsset } = deployment
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
  const ownerAddress: Address = `0x${owner.toString(16).padStart(40, '0')}`
  const args = [account, ownerAddress, quote, module] as const
  const call = { abi: subAccountsAbi, functionName: 'positiveAssetAllowance', args } as const
  const allowed = await read(subAccounts, encodeFunctionData(call))
  if (allowed === undefined || allowed >= LEAST_ALLOWANCE) return undefined
  return `${module} may credit ${allowed} of ${quote} to account ${account}: setAssetAllowances(${account}, ${module}, …) on ${subAccounts}, as ${ownerAddress}`
}
