import {
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  numberToHex,
  parseEventLogs,
  type Abi,
  type PrivateKeyAccount,
  type TransactionReceipt,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { matchingAbi, subAccountsAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { compileContracts, type ContractName } from '../../devnet/chain/compile-contracts.js'
import { deploy, type DevnetDeployment } from '../../devnet/chain/deploy.js'
import { seedAccounts, seedTradingAccounts } from '../../devnet/chain/seed-accounts.js'
import { ANVIL_KEY, startAnvil, type Anvil, type AnvilClient, type AnvilOptions } from './anvil.js'

const POLL_MS = 5
const POLLS = 4_000
const POLLS_PER_BLOCK = 500
const TX_GAS = 30_000_000n

interface RpcAnswer {
  readonly result?: unknown
  readonly error?: { readonly message: string; readonly data?: Hex }
}

/** A development account with tokens in its wallet and in a subaccount held by Matching. */
export interface Trader {
  readonly account: PrivateKeyAccount
  readonly address: Address
  readonly subaccountId: bigint
}

/** One contract call as the chain would receive it. */
export interface Call {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
}

/** A deployed devnet with three onboarded traders and one allowed executor. */
export interface World {
  readonly anvil: Anvil
  readonly client: AnvilClient
  readonly at: DevnetDeployment
  readonly executor: Address
  readonly feeOwner: PrivateKeyAccount
  readonly feeAccount: bigint
  readonly alice: Trader
  readonly bob: Trader
  readonly carol: Trader
}

/** A key that is the same in every run. */
export function testKey(n: number): Hex {
  return `0x${n.toString(16).padStart(64, '0')}`
}

/** Signs prices and moves the marks of futures. */
export const FEEDER_KEY: Hex = testKey(1004)

/** Starts a chain and deploys and seeds it; every address may send without a key. */
/** A chain with the contracts; it has no series of futures unless a calendar is given. */
export async function openWorld(
  options: AnvilOptions = {},
  calendar: FuturesCalendar = 'none',
): Promise<World> {
  const anvil = await startAnvil(options)
  const feeOwner = privateKeyToAccount(testKey(1001))
  const executor = lower(privateKeyToAccount(testKey(1002)).address)
  const sender = { rpcUrl: anvil.rpcUrl, privateKey: ANVIL_KEY }
  const at = await deploy({
    ...sender,
    tradeExecutors: [executor],
    batchOperators: [executor],
    feeOwnerKey: testKey(1001),
    feederKey: FEEDER_KEY,
    calendar,
  })
  const accounts = [1, 2, 3].map((n) => privateKeyToAccount(testKey(n)))
  const owners = accounts.map((account) => lower(account.address))
  const seeded = await seedAccounts({ ...sender, deployment: at, owners })
  const [alice, bob, carol] = accounts.map((account, i) => ({
    account,
    address: lower(account.address),
    subaccountId: seeded[i]?.spotSubaccountId ?? 0n,
  }))
  if (alice === undefined || bob === undefined || carol === undefined) throw new Error('no traders')
  await rpc({ anvil }, 'anvil_autoImpersonateAccount', [true])
  const feeAccount = BigInt(at.spot_fee_subaccount_id)
  return { anvil, client: anvil.client, at, executor, feeOwner, feeAccount, alice, bob, carol }
}

/** The same world with its traders and its fee account under the earlier spot manager, which accepts assets one by one. */
export async function underEarlierManager(world: World): Promise<World> {
  const at = { ...world.at, spot_manager: world.at.earlier_spot_manager }
  const traders = [world.alice, world.bob, world.carol] as const
  const ids = await seedTradingAccounts(
    {
      rpcUrl: world.anvil.rpcUrl,
      privateKey: ANVIL_KEY,
      deployment: at,
      owners: traders.map(({ address }) => address),
    },
    at.spot_manager,
    { usdc: 10n ** 12n, cngn: 10n ** 15n },
  )
  const [alice, bob, carol] = traders.map((trader, i) => ({
    ...trader,
    subaccountId: ids[i] ?? 0n,
  }))
  if (alice === undefined || bob === undefined || carol === undefined) throw new Error('no traders')
  const feeAccount = await openAccount(world, at.fee_owner, at.spot_manager)
  return { ...world, at, feeAccount, alice, bob, carol }
}

export function lower(address: string): Address {
  return address.toLowerCase() as Address
}

/** Revert data of a call against the latest state, '0x' when it reverts without any, 'none' when it succeeds. */
export async function revertOf(world: World, call: Call): Promise<Hex | 'none'> {
  const { error } = await rpc(world, 'eth_call', [{ ...call, gas: numberToHex(TX_GAS) }, 'latest'])
  if (error === undefined) return 'none'
  if (!error.message.includes('revert')) throw new Error(error.message)
  return error.data ?? '0x'
}

/** Sends the call as a transaction and returns its receipt, which must say success. */
export async function perform(world: World, call: Call): Promise<TransactionReceipt> {
  const receipt = await receiptOf(world, await send(world, call))
  if (receipt.status !== 'success') throw new Error(`reverted: ${await revertOf(world, call)}`)
  return receipt
}

/** Sends the call as a transaction, without `to` as a creation, and answers its hash. */
export async function send(
  world: World,
  call: Omit<Call, 'to'> & { to?: Address },
  gasLimit = TX_GAS,
): Promise<Hex> {
  return sendTransaction(world, { ...call, gas: numberToHex(gasLimit) })
}

/** What was sent as each transaction. */
const calls = new Map<Hex, object>()

async function sendTransaction(world: World, call: object): Promise<Hex> {
  const { result, error } = await rpc(world, 'eth_sendTransaction', [call])
  if (error !== undefined) throw new Error(error.message)
  calls.set(result as Hex, call)
  return result as Hex
}

/** Sends a transaction that the node has forgotten once more; resolves with what it is called now. */
async function sendAgain(world: World, hash: Hex): Promise<Hex> {
  const call = calls.get(hash)
  const known = await rpc(world, 'eth_getTransactionByHash', [hash])
  return call === undefined || known.result !== null ? hash : sendTransaction(world, call)
}

/** The node's raw answer: the client library would hide the revert data behind its own errors. */
async function rpc(
  world: { anvil: Anvil },
  method: string,
  params: readonly unknown[],
): Promise<RpcAnswer> {
  const response = await fetch(world.anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as RpcAnswer
}

/**
 * Polls by itself: the library's own wait hangs after a snapshot was restored. A busy node can leave a transaction in its
 * pool although it mines at once; a block mined for it carries it then. It can also forget one: what is neither in a block nor in
 * the pool for some seconds is sent again.
 */
export async function receiptOf(world: World, hash: Hex): Promise<TransactionReceipt> {
  let newest = hash
  for (let attempt = 1; attempt <= POLLS; attempt += 1) {
    try {
      return await world.client.getTransactionReceipt({ hash: newest })
    } catch (error) {
      if ((error as Error).name !== 'TransactionReceiptNotFoundError') throw error
    }
    if (attempt % POLLS_PER_BLOCK === 0) {
      newest = await sendAgain(world, newest)
      await world.client.mine({ blocks: 1 })
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  const { result } = await rpc(world, 'txpool_inspect', [])
  throw new Error(`no receipt of ${hash}; in the pool: ${JSON.stringify(result)}`)
}

/** Deploys one more contract by the deployer. */
export async function create(
  world: World,
  name: ContractName,
  ...args: readonly unknown[]
): Promise<Address> {
  const { abi, bytecode } = (await compileContracts())[name]
  const from = world.at.deployer
  const nonce = await world.client.getTransactionCount({ address: from })
  const data = encodeDeployData({ abi, bytecode, args: [...args] })
  await receiptOf(world, await send(world, { from, data }))
  return lower(getContractAddress({ from, nonce: BigInt(nonce) }))
}

/** A call of the deployer, who owns every contract. */
export async function administer(
  world: World,
  to: Address,
  abi: Abi,
  ...[functionName, ...args]: readonly [string, ...unknown[]]
): Promise<void> {
  const data = encodeFunctionData({ abi, functionName, args })
  await perform(world, { from: world.at.deployer, to, data })
}

/** Balance at 1e18 of a subaccount. */
export function balanceOf(world: World, accountId: bigint, asset: Address): Promise<bigint> {
  return world.client.readContract({
    address: world.at.sub_accounts,
    abi: subAccountsAbi,
    functionName: 'getBalance',
    args: [accountId, asset, 0n],
  })
}

/** Opens one more account of the trader, empty and held by Matching. */
export async function newAccount(world: World, trader: Trader): Promise<bigint> {
  const args = [world.at.spot_manager] as const
  const data = encodeFunctionData({ abi: matchingAbi, functionName: 'createSubAccount', args })
  return createdBy(await perform(world, { from: trader.address, to: world.at.matching, data }))
}

/** Opens an empty account whose NFT the owner keeps. */
export async function openAccount(world: World, owner: Address, manager: Address): Promise<bigint> {
  const args = [owner, manager] as const
  const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'createAccount', args })
  return createdBy(await perform(world, { from: owner, to: world.at.sub_accounts, data }))
}

/** The account that a transaction has created, whatever others create meanwhile. */
function createdBy({ logs }: TransactionReceipt): bigint {
  const [created] = parseEventLogs({ abi: subAccountsAbi, eventName: 'AccountCreated', logs })
  if (created === undefined) throw new Error('the transaction has created no account')
  return created.args.accountId
}

export function lastAccountId(world: World): Promise<bigint> {
  const { sub_accounts: address } = world.at
  return world.client.readContract({ address, abi: subAccountsAbi, functionName: 'lastAccountId' })
}
