import { RpcRequestError } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { unreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import { EMPTY_REVERT, revertName } from './revert-name.js'

export interface SequencedCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
}

/**
 * What calls do that run one after the other, each on what the one before left. `unsupported`: the node has no such
 * simulation, and nothing is known.
 */
export type SequenceSimulation =
  | { readonly kind: 'passes' }
  /** The first that reverts, by position. */
  | { readonly kind: 'reverts'; readonly position: number; readonly revert: string }
  | { readonly kind: 'unsupported' }

interface SimulatedBlock {
  readonly calls: readonly {
    readonly status: Hex
    readonly returnData?: Hex
    readonly error?: { readonly data?: Hex }
  }[]
}

/** Not every client release knows the method. */
interface SimulateSchema {
  readonly Parameters: [
    { readonly blockStateCalls: readonly { readonly calls: readonly SequencedCall[] }[] },
    'latest',
  ]
  readonly ReturnType: readonly SimulatedBlock[]
}

/** Tries calls out in a row on top of the newest block; rejects with ChainUnreachable when there was no answer. */
export async function simulateSequence(
  client: ChainClient,
  calls: readonly SequencedCall[],
): Promise<SequenceSimulation> {
  try {
    const blocks = await client.request<SimulateSchema>({
      method: 'eth_simulateV1',
      params: [{ blockStateCalls: [{ calls }] }, 'latest'],
    })
    const results = blocks.flatMap((block) => block.calls)
    const position = results.findIndex(({ status }) => status !== '0x1')
    const failed = results[position]
    if (failed === undefined) return { kind: 'passes' }
    const data = failed.error?.data ?? failed.returnData ?? '0x'
    return { kind: 'reverts', position, revert: data === '0x' ? EMPTY_REVERT : revertName(data) }
  } catch (error) {
    // A node that answers that it cannot do this is no silent node.
    if (isAnswer(error)) return { kind: 'unsupported' }
    throw unreachable('simulation of calls in a row', error)
  }
}

function isAnswer(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof RpcRequestError) return true
  }
  return false
}
