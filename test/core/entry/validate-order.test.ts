import { expect } from 'chai'
import fc from 'fast-check'
import type { TradeData } from '../../../core/action.js'
import { formatDecimal } from '../../../core/decimal.js'
import { decodeTradeData, encodeTradeData } from '../../../core/entry/read-action.js'
import type { Refusal } from '../../../core/entry/refusals.js'
import { actionJsonOf } from '../../../core/entry/signed-action.js'
import { readSubmittedOrder, validateOrder } from '../../../core/entry/validate-order.js'
import type { Order } from '../../../core/model/order.js'
import { E18 } from '../../../core/money.js'
import { engine as goodOrder, NOW_MS, tableMarkets } from '../../refusals/good-orders.js'
import {
  aMarket,
  signedIntentBody,
  signedOrderBody,
  testPrivateKey,
  type OrderBody,
} from '../../support/builders.js'
import { runs } from '../../support/property-runs.js'

const nowSec = NOW_MS / 1000
const context = { markets: tableMarkets, nowMs: NOW_MS }

/** The order that a body is accepted as. */
function accepted(body: unknown): Order {
  const result = validateOrder(body, context)
  if ('refusal' in result) throw new Error(`refused: ${result.refusal.message}`)
  return result.order
}

/** The text and code of the refusal of a body. */
function refused(body: unknown): Refusal {
  const result = validateOrder(body, context)
  if (!('refusal' in result)) throw new Error(`accepted: ${result.order.orderId}`)
  return result.refusal
}

/** Replaces fields of the signed action; the signature is not judged here. */
const withAction = (body: OrderBody, fields: Record<string, string>): OrderBody => ({
  ...body,
  action_json: { ...body.action_json, ...fields },
})

/** Replaces words of the signed data. */
function withWords(body: OrderBody, words: Partial<TradeData>) {
  const decoded = decodeTradeData(body.action_json.data ?? '')
  if ('refusal' in decoded) throw new Error(decoded.refusal.message)
  return withAction(body, { data: encodeTradeData({ ...decoded.data, ...words }) })
}

function without(body: OrderBody, ...names: string[]) {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))
}

describe('validateOrder accepts', () => {
  it('an order in engine terms', async () => {
    const body = await signedOrderBody()
    const order = accepted(body)
    expect(order).to.deep.include({
      orderId: 'order-1',
      market: 'cNGN-USDC',
      owner: body.owner_address.toLowerCase(),
      subaccountId: 7n,
      nonce: 1n,
      side: 'buy',
      desiredAmount: 153_000n * E18,
      initialFilled: 0n,
      limitPrice: 650_000_000_000_000n,
      worstFee: 1_950_000_000_000n,
      signatureStatus: 'unchecked',
    })
    expect(order).not.to.have.property('uiIntent')
    expect(order).to.include({
      signer: body.owner_address.toLowerCase(),
      expirySec: body.expiry,
      actionExpirySec: BigInt(String(body.action_json.expiry)),
      signature: body.signature,
    })
    expect(actionJsonOf(aMarket(), order)).to.deep.equal(body.action_json)
  })

  it('an order entered as an intent, with everything else derived', async () => {
    const order = accepted(await signedIntentBody({ side: 'buy', price: '1530', size: '100' }))
    expect(order).to.deep.include({
      side: 'sell',
      limitPrice: 653_594_771_241_830n,
      desiredAmount: 153_000n * E18,
      uiIntent: { side: 'buy', price: '1530', size: '100' },
    })
  })

  it('an intent with flat fields that agree, and one that leaves its side to the flat one', async () => {
    const intent = { side: 'buy', price: '1530', size: '100' } as const
    const body = await signedIntentBody(intent)
    const flat = { side: 'sell', limit_price: '0.00065359477124183', desired_amount: '153000' }
    expect(accepted({ ...body, ...flat }).uiIntent).to.deep.equal(intent)
    const sideless = { ...body, side: 'sell', ui_intent: { price: '1530', size: '100' } }
    expect(accepted(sideless).uiIntent).to.deep.equal(intent)
  })

  it('an intent whose signed price is the other neighbour of the exact reciprocal (ORD-057)', async () => {
    const body = await signedIntentBody({ side: 'buy', price: '3', size: '100' })
    const other = withWords(body, { limitPrice: 333_333_333_333_333_334n })
    expect(accepted(other).limitPrice).to.equal(333_333_333_333_333_334n)
    const beyond = withWords(body, { limitPrice: 333_333_333_333_333_335n })
    expect(refused(beyond).message).to.contain('limitPrice is not aligned')
  })

  it('an intent whose reciprocal is between half a tick and one at that tick, and not at 0', async () => {
    const body = await signedIntentBody({ side: 'buy', price: `15${'0'.repeat(17)}`, size: '1' })
    expect(accepted(body).limitPrice).to.equal(1n)
    expect(refused(withWords(body, { limitPrice: 0n })).code).to.equal('data_price_not_positive')
    expect(refused(withWords(body, { limitPrice: 2n })).code).to.equal(
      'data_limit_price_not_aligned',
    )
  })

  it('an intent beside flat numbers only as those say', async () => {
    const body = await signedIntentBody({ side: 'buy', price: '3', size: '100' })
    const sent = { ...body, limit_price: '0.333333333333333334' }
    expect(refused(sent).code).to.equal('data_limit_price_not_aligned')
    const signed = withWords(body, { limitPrice: 333_333_333_333_333_334n })
    const agreed = { ...signed, limit_price: '0.333333333333333334' }
    expect(accepted(agreed).limitPrice).to.equal(333_333_333_333_333_334n)
    const offStep = refused({ ...body, desired_amount: '300.0000005' })
    expect(offStep.code).to.equal('invalid_amount_step')
  })

  it('an action that comes as text, hex in any case, a missing sub_id, unknown and empty fields (ORD-010, ORD-012)', async () => {
    const body = await signedOrderBody()
    const order = accepted({
      ...without(body, 'sub_id'),
      action_json: JSON.stringify({ ...body.action_json, extra: 1 }),
      owner_address: body.owner_address.toUpperCase().replace('0X', '0x'),
      asset_address: body.asset_address.toUpperCase().replace('0X', '0x'),
      order_entry_spec: '',
      ui_intent: null,
      reduce_only: false,
      unknown: { deep: true },
    })
    expect(actionJsonOf(aMarket(), order)).to.deep.equal(body.action_json)
  })

  it('a signature of up to 4096 bytes (AUT-008)', async () => {
    const body = { ...(await signedOrderBody()), signature: `0x${'ab'.repeat(4_096)}` }
    expect(accepted(body).signature).to.equal(body.signature)
  })

  it('what was filled before, up to all of it (ORD-013)', async () => {
    const body = await signedOrderBody()
    expect(accepted({ ...body, filled_amount: '153000' }).initialFilled).to.equal(153_000n * E18)
    expect(accepted({ ...body, filled_amount: '0.5' }).initialFilled).to.equal(E18 / 2n)
  })

  it('order ids with any printable text (ORD-016)', async () => {
    for (const orderId of ["'; DROP TABLE orders;--", 'a.*.>', 'x'.repeat(128), 'нoмep 😀']) {
      expect(accepted(await signedOrderBody({ orderId })).orderId).to.equal(orderId)
    }
  })

  it('lets the earlier of the two expiries govern (ORD-043)', async () => {
    const body = await signedOrderBody({ expirySec: nowSec + 100 })
    expect(accepted({ ...body, expiry: nowSec + 50 }).goodUntilSec).to.equal(nowSec + 50)
    const later = accepted({ ...body, expiry: nowSec + 500 })
    expect([later.goodUntilSec, later.expirySec]).to.deep.equal([nowSec + 100, nowSec + 500])
    const endless = withAction(body, { expiry: (2n ** 256n - 1n).toString() })
    expect(accepted(endless).goodUntilSec).to.equal(nowSec + 100)
  })

  it('a fee bound below the schedule, with a warning (ORD-067)', async () => {
    const expirySec = nowSec + 3_600
    const enough = accepted(await signedOrderBody({ worstFee: 1_625_000_000_000n, expirySec }))
    expect(enough).not.to.have.property('warnings')
    const short = accepted(await signedOrderBody({ worstFee: 1_624_999_999_999n, expirySec }))
    expect(short.warnings).to.deep.equal(['worst_fee_below_taker_schedule'])
  })

  it('every well-formed order on the grid (ORD-045, ORD-046)', async () => {
    const body = await signedOrderBody()
    const price = fc.bigInt(1n, 10n ** 24n)
    const amount = fc.bigInt(1n, 10n ** 18n).map((steps) => steps * 10n ** 12n)
    const uint = fc.bigInt(0n, 2n ** 256n - 1n)
    fc.assert(
      fc.property(price, amount, uint, fc.boolean(), (limitPrice, desired, nonce, isBid) => {
        const signed = withWords(body, { limitPrice, desiredAmount: desired, isBid })
        const order = accepted({
          ...withAction(signed, { nonce: nonce.toString() }),
          nonce: nonce.toString(),
          side: isBid ? 'buy' : 'sell',
          limit_price: formatDecimal(limitPrice, 18),
          desired_amount: formatDecimal(desired, 18),
        })
        expect(order).to.deep.include({ nonce, limitPrice, desiredAmount: desired })
      }),
    )
  })

  it('every intent with a size of at least a step', async () => {
    const template = await signedOrderBody()
    const uiPrice = fc.bigInt(10n ** 12n, 10n ** 24n)
    const uiSize = fc.bigInt(10n ** 18n, 10n ** 28n)
    await fc.assert(
      fc.asyncProperty(uiPrice, uiSize, async (price, size) => {
        const intent = {
          side: 'sell',
          price: formatDecimal(price, 18),
          size: formatDecimal(size, 18),
        } as const
        const body = await signedIntentBody(intent)
        expect(accepted(body).uiIntent).to.deep.equal(intent)
        expect(body.signature).not.to.equal(template.signature)
      }),
      { numRuns: runs(20) },
    )
  })
})

describe('validateOrder never throws', () => {
  it('on any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(validateOrder(body, context)).to.have.property('refusal')
      }),
    )
  })

  it('on fields that only a prototype holds', async () => {
    const inherited: unknown = Object.create(await signedOrderBody())
    expect(refused(inherited).message).to.equal('order_id is required')
  })

  it('on a good body with one field replaced by any JSON', async () => {
    const good = await signedIntentBody({ side: 'buy', price: '1530', size: '100' })
    const engine = await signedOrderBody()
    const names = [...Object.keys(good), ...Object.keys(engine), 'filled_amount', 'reduce_only']
    const values = fc.oneof(fc.jsonValue(), fc.string(), fc.bigInt().map(String))
    fc.assert(
      fc.property(fc.constantFrom(...names), values, fc.boolean(), (name, value, inner) => {
        const body = { ...(inner ? good : engine), [name]: value }
        const result = validateOrder(body, context)
        expect(Object.keys(result)).to.have.length.greaterThan(0)
        expect(readSubmittedOrder(body)).to.satisfy(
          (read: object) => 'identity' in read || 'refusal' in read,
        )
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('readSubmittedOrder', () => {
  it('reads who the order claims to be', async () => {
    const body = { ...(await signedOrderBody({ nonce: 12n })), nonce: '012' }
    expect(readSubmittedOrder(body)).to.deep.nested.include({
      'identity.orderId': 'order-1',
      'identity.owner': body.owner_address.toLowerCase(),
      'identity.nonce': 12n,
    })
  })

  it('knows the same signed order again, whatever has expired or been reworded since (ORD-022)', async () => {
    const body = await signedOrderBody()
    const signedText = (sent: unknown) => {
      const read = readSubmittedOrder(sent)
      if ('refusal' in read) throw new Error(read.refusal.message)
      return read.identity.signedText
    }
    const original = signedText(body)
    expect(original).to.be.a('string')
    const reworded = {
      ...withAction(body, { nonce: '001', data: body.action_json.data?.toUpperCase() ?? '' }),
      expiry: 1,
      limit_price: '1',
    }
    expect(signedText(reworded)).to.equal(original)
    const asText = { ...body, action_json: JSON.stringify(body.action_json) }
    expect(signedText(asText)).to.equal(original)

    const others = [
      await signedOrderBody({ amount: '153001' }),
      { ...body, signature: `0x${'00'.repeat(65)}` },
      withAction(body, { nonce: '2' }),
    ]
    for (const other of others) expect(signedText(other)).not.to.equal(original)
    expect(signedText({ ...body, action_json: 'nothing' })).to.equal(undefined)
  })

  it('refuses what lacks a required field, with the same answer as the full check (ORD-028)', async () => {
    const body = without(await signedOrderBody({ privateKey: testPrivateKey }), 'nonce')
    expect(readSubmittedOrder(body)).to.deep.equal({ refusal: refused(body) })
  })
})

describe('controls of an order', () => {
  const expiry = nowSec + 3_600
  const orderOf = (fields: object): Order => accepted({ ...goodOrder, expiry, ...fields })

  it('keeps the controls on the order, and only where they are not as usual (ORD-063, ORD-065)', () => {
    expect(orderOf({ time_in_force: 'IOC' })).to.have.property('timeInForce', 'IOC')
    expect(orderOf({ post_only: 'slide' })).to.have.property('postOnly', 'slide')
    const own = orderOf({ stp: 'cancel_both', stp_scope: 'owner', post_only: 'reject' })
    expect(own).to.include({ stp: 'cancel_both', stpScope: 'owner', postOnly: 'reject' })
    expect(orderOf({ stp: 'cancel_oldest' })).to.have.property('stp', 'cancel_oldest')
    const ofOwner = orderOf({ stp_scope: 'owner' })
    expect(ofOwner).to.have.property('stpScope', 'owner')
    expect(ofOwner).not.to.have.property('stp')
    const lease = '0a'.repeat(16)
    const leased = orderOf({ lease_id: lease, post_only: 'reject' })
    expect(leased).to.include({ leaseId: lease, postOnly: 'reject' })
    const inOwn = { stp: 'cancel_newest', stp_scope: 'subaccount' }
    const usual = orderOf({ time_in_force: 'GTC', post_only: '', ...inOwn })
    expect(usual).to.have.property('orderId')
    const names = ['timeInForce', 'postOnly', 'stp', 'stpScope', 'leaseId']
    expect(usual).not.to.have.any.keys(...names, 'warnings')
  })

  it('warns of fields that look like trading instructions and are none (ORD-009)', () => {
    const warned = orderOf({
      tif: 'IOC',
      type: 'market',
      order_type: 5,
      stop_price: '1',
      leverage: null,
      note: 'x',
    })
    expect(warned).to.have.deep.property('warnings', [
      'ignored_field:tif',
      'ignored_field:type',
      'ignored_field:order_type',
      'ignored_field:stop_price',
    ])
    expect(orderOf({ type: 'LIMIT' })).not.to.have.property('warnings')
  })

  it('takes an expiry as it was sent, and warns of one more than ten years ahead (MON-010, ORD-068)', () => {
    const tenYears = nowSec + 315_576_000
    const soonMs = NOW_MS + 60_000
    const units: [expiry: number, unit?: string][] = [
      [tenYears],
      [tenYears + 1, 'seconds'],
      [2 ** 32, 'seconds'],
      [soonMs, 'milliseconds'],
      [soonMs * 1_000, 'microseconds'],
      [8_640_000_000_000, 'seconds'],
      [8_640_000_000_001, 'never'],
      [9_007_199_254_751, 'never'],
      [10 ** 15, 'never'],
      [Number.MAX_SAFE_INTEGER, 'never'],
    ]
    for (const [expiry, unit] of units) {
      const order = orderOf({ expiry })
      expect(order.expirySec).to.equal(expiry)
      const warnings = unit === undefined ? undefined : [`expiry_far_ahead:${unit}`]
      expect(order.warnings, String(expiry)).to.deep.equal(warnings)
    }
    expect(refused({ ...goodOrder, expiry: 2 ** 53 }).code).to.equal('invalid_expiry')
  })

  it('takes any uint256 as the signed expiry, and ends the order with the earlier of both (MAT-033, MON-011)', () => {
    const never = 2n ** 256n - 1n
    const expiry = Number.MAX_SAFE_INTEGER
    const order = accepted({ ...withAction(goodOrder, { expiry: String(never) }), expiry })
    expect(order.actionExpirySec).to.equal(never)
    expect(order.goodUntilSec).to.equal(expiry)
  })
})
