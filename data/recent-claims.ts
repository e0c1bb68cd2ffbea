import type { Address } from '../core/action.js'

/** The id and the nonce that an order uses up permanently (decision B9). */
export interface Claim {
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  /** Digest of the signed action. */
  readonly fingerprint: Uint8Array
}

export interface TakenOrder {
  readonly orderId: string
  readonly market: string
  readonly fingerprint: Uint8Array
}

/** A claim and the market whose order made it. */
export interface MarketClaim {
  readonly market: string
  readonly claim: Claim
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
}

/** Every claim: first those that are durable in their messages but not yet in the table, then the table. */
export interface RecentClaims extends ClaimTable {
  /** Takes id and nonce, checking the id first; undefined when both were free and are now taken. */
  take(market: string, claim: Claim): ClaimTaken | undefined
  /** Releases what `take` took, because its message was not stored. */
  giveBack(claim: Claim): void
  /** Claims that are not yet in the table, oldest first. */
  waiting(): MarketClaim[]
  size(): number
  /** Call when the table holds all of them. */
  moved(): void
}

/** Most ids, and as many nonces, that are cached as free between the first check of an order and its claim. */
const MAX_KNOWN_FREE = 8_192

export function createRecentClaims(table: ClaimTable): RecentClaims {
  const orders = new Map<string, MarketClaim>()
  const nonces = new Map<string, MarketClaim>()
  const freeIds = createFreeKeys()
  const freeNonces = createFreeKeys()

  const findOrder = (orderId: string): TakenOrder | undefined => {
    const recent = orders.get(orderId)
    if (recent !== undefined) return holderOf(recent)
    return freeIds.find(orderId, () => table.findOrder(orderId))
  }
  const findBy = (key: string, { owner, nonce }: Pick<Claim, 'owner' | 'nonce'>) => {
    const recent = nonces.get(key)
    if (recent !== undefined) return holderOf(recent)
    return freeNonces.find(key, () => table.findNonce(owner, nonce))
  }
  return {
    findOrder,
    findNonce: (owner, nonce) => findBy(nonceKey({ owner, nonce }), { owner, nonce }),
    take(market, claim) {
      const { orderId } = claim
      const sameId = findOrder(orderId)
      if (sameId !== undefined) return { kind: 'taken', by: 'order_id', holder: sameId }
      const key = nonceKey(claim)
      const sameNonce = findBy(key, claim)
      if (sameNonce !== undefined) return { kind: 'taken', by: 'nonce', holder: sameNonce }
      const made = { market, claim }
      orders.set(orderId, made)
      nonces.set(key, made)
      freeIds.forget(orderId)
      freeNonces.forget(key)
      return undefined
    },
    giveBack(claim) {
      orders.delete(claim.orderId)
      nonces.delete(nonceKey(claim))
    },
    waiting: () => [...orders.values()],
    size: () => orders.size,
    moved() {
      orders.clear()
      nonces.clear()
    },
  }
}

const nonceKey = ({ owner, nonce }: Pick<Claim, 'owner' | 'nonce'>): string => `${owner} ${nonce}`

const holderOf = ({ market, claim }: MarketClaim): TakenOrder => ({
  orderId: claim.orderId,
  market,
  fingerprint: claim.fingerprint,
})

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

/** Claims as a message of the outbox carries them. */
export function encodeClaims(claims: readonly Claim[]): string {
  return JSON.stringify(
    claims.map(({ orderId, owner, nonce, fingerprint }) => [
      orderId,
      owner,
      String(nonce),
      Buffer.from(fingerprint).toString('base64'),
    ]),
  )
}

/** The inverse of encodeClaims. */
export function decodeClaims(text: string): Claim[] {
  const claims = JSON.parse(text) as [string, Address, string, string][]
  return claims.map(([orderId, owner, nonce, fingerprint]) => ({
    orderId,
    owner,
    nonce: BigInt(nonce),
    fingerprint: Buffer.from(fingerprint, 'base64'),
  }))
}
