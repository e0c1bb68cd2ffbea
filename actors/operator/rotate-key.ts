import { existsSync, linkSync, renameSync, statSync } from 'node:fs'
import { checkNewSender, type DeploymentCheck } from '../../chain/contracts/check-deployment.js'
import { createChainClient } from '../../chain/reads/client.js'
import { loadDeployment } from '../../chain/reads/deployment.js'
import { openKeyFile, retiringFileOf } from '../../chain/signing/key-file.js'
import type { Address } from '../../core/action.js'
import { countUnsettled } from '../../data/journal/read-journal.js'
import { OperatorOrderRefused } from '../market-orders/order-refused.js'
import { printChecks, RESERVE_WEI } from './check-venue.js'
import type { RotationConfig } from './config.js'

/** What to print, and the exit code. */
export interface RotationOutcome {
  readonly text: string
  readonly exitCode: 0 | 1
}

/**
 * Puts the key of `newKey` in the place of the one in use, which stays next to it as `<file>.retiring`: first a link, then a
 * rename, so that a key stands there at every moment. The process notices the new file, stops, and is started again by its
 * supervisor with both keys. Nothing changes when the new key lacks a right, gas money or a free past. Throws CannotStart
 * and OperatorOrderRefused.
 */
export async function rotateKey(config: RotationConfig, newKey: string): Promise<RotationOutcome> {
  const { role, keyFile } = config
  const deployment = await loadDeployment(config.deploymentFile)
  const { chainId } = deployment
  const { uid } = statSync(keyFile)
  const address = openKeyFile(newKey, chainId, { ownerUid: uid }).address
  const old = addressIn(keyFile, chainId)
  if (address === old)
    throw new OperatorOrderRefused(`${newKey} holds the key that is in use: ${old}`)
  const beside = retiringFileOf(keyFile)
  if (existsSync(beside) && addressIn(beside, chainId) !== old)
    throw new OperatorOrderRefused(
      `the rotation before this one is not ended: run ./venue rotate-key ${role}`,
    )
  const client = createChainClient(config.rpcUrl, 'read')
  const sender = { role, address, reserveWei: RESERVE_WEI }
  const as = RIGHT_OF[role]
  const checks = await checkNewSender({ client, deployment }, sender, as)
  if (checks.some(isNotOk))
    return { text: `${printChecks(checks)}\nnothing was changed`, exitCode: 1 }
  if (!existsSync(beside)) linkSync(keyFile, beside)
  renameSync(newKey, keyFile)
  const told = `${old} is retiring, ${address} signs from now on; later: ./venue rotate-key ${role}`
  return { text: `${printChecks(checks)}\n${told}`, exitCode: 0 }
}

/** Whose right to send is looked up on the chain: what a keeper does is open to any caller, but for the marks. */
const RIGHT_OF = {
  executor: 'executor',
  'deposit-submitter': 'submitter',
  'withdrawal-submitter': 'submitter',
  keeper: 'keeper',
} as const

const isNotOk = ({ result }: DeploymentCheck): boolean => result !== 'ok'

/**
 * Says how many transactions of the retiring key are not final. When there are none, its file becomes
 * `<file>.retired-<address>`, which no process opens: the gas money that is left on it is the operator's to move.
 */
export async function concludeRotation(config: RotationConfig): Promise<RotationOutcome> {
  const { role, keyFile, journal } = config
  const beside = retiringFileOf(keyFile)
  const { chainId } = await loadDeployment(config.deploymentFile)
  const current = addressIn(keyFile, chainId)
  if (!existsSync(beside))
    return { text: `no key of the ${role} is retiring; ${current} signs`, exitCode: 0 }
  const old = addressIn(beside, chainId)
  if (old === current)
    throw new OperatorOrderRefused(
      `the last rotation broke off: give the file of the new key again`,
    )
  const open = countUnsettled(journal, old)
  if (open > 0)
    return { text: `${old} has ${open} transactions that are not final: wait`, exitCode: 1 }
  const retired = `${keyFile}.retired-${old}`
  renameSync(beside, retired)
  return { text: `${old} is retired: its key is in ${retired}; ${current} signs`, exitCode: 0 }
}

const addressIn = (file: string, chainId: number): Address =>
  openKeyFile(file, chainId, { ownerUid: 'any' }).address
