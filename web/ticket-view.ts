import {
  randomNonce,
  signOrder,
  type LocalLevels,
  type MarketEntry,
  type NewOrder,
  type OrderRecord,
  type RestClient,
  type Side,
  type SigningDomain,
} from '../client/index.js'
import { formatDecimal, parseDecimal } from '../core/decimal.js'
import { el, panel } from './dom.js'
import type { Account } from './keys.js'
import { createPlacement, pressOnce, wordsOf, type Placement } from './place-once.js'
import { parseInput } from './select/format.js'
import { guardsOf } from './select/guards.js'
import { marketTerms } from './select/market-terms.js'
import { receiptOf } from './select/receipt.js'
import { planOf, type Book, type Plan } from './select/ticket.js'
import type { Level } from './select/walk-book.js'
import { GUARD_WORDS, NO_PLAN_WORDS, receiptWords } from './ticket-words.js'

const LIVES_SEC = 3_600
const LEVELS_WALKED = 100
/** A ticket of a limit alone: how far a market order may go is not asked. */
const NO_GUARD_BPS = 0n
/** How a reader of this browser writes one and a half. */
const isDecimalComma = (1.5).toLocaleString().includes(',')

export interface TicketParts {
  readonly market: MarketEntry
  readonly venue: RestClient
  readonly domain: SigningDomain
  readonly account: () => Account | undefined
  /** The levels of now; undefined while they are not known to be the venue's. */
  readonly levels: () => LocalLevels | undefined
  readonly onPlaced: (order: OrderRecord) => void
}

export interface TicketView {
  readonly section: HTMLElement
  /** The book has changed. */
  retell(): void
}

/** The order ticket: what is given at most and received at least is said before it is signed, from the terms that are signed. */
export function createTicketView(parts: TicketParts): TicketView {
  const { market } = parts
  const { section, body } = panel('Order', 'ticket')
  const fields = ticketFields()
  const { words, subaccount, place, check } = fields
  const read = () => planned(parts, typedIn(fields))
  const retell = (): void => {
    const text = ticketWords(market, read(), subaccount.value.trim())
    // Read aloud when it changes alone: the book changes often.
    if (words.textContent !== text) words.textContent = text
  }
  const placement = createPlacement(parts.venue)
  const tell = (): void => {
    placement.forget()
    retell()
  }
  const act = createAct(parts, fields, { read, tell, placement })
  const once = pressOnce([place, check])
  check.addEventListener('click', () => void once(() => act('check')))
  body.append(ticketForm(market, fields, { tell, submit: () => void once(() => act('place')) }))
  subaccount.value = parts.account()?.subaccountOf(market) ?? ''
  tell()
  return { section, retell }
}

interface Deeds {
  /** The ticket has changed. */
  readonly tell: () => void
  readonly read: () => ReturnType<typeof planned>
  readonly placement: Placement
}

/** What a press does; it says its outcome. */
function createAct(
  parts: TicketParts,
  fields: Fields,
  { read, tell, placement }: Deeds,
): (deed: 'place' | 'check') => Promise<void> {
  /** What a first press asked, and of which ticket: the same question of the same ticket, pressed again, is meant. */
  let asked = ''
  const say = (text: string, isError = false): undefined => {
    fields.said.className = isError ? 'error' : 'quiet'
    fields.said.textContent = text
  }
  /** Signs what the words said, unless something stands in the way, which it says instead. */
  const sign = async (account: Account, isPlaced: boolean): Promise<NewOrder | undefined> => {
    // The words are those of this moment, also where the book was lost since they were last told.
    tell()
    const made = read()
    if (typeof made === 'string') return say(made, true)
    const [first] = made.guards
    if (first?.level === 'block') return say(GUARD_WORDS[first.code], true)
    const question = JSON.stringify([first?.code, typedIn(fields)])
    if (isPlaced && first?.level === 'ask' && asked !== question) {
      asked = question
      return say(`${GUARD_WORDS[first.code]} Press again if it is meant.`, true)
    }
    say('Waiting for the signature …')
    return signed(parts, account, { plan: made.plan, ...typedIn(fields) })
  }
  return async (deed) => {
    const account = parts.account()
    if (account === undefined) return say('Choose an account first.', true)
    try {
      const isPlaced = deed === 'place'
      const order = placement.unanswered() ?? (await sign(account, isPlaced))
      if (order === undefined) return
      if (!isPlaced) return say(...(await verdict(parts.venue, order)))
      const record = await placement.place(order)
      asked = ''
      // A ticket is good for one order: a key that is held finds it empty.
      fields.size.value = ''
      tell()
      say(`${record.order_id} is ${record.status}.`)
      parts.onPlaced(record)
    } catch (error) {
      const again = placement.unanswered() ? ' Press again: the same order is sent, once.' : ''
      say(`${wordsOf(error)}${again}`, true)
    }
  }
}

interface Signing extends Pick<Typed, 'subaccountId' | 'reduceOnly'> {
  readonly plan: Plan
}

function signed(
  { market, domain }: TicketParts,
  { signer }: Account,
  { plan, subaccountId, reduceOnly }: Signing,
): Promise<NewOrder> {
  const nonce = randomNonce()
  return signOrder(signer, domain, {
    ...{ market, nonce, subaccountId, orderId: `page-${nonce.toString(36)}` },
    ...{ side: plan.side, price: formatDecimal(plan.limitE18, 18) },
    ...{ amount: formatDecimal(plan.amountE18, 18), worstFeeBps: plan.worstFeeBps },
    expirySec: Math.floor(Date.now() / 1_000) + LIVES_SEC,
    ...(reduceOnly && { reduceOnly }),
  })
}

function ticketFields() {
  return {
    side: el('select', { name: 'side' }, option('buy'), option('sell')),
    price: el('input', { name: 'price', inputmode: 'decimal', required: true }),
    size: el('input', { name: 'size', inputmode: 'decimal', required: true }),
    subaccount: el('input', { name: 'subaccount', inputmode: 'numeric', required: true }),
    reduceOnly: el('input', { name: 'reduce_only', type: 'checkbox' }),
    words: el('p', { class: 'quiet', 'aria-live': 'polite' }),
    said: el('p', { role: 'status', class: 'quiet' }),
    place: el('button', { class: 'main', type: 'submit' }, 'Sign and place'),
    check: el('button', { type: 'button' }, 'Check only'),
  }
}
type Fields = ReturnType<typeof ticketFields>

/** What stands in the ticket. */
interface Typed {
  readonly side: Side
  readonly price: string
  readonly size: string
  readonly subaccountId: string
  readonly reduceOnly: boolean
}

const typedIn = ({ side, price, size, subaccount, reduceOnly }: Fields): Typed => ({
  ...{ side: side.value as Side, price: price.value, size: size.value },
  ...{ subaccountId: subaccount.value.trim(), reduceOnly: reduceOnly.checked },
})

interface Actions {
  readonly tell: () => void
  readonly submit: () => void
}

function ticketForm(market: MarketEntry, fields: Fields, { tell, submit }: Actions): HTMLElement {
  const isMargined = marketTerms(market).isMargined
  const onsubmit = (event: Event): void => {
    event.preventDefault()
    submit()
  }
  return el(
    'form',
    { oninput: tell, onsubmit },
    el('div', { class: 'row' }, label(`Side (${market.ui_side_meaning})`, fields.side)),
    el(
      'div',
      { class: 'row' },
      label(`Price (${market.ui_price_unit})`, fields.price),
      label(`Size (${market.ui_size_unit})`, fields.size),
    ),
    el('div', { class: 'row' }, label('Subaccount', fields.subaccount)),
    isMargined ? label('Only reduce a position', fields.reduceOnly) : undefined,
    fields.words,
    el('div', { class: 'row' }, fields.place, fields.check),
    fields.said,
  )
}

const option = (side: Side): HTMLElement => el('option', { value: side }, side)

const label = (text: string, input: HTMLElement): HTMLElement => el('label', {}, text, input)

async function verdict(venue: RestClient, order: NewOrder): Promise<[string, boolean]> {
  const { valid, refusal, likely_mistake } = await venue.validateOrder(order)
  if (valid) return ['The venue would take it.', false]
  return [likely_mistake?.message ?? refusal?.error ?? '', true]
}

/** What the ticket would sign, what that can cost, and what stands in the way; or why there is nothing to sign. */
function planned({ market, levels }: TicketParts, typed: Typed) {
  if (typed.price.trim() === '' || typed.size.trim() === '')
    return 'Enter a price and a size to see what will be signed.'
  const priceE18 = parseInput(typed.price, isDecimalComma)
  const sizeE18 = parseInput(typed.size, isDecimalComma)
  if (priceE18 === undefined || priceE18 === 0n) return 'The price is not a number above 0.'
  if (sizeE18 === undefined || sizeE18 === 0n) return 'The size is not a number above 0.'
  const terms = marketTerms(market)
  const shown = levels()
  const book = shown === undefined ? { bids: [], asks: [] } : bookOf(shown)
  const plan = planOf(terms, { side: typed.side, priceE18, sizeE18, guardBps: NO_GUARD_BPS }, book)
  if (typeof plan === 'string') return NO_PLAN_WORDS[plan]
  const receipt = receiptOf(terms, plan)
  const around = { isLive: shown !== undefined, isMarketOrder: false, isPostOnly: false }
  const giveMostE18 = receipt.exchange?.giveMostE18 ?? receipt.feeMostE18
  return { plan, receipt, guards: guardsOf(terms, plan, book, { ...around, giveMostE18 }) }
}

function ticketWords(
  market: MarketEntry,
  made: ReturnType<typeof planned>,
  subaccount: string,
): string {
  if (typeof made === 'string') return made
  const told = `You sign: ${receiptWords(market, made.plan, made.receipt)}`
  const warnings = made.guards.map(({ code }) => GUARD_WORDS[code])
  return [`${told}. From subaccount ${subaccount}, for one hour.`, ...warnings].join(' ')
}

const bookOf = (levels: LocalLevels): Book => ({
  bids: levels.levels('buy').slice(0, LEVELS_WALKED).map(levelOf),
  asks: levels.levels('sell').slice(0, LEVELS_WALKED).map(levelOf),
})

const levelOf = ({ price, size }: { readonly price: string; readonly size: string }): Level => ({
  ...{ priceE18: parseDecimal(price, 18) ?? 0n, amountE18: parseDecimal(size, 18) ?? 0n },
})
