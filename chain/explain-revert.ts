import type { Hex } from '../core/action.js'
import type { ChainClient } from './client.js'
import { isBatch } from './encode-batch.js'
import { NOT_TRIED, OUT_OF_GAS, revertName, revertOf } from './revert-name.js'

/** The revert of a mined transaction could not be found. */
export const UNKNOWN_REVERT = 'unknown'

interface CallTrace {
  readonly error?: string
  readonly output?: Hex
}
type TraceParameters = [Hex, { readonly tracer: 'callTracer' }]
/** Not one of the methods that the client knows. */
interface TraceSchema {
  readonly Parameters: TraceParameters
  readonly ReturnType: CallTrace | null
}

/**
 * Name of the revert of a mined transaction: by its trace, or where the node gives none by calling again at the end of
 * its block. `unknown` when neither tells, `not tried` for a batch, whose own revert says nothing about its matches; never
 * rejects, since the outcome itself is certain without it.
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
  } catch {
    return false
  }
}

async function byTrace(client: ChainClient, hash: Hex): Promise<string | undefined> {
  try {
    const params: TraceParameters = [hash, { tracer: 'callTracer' }]
    const trace = await client.request<TraceSchema>({ method: 'debug_traceTransaction', params })
    if (trace?.error === undefined) return undefined
    if (trace.output === undefined || trace.output === '0x') {
      return /gas/i.test(trace.error) ? OUT_OF_GAS : revertName('0x')
    }
    return revertName(trace.output)
  } catch {
    return undefined
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
    return revertOf(error)?.name
  }
}
