import type { Address, Hex } from '../core/action.js'
import { unreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'
import { OUT_OF_GAS, revertOf } from './revert-name.js'

export interface SimulatedCall {
  readonly from: Address
  readonly to: Address
  readonly data: Hex
}

/** What the newest block says to a call; a revert is an answer, not an error. */
export type Simulation =
  | { readonly kind: 'passes'; readonly gasLimit: bigint }
  | { readonly kind: 'reverts'; readonly revert: string }

/** The target chain takes no transaction with a larger limit (EIP-7825). */
export const TRANSACTION_GAS_CAP = 16_777_216n
/** The match may run on a state that other matches in flight have changed, and touch more of it for the first time. */
const HEADROOM_PERCENT = 30n

/**
 * Tries the call on the state of the newest block, never on pending transactions: a node would re-execute its whole
 * pool for each question. Rejects with ChainUnreachable when there was no answer.
 */
export async function simulateMatch(client: ChainClient, call: SimulatedCall): Promise<Simulation> {
  try {
    const answer = await client.request({
      method: 'eth_estimateGas',
      params: [{ from: call.from, to: call.to, data: call.data }, 'latest'],
    })
    return limitOf(BigInt(answer))
  } catch (error) {
    const revert = revertOf(error)
    if (revert !== undefined) return { kind: 'reverts', revert: revert.name }
    throw unreachable('simulation of the match', error)
  }
}

function limitOf(needed: bigint): Simulation {
  if (needed > TRANSACTION_GAS_CAP) return { kind: 'reverts', revert: OUT_OF_GAS }
  // Rounded down: a unit of gas more or less decides nothing.
  const roomy = (needed * (100n + HEADROOM_PERCENT)) / 100n
  return { kind: 'passes', gasLimit: roomy < TRANSACTION_GAS_CAP ? roomy : TRANSACTION_GAS_CAP }
}
