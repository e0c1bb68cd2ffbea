import { z } from 'zod'
import {
  checkDeployment,
  type DeploymentCheck,
  type SenderKey,
} from '../../chain/contracts/check-deployment.js'
import { createChainClient } from '../../chain/reads/client.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { openKeyFile } from '../../chain/signing/key-file.js'
import { GAS_RESERVE_WEI } from '../../chain/sender/gas-settings.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import { expiriesFrom } from '../../core/contracts/future-calendar.js'
import {
  defaultMarketFile,
  loadDeployedMarkets,
  readMarkets,
  readRows,
  type LoadedMarkets,
} from '../../data/markets.js'
import { rowOfNextSeries } from '../../data/series-row.js'
import { BadConfiguration } from '../../runtime/process/config.js'
import type { SenderAddresses } from './command-line.js'
import type { CheckConfig } from './config.js'

/** The operator may be root, and the file another user's. */
const OWNER_OF_FILE = { ownerUid: 'any' } as const
/** What the processes keep by default. */
export const RESERVE_WEI = BigInt(GAS_RESERVE_WEI)

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const key = z.string().regex(/^0x[0-9a-fA-F]{64}$/)

const ROLES = [
  ['executor', 'executor'],
  ['depositSubmitter', 'deposit submitter'],
  ['withdrawalSubmitter', 'withdrawal submitter'],
  ['keeper', 'keeper'],
] as const

/**
 * Checks the deployment of the configuration for the given senders; a submitter without an address is left out, since its
 * transfers are off. Throws BadConfiguration, DeploymentFileError and MarketFileError, each in one line.
 */
export async function checkVenue(
  config: CheckConfig,
  given: SenderAddresses,
): Promise<DeploymentCheck[]> {
  const deployment = await loadDeployment(config.deploymentFile)
  const senders = ROLES.flatMap(([name, role]): SenderKey[] => {
    const { [name]: privateKey } = config.keys
    const { [name]: keyFile } = config.keyFiles
    const found = addressOf(role, { given: given[name], privateKey, keyFile }, deployment.chainId)
    return found === undefined ? [] : [{ role, address: found, reserveWei: RESERVE_WEI }]
  })
  const [executor, ...others] = senders
  if (executor?.role !== 'executor')
    throw new BadConfiguration('whose transactions settle matches? give --executor <address>')
  const keeper = others.find(({ role }) => role === 'keeper')
  const submitters = others.filter((sender) => sender !== keeper)
  const listed = loadDeployedMarkets({
    DEPLOYMENT_FILE: config.deploymentFile,
    ...(config.marketsFile !== undefined && { MARKETS_FILE: config.marketsFile }),
  })
  const rows = [...readRows(defaultMarketFile), ...nextSeriesRows(Date.now())]
  const known = readMarkets({ DEPLOYMENT_FILE: config.deploymentFile }, rows)
  const client = createChainClient(config.rpcUrl, 'read')
  const checks = await checkDeployment({
    client,
    deployment,
    executor,
    submitters,
    nowMs: Date.now,
    ...(keeper !== undefined && { keeper }),
    keeperAccounts: config.keeperAccounts,
    markets: listed.markets.filter((market) => market.enabled),
  })
  return [...checks, ...unlisted(listed, known, config.marketsFile ?? 'the market file')]
}

/** The row of a series that the deployment may have the contracts of. */
const nextSeriesRows = (nowMs: number) =>
  expiriesFrom('month-end', Math.floor(nowMs / 1_000))
    .slice(0, 1)
    .map((expirySec) => rowOfNextSeries([], expirySec))

/** A line for each row that is no market of the venue, and for each market of the deployment whose contracts no row names. */
export function unlisted(
  { markets, refused, absent }: LoadedMarkets,
  known: Pick<LoadedMarkets, 'markets'>,
  file: string,
): DeploymentCheck[] {
  const rows = new Set([...markets, ...absent].map(({ market }) => market))
  const assets = new Set(markets.map(({ assetAddress }) => assetAddress))
  const without = known.markets.filter(
    ({ market, assetAddress }) =>
      !rows.has(market) && !assets.has(assetAddress) && !refused.some(({ row }) => row === market),
  )
  const line = (market: string, result: DeploymentCheck['result'], detail: string) => ({
    what: `${market}: is a market of the venue`,
    result,
    detail,
  })
  return [
    ...refused.map(({ row, problem }) =>
      line(row, 'failed', `${problem}: correct its row in ${file}`),
    ),
    ...absent.map(({ market, lacks }) =>
      line(market, 'not_listed', `the deployment has no ${lacks.join(' and no ')}`),
    ),
    ...markets
      .filter(({ enabled }) => !enabled)
      .map(({ market }) => line(market, 'not_listed', `its row in ${file} is disabled`)),
    ...without.map(({ market }) =>
      line(market, 'not_listed', `the deployment has its contracts, but ${file} has no row of it`),
    ),
  ]
}

interface SenderSources {
  readonly given: string | undefined
  readonly privateKey: string | undefined
  readonly keyFile: string | undefined
}

function addressOf(
  role: string,
  { given, privateKey, keyFile }: SenderSources,
  chainId: number,
): Address | undefined {
  if (given !== undefined) {
    if (!address.safeParse(given).success)
      throw new BadConfiguration(`${given} is not an address of the ${role}`)
    return given.toLowerCase() as Address
  }
  if (keyFile !== undefined) return openKeyFile(keyFile, chainId, OWNER_OF_FILE).address
  if (privateKey === undefined) return undefined
  if (!key.safeParse(privateKey).success)
    throw new BadConfiguration(`the key of the ${role} is not 0x and 64 hex digits`)
  return createTransactionSigner(privateKey as Hex, chainId).address
}

const MARKS = {
  ok: 'ok     ',
  failed: 'FAILED ',
  unknown: 'unknown',
  not_checked: 'not checked',
  not_listed: 'not listed',
} as const

/** 1 for what is missing or unknown, 2 where nothing is but something could not be checked. */
export function exitCodeOf(checks: readonly DeploymentCheck[]): 0 | 1 | 2 {
  const has = (...results: readonly DeploymentCheck['result'][]) =>
    checks.some(({ result }) => results.includes(result))
  if (has('failed', 'unknown')) return 1
  return has('not_checked') ? 2 : 0
}

/** A line for each check. */
export const printChecks = (checks: readonly DeploymentCheck[]): string =>
  checks
    .map(
      ({ what, result, detail }) =>
        `${MARKS[result]}  ${what}${detail === '' ? '' : `: ${detail}`}`,
    )
    .join('\n')
