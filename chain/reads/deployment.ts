import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { CannotStart, faultsOf } from '../../core/cannot-start.js'
import type { Address, Hex } from '../../core/action.js'
import { batchExecutorAbi, matchingAbi } from '../abi/contracts.js'
import { bytesToHex, hexToBytes, keccak256 } from '../signing/keys.js'
import { ChainUnreachable, orUnreachable, untilAnswering, type ChainClient } from './client.js'
import { onOtherChain } from './node-chain.js'

/** The contracts of one deployment that all markets share; what a market calls besides is in its row of market data. */
export interface Deployment {
  readonly chainId: number
  readonly matching: Address
  readonly subAccounts: Address
  readonly depositModule: Address
  readonly withdrawalModule: Address
  readonly usdc: Address
  readonly cngn: Address
  readonly wrappedUsdc: Address
  readonly wrappedCngn: Address
  readonly cashAsset: Address
  /** Manager of the accounts that hold cash; a deployment without perps may have none. */
  readonly perpManager?: Address
  /** Tries many matches in one transaction; a deployment without it settles each in its own. */
  readonly batchExecutor?: Address
  /** Opens, funds and hands over an account in one transaction of its owner; a deployment without it needs several. */
  readonly subAccountCreator?: Address
  /** A block that is not above the one of the deployment: nothing of it is older. Absent: the chain's first. */
  readonly deployedAtBlock?: bigint
}

/** The deployment file is missing, is not JSON or lacks an address; the message names the file and the keys. */
export class DeploymentFileError extends CannotStart {
  override readonly name = 'DeploymentFileError'
}

/** An address in a file or a setting, in lower case when read. */
export const addressText = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .transform((text) => text.toLowerCase() as Address)

const fileSchema = z.object({
  chain_id: z.int().positive(),
  matching: addressText,
  sub_accounts: addressText,
  // Rows of market data name these two, and data/markets.ts joins them; no other code reads them.
  spot_trade_module: addressText,
  spot_manager: addressText,
  deposit_module: addressText,
  withdrawal_module: addressText,
  usdc: addressText,
  cngn: addressText,
  wrapped_usdc: addressText,
  wrapped_cngn: addressText,
  cash_asset: addressText,
  perp_manager: addressText.optional(),
  batch_executor: addressText.optional(),
  sub_account_creator: addressText.optional(),
  deployed_at_block: z.int().min(0).optional(),
})

/** A deployment as its file spells it; addresses in lower case when written by this venue. */
export type DeploymentFile = z.input<typeof fileSchema>

/** Reads the snake_case keys of a deployment file into a Deployment; addresses are lowered, other keys ignored. */
export const deploymentSchema = fileSchema.transform((file): Deployment => ({
  chainId: file.chain_id,
  matching: file.matching,
  subAccounts: file.sub_accounts,
  depositModule: file.deposit_module,
  withdrawalModule: file.withdrawal_module,
  usdc: file.usdc,
  cngn: file.cngn,
  wrappedUsdc: file.wrapped_usdc,
  wrappedCngn: file.wrapped_cngn,
  cashAsset: file.cash_asset,
  ...(file.perp_manager === undefined ? {} : { perpManager: file.perp_manager }),
  ...(file.batch_executor === undefined ? {} : { batchExecutor: file.batch_executor }),
  ...(file.sub_account_creator === undefined
    ? {}
    : { subAccountCreator: file.sub_account_creator }),
  ...(file.deployed_at_block === undefined
    ? {}
    : { deployedAtBlock: BigInt(file.deployed_at_block) }),
}))

/** The deployment described by the JSON file at `path`; throws DeploymentFileError. */
export async function loadDeployment(path: string): Promise<Deployment> {
  const given = await readJson(path)
  const parsed = deploymentSchema.safeParse(given)
  if (parsed.success) return parsed.data
  const faults = faultsOf(parsed.error.issues, given)
  throw new DeploymentFileError(`${path} is not a deployment: ${faults}`, { cause: parsed.error })
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch (error) {
    throw new DeploymentFileError(`cannot read the deployment ${path}: ${String(error)}`, {
      cause: error,
    })
  }
}

/** The chain is not the deployment's, or this key may not trade on it; the message names the cure. */
export class DeploymentMismatch extends CannotStart {
  override readonly name = 'DeploymentMismatch'
}

export type TradingDeployment = Pick<
  Deployment,
  'chainId' | 'matching' | 'subAccounts' | 'batchExecutor'
>

/** The contracts that a process relies on, by the names that error messages use. */
export interface CalledContracts extends Pick<Deployment, 'matching' | 'batchExecutor'> {
  readonly [name: string]: Address | undefined
}

const addressesOf = (contracts: CalledContracts): (readonly [string, Address])[] =>
  Object.entries(contracts).flatMap(([name, address]) =>
    address === undefined ? [] : [[name, address] as const],
  )

/**
 * Passes when the node is on the chain, the contracts have code, the batch executor works for matching, and matching lets
 * `trader` settle if there is one. Throws DeploymentMismatch otherwise, and ChainUnreachable when the node does not
 * answer.
 */
async function checkDeployment(
  client: ChainClient,
  { chainId, contracts }: { readonly chainId: number; readonly contracts: CalledContracts },
  trader: Address | undefined,
): Promise<void> {
  const actual = await orUnreachable('chain id', client.getChainId())
  if (actual !== chainId) {
    throw new DeploymentMismatch(onOtherChain(chainId, actual))
  }
  const { matching, batchExecutor } = contracts
  for (const [name, address] of addressesOf(contracts)) {
    const code = await orUnreachable(`code of ${name}`, client.getCode({ address }))
    if (code === undefined) throw new DeploymentMismatch(`no contract at ${name} ${address}`)
  }
  if (batchExecutor !== undefined) await checkBatches(client, { matching, batchExecutor })
  if (trader !== undefined) await checkTrades(client, matching, trader)
}

async function checkTrades(client: ChainClient, matching: Address, trader: Address): Promise<void> {
  const allowed = client.readContract({
    address: matching,
    abi: matchingAbi,
    functionName: 'tradeExecutors',
    args: [trader],
  })
  if (await orUnreachable('trade executors', allowed)) return
  throw new DeploymentMismatch(`${trader} is not a trade executor of ${matching}: allow it there`)
}

async function checkBatches(
  client: ChainClient,
  { matching, batchExecutor }: { readonly matching: Address; readonly batchExecutor: Address },
): Promise<void> {
  const contract = { address: batchExecutor, abi: batchExecutorAbi } as const
  const target = await orUnreachable(
    'batch executor',
    client.readContract({ ...contract, functionName: 'matching' }),
  )
  if (target.toLowerCase() !== matching) {
    throw new DeploymentMismatch(`batch executor ${batchExecutor} works for ${target}`)
  }
}

/**
 * Returns a check to repeat: that the node is on the deployment's chain, that the code of the contracts is the same as in
 * the first check, and that `trader` may settle, where a process cannot wait for that right. It rejects with
 * DeploymentMismatch until it has passed once. After that one node with wrong answers must end nothing: what contradicts the
 * first check is then a ChainUnreachable, as when the node does not answer.
 */
export function guardDeployment(
  client: ChainClient,
  deployment: { readonly chainId: number; readonly contracts: CalledContracts },
  trader?: Address,
): () => Promise<void> {
  let first: ReadonlyMap<string, Hex> | undefined
  const check = async (): Promise<void> => {
    await checkDeployment(client, deployment, trader)
    const now = await hashCode(client, deployment.contracts)
    first ??= now
    for (const [name, hash] of now) {
      if (first.get(name) === hash) continue
      throw new DeploymentMismatch(`the code of ${name} was replaced while this process ran`)
    }
  }
  return async () => {
    try {
      await check()
    } catch (error) {
      if (first === undefined || !(error instanceof DeploymentMismatch)) throw error
      throw new ChainUnreachable(`the node contradicts the start: ${error.message}`, {
        cause: error,
      })
    }
  }
}

/** So many mismatches in a row are believed: one of several nodes behind an address may lag, or be another's, for a moment. */
const BELIEVED = 3
const LOOK_AGAIN_MS = 2_000

/**
 * Repeats the check of `guardDeployment` at a start until it passes. Throws the third DeploymentMismatch, and as untilAnswering does
 * where the chain does not answer. `onTrouble` is called for the first failure.
 */
export async function untilVerified(
  verify: () => Promise<void>,
  waitMs: number,
  onTrouble: (cause: Error) => void,
  pauseMs = LOOK_AGAIN_MS,
): Promise<void> {
  for (let looked = 1; ; looked += 1) {
    try {
      return await untilAnswering(verify, waitMs, onTrouble)
    } catch (error) {
      if (!(error instanceof DeploymentMismatch) || looked === BELIEVED) throw error
      if (looked === 1) onTrouble(error)
    }
    await delay(pauseMs)
  }
}

async function hashCode(
  client: ChainClient,
  contracts: CalledContracts,
): Promise<ReadonlyMap<string, Hex>> {
  const hashes = addressesOf(contracts).map(async ([name, address]) => {
    const code = await orUnreachable(`code of ${name}`, client.getCode({ address }))
    return [name, bytesToHex(keccak256(hexToBytes(code ?? '0x')))] as const
  })
  return new Map(await Promise.all(hashes))
}
