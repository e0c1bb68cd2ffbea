import { z } from 'zod'
import type { KeyedAccount, RoleAccounts } from './accounts.js'
import { callChain } from './chain-rpc.js'
import { deploy } from './deploy.js'
import { LauncherError } from './launcher-error.js'
import { seedAccounts } from './seed-accounts.js'

/** 100,000 ether for the deployer, who pays everybody else from it. */
const DEPLOYER_WEI = 100_000n * 10n ** 18n

/** What a fresh devnet consists of; kept in `DATA_DIR/deployment.json` for the next start. */
export const devnetFactsSchema = z.object({
  /** As a deployment file spells it. */
  deployment: z.looseObject({ chain_id: z.int(), matching: z.string() }),
  /** Spot subaccount of each development account, by name; decimal integers. */
  spot_subaccount_ids: z.record(z.string(), z.string()),
  demo_maker_subaccount_id: z.string(),
  /** Who executes settlements: a venue whose keys changed cannot use this deployment. */
  executor_address: z.string(),
})
export type DevnetFacts = z.infer<typeof devnetFactsSchema>

/** Deploys and wires the contracts on a fresh local chain, funds the venue's own accounts and onboards the traders. */
export async function deployDevnet(
  rpcUrl: string,
  roles: RoleAccounts,
  traders: readonly KeyedAccount[],
): Promise<DevnetFacts> {
  const balance = `0x${DEPLOYER_WEI.toString(16)}`
  await callChain(rpcUrl, 'anvil_setBalance', [roles.deployer.address, balance])
  const sender = { rpcUrl, privateKey: roles.deployer.privateKey, mineNow: true }
  const deployment = await deploy({
    ...sender,
    tradeExecutors: [
      roles.executor.address,
      roles.deposit_submitter.address,
      roles.withdrawal_submitter.address,
    ],
    batchOperators: [roles.executor.address],
    feeOwnerKey: roles.fee_owner.privateKey,
  })
  const owners = [...traders, roles.demo_maker]
  const seeded = await seedAccounts({
    ...sender,
    deployment,
    owners: owners.map((owner) => owner.address),
  })
  const ids = owners.map((owner) => {
    const account = seeded.find((candidate) => candidate.owner === owner.address)
    if (account === undefined) throw new LauncherError(`${owner.name} has no subaccount`)
    return [owner.name, account.spotSubaccountId.toString()] as const
  })
  return {
    deployment: { ...deployment },
    spot_subaccount_ids: Object.fromEntries(ids.slice(0, traders.length)),
    demo_maker_subaccount_id: ids[traders.length]?.[1] ?? '',
    executor_address: roles.executor.address,
  }
}
