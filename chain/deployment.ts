import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Address } from '../core/action.js'

/** Addresses of one deployment, as DEPLOYMENT_FILE (on the devnet `devnet.json`) names them. */
export interface Deployment {
  readonly chainId: number
  readonly matching: Address
  readonly subAccounts: Address
  readonly spotTradeModule: Address
  readonly depositModule: Address
  readonly withdrawalModule: Address
  readonly usdc: Address
  readonly cngn: Address
  readonly wrappedUsdc: Address
  readonly wrappedCngn: Address
  readonly cashAsset: Address
  readonly spotManager: Address
  /** Manager of the accounts that hold cash; a deployment without perps may have none. */
  readonly perpManager?: Address
  /** Tries many matches in one transaction; a deployment without it settles each in its own. */
  readonly batchExecutor?: Address
}

/** The deployment file is missing, is not JSON or lacks an address; the message names the file and the keys. */
export class DeploymentFileError extends Error {
  override readonly name = 'DeploymentFileError'
}

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .transform((text) => text.toLowerCase() as Address)

const fileSchema = z.object({
  chain_id: z.int().positive(),
  matching: address,
  sub_accounts: address,
  spot_trade_module: address,
  deposit_module: address,
  withdrawal_module: address,
  usdc: address,
  cngn: address,
  wrapped_usdc: address,
  wrapped_cngn: address,
  cash_asset: address,
  spot_manager: address,
  perp_manager: address.optional(),
  batch_executor: address.optional(),
})

/** A deployment as its file spells it; addresses in lower case when written by this venue. */
export type DeploymentFile = z.input<typeof fileSchema>

/** Reads the snake_case keys of a deployment file into a Deployment; addresses are lowered, other keys ignored. */
export const deploymentSchema = fileSchema.transform((file): Deployment => ({
  chainId: file.chain_id,
  matching: file.matching,
  subAccounts: file.sub_accounts,
  spotTradeModule: file.spot_trade_module,
  depositModule: file.deposit_module,
  withdrawalModule: file.withdrawal_module,
  usdc: file.usdc,
  cngn: file.cngn,
  wrappedUsdc: file.wrapped_usdc,
  wrappedCngn: file.wrapped_cngn,
  cashAsset: file.cash_asset,
  spotManager: file.spot_manager,
  ...(file.perp_manager === undefined ? {} : { perpManager: file.perp_manager }),
  ...(file.batch_executor === undefined ? {} : { batchExecutor: file.batch_executor }),
}))

/** The deployment described by the JSON file at `path`; throws DeploymentFileError. */
export async function loadDeployment(path: string): Promise<Deployment> {
  const parsed = deploymentSchema.safeParse(await readJson(path))
  if (parsed.success) return parsed.data
  throw new DeploymentFileError(`${path} is not a deployment: ${z.prettifyError(parsed.error)}`, {
    cause: parsed.error,
  })
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch (error) {
    throw new DeploymentFileError(`cannot read ${path} as JSON`, { cause: error })
  }
}
