import {
  randomNonce,
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
  readonly rest: Pick<RestClient, 'book' | 'placeOrder' | 'cancelOrder'>
  readonly market: MarketEntry
  readonly signer: TypedDataSigner
  readonly domain: SigningDomain
  readonly subaccountId: string
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
}

/** The maker's calls to the venue. Every method throws OutcomeUnknown when the venue does not answer. */
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

const EXPIRES_IN_SEC = 300

export function createDesk(parts: DeskParts): Desk {
  const { rest, market, signer, domain, subaccountId, nowMs, log } = parts

  function sign({ side, price, size }: Quote): Promise<OrderBody> {
    const nonce = randomNonce()
    const orderId = `demo-maker-${nonce.toString(36)}`
    const expirySec = Math.floor(nowMs() / 1_000) + EXPIRES_IN_SEC
    const terms = { market, orderId, subaccountId, nonce, expirySec, side, price, size }
    return signTraderOrder(signer, domain, terms)
  }

  async function place(body: OrderBody): Promise<boolean> {
    const shown = { order_id: body.order_id, quote: body.ui_intent }
    try {
      await rest.placeOrder(body)
      log.debug(shown, 'quoted')
      return true
    } catch (error) {
      if (!(error instanceof VenueRefused)) throw error
      log.warn({ code: error.code, reason: error.message, ...shown }, 'quote refused')
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
