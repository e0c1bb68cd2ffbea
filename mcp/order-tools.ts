import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  OutcomeUnknown,
  randomNonce,
  signCancelAll,
  signCancelList,
  signOrder,
  signTraderOrder,
  toEngineTerms,
  VenueRefused,
  type MarketEntry,
  type OrderBody,
  type OrderRecord,
  type RestClient,
} from '../client/index.js'
import { MAX_CANCELLED_IDS } from '../interface/cancels.js'
import { sentOptions } from '../interface/order-option-fields.js'
import { ORDER_OPTIONS, type SentOptions } from '../interface/order-options.js'
import { newOrderId, orderId, Side } from '../interface/values.js'
import { createBudget, worthOf, type KnownPrices } from './budget.js'
import type { OrderBounds } from './options.js'
import { nowSec, type Owner } from './owner.js'
import { cureOf } from './refusals.js'
import type { SentOrders } from './sent-orders.js'
import {
  OrderWithoutOutcome,
  ToolRefused,
  type Arguments,
  type ObjectSchema,
  type Tool,
} from './tool.js'

/** Tools that place and cancel orders: under the `operationId` of what they ask the venue for, but signed here. */

const MIN_LIFE_SEC = 30
const MAX_LIFE_SEC = 30 * 86_400
const USUAL_LIFE_SEC = 3_600

const decimalText = z.string().regex(/^\d{1,60}(\.\d{1,18})?$/)
const DIGITS = /^\d{1,78}$/
const uint256 = z
  .string()
  .regex(DIGITS)
  // A refinement also runs on text that the pattern refuses.
  .refine((text) => !DIGITS.test(text) || BigInt(text) < 2n ** 256n, 'is more than a uint256 holds')

/** Of options without the lease, which is of a socket. */
const OrderTerms = z
  .strictObject({
    market: z.string().max(128).describe('Its canonical identifier, `market` of listMarkets.'),
    side: Side,
    price: decimalText.describe('The limit, decimal text.'),
    amount: decimalText.describe('How much, decimal text.'),
    terms: z
      .enum(['engine', 'trader'])
      .default('engine')
      .describe(
        '`engine`: as readBook and readLevels have it, amount in the base of the market and price in its quote (spot: cNGN at USDC per cNGN). `trader`: as people say it (spot: side and amount of USDC, price in cNGN per USDC); not on futures, where `engine` says the same.',
      ),
    expires_in_sec: z
      .int()
      .min(MIN_LIFE_SEC)
      .max(MAX_LIFE_SEC)
      .default(USUAL_LIFE_SEC)
      .describe('Seconds until the order ends by itself.'),
    subaccount_id: uint256.optional().describe('By default the first that may trade the market.'),
    order_id: newOrderId.optional().describe('Taken once; made by this program by default.'),
    ...sentOptions,
  })
  .omit({ lease_id: true })
type OrderTerms = z.output<typeof OrderTerms>

const IdsToCancel = z.strictObject({
  order_ids: z.array(orderId).min(1).max(MAX_CANCELLED_IDS),
})

const ScopeToCancel = z.strictObject({
  market: z.string().max(128).optional().describe('Canonical identifier; default all markets.'),
  side: Side.optional().describe('Engine side; default both.'),
  subaccount_id: uint256.optional().describe('Default all of the owner.'),
})

export interface OrderParts {
  readonly venue: RestClient
  readonly owner: Owner
  readonly bounds: OrderBounds
  readonly sent: SentOrders
}

/** The tools of orders. Those that place keep within the bounds, and the venue has judged each order valid before it is placed. */
export function orderToolsOf({ venue, owner, bounds, sent }: OrderParts): Tool[] {
  const budget = createBudget(bounds)
  const signed = (given: OrderTerms) => signTerms({ venue, owner }, given)
  let proofs = 0
  /** A proof counts once: two of one second differ in their end. */
  const times = async () => {
    const issuedAtSec = await nowSec(venue)
    proofs += 1
    const expirySec = issuedAtSec + MIN_PROOF_SEC + (proofs % MIN_PROOF_SEC)
    return { issuedAtSec, expirySec, owner: owner.address }
  }

  return [
    toolOf({
      name: 'validateOrder',
      description:
        'Say what would become of an order with the book and the account as they are now; nothing is placed.',
      schema: OrderTerms,
      isRead: true,
      async call(given) {
        const { body, worthE18 } = await signed(given)
        budget.check(worthE18)
        const verdict = await venue.validateOrder(body)
        const { refusal } = verdict
        if (refusal === undefined) return verdict
        return { ...verdict, refusal: { ...refusal, cure: cureOf(refusal.code) } }
      },
    }),
    toolOf({
      name: 'placeOrder',
      description:
        'Place an order, once the venue has said that it is valid. Real money moves: show market, side, price and amount to the person you act for, and place what they agreed to. `matching` means that a match is on its way to the chain; wait for `final` of lookUpOrder.',
      schema: OrderTerms,
      isRead: false,
      async call(given) {
        const { body, worthE18 } = await signed(given)
        budget.check(worthE18)
        const { refusal, outcome } = await venue.validateOrder(body)
        if (refusal !== undefined) {
          const { status, code, error, message = error } = refusal
          throw new VenueRefused(status, code, message, refusal)
        }
        budget.take(worthE18)
        const order = await sent.track(body.order_id, () => send(venue, body))
        return { order, foreseen: outcome }
      },
    }),
    toolOf({
      name: 'cancelList',
      description: 'Cancel own orders by their ids, each for itself.',
      schema: IdsToCancel,
      isRead: false,
      async call({ order_ids: orderIds }) {
        const terms = { orderIds, ...(await times()) }
        return venue.cancelList(await signCancelList(owner.signer, owner.domain, terms))
      },
    }),
    toolOf({
      name: 'cancelAll',
      description: 'Cancel all own orders, or those of one market, side or account.',
      schema: ScopeToCancel,
      isRead: false,
      async call({ market, side, subaccount_id: subaccountId }) {
        const scope = {
          ...(market !== undefined && { market }),
          ...(side !== undefined && { side }),
          ...(subaccountId !== undefined && { subaccountId }),
        }
        const terms = { ...scope, ...(await times()) }
        return venue.cancelAll(await signCancelAll(owner.signer, owner.domain, terms))
      },
    }),
  ]
}

/** Sends an order, named where its outcome stays unknown: its id may be made here. */
async function send(venue: RestClient, body: OrderBody): Promise<OrderRecord> {
  try {
    return await venue.placeOrder(body)
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw new OrderWithoutOutcome(body.order_id, error)
    throw error
  }
}

/** A proof is valid for less than twice as long, which is below the venue's minute. */
const MIN_PROOF_SEC = 25

interface OrderTool<T extends z.ZodObject> {
  readonly name: string
  readonly description: string
  readonly schema: T
  readonly isRead: boolean
  readonly call: (given: z.output<T>) => Promise<unknown>
}

function toolOf<T extends z.ZodObject>({ schema, call, ...tool }: OrderTool<T>): Tool {
  return {
    ...tool,
    inputSchema: z.toJSONSchema(schema, { io: 'input' }) as unknown as ObjectSchema,
    async call(given: Arguments) {
      const parsed = schema.safeParse(given)
      if (parsed.success) return call(parsed.data)
      const why = z.prettifyError(parsed.error).slice(0, 2_000)
      throw new ToolRefused('bad_arguments', why, 'Correct the arguments.')
    },
  }
}

interface Signed {
  readonly body: OrderBody
  /** At its worst price, in 1e-18 USDC. */
  readonly worthE18: bigint
}

/** The order as it is sent, and what it is worth. Throws BadOrderTerms, ToolRefused and VenueError. */
async function signTerms(
  { venue, owner }: Pick<OrderParts, 'venue' | 'owner'>,
  given: OrderTerms,
): Promise<Signed> {
  const market = await marketOf(venue, given.market)
  const { side, price, amount } = given
  const trader = { side, price, size: amount }
  const terms = given.terms === 'trader' ? toEngineTerms(market, trader) : { side, price, amount }
  const prices = terms.side === 'sell' ? await pricesOf(venue, market) : undefined
  const worthE18 = worthOf(market, terms, prices)
  const frame = {
    ...optionsOf(given),
    market,
    bestBid: prices?.best_bid?.price,
    nonce: randomNonce(),
    owner: owner.address,
    orderId: given.order_id ?? `mcp-${randomUUID()}`,
    subaccountId: given.subaccount_id ?? (await accountFor(venue, owner, market)),
    expirySec: (await nowSec(venue)) + given.expires_in_sec,
  }
  const { signer, domain } = owner
  const body =
    given.terms === 'trader'
      ? await signTraderOrder(signer, domain, { ...frame, ...trader })
      : await signOrder(signer, domain, { ...frame, ...terms })
  return { body, worthE18 }
}

const optionsOf = (given: OrderTerms): SentOptions =>
  Object.fromEntries(
    ORDER_OPTIONS.flatMap(({ name, key }) => {
      const value = name === 'lease_id' ? undefined : given[name]
      return value === undefined ? [] : [[key, value]]
    }),
  )

async function marketOf(venue: RestClient, name: string): Promise<MarketEntry> {
  const market = (await venue.markets()).find((each) => each.market === name)
  if (market !== undefined) return market
  throw new ToolRefused('no_such_market', `no market is ${name}`, 'Take a `market` of listMarkets.')
}

/** None of a market that is not listed any more. */
const pricesOf = async (venue: RestClient, { market }: MarketEntry): Promise<KnownPrices> =>
  (await venue.marketTickers()).find((each) => each.market === market) ?? {}

async function accountFor(
  venue: RestClient,
  owner: Owner,
  { market }: MarketEntry,
): Promise<string> {
  const { accounts } = await venue.accounts(owner.address)
  const account = accounts.find(({ markets, leaving }) => markets.includes(market) && !leaving)
  if (account !== undefined) return account.subaccount_id
  throw new ToolRefused(
    'no_account',
    `${owner.address} has no account that may trade ${market}`,
    'The owner deposits into one first; this server moves no money.',
  )
}
