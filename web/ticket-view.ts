import {
  randomNonce,
  signOrder,
  signTraderOrder,
  type MarketEntry,
  type NewOrder,
  type OrderRecord,
  type RestClient,
  type Side,
  type SigningDomain,
} from '../client/index.js'
import { el, panel } from './dom.js'
import type { Account } from './keys.js'

const LIVES_SEC = 3_600

export interface TicketParts {
  readonly market: MarketEntry
  readonly venue: RestClient
  readonly domain: SigningDomain
  readonly account: () => Account | undefined
  readonly onPlaced: (order: OrderRecord) => void
}

/** The order ticket: what will be signed is shown in words before it is signed. */
export function createTicketView(parts: TicketParts): { section: HTMLElement; update(): void } {
  const { market } = parts
  const { section, body } = panel('Order')
  const said = el('p', { role: 'status', class: 'quiet' })
  const side = el('select', { name: 'side' }, option('buy'), option('sell'))
  const price = el('input', { name: 'price', inputmode: 'decimal', required: true })
  const size = el('input', { name: 'size', inputmode: 'decimal', required: true })
  const subaccount = el('input', { name: 'subaccount', inputmode: 'numeric', required: true })
  const reduceOnly = el('input', { name: 'reduce_only', type: 'checkbox' })
  const words = el('p', { class: 'quiet', 'aria-live': 'polite' })
  const terms = () => ({
    ...{ side: side.value as Side, price: price.value.trim(), size: size.value.trim() },
    subaccountId: subaccount.value.trim(),
    reduceOnly: reduceOnly.checked,
  })
  const tell = (): void => {
    const { side, price, size, subaccountId } = terms()
    words.textContent =
      price === '' || size === ''
        ? 'Enter a price and a size to see what will be signed.'
        : `You sign: ${side} ${size} (${market.ui_size_unit}) at ${price} (${market.ui_price_unit}) or better, ` +
          `from subaccount ${subaccountId}, with a fee of at most 30 bps, for one hour.`
  }
  const act = async (isPlaced: boolean): Promise<void> => {
    const account = parts.account()
    if (account === undefined) return say('Choose an account first.', true)
    say('Waiting for the signature …')
    try {
      const body = await signed(parts, account, terms())
      if (isPlaced) {
        const order = await parts.venue.placeOrder(body)
        say(`${order.order_id} is ${order.status}.`)
        return parts.onPlaced(order)
      }
      const { valid, refusal, likely_mistake } = await parts.venue.validateOrder(body)
      say(
        valid ? 'The venue would take it.' : (likely_mistake?.message ?? refusal?.error ?? ''),
        !valid,
      )
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), true)
    }
  }
  function say(text: string, isError = false): void {
    said.className = isError ? 'error' : 'quiet'
    said.textContent = text
  }
  const fields = { side, price, size, subaccount, reduceOnly, words, said }
  body.append(ticketForm(market, fields, { tell, act }))
  const update = (): void => {
    subaccount.value = parts.account()?.subaccountOf(market) ?? subaccount.value
    tell()
  }
  update()
  return { section, update }
}

interface Fields {
  readonly side: HTMLElement
  readonly price: HTMLElement
  readonly size: HTMLElement
  readonly subaccount: HTMLElement
  readonly reduceOnly: HTMLElement
  readonly words: HTMLElement
  readonly said: HTMLElement
}

interface Actions {
  readonly tell: () => void
  readonly act: (isPlaced: boolean) => Promise<void>
}

function ticketForm(market: MarketEntry, fields: Fields, { tell, act }: Actions): HTMLElement {
  const isMargined = market.perp !== undefined || market.future !== undefined
  const onsubmit = (event: Event): void => {
    event.preventDefault()
    void act(true)
  }
  const check = { type: 'button', onclick: () => void act(false) }
  return el(
    'form',
    { oninput: tell, onsubmit },
    el('div', { class: 'row' }, label(`Side (${market.ui_side_meaning})`, fields.side)),
    el('div', { class: 'row' }, label('Price', fields.price), label('Size', fields.size)),
    el('div', { class: 'row' }, label('Subaccount', fields.subaccount)),
    isMargined ? label('Only reduce a position', fields.reduceOnly) : undefined,
    fields.words,
    el(
      'div',
      { class: 'row' },
      el('button', { class: 'main', type: 'submit' }, 'Sign and place'),
      el('button', check, 'Check only'),
    ),
    fields.said,
  )
}

const option = (side: Side): HTMLElement => el('option', { value: side }, side)

const label = (text: string, input: HTMLElement): HTMLElement => el('label', {}, text, input)

interface Terms {
  readonly side: Side
  readonly price: string
  readonly size: string
  readonly subaccountId: string
  readonly reduceOnly: boolean
}

function signed(
  { market, domain }: TicketParts,
  { signer }: Account,
  { side, price, size, subaccountId, reduceOnly }: Terms,
): Promise<NewOrder> {
  const nonce = randomNonce()
  const frame = {
    ...{ market, subaccountId, nonce, orderId: `page-${nonce.toString(36)}` },
    expirySec: Math.floor(Date.now() / 1_000) + LIVES_SEC,
    ...(reduceOnly && { reduceOnly }),
  }
  return market.order_entry_spec === undefined
    ? signOrder(signer, domain, { ...frame, side, price, amount: size })
    : signTraderOrder(signer, domain, { ...frame, side, price, size })
}
