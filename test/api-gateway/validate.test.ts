import { expect } from 'chai'
import type { OrderVerdict } from '../../interface/validation.js'
import { engine, tableMarkets } from '../refusals/good-orders.js'
import { fieldRules } from '../refusals/order-fields.js'
import { signedRules } from '../refusals/order-signed.js'
import { termRules } from '../refusals/order-terms.js'
import { testDomain } from '../support/builders.js'
import { signedBody } from '../support/intake-stage.js'
import { anOrderStage, type OrderStage } from './stage/order-stage.js'

describe('POST /v1/orders/validate', () => {
  let stage: OrderStage
  before(async () => {
    stage = await anOrderStage({ markets: tableMarkets })
  })
  after(() => stage.close())

  /** Whatever is judged, neither the registry nor the log has more than before. */
  async function judge(body: unknown): Promise<OrderVerdict> {
    const before = await stage.kept()
    const options = { body, judged: false }
    const { status, json } = await stage.send('POST', '/v1/orders/validate', options)
    expect([status, json.error]).to.deep.equal([200, undefined])
    expect(await stage.kept()).to.deep.equal(before)
    return json as unknown as OrderVerdict
  }

  it('says what would be placed, and the order can then be placed (ORD-014)', async () => {
    const body = await signedBody({ side: 'buy', amount: '3', price: '0.8' })
    expect(await judge(body)).to.deep.include({
      valid: true,
      market: 'cNGN-USDC',
      signature_status: 'checked',
      engine_order: { side: 'buy', price: '0.8', amount: '3' },
    })
    const placed = await stage.send('POST', '/v1/orders', { body })
    expect(placed.status).to.equal(200)
  })

  it('says what would fill now, what rests and what is cancelled, as the market’s own step does it (ORD-090)', async () => {
    const { json } = await stage.send('GET', '/v1/book?symbol=cNGN-USDC')
    interface Shown {
      readonly limit_price: string
      readonly open_amount: string
    }
    const asks = json.asks as readonly Shown[]
    const [best] = asks
    if (best === undefined) throw new Error('the book has no ask')
    const crossed = asks.filter(({ limit_price: price }) => price === best.limit_price)
    const depth = crossed.reduce((sum, { open_amount: open }) => sum + Number(open), 0)
    const amount = String(Math.ceil(depth) + 5)
    const terms = { side: 'buy', price: best.limit_price, worstFee: 10n ** 18n } as const
    const body = await signedBody({ ...terms, amount })
    const { outcome } = await judge(body)
    expect(outcome?.fills).to.include({
      average_price: best.limit_price,
      worst_price: best.limit_price,
      orders: crossed.length,
    })
    expect(Number(outcome?.fills?.amount)).to.equal(depth)
    expect(outcome?.fills?.balance_delta.cngn).to.equal(`+${outcome?.fills?.amount}`)
    expect(outcome).to.deep.include({ status: 'active', cancelled: [] })
    expect(Number(outcome?.open_amount)).to.be.closeTo(Number(amount) - depth, 1e-9)
    const immediate = await judge({ ...body, time_in_force: 'IOC' })
    expect(immediate.outcome).to.include({ status: 'cancelled', cancel_reason: 'ioc_remainder' })
    expect(immediate.outcome?.cancelled.map((it) => it.order_id)).to.deep.equal([body.order_id])
    const whole = await judge({ ...body, time_in_force: 'FOK' })
    expect(whole.outcome).to.include({ cancel_reason: 'fok_unfillable' })
    expect(whole.outcome).not.to.have.property('fills')
    const resting = await judge(await signedBody({ side: 'buy', amount: '3', price: '0.0000001' }))
    expect(resting.outcome).to.deep.include({
      status: 'active',
      open_amount: '3',
      limit_price: '0.0000001',
      cancelled: [],
    })
    expect(resting.outcome).not.to.have.any.keys('fills', 'margin', 'held_reason')
  })

  it('says that the fee bound is below the fee at the best price (ORD-089)', async () => {
    const { json } = await stage.send('GET', '/v1/book?symbol=cNGN-USDC&depth=1')
    const [ask] = json.asks as { readonly limit_price: string }[]
    const price = ask?.limit_price ?? ''
    const { valid, warnings, outcome } = await judge(
      await signedBody({ side: 'buy', price, worstFee: 1n }),
    )
    expect(valid).to.equal(true)
    expect(warnings).to.include.members([
      ...['worst_fee_below_taker_schedule', 'worst_fee_below_best_price'],
    ])
    expect(outcome).to.include({ status: 'cancelled', cancel_reason: 'fee_bound_too_low' })
  })

  it('says that the id or the nonce is taken', async () => {
    const first = await signedBody()
    expect((await stage.send('POST', '/v1/orders', { body: first })).status).to.equal(200)
    expect((await judge(first)).refusal).to.include({ status: 409, code: 'duplicate_order_id' })
    const sameId = await signedBody({ orderId: first.order_id })
    expect((await judge(sameId)).refusal).to.include({ status: 409, code: 'duplicate_order_id' })
    const sameNonce = await signedBody({ nonce: BigInt(first.nonce) })
    expect((await judge(sameNonce)).refusal).to.include({ status: 409, code: 'duplicate_nonce' })
  })

  it('refuses as placing would, for every reason that the body alone can give (ORD-014)', async () => {
    for (const { when, status, code, error, field } of [
      ...fieldRules,
      ...termRules,
      ...signedRules,
    ]) {
      for (const [name, change] of Object.entries(when)) {
        const body = change(engine)
        if (typeof body !== 'object' || body === null || Array.isArray(body)) continue
        const { valid, refusal } = await judge(body)
        expect({ valid, ...refusal }, name).to.include({ valid: false, status, code, error })
        expect(refusal?.field, name).to.equal(field)
      }
    }
  })

  it('says that a post-only order would take of the book as it is now', async () => {
    const { json } = await stage.send('GET', '/v1/book?symbol=cNGN-USDC&depth=1')
    const [ask] = json.asks as { readonly limit_price: string }[]
    const bid = { side: 'buy', amount: '3', price: ask?.limit_price ?? '' } as const
    const crossing = await judge({ ...(await signedBody(bid)), post_only: 'reject' })
    expect(crossing).to.include({ valid: false })
    expect(crossing.refusal).to.include({ status: 422, code: 'post_only_would_cross' })
    const slides = await judge({ ...(await signedBody(bid)), post_only: 'slide' })
    expect(slides.valid).to.equal(true)
    const behind = await judge({
      ...(await signedBody({ ...bid, price: '0.0000001' })),
      post_only: 'reject',
    })
    expect(behind.valid).to.equal(true)
  })

  it('names the mistake behind a signature that is not its signer’s', async () => {
    const otherChain = await signedBody({ domain: { ...testDomain, chainId: 84_532 } })
    const { refusal, likely_mistake: mistake } = await judge(otherChain)
    expect(refusal).to.include({ status: 400, code: 'invalid_signature', field: 'signature' })
    expect(mistake).to.deep.equal({
      code: 'wrong_chain_id',
      message: `signed for chain 84532: this venue is on chain ${testDomain.chainId}`,
    })
    const theirs = await signedBody({ privateKey: `0x${'02'.repeat(32)}` })
    const byAnother = { ...(await signedBody()), signature: theirs.signature }
    expect(await judge(byAnother)).not.to.have.property('likely_mistake')
  })

  it('takes a JSON object only', async () => {
    for (const body of ['', 'null', '[]', '"order"', '{']) {
      const { status, json } = await stage.send('POST', '/v1/orders/validate', { body })
      expect([body, status, json.error]).to.deep.equal([body, 400, 'invalid JSON body'])
    }
  })
})
