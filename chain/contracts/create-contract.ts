import { setTimeout as delay } from 'node:timers/promises'
import { encodeFunctionData, getContractAddress } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { CannotStart } from '../../core/cannot-start.js'
import { BATCH_EXECUTOR_CODE } from '../abi/batch-executor-code.js'
import { batchExecutorAbi, matchingAbi } from '../abi/contracts.js'
import { rpcErrorOf } from '../abi/errors.js'
import { orUnreachable, unreachable, type ChainClient } from '../reads/client.js'
import type { TransactionSigner } from '../signing/keys.js'

/** The chain refused a transaction, or has not mined it; the message says which, and what is known. */
export class NotCreated extends CannotStart {
  override readonly name = 'NotCreated'
}

/** A transaction without a receiver creates a contract. */
const CREATES: Address = '0x'
const MINED_WITHIN_MS = 180_000
const LOOK_EVERY_MS = 500
/** In hundredths: a later block may need a little more gas than the one that was estimated on. */
const GAS_PERCENT = 120n

/** Sends the transactions of one key, each once the one before is mined. It keeps no journal: a repeat sends again. */
export interface PlainSender {
  readonly address: Address
  /** The address of the contract. Throws NotCreated, and ChainUnreachable while nothing was sent or its fate is not known. */
  create(code: Hex): Promise<Address>
  call(to: Address, data: Hex): Promise<void>
}

export function createPlainSender(client: ChainClient, signer: TransactionSigner): PlainSender {
  const { address } = signer
  const send = async (to: Address, data: Hex): Promise<number> => {
    const call = { account: address, data, ...(to !== CREATES && { to }) }
    const [gas, fees, evmNonce] = await Promise.all([
      client.estimateGas(call).catch(refused),
      orUnreachable('fees', client.estimateFeesPerGas()),
      orUnreachable('nonce', client.getTransactionCount({ address, blockTag: 'pending' })),
    ])
    const { maxFeePerGas, maxPriorityFeePerGas } = fees
    const gasLimit = (gas * GAS_PERCENT) / 100n
    const request = { to, data, evmNonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas }
    const { raw, hash } = signer.sign(request)
    await client.sendRawTransaction({ serializedTransaction: raw }).catch((error: unknown) => {
      throw new NotCreated(`${hash} may not have been sent: ${reasonOf(error)}`, { cause: error })
    })
    await untilMined(client, hash)
    return evmNonce
  }
  return {
    address,
    async create(code) {
      const evmNonce = await send(CREATES, code)
      return getContractAddress({ from: address, nonce: BigInt(evmNonce) }).toLowerCase() as Address
    },
    async call(to, data) {
      await send(to, data)
    },
  }
}

/** An error of the node is what the chain says of the call; without one the node has not answered. */
function refused(error: unknown): never {
  if (rpcErrorOf(error) === undefined) throw unreachable('gas', error)
  throw new NotCreated(`the chain refuses it: ${reasonOf(error)}`, { cause: error })
}

const reasonOf = (error: unknown): string =>
  (error as { readonly shortMessage?: string }).shortMessage ?? String(error)

async function untilMined(client: ChainClient, hash: Hex): Promise<void> {
  const untilMs = performance.now() + MINED_WITHIN_MS
  while (performance.now() < untilMs) {
    // A node that does not know it yet answers with an error.
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
    if (receipt?.status === 'success') return
    if (receipt !== undefined) throw new NotCreated(`${hash} failed on the chain`)
    await delay(LOOK_EVERY_MS)
  }
  throw new NotCreated(`${hash} is sent and not mined: look at it before the next attempt`)
}

/** The code that creates a batch executor for a matching, with its argument. */
export const batchExecutorCode = (matching: Address): Hex =>
  `${BATCH_EXECUTOR_CODE}${matching.slice(2).padStart(64, '0')}`

/** Data of the call by which the owner of matching lets a contract execute matches. */
export const allowedToExecute = (executor: Address): Hex =>
  encodeFunctionData({ abi: matchingAbi, functionName: 'setTradeExecutor', args: [executor, true] })

/** What a batch executor is asked for, by its owner. */
export const batchExecutorCalls = {
  setOperator: (executor: Address): Hex =>
    encodeFunctionData({
      abi: batchExecutorAbi,
      functionName: 'setOperator',
      args: [executor, true],
    }),
  transferOwnership: (owner: Address): Hex =>
    encodeFunctionData({ abi: batchExecutorAbi, functionName: 'transferOwnership', args: [owner] }),
}

/** Where a batch executor stands; undefined where no such contract is. Throws ChainUnreachable. */
export async function readBatchExecutor(
  client: ChainClient,
  address: Address,
  executor: Address,
): Promise<
  { readonly matching: Address; readonly owner: Address; readonly mayExecute: boolean } | undefined
> {
  const code = await orUnreachable('code', client.getCode({ address }))
  if (code === undefined) return undefined
  const contract = { address, abi: batchExecutorAbi }
  const [matching, owner, mayExecute] = await orUnreachable(
    'batch executor',
    Promise.all([
      client.readContract({ ...contract, functionName: 'matching' }),
      client.readContract({ ...contract, functionName: 'owner' }),
      client.readContract({ ...contract, functionName: 'operators', args: [executor] }),
    ]),
  )
  return {
    matching: matching.toLowerCase() as Address,
    owner: owner.toLowerCase() as Address,
    mayExecute,
  }
}
