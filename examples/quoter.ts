import { setTimeout as delay } from 'node:timers/promises'
import { formatUnits, parseUnits } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  createLocalFills,
  randomNonce,
  signOrder,
  VenueError,
  type FillRecord,
  type LocalFills,
  type MarketEntry,
  type OrderBody,
  type OrderDelta,
  type OrderRecord,
  type RestClient,
  type SignedFrame,
  type SocketClient,
  type VenueDomain,
} from '../client/index.js'

/** What keeps quotes in one market of the venue, whatever happens to the venue and to the connection. */

/** Quotes of each side. */
export const QUOTES = 10
/** Distance of a quote from the next one, and of the first from the middle, in basis points. */
const STEP_BPS = 10n
const LIVES_SEC = 3_600
/** Ended orders that are remembered: no answer comes so late that more have ended since. */
const ENDED_KEPT = 1_000
const DECIMALS = 18

export interface QuoterParts {
  readonly venue: RestClient
  readonly socket: SocketClient
  readonly signer: PrivateKeyAccount
  readonly domain: VenueDomain
  readonly market: MarketEntry
  readonly subaccountId: string
  /** Cancelled with the others when another quoter of the name begins. */
  readonly name: string
}

export interface Quoter {
  readonly market: string
  /** Quotes that the venue has in its book, by the socket. */
  resting(): number
  /** Places what is missing and moves what is elsewhere; `middle` in USDC per cNGN. Returns when all is sent and answered. */
  tune(middle: string): Promise<void>
  /** Whether a fill is of one of its quotes. */
  isMine(fill: Pick<FillRecord, 'order_id' | 'market'>): boolean
  /** Every leg that the socket has shown, each once. */
  readonly fills: LocalFills
  /** Whether nothing of this quoter can fill any more. */
  isOver(): boolean
}

type Side = 'buy' | 'sell'

/** One quote: a place in the ladder, and what was last signed for it. */
interface Quote {
  readonly body: OrderBody
  /** The one that it is to replace. */
  readonly replaces?: Quote
  /** `sent`: what became of it is not known yet, and the same body is sent again. */
  readonly state: 'sent' | 'taken'
}

export function createQuoter(parts: QuoterParts): Quoter {
  const { socket, market, name } = parts
  const quotes = new Map<string, Quote>()
  const orders = followOrders(parts)
  const fills = createLocalFills()
  const isMine = isOf(name)
  socket.subscribe('fills', market.market, {
    onSnapshot: (legs) => fills.apply(legs.filter(isMine)),
    onUpdate: (leg) => fills.apply(isMine(leg) ? leg : []),
  })
  const rests = ({ body }: Quote): boolean => orders.statusOf(body) === 'active'

  async function tuneOne(side: Side, level: bigint, middle: bigint): Promise<void> {
    const key = `${side} ${level}`
    const quote = quotes.get(key)
    let next = quote
    if (quote?.state !== 'sent') {
      const price = priceOf(market, { side, level, middle })
      const isResting = quote !== undefined && rests(quote)
      if (isResting && quote.body.limit_price === price) return
      const made = { body: await sign(parts, side, price), state: 'sent' as const }
      next = isResting ? { ...made, replaces: quote } : made
    }
    if (next === undefined) return
    quotes.set(key, next)
    const sent = await send(parts, orders, next)
    if (sent === undefined) quotes.delete(key)
    else quotes.set(key, sent)
  }

  return {
    market: market.market,
    resting: () => [...quotes.values()].filter(rests).length,
    async tune(middle) {
      if (!socket.isOpen()) return
      const at = parseUnits(middle, DECIMALS)
      const levels = Array.from({ length: QUOTES }, (_, n) => BigInt(n + 1))
      await Promise.all(
        levels.flatMap((level) => [tuneOne('buy', level, at), tuneOne('sell', level, at)]),
      )
    },
    isMine: (fill) => fill.market === market.market && isMine(fill),
    fills,
    isOver: () => orders.areFinal(),
  }
}

const isOf =
  (name: string) =>
  ({ order_id }: { readonly order_id: string }): boolean =>
    order_id.startsWith(`${name}-`)

/** How the orders of a quoter stand, as the venue has shown them last. */
interface OwnOrders {
  note(order: Pick<OrderRecord, 'order_id' | 'status' | 'final'>): void
  /** Undefined once it has ended. */
  statusOf(body: OrderBody): OrderDelta['status'] | undefined
  areFinal(): boolean
}

function followOrders({ venue, socket, market, name }: QuoterParts): OwnOrders {
  const open = new Map<string, OrderDelta['status']>()
  const ended = new Set<string>()
  const isMine = isOf(name)
  const note: OwnOrders['note'] = ({ order_id: id, status, final }) => {
    // What has ended stays so, whichever answer comes late.
    if (!isMine({ order_id: id }) || ended.has(id)) return
    if (!final) {
      open.set(id, status)
      return
    }
    open.delete(id)
    ended.add(id)
    const [oldest] = ended
    if (ended.size > ENDED_KEPT && oldest !== undefined) ended.delete(oldest)
  }
  /** What the venue does not list as open has ended, if it was taken at all. */
  async function lookUp(id: string): Promise<void> {
    try {
      note(await venue.order(id))
    } catch (error) {
      if (!(error instanceof VenueError)) throw error
      if (error.retry === 'never') open.delete(id)
      else setTimeout(() => void lookUp(id), (error.retryAfterSec ?? 1) * 1_000)
    }
  }
  socket.subscribe('orders', market.market, {
    onSnapshot(listed) {
      const ids = new Set(listed.map(({ order_id }) => order_id))
      for (const id of open.keys()) if (!ids.has(id)) void lookUp(id)
      listed.forEach(note)
    },
    onUpdate: note,
  })
  return {
    note,
    statusOf: ({ order_id }) => open.get(order_id),
    areFinal: () => open.size === 0,
  }
}

/** Signs a quote that never takes: one that would is refused, and signed anew. */
function sign(
  { signer, domain, market, subaccountId, name }: QuoterParts,
  side: Side,
  price: string,
): Promise<OrderBody> {
  const nonce = randomNonce()
  return signOrder(signer, domain, {
    market,
    subaccountId,
    nonce,
    orderId: `${name}-${nonce}`,
    side,
    price,
    amount: SIZE,
    expirySec: Math.floor(Date.now() / 1_000) + LIVES_SEC,
    postOnly: 'reject',
  })
}

/**
 * Sends a quote by the socket, and where that leaves open what became of it by REST, which looks it up. Returns what stands at its
 * place: the quote, the one that it was to replace, or none.
 */
async function send(
  { venue, socket }: QuoterParts,
  orders: OwnOrders,
  quote: Quote,
): Promise<Quote | undefined> {
  const { body, replaces } = quote
  const sent = replaces && { ...body, replaces_order_id: replaces.body.order_id }
  try {
    const [answer] = await socket.placeOrders([sent ?? body])
    if (answer === undefined) return quote
    if (!('error' in answer)) orders.note(answer.order)
    else if (answer.error.retry === 'never') throw answer.error
    else orders.note(sent ? (await venue.replaceOrder(sent)).order : await venue.placeOrder(body))
    return { body, state: 'taken' }
  } catch (error) {
    if (!(error instanceof VenueError)) throw error
    // Not known: the next round sends the same again.
    return error.retry === 'same' ? quote : replaces
  }
}

/** cNGN of a quote. */
const SIZE = '15000'

interface Place {
  readonly side: Side
  readonly level: bigint
  readonly middle: bigint
}

/** A price of the ladder, rounded away from the middle to the market's tick. */
function priceOf({ tick_size }: MarketEntry, { side, level, middle }: Place): string {
  const tick = parseUnits(tick_size, DECIMALS)
  const away = side === 'buy' ? -level * STEP_BPS : level * STEP_BPS
  const ticks = (middle * (10_000n + away)) / 10_000n / tick
  return formatUnits((side === 'buy' ? ticks : ticks + 1n) * tick, DECIMALS)
}

/** What the fills of a history moved, at 18 decimals: cNGN, or the position of a perpetual, and USDC with fees. */
export interface Moved {
  readonly cngnE18: bigint
  readonly usdcE18: bigint
}

/** Sums what the fills moved, to the unit as the chain has moved it; `marks` are those of a perpetual by transaction. */
export function movedBy(
  fills: readonly Pick<FillRecord, 'side' | 'price' | 'size' | 'fee' | 'tx_hash'>[],
  marks: ReadonlyMap<string, bigint> = new Map(),
): Moved {
  let [cngnE18, usdcE18] = [0n, 0n]
  for (const { side, price, size, fee, tx_hash } of fills) {
    const sizeE18 = parseUnits(size, DECIMALS)
    const priceE18 = parseUnits(price, DECIMALS) - (marks.get(tx_hash) ?? 0n)
    // Truncated toward zero, as the chain does.
    const paidE18 = (priceE18 * sizeE18) / 10n ** 18n
    cngnE18 += side === 'buy' ? sizeE18 : -sizeE18
    usdcE18 += (side === 'buy' ? -paidE18 : paidE18) - parseUnits(fee, DECIMALS)
  }
  return { cngnE18, usdcE18 }
}

/** Which of the sums, by what they are from, are not what the chain says; empty where all are. */
export const disagreements = (
  said: Readonly<Record<string, Moved>>,
  chain: Moved,
): readonly string[] =>
  Object.entries(said)
    .filter(([, one]) => one.cngnE18 !== chain.cngnE18 || one.usdcE18 !== chain.usdcE18)
    .map(([from, one]) => `${from} says ${movedWords(one)}, the chain ${movedWords(chain)}`)

export const movedWords = ({ cngnE18, usdcE18 }: Moved): string =>
  `${formatUnits(cngnE18, DECIMALS)} cNGN, ${formatUnits(usdcE18, DECIMALS)} USDC`

/**
 * Looks until nothing disagrees. Throws an Error that names what still does after so long: the history follows the chain in a moment,
 * but a fill that the socket has missed stays missing.
 */
export async function untilAgreed(
  look: () => Promise<readonly string[]>,
  { withinMs, everyMs }: { readonly withinMs: number; readonly everyMs: number },
): Promise<void> {
  const endMs = performance.now() + withinMs
  for (let wrong = await look(); wrong.length > 0; wrong = await look()) {
    if (performance.now() > endMs) throw new Error(`the fills do not add up: ${wrong.join('; ')}`)
    await delay(everyMs)
  }
}

/** The settled fills of the quoter in the owner's history, of all pages since `start` (RFC 3339). */
export async function fillsOf(
  venue: RestClient,
  frame: SignedFrame,
  { quoter, start }: { readonly quoter: Quoter; readonly start: string },
): Promise<FillRecord[]> {
  const fills: FillRecord[] = []
  for (let before: string | undefined; ;) {
    const page = await venue.fills(frame, {
      limit: 100,
      start,
      ...(before !== undefined && { before }),
    })
    fills.push(...page.fills)
    before = page.next_before
    if (before === undefined) break
  }
  return fills.filter((fill) => quoter.isMine(fill) && fill.reversed !== true)
}
