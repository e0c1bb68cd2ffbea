import {
  NotCreated,
  allowedToExecute,
  batchExecutorCalls,
  batchExecutorCode,
  createPlainSender,
  readBatchExecutor,
} from '../../chain/contracts/create-contract.js'
import { ChainUnreachable, createChainClient, orUnreachable } from '../../chain/reads/client.js'
import { DeploymentMismatch, loadDeployment } from '../../chain/reads/deployment.js'
import { openKeyFile } from '../../chain/signing/key-file.js'
import type { Address } from '../../core/action.js'
import { BadConfiguration } from '../../runtime/process/config.js'
import type { DeployTask } from './command-line.js'
import type { CheckConfig } from './config.js'

/**
 * Creates a batch executor for the deployment's matching, unless its file names one, gives the executor the right to settle through
 * it, and the contract to its owner; each step is left out that was done before. Resolves to what stands now and what the owner of
 * matching has to do. Throws BadConfiguration, DeploymentMismatch, NotCreated and ChainUnreachable, each in one line.
 */
export async function deployBatchExecutor(
  config: Pick<CheckConfig, 'rpcUrl' | 'deploymentFile'>,
  task: DeployTask,
): Promise<readonly string[]> {
  const executor = addressIn(task.executor, 'executor')
  const owner = task.owner === undefined ? undefined : addressIn(task.owner, 'owner')
  const { chainId, matching, batchExecutor } = await loadDeployment(config.deploymentFile)
  const client = createChainClient(config.rpcUrl, 'read')
  const found = await orUnreachable('chain id', client.getChainId())
  if (found !== chainId)
    throw new DeploymentMismatch(
      `the node is of chain ${found}, ${config.deploymentFile} of ${chainId}`,
    )
  const code = await orUnreachable('code', client.getCode({ address: matching }))
  if (code === undefined)
    throw new DeploymentMismatch(`there is no contract at matching, ${matching}`)
  const sender = createPlainSender(client, openKeyFile(task.keyFile, chainId, { ownerUid: 'any' }))
  const address = batchExecutor ?? (await sender.create(batchExecutorCode(matching)))
  const standing = () => readBatchExecutor(client, address, executor)
  const complete = async () => {
    const made = await standing()
    if (made?.matching !== matching)
      throw new DeploymentMismatch(`batch_executor ${address} is no batch executor of ${matching}`)
    if (!made.mayExecute) await sender.call(address, batchExecutorCalls.setOperator(executor))
    if (owner !== undefined && made.owner !== owner)
      await sender.call(address, batchExecutorCalls.transferOwnership(owner))
    return standing()
  }
  const now = await complete().catch((error: unknown) => {
    if (batchExecutor !== undefined || !isPlain(error)) throw error
    // Without its address the next attempt would create and pay for another.
    const rest = `write "batch_executor": "${address}" into ${config.deploymentFile} and repeat`
    throw new NotCreated(`${error.message}; it is created at ${address}: ${rest}`, { cause: error })
  })
  return [
    `batch executor ${address}: ${batchExecutor === undefined ? 'created' : 'was there'}`,
    `may settle through it: ${executor}`,
    `its owner: ${now?.owner ?? 'unknown'}`,
    `write into ${config.deploymentFile}: "batch_executor": "${address}"`,
    `the owner of matching, ${matching}, calls setTradeExecutor(${address}, true) on it, with the data`,
    allowedToExecute(address),
  ]
}

const isPlain = (error: unknown): error is Error =>
  [NotCreated, ChainUnreachable, DeploymentMismatch].some((kind) => error instanceof kind)

function addressIn(text: string, what: string): Address {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase() as Address
  throw new BadConfiguration(`${text} is not an address of the ${what}`)
}
