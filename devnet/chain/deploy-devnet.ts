import { join } from 'node:path'
import { z } from 'zod'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { formatDecimal } from '../../core/decimal.js'
import type { LauncherConfig } from '../launcher/config.js'
import { writeJsonDurably } from '../../data/durable-file.js'
import type { Ports } from '../launcher/environment.js'
import { demoKeyOf, keeperKeyOf, type KeyedAccount, type RoleAccounts } from './accounts.js'
import { callChain } from './anvil.js'
import { deploy } from './deploy.js'
import { HEARTBEAT_SEC, PERP_PARAMETERS, START_PRICES } from './perp-parameters.js'
import { seedAccounts, seedPerpAccounts } from './seed-accounts.js'

/** 100,000 ether for the deployer, which funds all other accounts. */
const DEPLOYER_WEI = 100_000n * 10n ** 18n

/** Description of a new devnet; kept in `DATA_DIR/deployment.json` for the next start. */
export const devnetFactsSchema = z.object({
  /** In the form of a deployment file. */
  deployment: z.looseObject({
    chain_id: z.int(),
    matching: z.string(),
    /** Absent on a devnet of an earlier build. */
    demo_seeder: z.string().optional(),
  }),
  /** Spot subaccount of each development account, by name; decimal integers. */
  spot_subaccount_ids: z.record(z.string(), z.string()),
  /** The same of their perp subaccounts. */
  perp_subaccount_ids: z.record(z.string(), z.string()),
  /** The demo maker's: the one that quotes and, after a comma, the one that takes quotes. */
  demo_maker_subaccount_id: z.string(),
  /** Absent on a devnet of an earlier build. */
  demo_maker_perp_subaccount_id: z.string().optional(),
  /** Address that executes settlements: a venue whose keys changed cannot use this deployment. */
  executor_address: z.string(),
})
export type DevnetFacts = z.infer<typeof devnetFactsSchema>

/** Deploys and wires the contracts on a fresh local chain, funds the venue's own accounts and onboards the traders. */
export async function deployDevnet(
  rpcUrl: string,
  roles: RoleAccounts,
  traders: readonly KeyedAccount[],
  calendar: FuturesCalendar,
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
    feederKey: roles.feeder.privateKey,
    keeperKey: keeperKeyOf(roles),
    demoKey: demoKeyOf(roles),
    calendar,
  })
  // The demo maker trades with itself, from two accounts.
  const holders = [...traders, roles.demo_maker, roles.demo_maker]
  const seeding = { ...sender, deployment, owners: holders.map(({ address }) => address) }
  const spot = (await seedAccounts(seeding)).map(({ spotSubaccountId }) => spotSubaccountId)
  const perp = await seedPerpAccounts(seeding)
  const byName = (ids: readonly bigint[]) =>
    Object.fromEntries(traders.map(({ name }, i) => [name, `${ids[i]}`]))
  const ofMaker = (ids: readonly bigint[]) => ids.slice(traders.length).join(',')
  return {
    deployment: { ...deployment },
    spot_subaccount_ids: byName(spot),
    perp_subaccount_ids: byName(perp),
    demo_maker_subaccount_id: ofMaker(spot),
    demo_maker_perp_subaccount_id: ofMaker(perp),
    executor_address: roles.executor.address,
  }
}

/** `DATA_DIR/devnet.json`: the addresses and accounts of a running devnet, for clients and tests. */
export const devnetFile = (dataDir: string): string => join(dataDir, 'devnet.json')

/** The perpetual's parameters as decimals, for readers of the file; programs read them from the chain. */
function describeParameters(): Readonly<Record<string, string>> {
  const p = PERP_PARAMETERS
  const decimals = {
    start_price: START_PRICES.index,
    initial_margin: p.initialMargin,
    maintenance_margin: p.maintenanceMargin,
    funding_convergence_hours: p.convergencePeriod,
    static_rate_1h: p.staticRatePerHour,
    max_rate_1h: p.maxRatePerHour,
    position_cap: p.positionCap,
    collateral_cap: p.collateralCap,
    collateral_factor: p.collateralFactor,
    collateral_initial_scale: p.collateralInitialScale,
  }
  const described = Object.entries(decimals).map(
    ([name, value]) => [name, formatDecimal(value, 18)] as const,
  )
  return {
    ...Object.fromEntries<string>(described),
    price_heartbeat_s: HEARTBEAT_SEC.price.toString(),
    stable_heartbeat_s: HEARTBEAT_SEC.stable.toString(),
  }
}

const NOTE =
  'The private keys below are the well-known keys of every development chain. ' +
  'They are public and worth nothing elsewhere: never send anything of value to them.'

/**
 * Writes the description of the running devnet, which is also the DEPLOYMENT_FILE of every process. Resolves with its
 * path.
 */
export async function writeDevnetFile(
  config: Pick<LauncherConfig, 'dataDir' | 'authDomain'>,
  ports: Ports,
  facts: DevnetFacts,
  traders: readonly KeyedAccount[],
): Promise<string> {
  const file = devnetFile(config.dataDir)
  const { chain_id, ...addresses } = facts.deployment
  await writeJsonDurably(file, {
    chain_id,
    rpc_url: `http://127.0.0.1:${ports.chain}`,
    gateway_url: `http://127.0.0.1:${ports.gateway}`,
    executor_url: `http://127.0.0.1:${ports.executor}`,
    auth_domain: config.authDomain,
    ...addresses,
    perp_parameters: describeParameters(),
    note: NOTE,
    accounts: traders.map((trader) => ({
      name: trader.name,
      address: trader.address,
      private_key: trader.privateKey,
      spot_subaccount_id: facts.spot_subaccount_ids[trader.name],
      perp_subaccount_id: facts.perp_subaccount_ids[trader.name],
    })),
  })
  return file
}
