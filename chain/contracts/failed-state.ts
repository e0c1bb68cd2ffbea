import type { Address, Hex } from '../../core/action.js'
import { isBatch, decodeBatch, decodeMatch, encodeMatch, type MatchCall } from './calldata.js'
import { orUnreachable, type ChainClient } from '../reads/client.js'
import { readDelegatedBefore } from '../reads/delegated-before.js'
import { readPrestate } from '../reads/read-prestate.js'
import { clientOfState } from '../reads/state-client.js'

/** Where a match has failed: simulated on the state after a block, or in a mined transaction. */
export type FailedAt =
  | { readonly kind: 'simulated'; readonly blockHash: Hex }
  | { readonly kind: 'mined'; readonly hash: Hex }

/** The state in which a match has failed, as far as the node shows it. */
export interface FailedState {
  /** Reads the state before the match's transaction. */
  readonly before: ChainClient
  /**
   * Present where the node shows only the block before and what authorizations changed: reads the state after the block. What
   * a side lacks in both it lacked in between.
   */
  readonly after?: ChainClient
  /** Keys whose code is known at the transaction's very place in its block. */
  readonly placed: ReadonlySet<Address>
  /** An earlier match of the same transaction may have changed what an account of the match has. */
  readonly isShared: boolean
}

export interface FailedStateReads {
  readonly client: ChainClient
  readonly chainId: number
}

/**
 * The state in which the match failed: of a mined one, that before its transaction in its block, by a trace where the node
 * gives one, else by the state before the block and the authorizations in between. Undefined when the node does not show it.
 * Rejects with ChainUnreachable.
 */
export async function readFailedState(
  reads: FailedStateReads,
  match: MatchCall,
  at: FailedAt,
): Promise<FailedState | undefined> {
  const { client, chainId } = reads
  if (at.kind === 'simulated') {
    const { blockHash } = at
    const before = clientOfState(client, { blockHash, overrides: {}, newest: blockHash })
    return { before, placed: signersOf(match), isShared: false }
  }
  const { hash } = at
  const { blockHash, transactionIndex, input } = await orUnreachable(
    `transaction ${hash}`,
    client.getTransaction({ hash }),
  )
  // Its block was reorganised away meanwhile.
  if (blockHash === null) return undefined
  const isShared = isAfterOthers(input, match)
  const { parentHash } = await orUnreachable(`block ${blockHash}`, client.getBlock({ blockHash }))
  const stateOf = (overrides: Parameters<typeof clientOfState>[1]['overrides']) =>
    clientOfState(client, { blockHash: parentHash, overrides, newest: blockHash })
  const signers = [...signersOf(match)]
  const place = { hash: blockHash, parentHash, transactionIndex }
  const [traced, given] = await Promise.all([
    readPrestate(client, hash),
    readDelegatedBefore(client, chainId, place, signers),
  ])
  // A match that fails at one side's signature may not have touched the signer of the other.
  if (given === undefined && !signers.every((signer) => traced?.[signer])) return undefined
  const before = stateOf({ ...given, ...traced })
  if (traced !== undefined) return { before, placed: new Set(signers), isShared }
  const after = clientOfState(client, { blockHash, overrides: {}, newest: blockHash })
  return { before, after, placed: new Set(Object.keys(given ?? {}) as Address[]), isShared }
}

const signersOf = ({ actions }: MatchCall): Set<Address> =>
  new Set(actions.map(({ signer }) => signer))

/** Whether a match before this one in the same batch is of one of its accounts. */
function isAfterOthers(input: Hex, match: MatchCall): boolean {
  if (!isBatch(input)) return false
  const own = encodeMatch(match)
  const accounts = new Set(match.actions.map(({ subaccountId }) => subaccountId))
  for (const { call } of decodeBatch(input)) {
    if (call === own) return false
    if (decodeMatch(call).actions.some(({ subaccountId }) => accounts.has(subaccountId)))
      return true
  }
  return false
}
