import { encodeFunctionData, parseEventLogs, type TransactionReceipt } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import {
  batchExecutorAbi,
  managerAbi,
  matchingAbi,
  subAccountsAbi,
  wrappedErc20AssetAbi,
} from '../../chain/abi/contracts.js'
import type { DeploymentFile } from '../../chain/reads/deployment.js'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { compileContracts } from './compile-contracts.js'
import {
  createFuturesContracts,
  openSeries,
  wireFutures,
  type FuturesAddresses,
} from './deploy-futures.js'
import {
  contractBatch,
  createPerpContracts,
  startPrices,
  wirePerp,
  type ContractBatch,
  type PerpAddresses,
} from './deploy-perp.js'
import { PERP_PARAMETERS } from './perp-parameters.js'
import { createBatch, type BatchSenderOptions, type TransactionBatch } from './transaction-batch.js'

/** Cap of each wrapped asset per manager, 1e18: far above what the devnet mints. */
const POSITION_CAP = 10n ** 36n
const MAX_UINT256 = 2n ** 256n - 1n
/** The asset type of a wrapped token in a manager. */
const BASE_ASSET_TYPE = 3
const CALL_GAS = 400_000n
export const TRANSFER_GAS = 50_000n
/** 100 ether: gas for the lifetime of a devnet. */
export const GAS_MONEY_WEI = 100n * 10n ** 18n

export interface DeployOptions extends BatchSenderOptions {
  /** `privateKey` is the deployer's: it owns every contract, is the managers' guardian and pays, so it needs ether. */
  readonly tradeExecutors: readonly Address[]
  /** Addresses that may settle matches through the batch executor. */
  readonly batchOperators: readonly Address[]
  /** Owns the account that receives fees; never trades. */
  readonly feeOwnerKey: Hex
  /** Signs and sends the feeds' prices. */
  readonly feederKey: Hex
  /** Moves the marks of futures, and keeps the contracts; the feeder does without it. */
  readonly keeperKey?: Hex
  /** Owns the contract that gives demo accounts; without it the deployment has none. */
  readonly demoKey?: Hex
  /** Names the series of futures that are opened. */
  readonly calendar: FuturesCalendar
}

type Addresses = Readonly<
  Record<
    | Exclude<keyof DeploymentFile, 'chain_id' | 'deployed_at_block'>
    | ('seeder' | 'earlier_spot_manager'),
    Address
  >
> &
  PerpAddresses &
  FuturesAddresses & { readonly demo_seeder?: Address }

/** The contents of a deployment file, and what only the devnet's own tools use. */
export interface DevnetDeployment extends Addresses {
  readonly chain_id: number
  readonly deployer: Address
  readonly fee_owner: Address
  /** Account under the spot manager that the spot module credits with fees; a decimal integer. */
  readonly spot_fee_subaccount_id: string
  /** Account under the perp manager that the perp module credits with fees; it holds cash only. */
  readonly perp_fee_subaccount_id: string
  /** Account under the futures manager that the future module credits with fees. */
  readonly future_fee_subaccount_id: string
  /** The security module's own account. */
  readonly security_subaccount_id: string
}

/**
 * Deploys and wires all contracts: modules and executors allowed (executors, fee owner, feeder and keeper also receive gas
 * money), the futures manager knows both wrapped assets and the futures and is the spot manager too, the perp manager
 * knows cash, the perpetual and wrapped cNGN; the feeds have prices, the security module is endowed, and the next series of
 * futures by the calendar are open. An earlier spot manager knows both wrapped assets alone: its
 * accounts trade spot as well. Throws when a step fails.
 */
export async function deploy(options: DeployOptions): Promise<DevnetDeployment> {
  const batch = await createBatch(options)
  const contracts = contractBatch(batch, await compileContracts())
  const at = await createContracts(contracts)
  await wire(batch, contracts, at, options)
  const feeOwner = addressOf(options.feeOwnerKey)
  const feeder = addressOf(options.feederKey)
  const demo = await wireDemo(contracts, at, options.demoKey)
  const keeper = options.keeperKey === undefined ? [] : [addressOf(options.keeperKey)]
  await fund(batch, [...options.tradeExecutors, feeOwner, feeder, ...keeper, ...demo.funded])
  for (const manager of [at.spot_manager, at.perp_manager, at.futures_manager])
    await contracts.call('SubAccounts', at.sub_accounts, 'createAccount', feeOwner, manager)
  const accounts = createdAccounts(await batch.flush())
  await wireAccounts(contracts, at, accounts)
  const timeSec = await batch.newestBlockTimeSec()
  await startPrices(batch, at, options.feederKey, timeSec)
  const { feederKey: signerKey, calendar } = options
  await openSeries(batch, contracts, at, { signerKey, timeSec, calendar })
  await batch.flush()
  const { spotFees, perpFees, futureFees, security } = accounts
  await allowFees({ ...options, privateKey: options.feeOwnerKey }, at, accounts)
  return {
    chain_id: batch.chainId,
    ...at,
    ...demo.at,
    deployer: batch.sender,
    fee_owner: feeOwner,
    spot_fee_subaccount_id: spotFees.toString(),
    perp_fee_subaccount_id: perpFees.toString(),
    future_fee_subaccount_id: futureFees.toString(),
    security_subaccount_id: security.toString(),
  }
}

const addressOf = (key: Hex): Address => privateKeyToAddress(key).toLowerCase() as Address

async function createContracts(contracts: ContractBatch): Promise<Addresses> {
  const { create } = contracts
  const subAccounts = await create('SubAccounts')
  const matching = await create('Matching', subAccounts)
  const usdc = await create('DevUsdc')
  const cngn = await create('DevCngn')
  const wrappedUsdc = await create('WrappedERC20Asset', subAccounts, usdc)
  const wrappedCngn = await create('WrappedERC20Asset', subAccounts, cngn)
  const cashAsset = await create('CashAsset', subAccounts, usdc)
  const spot = {
    matching,
    sub_accounts: subAccounts,
    spot_trade_module: await create('TradeModule', matching, subAccounts, wrappedUsdc),
    deposit_module: await create('DepositModule', matching, subAccounts),
    withdrawal_module: await create('WithdrawalModule', matching, subAccounts),
    usdc,
    cngn,
    wrapped_usdc: wrappedUsdc,
    wrapped_cngn: wrappedCngn,
    cash_asset: cashAsset,
    earlier_spot_manager: await create('StandardManager', subAccounts, cashAsset),
    seeder: await create('DevSeeder', matching, subAccounts),
    batch_executor: await create('BatchExecutor', matching),
  }
  const perp = await createPerpContracts(contracts, spot)
  const futures = await createFuturesContracts(contracts, spot)
  return { ...spot, ...perp, ...futures, spot_manager: futures.futures_manager }
}

/** The contract that gives demo accounts, and who sends its transactions. */
async function wireDemo({ create, call }: ContractBatch, at: Addresses, key: Hex | undefined) {
  if (key === undefined) return { at: {}, funded: [] }
  const sender = privateKeyToAddress(key).toLowerCase() as Address
  const demo_seeder = await create('DemoSeeder', at.matching, at.sub_accounts)
  await call('DemoSeeder', demo_seeder, 'transferOwnership', sender)
  for (const token of [at.usdc, at.cngn])
    await call('DevUsdc', token, 'setMinter', demo_seeder, true)
  return { at: { demo_seeder }, funded: [sender] }
}

async function wire(
  batch: TransactionBatch,
  contracts: ContractBatch,
  at: Addresses,
  options: DeployOptions,
): Promise<void> {
  await wireMatching(batch, at, [...options.tradeExecutors, at.batch_executor])
  await wireBatchExecutor(batch, at, options.batchOperators)
  await wireManagers(batch, at)
  for (const token of [at.usdc, at.cngn])
    await contracts.call('DevUsdc', token, 'setMinter', at.seeder, true)
  const { securityEndowment } = PERP_PARAMETERS
  await contracts.call('DevUsdc', at.usdc, 'mint', batch.sender, securityEndowment)
  await wirePerp(contracts, at, options.feederKey)
  const feeder = privateKeyToAddress(options.feederKey)
  const keeper = addressOf(options.keeperKey ?? options.feederKey)
  const deployer = batch.sender
  const roles = { signer: feeder, keeper, seriesCreator: deployer, guardian: deployer }
  await wireFutures(contracts, at, roles)
}

/** Accounts that the deployment opens. */
type DeploymentAccounts = Readonly<
  Record<'security' | 'spotFees' | 'perpFees' | 'futureFees', bigint>
>

async function wireAccounts(
  { call }: ContractBatch,
  at: Addresses,
  accounts: DeploymentAccounts,
): Promise<void> {
  await call('TradeModule', at.spot_trade_module, 'setFeeRecipient', accounts.spotFees)
  await call('TradeModule', at.perp_trade_module, 'setFeeRecipient', accounts.perpFees)
  await call('TradeModule', at.future_trade_module, 'setFeeRecipient', accounts.futureFees)
  await call('DutchAuction', at.dutch_auction, 'setSMAccount', accounts.security)
}

async function wireMatching(
  batch: TransactionBatch,
  at: Addresses,
  executors: readonly Address[],
): Promise<void> {
  for (const module of [at.spot_trade_module, at.deposit_module, at.withdrawal_module]) {
    const args = [module, true] as const
    const data = encodeFunctionData({ abi: matchingAbi, functionName: 'setAllowedModule', args })
    await batch.send({ to: at.matching, data, gas: CALL_GAS })
  }
  for (const executor of executors) {
    const args = [executor, true] as const
    const data = encodeFunctionData({ abi: matchingAbi, functionName: 'setTradeExecutor', args })
    await batch.send({ to: at.matching, data, gas: CALL_GAS })
  }
}

async function wireBatchExecutor(
  batch: TransactionBatch,
  at: Addresses,
  operators: readonly Address[],
): Promise<void> {
  for (const operator of operators) {
    const args = [operator, true] as const
    const data = encodeFunctionData({ abi: batchExecutorAbi, functionName: 'setOperator', args })
    await batch.send({ to: at.batch_executor, data, gas: CALL_GAS })
  }
}

async function wireManagers(batch: TransactionBatch, at: Addresses): Promise<void> {
  for (const manager of [at.earlier_spot_manager, at.perp_manager]) {
    const data = encodeFunctionData({
      abi: managerAbi,
      functionName: 'setGuardian',
      args: [batch.sender],
    })
    await batch.send({ to: manager, data, gas: CALL_GAS })
  }
  let marketId = 0n
  for (const asset of [at.wrapped_usdc, at.wrapped_cngn]) {
    marketId += 1n
    await acceptManager(batch, asset, at.earlier_spot_manager)
    await whitelistCapped(batch, at.earlier_spot_manager, asset, marketId)
  }
}

async function acceptManager(
  batch: TransactionBatch,
  asset: Address,
  manager: Address,
): Promise<void> {
  const args = [manager, true] as const
  const data = encodeFunctionData({
    abi: wrappedErc20AssetAbi,
    functionName: 'setWhitelistManager',
    args,
  })
  await batch.send({ to: asset, data, gas: CALL_GAS })
}

/** Creates one market per asset: a manager's market holds one asset of each type. */
async function whitelistCapped(
  batch: TransactionBatch,
  manager: Address,
  asset: Address,
  marketId: bigint,
): Promise<void> {
  const created = encodeFunctionData({
    abi: managerAbi,
    functionName: 'createMarket',
    args: [asset],
  })
  await batch.send({ to: manager, data: created, gas: CALL_GAS })
  const detail = [asset, marketId, BASE_ASSET_TYPE] as const
  const listed = encodeFunctionData({
    abi: managerAbi,
    functionName: 'whitelistAsset',
    args: detail,
  })
  await batch.send({ to: manager, data: listed, gas: CALL_GAS })
  const cap = [manager, POSITION_CAP] as const
  const capped = encodeFunctionData({
    abi: wrappedErc20AssetAbi,
    functionName: 'setTotalPositionCap',
    args: cap,
  })
  await batch.send({ to: asset, data: capped, gas: CALL_GAS })
}

async function fund(batch: TransactionBatch, accounts: readonly Address[]): Promise<void> {
  for (const to of accounts) await batch.send({ to, value: GAS_MONEY_WEI, gas: TRANSFER_GAS })
}

/** The contracts' own accounts come first: the security module's, and the pool of the futures manager. */
function createdAccounts(receipts: readonly TransactionReceipt[]): DeploymentAccounts {
  const logs = receipts.flatMap((receipt) => receipt.logs)
  const events = parseEventLogs({ abi: subAccountsAbi, eventName: 'AccountCreated', logs })
  const [security, , spotFees, perpFees, futureFees] = events.map((event) => event.args.accountId)
  assert(
    security !== undefined && spotFees !== undefined && perpFees !== undefined,
    'the deployment creates five accounts',
  )
  assert(futureFees !== undefined, 'the deployment creates five accounts')
  return { security, spotFees, perpFees, futureFees }
}

/** Wrapped assets require consent for credits too: without this any fee above zero would revert. */
async function allowFees(
  options: BatchSenderOptions,
  at: Addresses,
  accounts: DeploymentAccounts,
): Promise<void> {
  const batch = await createBatch(options)
  const allowance = { asset: at.wrapped_usdc, positive: MAX_UINT256, negative: 0n }
  const credits = [
    [accounts.spotFees, at.spot_trade_module],
    [accounts.futureFees, at.future_trade_module],
  ] as const
  for (const [account, module] of credits) {
    const args = [account, module, [allowance]] as const
    const call = { abi: subAccountsAbi, functionName: 'setAssetAllowances', args } as const
    await batch.send({ to: at.sub_accounts, data: encodeFunctionData(call), gas: CALL_GAS })
  }
  await batch.flush()
}
