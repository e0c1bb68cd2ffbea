import type { LiveOrder } from './live-order.js'

/** The live orders of one owner, found by nonce: linked from the newest on. */
export interface OwnerOrders {
  readonly owner: string
  newest: LiveOrder | undefined
  count: number
  /** The same by nonce while there are more than a walk along them should meet. */
  byNonce: Map<bigint, LiveOrder> | undefined
}

/** All live orders by who owns them; an owner without any is not kept. */
export type Owners = Map<string, OwnerOrders>

/** Owners of so many orders have no map: a walk along a few costs less, and nothing to keep. */
const WALKED_MAX = 16

/** The owner's live order with this nonce. */
export function findByNonce(own: OwnerOrders | undefined, nonce: bigint): LiveOrder | undefined {
  if (own === undefined) return undefined
  if (own.byNonce !== undefined) return own.byNonce.get(nonce)
  for (let live = own.newest; live !== undefined; live = live.olderOfOwner) {
    if (live.nonce === nonce) return live
  }
  return undefined
}

/** Takes in an order whose nonce its owner has in no other live order. */
export function joinOwner(owners: Owners, live: LiveOrder): void {
  const { owner, nonce } = live
  let own = owners.get(owner)
  if (own === undefined) {
    own = { owner, newest: undefined, count: 0, byNonce: undefined }
    owners.set(owner, own)
  }
  const { newest } = own
  live.olderOfOwner = newest
  if (newest !== undefined) newest.newerOfOwner = live
  own.newest = live
  live.own = own
  own.count += 1
  if (own.byNonce !== undefined) own.byNonce.set(nonce, live)
  else if (own.count > WALKED_MAX) own.byNonce = mapOf(own)
}

function mapOf(own: OwnerOrders): Map<bigint, LiveOrder> {
  const byNonce = new Map<bigint, LiveOrder>()
  for (const live of ordersOfOwner(own)) byNonce.set(live.nonce, live)
  return byNonce
}

/** Lets a finished order go. */
export function leaveOwner(owners: Owners, live: LiveOrder): void {
  const { own, newerOfOwner: newer, olderOfOwner: older } = live
  if (own === undefined) return
  if (newer === undefined) own.newest = older
  else newer.olderOfOwner = older
  if (older !== undefined) older.newerOfOwner = newer
  live.own = live.newerOfOwner = live.olderOfOwner = undefined
  own.count -= 1
  if (own.count === 0) owners.delete(own.owner)
  else if (own.byNonce === undefined) return
  else if (own.count > WALKED_MAX) own.byNonce.delete(live.nonce)
  else own.byNonce = undefined
}

/** From the newest to the oldest. */
export function* ordersOfOwner(own: OwnerOrders): Generator<LiveOrder> {
  for (let live = own.newest; live !== undefined; live = live.olderOfOwner) yield live
}
