import {
  OutcomeUnknown,
  randomNonce,
  signOrder,
  signTraderOrder,
  VenueRefused,
  type MarketEntry,
  type OrderBody,
  type RestClient,
  type SigningDomain,
  type TypedDataSigner,
} from '../../client/index.js'
import type { Logger } from '../../runtime/process/log.js'
import type { Quote } from './quotes.js'

export interface DeskParts {
  /** Begin of its order ids. */
  readonly name: string
  readonly rest: Pick<RestClient, 'book' | 'placeOrder' | 'cancelOrder'>
  readonly market: MarketEntry
  readonly signer: TypedDataSigner
  readonly domain: SigningDomain
  readonly subaccountId: string
  /** How long its orders live. */
  readonly expiresInSec: number
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
}

/** The calls to the venue of one account in one market. Every method throws OutcomeUnknown when the venue does not answer. */
export interface Desk {
  /** A signed order for a quote, not sent yet. */
  sign(quote: Quote): Promise<OrderBody>
  /** Sends an order, with retries; resolves with whether the venue accepted it. */
  place(body: OrderBody): Promise<boolean>
  /** Cancels an order; succeeds when it is already closed. */
  cancel(order: Pick<OrderBody, 'owner_address' | 'nonce'>): Promise<void>
  /** Cancels the orders that an earlier run left open. */
  clear(): Promise<void>
}

export function createDesk(parts: DeskParts): Desk {
  const { rest, market, signer, domain, subaccountId, nowMs, log } = parts
  let refusedInARow = 0

  function sign({ side, price, size }: Quote): Promise<OrderBody> {
    const nonce = randomNonce()
    const orderId = `${parts.name}-${nonce.toString(36)}`
    const expirySec = Math.floor(nowMs() / 1_000) + parts.expiresInSec
    const frame = { market, orderId, subaccountId, nonce, expirySec, side, price }
    return market.order_entry_spec === undefined
      ? signOrder(signer, domain, { ...frame, amount: size })
      : signTraderOrder(signer, domain, { ...frame, size })
  }

  async function place(body: OrderBody): Promise<boolean> {
    const { order_id, side, limit_price, desired_amount } = body
    const shown = { market: market.market, order_id, side, limit_price, desired_amount }
    try {
      await rest.placeOrder(body)
      refusedInARow = 0
      log.debug(shown, 'placed')
      return true
    } catch (error) {
      if (!(error instanceof VenueRefused)) throw error
      refusedInARow += 1
      // One alone is a market that has changed since it was read.
      const level = refusedInARow === 2 ? 'warn' : 'info'
      log[level]({ code: error.code, reason: error.message, ...shown }, 'order refused')
      return false
    }
  }

  async function cancel({ owner_address, nonce }: Pick<OrderBody, 'owner_address' | 'nonce'>) {
    try {
      await rest.cancelOrder({ owner_address, nonce, reason: 'requote' })
    } catch (error) {
      if (!(error instanceof VenueRefused && error.status === 404)) throw error
    }
  }

  async function clear(): Promise<void> {
    const { bids, asks } = await rest.book(market.market)
    const owner = signer.address.toLowerCase()
    for (const order of [...bids, ...asks]) {
      if (order.owner_address !== owner || order.subaccount_id !== subaccountId) continue
      await cancel(order)
    }
  }

  return { sign, place, cancel, clear }
}

/** The venue did not carry it out, and may later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof OutcomeUnknown || error instanceof VenueRefused
