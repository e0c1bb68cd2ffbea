import { expect } from 'chai'
import fc from 'fast-check'
import { signedAmount, sizeOfSigned } from '../../../core/entry/order-terms.js'
import { readAction } from '../../../core/entry/read-action.js'
import { actionJsonOf, actionOf } from '../../../core/entry/signed-action.js'
import { validateOrder } from '../../../core/entry/validate-order.js'
import { amountE18, E18 } from '../../../core/money.js'
import { priceE18 } from '../../../core/money.js'
import { NOW_MS } from '../../refusals/good-orders.js'
import { aMarket, signedOrderBody } from '../../support/builders.js'

/** The spot market, and one with another scale of its signed amounts and a sub id. */
const markets = [
  aMarket(),
  aMarket({ amountScale: 10n ** 15n, minSize: amountE18(E18), subId: 1_796_047_200n }),
]

/** Some of the letters of hex digits in upper case. */
const spelled = (hex: string, upper: readonly boolean[]): string =>
  `0x${[...hex.slice(2)].map((digit, at) => (upper[at % upper.length] ? digit.toUpperCase() : digit)).join('')}`

const anyZeros = fc.string({ unit: fc.constant('0'), maxLength: 3 })
const anyCase = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 })

describe('the signed action of an order', () => {
  it('is given back from the order’s terms exactly as it was sent (ORD-044)', async () => {
    const signed = await Promise.all(
      markets.flatMap((market) =>
        (['buy', 'sell'] as const).map(async (side) => {
          const body = await signedOrderBody({ market, side, price: '1530', amount: '3' })
          return { body, market }
        }),
      ),
    )
    const spelling = fc.record({ zeros: anyZeros, upper: fc.option(anyCase, { nil: [false] }) })
    const any = fc.record({
      of: fc.constantFrom(...signed),
      subaccount_id: spelling,
      nonce: spelling,
      expiry: spelling,
      module: spelling,
      data: spelling,
      owner: spelling,
      signer: spelling,
    })
    fc.assert(
      fc.property(any, ({ of: { body, market }, ...fields }) => {
        const action = Object.fromEntries(
          Object.entries(body.action_json).map(([name, text]) => {
            const { zeros, upper } = fields[name as keyof typeof fields]
            const sent = String(text)
            return [name, sent.startsWith('0x') ? spelled(sent, upper) : zeros + sent]
          }),
        )
        const valid = validateOrder(
          { ...body, action_json: action },
          { markets: [market], nowMs: NOW_MS },
        )
        if ('refusal' in valid) throw new Error(valid.refusal.message)
        expect(actionJsonOf(market, valid.order)).to.deep.equal(action)
        const read = readAction(action)
        expect('action' in read && read.action).to.deep.equal(actionOf(market, valid.order))
      }),
    )
  })

  it('takes no room in the order when it has the canonical spelling', async () => {
    const market = aMarket()
    const body = await signedOrderBody({ market, subaccountId: 0n })
    const action = Object.fromEntries(
      Object.entries(body.action_json).map(([name, text]) => [name, String(text).toLowerCase()]),
    )
    const context = { markets: [market], nowMs: NOW_MS }
    const canonical = validateOrder({ ...body, action_json: action }, context)
    expect('order' in canonical && canonical.order).not.to.have.property('ownTexts')
    const spelledOut = validateOrder({ ...body, action_json: { ...action, nonce: '01' } }, context)
    expect('order' in spelledOut && spelledOut.order.ownTexts).to.deep.equal({ nonce: '01' })
  })

  it('has an amount in units of the market, which gives the size back (ORD-041)', () => {
    const size = amountE18(3n * E18)
    for (const [market, amount] of [
      [markets[0]!, 3n * E18],
      [markets[1]!, 3n * 10n ** 15n],
    ] as const) {
      expect(signedAmount(market, size)).to.equal(amount)
      expect(sizeOfSigned(market, amount)).to.equal(size)
    }
  })

  it('has the signed limit of an order that was booked at another price (MAT-032)', async () => {
    const market = aMarket()
    const body = await signedOrderBody({ market })
    const valid = validateOrder(body, { markets: [market], nowMs: NOW_MS })
    if ('refusal' in valid) throw new Error(valid.refusal.message)
    const { order } = valid
    const limitPrice = priceE18(order.limitPrice - 1n)
    const booked = { ...order, limitPrice, signedLimitPrice: order.limitPrice }
    expect(actionOf(market, booked)).to.deep.equal(actionOf(market, order))
  })
})
