import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { NO_DOUBT } from './follow-transaction.js'
import { finalHeightOf } from './look-at-chain.js'
import type { Frozen } from './observe-sender.js'
import type { TrackerState, Acceptance, ForeignNonce } from './tracking.js'
import { consumerOf } from './watch-nonces.js'

/**
 * Ends the freeze of a sender for the foreign transaction of that hash, once it is final: every nonce up to it that the
 * journal lacks is recorded with what used it, so that a later start does not freeze for it again. What the foreign
 * transaction displaced may be submitted again. A later foreign transaction freezes the sender as the first one did. One that
 * the chain has lost is accepted too, once as many blocks are above its place as make it final. Rejects with
 * ChainUnreachable.
 */
export async function acceptForeign(tracking: TrackerState, hash: Hex): Promise<Acceptance> {
  const { frozen } = tracking
  if (frozen === undefined) return { kind: 'not_frozen' }
  if (frozen.by.hash !== hash) return { kind: 'another', frozen }
  // A caller that asks again before the answer gets the same one.
  tracking.accepting ??= accept(tracking, frozen).finally(() => {
    tracking.accepting = undefined
  })
  return tracking.accepting
}

async function accept(tracking: TrackerState, frozen: Frozen): Promise<Acceptance> {
  const { chain, policy, nonces, mayBeOurs = () => false } = tracking
  const head = await chain.head()
  const finalHeight = await finalHeightOf(chain, policy, head)
  if (frozen.by.blockNumber > finalHeight) return { kind: 'not_final', frozen }
  // Fewer where the chain has lost the foreign transaction.
  const end = Math.min(frozen.evmNonce + 1, await chain.countAt(head.hash))
  const foreign: ForeignNonce[] = []
  let own: ForeignNonce | undefined
  for (let evmNonce = nonces.next(); evmNonce < end; evmNonce += 1) {
    const consumer = await consumerOf(tracking, evmNonce, head.number)
    if (consumer === undefined) return { kind: 'unexplained', evmNonce }
    const { by, call } = consumer
    foreign.push({ evmNonce, by })
    if (mayBeOurs(call)) own = { evmNonce, by }
  }
  if (own !== undefined) return { kind: 'own', ...own }
  const last = foreign.at(-1)
  if (last !== undefined && last.by.hash !== frozen.by.hash) {
    // A reorganisation has put another one there since.
    tracking.frozen = last
    return { kind: 'another', frozen: last }
  }
  // Or the same one into a later block.
  if (last !== undefined && last.by.blockNumber > finalHeight) {
    return { kind: 'not_final', frozen: last }
  }
  // At a nonce of ours the journal learns of it by a poll, once it is final.
  const isFollowed = tracking.followed
    .all()
    .some(({ consumer }) => consumer?.hash === frozen.by.hash)
  if (isFollowed) return { kind: 'not_final', frozen }
  assert(tracking.frozen === frozen, 'a sender is frozen by another transaction than is accepted')
  for (const { evmNonce, by } of foreign) {
    tracking.journal.recordForeign(tracking.address, evmNonce, by)
    nonces.skip(evmNonce)
  }
  tracking.frozen = undefined
  tracking.foreign = NO_DOUBT
  tracking.facts.foreignAccepted(frozen)
  return { kind: 'accepted', foreign }
}
