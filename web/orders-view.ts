import {
  signCancel,
  signCancelAll,
  type FillEvent,
  type MarketEntry,
  type OrderRecord,
  type RestClient,
  type SettledLeg,
  type SigningDomain,
} from '../client/index.js'
import { cancelReasons, holdReasons, type Reason } from '../interface/reasons.js'
import { el, panel, table } from './dom.js'
import type { Account } from './keys.js'
import { wordsOf } from './place-once.js'
import { recordRow } from './select/row-state.js'
import { amount, shown, sideShown, time } from './units.js'

const FILLS_SHOWN = 10
const ENDED_SHOWN = 10
const PROOF_LIVES_SEC = 60
const REASON = 'cancelled on the page'

export interface OrdersParts {
  readonly market: MarketEntry
  readonly venue: RestClient
  readonly domain: SigningDomain
  readonly account: () => Account | undefined
}

export interface OrdersView {
  readonly section: HTMLElement
  show(orders: readonly OrderRecord[]): void
  /** Legs of matches that await the chain, and legs that it has settled. */
  showFills(pending: readonly FillEvent[], settled: readonly SettledLeg[]): void
  /** With `again` there is a button for it. */
  say(text: string, again?: () => void): void
}

/** The owner's open orders with a cancel for each, and the newest fills, in trader terms. */
export function createOrdersView(parts: OrdersParts): OrdersView {
  const { market } = parts
  const { section, body } = panel('Own orders and fills', 'wide')
  const said = el('p', { class: 'quiet', role: 'status' }, 'Choose an account to see its orders.')
  const [list, fillList] = [el('div'), el('div')]
  body.append(said, list, fillList)
  const say = (text: string, again?: () => void): void =>
    said.replaceChildren(
      text,
      ...(again === undefined
        ? []
        : [' ', el('button', { type: 'button', onclick: again }, 'Try again')]),
    )
  const act = async (cancelling: (account: Account) => Promise<string>): Promise<void> => {
    const account = parts.account()
    if (account === undefined) return
    try {
      say(await cancelling(account))
    } catch (error) {
      say(wordsOf(error))
    }
  }
  const cancel = ({ nonce, order_id }: OrderRecord) =>
    act(async ({ signer }) => {
      const terms = { nonce, expirySec: nowSec() + PROOF_LIVES_SEC, reason: REASON }
      await parts.venue.cancelOrder(await signCancel(signer, parts.domain, terms))
      return `${order_id} is cancelled.`
    })
  const cancelAll = () => act((account) => cancelMarket(parts, account))
  return {
    ...{ section, say },
    show(orders) {
      const open = orders.filter((order) => recordRow(order).isLive)
      const all = el(
        'button',
        { type: 'button', id: 'cancel-all', onclick: () => void cancelAll() },
        `Cancel all of ${market.market} (${open.length})`,
      )
      keepFocus(list, () =>
        list.replaceChildren(
          ...(open.length === 0
            ? [el('p', { class: 'quiet' }, 'No open orders.')]
            : [all, openOrders(market, open, cancel)]),
          ...endedOrders(market, orders),
        ),
      )
    },
    showFills(pending, settled) {
      const rows = [...pending, ...settled]
        .sort((a, b) => b.created_at.localeCompare(a.created_at))
        .slice(0, FILLS_SHOWN)
      fillList.replaceChildren(...(rows.length === 0 ? [] : [ownFills(market, rows)]))
    },
  }
}

/** One signature for all of them: a wallet asks once. */
async function cancelMarket(
  { market: { market }, venue, domain }: OrdersParts,
  { signer }: Account,
): Promise<string> {
  const issuedAtSec = nowSec()
  const body = await signCancelAll(signer, domain, {
    ...{ market, issuedAtSec, expirySec: issuedAtSec + PROOF_LIVES_SEC, reason: REASON },
  })
  const { orders, left } = await venue.cancelAll(body)
  const count = orders.filter(({ outcome }) => outcome === 'cancelled').length + left
  return count === 1 ? '1 order is cancelled.' : `${count} orders are cancelled.`
}

const nowSec = (): number => Math.floor(Date.now() / 1_000)

/** A button that is drawn again keeps the focus of the keyboard. */
function keepFocus(place: HTMLElement, draw: () => void): void {
  const id = place.contains(document.activeElement) ? document.activeElement?.id : undefined
  draw()
  if (id !== undefined && id !== '') document.getElementById(id)?.focus()
}

/** The newest orders that have ended, each with why. */
function endedOrders(market: MarketEntry, orders: readonly OrderRecord[]): readonly HTMLElement[] {
  const ended = orders.filter((order) => !recordRow(order).isLive).slice(0, ENDED_SHOWN)
  if (ended.length === 0) return []
  const rows = ended.map((order) => {
    const { price, size } = shown(market, 'trader', order.limit_price, order.desired_amount)
    const { state, reason, settledBps } = recordRow(order)
    const why = reason === undefined ? state : `${state}: ${reasonWords(reason)}`
    const side = sideShown(market, 'trader', order.side)
    return [time(order.updated_at), side, price, size, `${settledBps / 100n} %`, why]
  })
  return [table('Ended', ['Time', 'Side', 'Price', 'Size', 'Filled', 'How it ended'], rows)]
}

/** What a code means, where the tables have it; an owner's own words as they are. */
const reasonWords = (reason: string): string =>
  (cancelReasons as Readonly<Record<string, Reason>>)[reason]?.means ?? reason

function openOrders(
  market: MarketEntry,
  open: readonly OrderRecord[],
  cancel: (order: OrderRecord) => Promise<void>,
): HTMLElement {
  const rows = open.map((order) => {
    const { price, size } = shown(market, 'trader', order.limit_price, order.remaining_amount)
    const button = el(
      'button',
      {
        ...{ type: 'button', id: `cancel-${order.order_id}` },
        ...{ 'aria-label': `Cancel ${order.order_id}`, onclick: () => void cancel(order) },
      },
      'Cancel',
    )
    const side = sideShown(market, 'trader', order.side)
    return [order.order_id, side, price, size, stateOf(order), button]
  })
  return table('Open', ['Order', 'Side', 'Price', 'Left', 'State', ''], rows)
}

/** A held order says why, and what ends it. */
function stateOf({ status, held_reason: held }: OrderRecord): string | HTMLElement {
  if (held === undefined) return status
  const { means, ends } = holdReasons[held]
  return el('span', { class: 'reason' }, `held: ${means} ${ends}`)
}

function ownFills(market: MarketEntry, legs: readonly (FillEvent | SettledLeg)[]): HTMLElement {
  const rows = legs.map((leg) => {
    const { price, size } = shown(market, 'trader', leg.price, leg.size)
    const side = sideShown(market, 'trader', leg.side)
    const { tx_hash: hash } = leg
    const state = hash === undefined ? 'matching …' : `settled ${hash.slice(0, 10)}`
    return [time(leg.created_at), side, price, size, leg.liquidity, amount(leg.fee), state]
  })
  const heads = ['Time', 'Side', 'Price', 'Size', 'Liquidity', 'Fee (USDC)', 'Transaction']
  return table('Fills', heads, rows)
}
