import { randomBytes } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '../../support/venue.js'
import { nowSec, request, type Hex, type Json } from './client.js'

/** What differs from a good frame. */
export interface FrameWish {
  /** First line of the text that is signed. */
  readonly wish?: string
  readonly domain?: string
  /** Seconds from now. */
  readonly issuedIn?: number
  readonly validFor?: number
  /** How the address is written in the signed text; as in the frame by default. */
  readonly signedAddress?: (address: string) => string
  /** The owner whose session key signs; by default the key speaks for itself. */
  readonly owner?: Hex
  /** Fields of the frame that are written over after signing. */
  readonly more?: Json
}

export const HISTORY_WISH = 'wants you to view your service order history.'
export const SOCKET_WISH = 'wants you to authenticate for the service markets WebSocket.'

/** A signed frame over the key's order history. */
export async function signedFrame(devnet: Devnet, key: Hex, wish: FrameWish = {}): Promise<Json> {
  const account = privateKeyToAccount(key)
  const issued_at = nowSec() + (wish.issuedIn ?? 0)
  const expiry = issued_at + (wish.validFor ?? 600)
  const nonce = randomBytes(12).toString('hex')
  const { signedAddress = (address) => address, owner } = wish
  const address = owner ?? account.address
  const named = owner === undefined ? {} : { signer_address: account.address }
  const message = [
    `${wish.domain ?? devnet.auth_domain} ${wish.wish ?? HISTORY_WISH}`,
    `Address: ${signedAddress(address)}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issued_at}`,
    `Expiration Time: ${expiry}`,
  ].join('\n')
  const signature = await account.signMessage({ message })
  return { address, ...named, signature, nonce, issued_at, expiry, ...wish.more }
}

export const asHeader = (frame: unknown): string =>
  Buffer.from(JSON.stringify(frame)).toString('base64url')

/** GET with that text in the header; without the header when there is none. */
export function getWith<Body = Json>(devnet: Devnet, path: string, header?: string) {
  const headers: Record<string, string> = header === undefined ? {} : { 'x-service-auth': header }
  return request<Body>(new URL(path, devnet.gateway_url), { headers })
}

export interface OrdersPage {
  readonly orders: readonly Json[]
  readonly next_before?: string
}

export interface FillsPage {
  readonly fills: readonly FillJson[]
  readonly next_before?: string
}

export interface FillJson extends Json {
  readonly trade_id: number
  readonly order_id: string
  readonly price: string
  readonly size: string
  readonly fee: string
}

/** The private reads of the key's owner, by one frame that is used again and again. */
export async function createHistoryReader(devnet: Devnet, key: Hex) {
  const header = asHeader(await signedFrame(devnet, key))
  const ordersPage = (query = '') =>
    getWith<OrdersPage>(devnet, `/v1/orders${query && `?${query}`}`, header)
  const fillsPage = (query = '') =>
    getWith<FillsPage>(devnet, `/v1/fills${query && `?${query}`}`, header)
  const orders = async () => (await ordersPage('limit=100')).body.orders
  const fills = async () => (await fillsPage('limit=100')).body.fills
  const order = async (id: string) => (await orders()).find((it) => it.order_id === id) ?? {}
  const fillsOf = async (id: string) => (await fills()).filter((it) => it.order_id === id)
  return { header, ordersPage, fillsPage, orders, fills, order, fillsOf }
}

export type HistoryReader = Awaited<ReturnType<typeof createHistoryReader>>
