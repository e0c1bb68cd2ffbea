import {
  signCancel,
  type FillRecord,
  type MarketEntry,
  type OrderRecord,
  type RestClient,
  type SigningDomain,
} from '../client/index.js'
import { el, panel, table } from './dom.js'
import type { Account } from './keys.js'
import { shown, sideShown, time } from './units.js'

const FILLS_SHOWN = 10

export interface OrdersParts {
  readonly market: MarketEntry
  readonly venue: RestClient
  readonly domain: SigningDomain
  readonly account: () => Account | undefined
}

export interface OrdersView {
  readonly section: HTMLElement
  show(orders: readonly OrderRecord[], fills: readonly FillRecord[]): void
  say(text: string): void
}

/** The owner's open orders with a cancel for each, and the newest fills, in trader terms. */
export function createOrdersView(parts: OrdersParts): OrdersView {
  const { market } = parts
  const { section, body } = panel('Own orders and fills', 'wide')
  const said = el('p', { class: 'quiet', role: 'status' }, 'Choose an account to see its orders.')
  const list = el('div')
  body.append(said, list)
  const say = (text: string): void => void (said.textContent = text)
  const cancel = async ({ nonce, order_id }: OrderRecord): Promise<void> => {
    const account = parts.account()
    if (account === undefined) return
    try {
      const expirySec = Math.floor(Date.now() / 1_000) + 60
      const terms = { nonce, expirySec, reason: 'cancelled on the page' }
      await parts.venue.cancelOrder(await signCancel(account.signer, parts.domain, terms))
      say(`${order_id} is cancelled.`)
    } catch (error) {
      say(error instanceof Error ? error.message : String(error))
    }
  }
  return {
    ...{ section, say },
    show(orders, fills) {
      const open = orders.filter(({ status }) => status === 'active' || status === 'matching')
      const cancelAll = el(
        'button',
        { type: 'button', onclick: () => void Promise.all(open.map(cancel)) },
        `Cancel all ${open.length}`,
      )
      list.replaceChildren(
        ...(open.length === 0
          ? [el('p', { class: 'quiet' }, 'No open orders.')]
          : [cancelAll, openOrders(market, open, cancel)]),
        ...(fills.length === 0 ? [] : [ownFills(market, fills.slice(0, FILLS_SHOWN))]),
      )
    },
  }
}

function openOrders(
  market: MarketEntry,
  open: readonly OrderRecord[],
  cancel: (order: OrderRecord) => Promise<void>,
): HTMLElement {
  const rows = open.map((order) => {
    const { price, size } = shown(market, 'trader', order.limit_price, order.remaining_amount)
    const state = order.held_reason === undefined ? order.status : `held: ${order.held_reason}`
    const button = el('button', { type: 'button', onclick: () => void cancel(order) }, 'Cancel')
    return [order.order_id, sideShown(market, 'trader', order.side), price, size, state, button]
  })
  return table('Open', ['Order', 'Side', 'Price', 'Left', 'State', ''], rows)
}

function ownFills(market: MarketEntry, fills: readonly FillRecord[]): HTMLElement {
  const rows = fills.map((fill) => {
    const { price, size } = shown(market, 'trader', fill.price, fill.size)
    const side = sideShown(market, 'trader', fill.side)
    return [
      time(fill.created_at),
      side,
      price,
      size,
      fill.liquidity,
      fill.fee,
      fill.tx_hash.slice(0, 10),
    ]
  })
  const heads = ['Time', 'Side', 'Price', 'Size', 'Liquidity', 'Fee (USDC)', 'Transaction']
  return table('Fills', heads, rows)
}
