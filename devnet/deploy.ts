import { encodeDeployData, encodeFunctionData, parseAbi, parseEventLogs } from 'viem'
import type { TransactionReceipt } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { batchExecutorAbi } from '../chain/abi/batch-executor.js'
import { managerAbi } from '../chain/abi/manager.js'
import { matchingAbi } from '../chain/abi/matching.js'
import { subAccountsAbi } from '../chain/abi/sub-accounts.js'
import { tradeModuleAbi } from '../chain/abi/trade-module.js'
import { wrappedErc20AssetAbi } from '../chain/abi/wrapped-erc20-asset.js'
import type { DeploymentFile } from '../chain/deployment.js'
import type { Address, Hex } from '../core/action.js'
import { compileContracts } from './compile-contracts.js'
import type { Artifacts, ContractName } from './compile-contracts.js'
import { createBatch } from './transaction-batch.js'
import type { SenderOptions, TransactionBatch } from './transaction-batch.js'

/** Cap of each wrapped asset per manager, 1e18: far above what the devnet mints. */
const POSITION_CAP = 10n ** 36n
const MAX_UINT256 = 2n ** 256n - 1n
/** The asset type under which a manager knows a wrapped token. */
const BASE_ASSET_TYPE = 3
const CREATE_GAS = 6_000_000n
const CALL_GAS = 400_000n
const TRANSFER_GAS = 50_000n
/** 100 ether: gas for the life of a devnet. */
const GAS_MONEY_WEI = 100n * 10n ** 18n

export interface DeployOptions extends SenderOptions {
  /** `privateKey` is the deployer's: it owns every contract, is the managers' guardian and pays, so it needs ether. */
  readonly tradeExecutors: readonly Address[]
  /** May settle matches through the batch executor. */
  readonly batchOperators: readonly Address[]
  /** Owns the account that receives fees; never trades. */
  readonly feeOwnerKey: Hex
}

type Addresses = Readonly<Record<Exclude<keyof DeploymentFile, 'chain_id'> | 'seeder', Address>>

/** What a deployment file needs, and what only the devnet's own tools use. */
export interface DevnetDeployment extends Addresses {
  readonly chain_id: number
  readonly deployer: Address
  readonly fee_owner: Address
  /** Account under the spot manager that the spot module credits with fees; a decimal integer. */
  readonly spot_fee_subaccount_id: string
}

const devTokenAbi = parseAbi(['function setMinter(address minter, bool allowed)'])

/**
 * Deploys and wires all contracts: modules and executors allowed (executors and the fee owner also receive gas
 * money), the spot manager knows both wrapped assets, the perp manager cash. Throws when a step fails.
 */
export async function deploy(options: DeployOptions): Promise<DevnetDeployment> {
  const batch = await createBatch(options)
  const addresses = await createContracts(batch, await compileContracts())
  await wire(batch, addresses, options)
  const feeOwner = privateKeyToAddress(options.feeOwnerKey).toLowerCase() as Address
  await fund(batch, [...options.tradeExecutors, feeOwner])
  const feeAccount = await openFeeAccount(batch, addresses, feeOwner)
  await allowFees({ ...options, privateKey: options.feeOwnerKey }, addresses, feeAccount)
  return {
    chain_id: batch.chainId,
    ...addresses,
    deployer: batch.sender,
    fee_owner: feeOwner,
    spot_fee_subaccount_id: feeAccount.toString(),
  }
}

async function createContracts(batch: TransactionBatch, artifacts: Artifacts): Promise<Addresses> {
  const create = (name: ContractName, ...args: readonly unknown[]): Promise<Address> =>
    batch.send({ data: encodeDeployData({ ...artifacts[name], args: [...args] }), gas: CREATE_GAS })

  const subAccounts = await create('SubAccounts')
  const matching = await create('Matching', subAccounts)
  const usdc = await create('DevUsdc')
  const cngn = await create('DevCngn')
  const wrappedUsdc = await create('WrappedERC20Asset', subAccounts, usdc)
  const wrappedCngn = await create('WrappedERC20Asset', subAccounts, cngn)
  const cashAsset = await create('CashAsset', subAccounts, usdc)
  return {
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
    spot_manager: await create('StandardManager', subAccounts, cashAsset),
    perp_manager: await create('StandardManager', subAccounts, cashAsset),
    seeder: await create('DevSeeder', matching, subAccounts),
    batch_executor: await create('BatchExecutor', matching),
  }
}

async function wire(batch: TransactionBatch, at: Addresses, options: DeployOptions): Promise<void> {
  await wireMatching(batch, at, [...options.tradeExecutors, at.batch_executor])
  await wireBatchExecutor(batch, at, options.batchOperators)
  await wireManagers(batch, at)
  for (const token of [at.usdc, at.cngn]) {
    const data = encodeFunctionData({
      abi: devTokenAbi,
      functionName: 'setMinter',
      args: [at.seeder, true],
    })
    await batch.send({ to: token, data, gas: CALL_GAS })
  }
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
  for (const manager of [at.spot_manager, at.perp_manager]) {
    const data = encodeFunctionData({
      abi: managerAbi,
      functionName: 'setGuardian',
      args: [batch.sender],
    })
    await batch.send({ to: manager, data, gas: CALL_GAS })
  }
  await acceptManager(batch, at.cash_asset, at.perp_manager)
  let marketId = 0n
  for (const asset of [at.wrapped_usdc, at.wrapped_cngn]) {
    marketId += 1n
    await acceptManager(batch, asset, at.spot_manager)
    await whitelistCapped(batch, at.spot_manager, asset, marketId)
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

/** A market of its own per asset: a manager's market holds one asset of each type. */
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

async function openFeeAccount(
  batch: TransactionBatch,
  at: Addresses,
  owner: Address,
): Promise<bigint> {
  const args = [owner, at.spot_manager] as const
  const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'createAccount', args })
  await batch.send({ to: at.sub_accounts, data, gas: CALL_GAS })
  const accountId = createdAccount((await batch.flush()).at(-1))
  const credit = encodeFunctionData({
    abi: tradeModuleAbi,
    functionName: 'setFeeRecipient',
    args: [accountId],
  })
  await batch.send({ to: at.spot_trade_module, data: credit, gas: CALL_GAS })
  await batch.flush()
  return accountId
}

function createdAccount(receipt: TransactionReceipt | undefined): bigint {
  const [event] = parseEventLogs({
    abi: subAccountsAbi,
    eventName: 'AccountCreated',
    logs: receipt?.logs ?? [],
  })
  if (event === undefined) throw new Error('the account creation left no AccountCreated event')
  return event.args.accountId
}

/** Wrapped assets ask consent for credits too, so without this any fee above zero would revert. */
async function allowFees(options: SenderOptions, at: Addresses, feeAccount: bigint): Promise<void> {
  const batch = await createBatch(options)
  const allowance = { asset: at.wrapped_usdc, positive: MAX_UINT256, negative: 0n }
  const args = [feeAccount, at.spot_trade_module, [allowance]] as const
  const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'setAssetAllowances', args })
  await batch.send({ to: at.sub_accounts, data, gas: CALL_GAS })
  await batch.flush()
}
