import type { ChainClient } from '../chain/client.js'
import { roomyGasLimit, simulateMatch } from '../chain/simulate-match.js'
import type { Address } from '../core/action.js'
import { assert } from '../core/assert.js'
import type { Carrier } from './carrier.js'

export interface SingleDeps {
  /** A `read` client. */
  readonly client: ChainClient
  readonly matching: Address
  /** Who sends. */
  readonly sender: Address
}

/** Matches that a node is asked to try out at once. */
export const MAX_SIMULATIONS = 32

/** Each match in a transaction of its own, for a deployment without a batch executor. */
export function carrySingly({ client, matching, sender }: SingleDeps): Carrier {
  return {
    maxGroup: MAX_SIMULATIONS,
    maxAhead: 0,
    async try({ blockHash }, matches) {
      const verdicts = matches.map(({ call }) =>
        simulateMatch(client, { from: sender, to: matching, data: call, blockHash }),
      )
      return { aheadHolds: true, verdicts: await Promise.all(verdicts) }
    },
    load([first]) {
      assert(first !== undefined, 'no match to carry')
      const gasLimit = roomyGasLimit(first.gas)
      return { count: 1, to: matching, data: first.match.call, gasLimit, isFull: true }
    },
  }
}
