import { expect } from 'chai'
import { executeRequest } from '../../actors/matcher/ask-executor.js'
import { answerKnownOrders } from '../../actors/order-intake/known-orders.js'
import type { Address } from '../../core/action.js'
import type { Match } from '../../core/model/match.js'
import type { Order } from '../../core/model/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../core/money.js'
import { createAdmission, type MatchAdmission } from '../../executor/admit.js'
import { executePayload, type ExecutePayload } from '../../executor/payload.js'
import type { ExecuteRequest } from '../../interface/execute.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import {
  appendCommands,
  changesOf,
  stageMarket,
  startOn,
  type StartedMatcher,
} from '../actors/matcher/stage.js'
import { eventually } from '../support/eventually.js'
import { silentLog } from '../support/intake-stage.js'
import { matcherOrder, type OrderFields } from '../support/matching.js'

const { market: name } = stageMarket
const KEY = `${name}:2`
/** Of the schedule, on 4 at a price of 1. */
const FEE = quoteE18((4n * E18 * 25n) / 10_000n)

const orderOf = (fields: OrderFields): Order =>
  matcherOrder({ goodUntilSec: 4_000_000_000, market: name, ...fields })

describe('what the executor settles', () => {
  const maker = orderOf({ orderId: 'm', side: 'sell', subaccountId: 2n, nonce: 1n })
  const taker = orderOf({
    orderId: 't',
    side: 'buy',
    nonce: 2n,
    desiredAmount: amountE18(4n * E18),
  })
  const match: Match = {
    settlementId: KEY,
    makerOrderId: 'm',
    takerOrderId: 't',
    price: priceE18(E18),
    amount: amountE18(4n * E18),
    takerFee: FEE,
  }
  let bus: MemoryBus
  let started: StartedMatcher
  /** Nonces that the intake has ever taken. */
  let taken: Set<bigint>

  /** The market has matched 4 of the maker's 10 with all of the taker, and nothing of it is settled. */
  beforeEach(async () => {
    bus = createMemoryBus()
    started = await startOn(bus)
    taken = new Set([1n, 2n])
    const known = { orderId: '', market: name, fingerprint: new Uint8Array() }
    const findNonce = (owner: Address, nonce: bigint) =>
      taken.has(nonce) ? { ...known, owner, nonce } : undefined
    await answerKnownOrders({ bus, registry: { findNonce }, log: silentLog }, 'order-intake')
    await appendCommands(
      bus,
      [maker, taker].map((order) => ({ kind: 'PlaceOrder', order })),
    )
    await eventually(async () => expect(await changesOf(bus)).to.have.length(3))
  })
  afterEach(async () => {
    await started.matcher.stop()
    expect(started.fatal).to.deep.equal([])
  })

  const payloadOf = (of: Partial<Match> = {}, orders = { maker, taker }): ExecutePayload => {
    const { makerOrderId, takerOrderId } = { ...match, ...of }
    const named = {
      maker: { ...orders.maker, orderId: makerOrderId },
      taker: { ...orders.taker, orderId: takerOrderId },
    }
    return executePayload.parse(
      executeRequest(stageMarket, { ...match, ...of }, named.maker, named.taker),
    )
  }
  const admit = (payload: ExecutePayload, key?: string): Promise<MatchAdmission> =>
    createAdmission(bus)(payload, key)
  const refusalOf = async (payload: ExecutePayload, key?: string): Promise<string> => {
    const admission = await admit(payload, key)
    expect(admission.kind).to.equal('refused')
    const { field, message } = (admission as Extract<MatchAdmission, { kind: 'refused' }>).objection
    return `${field} ${message}`
  }
  const cancel = async (order: Order, changes: number): Promise<void> => {
    const { owner, nonce } = order
    await appendCommands(bus, [{ kind: 'CancelOrder', owner, nonce, reason: 'test' }])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(changes))
  }

  it('is what the log holds as pending, under its key (SET-002)', async () => {
    expect(await admit(payloadOf(), KEY)).to.deep.equal({ kind: 'admitted' })
  })

  it('is pending also when an order of it was cancelled meanwhile', async () => {
    await cancel(maker, 4)
    expect(await admit(payloadOf(), KEY)).to.deep.equal({ kind: 'admitted' })
  })

  it('is nothing else under that key: other orders, amounts, prices and fees are refused (SET-002, SET-055)', async () => {
    const other = { orderId: 'x', side: 'sell', subaccountId: 2n } as const
    const rows: readonly (readonly [ExecutePayload, string])[] = [
      [payloadOf({}, { taker, maker: orderOf({ ...other, nonce: 9n }) }), 'actions.1'],
      // Another action that the owner has signed with the nonce of the order.
      [payloadOf({}, { taker, maker: { ...maker, limitPrice: priceE18(2n) } }), 'actions.1'],
      [payloadOf({}, { taker, maker: { ...maker, signer: `0x${'9'.repeat(40)}` } }), 'actions.1'],
      [payloadOf({}, { maker, taker: { ...taker, actionExpirySec: 1n } }), 'actions.0'],
      [payloadOf({ amount: amountE18(3n * E18) }), 'order_data.fill_details.0.amount_filled'],
      [payloadOf({ price: priceE18(E18 + 1n) }), 'order_data.fill_details.0.price'],
      [payloadOf({ takerFee: quoteE18(0n) }), 'order_data.taker_fee'],
    ]
    for (const [payload, field] of rows) {
      expect((await refusalOf(payload, KEY)).split(' ')[0]).to.equal(field)
    }
  })

  it('is no match that is not pending, and none of another market (SET-055)', async () => {
    expect(await refusalOf(payloadOf(), `${name}:1`)).to.include('awaits its settlement')
    expect(await refusalOf(payloadOf(), `${name}:01`)).to.include('awaits its settlement')
    for (const key of ['cNGN-PERP:2', 'unknown:2', 'x:y:2'])
      expect(await refusalOf(payloadOf(), key)).to.include('of another market')
  })

  it('is not known to be none while the market has not come to it', async () => {
    const admission = await admit(payloadOf(), `${name}:4`)
    expect(admission).to.have.property('kind', 'unavailable')
  })

  it('is not known while the market does not answer', async () => {
    await started.matcher.stop()
    expect(await admit(payloadOf(), KEY)).to.have.property('kind', 'unavailable')
    started = await startOn(bus)
    expect(await admit(payloadOf(), KEY)).to.deep.equal({ kind: 'admitted' })
  })

  /** Of an order that the venue has never seen, with the maker. */
  const outside = (amount: bigint, of: Partial<Match> = {}, seller = maker) => {
    const buyer = orderOf({ orderId: 'o', side: 'buy', subaccountId: 5n, nonce: 50n })
    const takerFee = quoteE18((amount * E18 * 25n) / 10_000n)
    const terms = { takerOrderId: 'o', amount: amountE18(amount * E18), takerFee, ...of }
    return payloadOf(terms, { maker: seller, taker: buyer })
  }

  it('is an outside matcher’s match, up to what the orders have left (SET-056)', async () => {
    for (const key of [undefined, 'outside-1'])
      expect(await admit(outside(6n), key)).to.deep.equal({ kind: 'admitted' })
    expect(await refusalOf(outside(7n))).to.equal(`actions.1 has ${6n * E18} left`)
    // What is pending is not left, so a pending match is none of an outside matcher.
    expect(await refusalOf(payloadOf())).to.equal('actions.0 has 0 left')
  })

  it('counts what several fills of one match take of one order', async () => {
    const request: ExecuteRequest = executeRequest(
      ...([stageMarket, { ...match, takerOrderId: 'o', amount: amountE18(4n * E18) }] as const),
      ...([maker, orderOf({ orderId: 'o', side: 'buy', subaccountId: 5n, nonce: 50n })] as const),
    )
    const [buyer, seller] = request.actions
    const [fill] = request.order_data.fill_details
    if (buyer === undefined || seller === undefined || fill === undefined) throw new Error('none')
    const twice = executePayload.parse({
      ...request,
      maker_order_ids: ['m', 'm'],
      actions: [buyer, seller, seller],
      signatures: [...request.signatures, maker.signature],
      order_data: {
        ...request.order_data,
        taker_fee: String(2n * FEE),
        fill_details: [fill, fill],
      },
    })
    expect(await refusalOf(twice)).to.equal(`actions.2 has ${6n * E18} left`)
  })

  it('is no match of a cancelled order, taken from its public record (SET-057)', async () => {
    await cancel(maker, 4)
    expect(await refusalOf(outside(1n))).to.equal('actions.1 has 0 left')
  })

  it('is no match of an order that is gone altogether, wherever it was placed', async () => {
    taken.add(50n)
    expect(await refusalOf(outside(1n))).to.equal('actions.0 has nothing left in this market')
    taken.delete(50n)
    expect(await admit(outside(1n))).to.deep.equal({ kind: 'admitted' })
  })

  it('is no match at another fee than the schedule’s (SET-054)', async () => {
    expect(await refusalOf(outside(1n, { takerFee: quoteE18(0n) }))).to.equal(
      `order_data.taker_fee must be ${(E18 * 25n) / 10_000n}`,
    )
  })

  it('is no other action with the nonce of an order', async () => {
    const changed = { ...maker, limitPrice: priceE18(E18 / 2n) }
    expect(await refusalOf(outside(1n, {}, changed))).to.equal(
      'actions.1 is not the order that was placed with its nonce',
    )
  })
})
