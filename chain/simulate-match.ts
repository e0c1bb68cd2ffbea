import type { Address, Hex } from '../core/action.js'
import { unreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import { OUT_OF_GAS, revertOf } from './revert-name.js'

export interface SimulatedCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  /** The state it runs on; the newest block's unless told. */
  readonly blockHash?: Hex
}

/** What the chain says to a call; a revert is an answer, not an error. `gas` is the limit that it needs. */
export type Simulation =
  | { readonly kind: 'passes'; readonly gas: bigint }
  | { readonly kind: 'reverts'; readonly revert: string }

/** The client knows the method with a block's number alone. */
interface EstimateSchema {
  readonly Parameters: [
    Pick<SimulatedCall, 'from' | 'to' | 'data'>,
    { readonly blockHash: Hex } | 'latest',
  ]
  readonly ReturnType: Hex
}

/** The target chain takes no transaction with a larger limit (EIP-7825). */
export const TRANSACTION_GAS_CAP = 16_777_216n

/** What is added to the needed gas: the call may run on a state that others have changed, and touch more of it first. */
const HEADROOM_PERCENT = 30n

/** The limit to sign for a call that needs so much gas; rounded down, since a unit more or less decides nothing. */
export function roomyGasLimit(gas: bigint): bigint {
  const roomy = (gas * (100n + HEADROOM_PERCENT)) / 100n
  return roomy < TRANSACTION_GAS_CAP ? roomy : TRANSACTION_GAS_CAP
}

/** Tries a match out; rejects with ChainUnreachable when there was no answer. */
export function simulateMatch(client: ChainClient, call: SimulatedCall): Promise<Simulation> {
  return simulateCall(client, call, 'simulation of the match')
}

/**
 * Tries the call on the state of a block, never on pending transactions: a node would re-execute its whole pool for each
 * question. Rejects with a ChainUnreachable that names the `question` when there was no answer.
 */
export async function simulateCall(
  client: ChainClient,
  { from, to, data, blockHash }: SimulatedCall,
  question: string,
): Promise<Simulation> {
  try {
    const answer = await client.request<EstimateSchema>({
      method: 'eth_estimateGas',
      params: [{ from, to, data }, blockHash === undefined ? 'latest' : { blockHash }],
    })
    const gas = BigInt(answer)
    return gas > TRANSACTION_GAS_CAP
      ? { kind: 'reverts', revert: OUT_OF_GAS }
      : { kind: 'passes', gas }
  } catch (error) {
    const revert = revertOf(error)
    if (revert !== undefined) return { kind: 'reverts', revert: revert.name }
    throw unreachable(question, error)
  }
}
