import type { Address, Hex } from '../../core/action.js'
import { isBatch, decodeBatch, decodeMatch, encodeMatch, type MatchCall } from './calldata.js'
import { orUnreachable, type ChainClient } from '../reads/client.js'
import { readDelegatedBefore, readEarlier, type PlaceInBlock } from '../reads/delegated-before.js'
import { createExpiringCache } from '../reads/expiring-cache.js'
import { readPrestate } from '../reads/read-prestate.js'
import { clientOfState, type StateOverrides } from '../reads/state-client.js'

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
  /** A `long` client: what an outsider's code has made long or slow must not fail the reads of others. */
  readonly client: ChainClient
  readonly chainId: number
}

/**
 * The state in which the match failed: of a mined one, that before its transaction in its block, by a trace where the node
 * gives one, else by the state before the block and the authorizations in between. Undefined when the node does not show it.
 * Rejects with ChainUnreachable.
 */
export type ReadFailedState = (match: MatchCall, at: FailedAt) => Promise<FailedState | undefined>

/** Matches of a batch fail together, and ask for the state before the same transaction. */
const KEPT = { ttlMs: 10_000, maxEntries: 16 }

export function createFailedStateReader({ client, chainId }: FailedStateReads): ReadFailedState {
  const places = createExpiringCache<MinedPlace>({ ...KEPT, ttlMs: 0 })
  const traces = createExpiringCache<{ readonly overrides: StateOverrides | undefined }>(KEPT)
  const blocks = createExpiringCache<{ readonly earlier: Earlier }>(KEPT)

  /** What the trace shows. */
  const readTraced = async (hash: Hex, { hash: blockHash, parentHash }: MinedPlace) => {
    const load = async () => ({ overrides: await readPrestate(client, hash, parentHash) })
    return (await traces.get(`${hash} ${blockHash}`, load))?.overrides
  }
  /** What authorizations have made of the signers; undefined when there are too many. */
  const readGiven = async (hash: Hex, place: MinedPlace, signers: readonly Address[]) => {
    const load = async () => ({ earlier: await readEarlier(client, place) })
    const earlier = (await blocks.get(`${hash} ${place.hash}`, load))?.earlier
    return earlier && readDelegatedBefore({ client, chainId }, place, earlier, signers)
  }

  return async (match, at) => {
    if (at.kind === 'simulated') {
      const { blockHash } = at
      const before = clientOfState(client, { blockHash, overrides: {}, newest: blockHash })
      return { before, placed: signersOf(match), isShared: false }
    }
    const { hash } = at
    const place = await places.get(hash, () => readPlace(client, hash))
    if (place === undefined) return undefined
    const { hash: blockHash, parentHash } = place
    const isShared = isAfterOthers(place.input, match)
    const signers = [...signersOf(match)]
    const stateOf = (overrides: StateOverrides) =>
      clientOfState(client, { blockHash: parentHash, overrides, newest: blockHash })
    const traced = await readTraced(hash, place)
    // A match that fails at one side's signature may not have touched the signer of the other.
    const given = signers.every((signer) => traced?.[signer])
      ? {}
      : await readGiven(hash, place, signers)
    if (given === undefined) return undefined
    const before = stateOf({ ...given, ...traced })
    if (traced !== undefined) return { before, placed: new Set(signers), isShared }
    const after = clientOfState(client, { blockHash, overrides: {}, newest: blockHash })
    return { before, after, placed: new Set(Object.keys(given) as Address[]), isShared }
  }
}

type Earlier = Awaited<ReturnType<typeof readEarlier>>

/** The place of a mined transaction, with its data. */
interface MinedPlace extends PlaceInBlock {
  readonly input: Hex
}

/** Undefined where its block was reorganised away meanwhile. Rejects with ChainUnreachable. */
async function readPlace(client: ChainClient, hash: Hex): Promise<MinedPlace | undefined> {
  const { blockHash, transactionIndex, input } = await orUnreachable(
    `transaction ${hash}`,
    client.getTransaction({ hash }),
  )
  if (blockHash === null) return undefined
  const { parentHash } = await orUnreachable(`block ${blockHash}`, client.getBlock({ blockHash }))
  return { hash: blockHash, parentHash, transactionIndex, input }
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
