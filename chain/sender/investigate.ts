import type { Address, Hex } from '../../core/action.js'
import { NOT_TRIED, OUT_OF_GAS, UNKNOWN_REVERT } from '../../core/revert.js'
import { revertName, revertOf } from '../abi/errors.js'
import { isBatch } from '../contracts/calldata.js'
import { isHex } from '../reads/answer-form.js'
import { orUnreachable, type ChainClient } from '../reads/client.js'
import { throwHungUp } from '../reads/hang-up.js'
import { throwDefect, undefinedOnFailure } from '../reads/read-failure.js'
import type { Inclusion } from '../../core/transaction-journal.js'

/** What a transaction calls. */
export interface SentCall {
  /** In lower case; null for a creation. */
  readonly to: Address | null
  readonly data: Hex
}

/** The transaction that used a nonce. */
export interface Consumer {
  readonly by: Inclusion
  readonly call: SentCall
}

/** How many blocks are searched; many nodes prune older states. */
const MAX_BLOCKS_BACK = 4_096n

/**
 * The transaction that used a nonce of the address, found by a binary search over the blocks up to `head`. Undefined
 * when it is older than MAX_BLOCKS_BACK. Rejects with ChainUnreachable, also when the node has pruned a state.
 */
export async function findConsumer(
  client: ChainClient,
  { from, evmNonce, head }: { from: Address; evmNonce: number; head: bigint },
): Promise<Consumer | undefined> {
  const isUsedAt = (height: bigint) =>
    orUnreachable('nonce of an older block', usedAt(client, from, height)).then(
      (count) => count > evmNonce,
    )
  if (!(await isUsedAt(head))) return undefined
  let used = head
  let unused = head
  for (let back = 1n; ; back *= 2n) {
    if (used === 0n || back > MAX_BLOCKS_BACK) return undefined
    unused = head > back ? head - back : 0n
    if (!(await isUsedAt(unused))) break
    used = unused
  }
  while (used - unused > 1n) {
    // Rounded down; any height between the two would do.
    const middle = (used + unused) / 2n
    if (await isUsedAt(middle)) used = middle
    else unused = middle
  }
  return inBlock(client, used, { from, evmNonce })
}

function usedAt(client: ChainClient, address: Address, height: bigint): Promise<number> {
  return client.getTransactionCount({ address, blockNumber: height })
}

async function inBlock(
  client: ChainClient,
  height: bigint,
  { from, evmNonce }: { from: Address; evmNonce: number },
): Promise<Consumer | undefined> {
  const block = await orUnreachable(
    'transactions of a block',
    client.getBlock({ blockNumber: height, includeTransactions: true }),
  )
  const found = block.transactions.find(
    (it) => it.from.toLowerCase() === from && it.nonce === evmNonce,
  )
  if (found === undefined) return undefined
  const to = (found.to?.toLowerCase() ?? null) as Address | null
  const by = { hash: found.hash, blockNumber: height, blockHash: block.hash }
  return { by, call: { to, data: found.input } }
}

/** Calls within may be many, and long. */
const TOP_CALL = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } } as const

interface CallTrace {
  readonly error?: string
  readonly output?: Hex
}
type TraceParameters = [Hex, typeof TOP_CALL]
/** viem's types lack the method. */
interface CallTraceSchema {
  readonly Parameters: TraceParameters
  readonly ReturnType: CallTrace | null
}

/**
 * The name of a mined transaction's revert: from its trace, or, when the node has none, from a call at the end of its
 * block. UNKNOWN_REVERT when both fail, and NOT_TRIED for a batch, whose revert proves nothing about its matches. Rejects
 * with a defect, because the outcome is certain without the name, and with HungUp: the next process may still learn the name.
 */
export async function explainRevert(
  client: ChainClient,
  hash: Hex,
  blockNumber: bigint,
): Promise<string> {
  if (await isOfBatch(client, hash)) return NOT_TRIED
  return (
    (await byTrace(client, hash)) ?? (await byReplay(client, hash, blockNumber)) ?? UNKNOWN_REVERT
  )
}

async function isOfBatch(client: ChainClient, hash: Hex): Promise<boolean> {
  try {
    return isBatch((await client.getTransaction({ hash })).input)
  } catch (error) {
    throwHungUp(error)
    throwDefect(error)
    return false
  }
}

async function byTrace(client: ChainClient, hash: Hex): Promise<string | undefined> {
  try {
    const params: TraceParameters = [hash, TOP_CALL]
    const method = 'debug_traceTransaction'
    // What takes too long takes as long again.
    const trace = await client.request<CallTraceSchema>({ method, params }, { retryCount: 0 })
    if (typeof trace?.error !== 'string') return undefined
    const { error, output = '0x' } = trace
    if (output === '0x') return /gas/i.test(error) ? OUT_OF_GAS : revertName('0x')
    return isHex(output) ? revertName(output) : undefined
  } catch (error) {
    throwHungUp(error)
    return undefinedOnFailure(error)
  }
}

async function byReplay(
  client: ChainClient,
  hash: Hex,
  block: bigint,
): Promise<string | undefined> {
  try {
    const { from, to, input, gas } = await client.getTransaction({ hash })
    if (to === null) return undefined
    const call = { from, to, data: input, gas: `0x${gas.toString(16)}` } as const
    await client.request({ method: 'eth_call', params: [call, `0x${block.toString(16)}`] })
    return undefined
  } catch (error) {
    throwHungUp(error)
    throwDefect(error)
    return revertOf(error)?.name
  }
}
