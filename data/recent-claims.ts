import { hash } from 'node:crypto'
import type { Address } from '../core/action.js'
import { signedOrderText } from '../core/entry/read-action.js'
import { actionJsonOf, actionOf } from '../core/entry/signed-action.js'
import type { Tombstone } from '../core/model/change.js'
import type { Market } from '../core/model/market.js'
import type { Order } from '../core/model/order.js'

/** The id and the nonce that an order uses up permanently (ORD-017, ORD-018). */
export interface OrderClaim {
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  /** Digest of the signed action. */
  readonly fingerprint: Uint8Array
}

export interface TakenOrder extends OrderClaim {
  readonly market: string
}

/** A claim and the market whose order made it. */
export interface LandedClaim {
  readonly market: string
  readonly claim: OrderClaim
}

/** An earlier order holds the claimed id or nonce. */
export interface ClaimTaken {
  readonly kind: 'taken'
  readonly by: 'order_id' | 'nonce'
  readonly holder: TakenOrder
}

/** The claims in the table; the owner of this memory is its only writer. */
export interface ClaimTable {
  findOrder(orderId: string): TakenOrder | undefined
  findNonce(owner: Address, nonce: bigint): TakenOrder | undefined
  /** Whether it holds any claim of the owner. */
  hasOrderOf(owner: Address): boolean
}

/** Every claim: first those of orders on their way into a log or not yet in the table, then the table. */
export interface RecentClaims extends ClaimTable {
  /** Takes id and nonce, checking the id first; undefined when both were free and are now taken. */
  take(market: string, claim: OrderClaim): ClaimTaken | undefined
  /** Releases what `take` took, because its order enters no log. */
  giveBack(claim: OrderClaim): void
  /**
   * The market's log holds the order: its claim may go into the table. It is taken if it was free; the same claim may land
   * more than once. Returns the other order that holds its id or nonce. `heldAt`: a message up to which the log holds it.
   */
  land(market: string, claim: OrderClaim, heldAt: number): TakenOrder | undefined
  /** The `heldAt` of an order that is not known to be in the table; undefined unless it has landed. */
  landedAt(orderId: string): { readonly heldAt: number | undefined } | undefined
  /** Claims that have landed and are not in the table, oldest first. */
  landed(): readonly LandedClaim[]
  /** Call when the table holds the first so many of them. */
  moved(count: number): void
}

/** Most ids, and as many nonces, that are cached as free between the first check of an order and its claim. */
const MAX_KNOWN_FREE = 8_192

interface RecentClaim extends LandedClaim {
  /** Undefined until it has landed. */
  heldAt: number | undefined
}

export function createRecentClaims(table: ClaimTable): RecentClaims {
  const orders = new Map<string, RecentClaim>()
  const nonces = new Map<string, RecentClaim>()
  const freeIds = createFreeKeys()
  const freeNonces = createFreeKeys()
  let landed: RecentClaim[] = []

  const findOrder = (orderId: string): TakenOrder | undefined => {
    const recent = orders.get(orderId)
    if (recent !== undefined) return holderOf(recent)
    return freeIds.find(orderId, () => table.findOrder(orderId))
  }
  const findBy = (key: string, { owner, nonce }: Pick<OrderClaim, 'owner' | 'nonce'>) => {
    const recent = nonces.get(key)
    if (recent !== undefined) return holderOf(recent)
    return freeNonces.find(key, () => table.findNonce(owner, nonce))
  }
  const take = (market: string, claim: OrderClaim): ClaimTaken | undefined => {
    const { orderId } = claim
    const sameId = findOrder(orderId)
    if (sameId !== undefined) return { kind: 'taken', by: 'order_id', holder: sameId }
    const key = nonceKey(claim)
    const sameNonce = findBy(key, claim)
    if (sameNonce !== undefined) return { kind: 'taken', by: 'nonce', holder: sameNonce }
    const made = { market, claim, heldAt: undefined }
    orders.set(orderId, made)
    nonces.set(key, made)
    freeIds.forget(orderId)
    freeNonces.forget(key)
    return undefined
  }
  const giveBack = (claim: OrderClaim): void => {
    orders.delete(claim.orderId)
    nonces.delete(nonceKey(claim))
  }
  return {
    findOrder,
    findNonce: (owner, nonce) => findBy(nonceKey({ owner, nonce }), { owner, nonce }),
    hasOrderOf(owner) {
      if (table.hasOrderOf(owner)) return true
      for (const { claim } of orders.values()) if (claim.owner === owner) return true
      return false
    },
    take,
    giveBack,
    land(market, claim, heldAt) {
      const own = orders.get(claim.orderId)
      if (own?.claim !== claim) {
        const holder = take(market, claim)?.holder
        if (holder !== undefined && !isOf(holder, market, claim)) return holder
      }
      const made = orders.get(claim.orderId)
      if (made === undefined || made.heldAt !== undefined) return undefined
      made.heldAt = heldAt
      landed.push(made)
      return undefined
    },
    landedAt: (orderId) => orders.get(orderId),
    landed: () => landed,
    moved(count) {
      for (const { claim } of landed.slice(0, count)) giveBack(claim)
      landed = landed.slice(count)
    },
  }
}

const nonceKey = ({ owner, nonce }: Pick<OrderClaim, 'owner' | 'nonce'>): string =>
  `${owner} ${nonce}`

const holderOf = ({ market, claim }: LandedClaim): TakenOrder => ({ ...claim, market })

const isOf = (holder: TakenOrder, market: string, claim: OrderClaim): boolean =>
  holder.orderId === claim.orderId &&
  holder.market === market &&
  Buffer.compare(holder.fingerprint, claim.fingerprint) === 0

/** Keys that were not found in the table; they are not queried a second time when the order claims them. */
function createFreeKeys() {
  const free = new Set<string>()
  return {
    find(key: string, look: () => TakenOrder | undefined): TakenOrder | undefined {
      if (free.has(key)) return undefined
      const taken = look()
      if (taken === undefined) {
        if (free.size >= MAX_KNOWN_FREE) free.clear()
        free.add(key)
      }
      return taken
    },
    forget: (key: string): void => void free.delete(key),
  }
}

/** A digest of the signed action and the signature; of the empty text when the action cannot be read. */
export const fingerprintOf = (signedText: string | undefined): Uint8Array =>
  hash('sha256', signedText ?? '', 'buffer')

/** The claim that an order of this market made when it was placed. */
export function claimOf(market: Market, order: Order): OrderClaim {
  const { orderId, owner, nonce } = order
  const signed = { json: actionJsonOf(market, order), action: actionOf(market, order) }
  return {
    orderId,
    owner,
    nonce,
    fingerprint: fingerprintOf(signedOrderText(signed, order.signature)),
  }
}

/** The claim of an order, as it is kept when nothing else of the order is. */
export function tombstoneOf({ fingerprint, ...claim }: OrderClaim): Tombstone {
  return { ...claim, fingerprint: `0x${Buffer.from(fingerprint).toString('hex')}` }
}

/** The inverse of `tombstoneOf`. */
export function claimOfTombstone({ fingerprint, ...claim }: Tombstone): OrderClaim {
  return { ...claim, fingerprint: Buffer.from(fingerprint.slice(2), 'hex') }
}
