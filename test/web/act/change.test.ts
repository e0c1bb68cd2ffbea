import { expect } from 'chai'
import type { OrderRecord, RestClient } from '../../../client/index.js'
import { createChanging } from '../../../web/act/change.js'
import { fakeTerminal } from './fake-terminal.js'

const ORDER = {
  order_id: 'a',
  market: 'cNGN-USDC',
  nonce: '5',
  side: 'sell',
  subaccount_id: '7',
  limit_price: '0.000625',
  desired_amount: '16000',
  expiry: 1_800_000_600,
} as unknown as OrderRecord
const E18 = 10n ** 18n

function aPage(venue: Partial<RestClient>) {
  const page = fakeTerminal(venue)
  const said = (): string => page.toasts.shown.value.at(-1)?.text ?? ''
  return { ...page, changing: createChanging(page.terminal), said }
}

const cancelled = (count: number) =>
  Array.from({ length: count }, () => ({ outcome: 'cancelled' as const }))

describe('web/act: changes of orders', () => {
  it('counts as cancelled what is, and names those whose cancels follow', async () => {
    const answers = [
      { orders: cancelled(2), left: 0 },
      { orders: [...cancelled(1), { outcome: 'kept' }], left: 3 },
    ]
    const { changing, said } = aPage({ cancelAll: () => Promise.resolve(answers.shift() as never) })
    await changing.cancelAll()
    expect(said()).to.equal('2 orders are cancelled.')
    await changing.cancelMarket('cNGN-USDC')
    expect(said()).to.equal('1 order is cancelled. 3 more follow.')
  })

  it('signs each cancel of many anew, also in the same second: the venue takes each once', async () => {
    const sent: string[] = []
    const answer = { orders: [], left: 0 } as never
    const take = ({ signature }: { readonly signature?: string | undefined }) => {
      sent.push(signature ?? '')
      return Promise.resolve(answer)
    }
    const { changing } = aPage({ cancelAll: take, cancelList: take })
    for (let n = 0; n < 3; n += 1) {
      await changing.cancelMarket('cNGN-USDC')
      await changing.cancelMany([ORDER])
    }
    expect(new Set(sent).size).to.equal(6)
  })

  it('signs a reduction by the venue’s clock, however wrong the browser’s is', async () => {
    const sent: unknown[] = []
    const { changing, nowSec, said } = aPage({
      reduceOrder(reduction) {
        sent.push(reduction.expiry)
        return Promise.resolve(ORDER)
      },
    })
    await changing.edit(ORDER, { priceE18: 1_600n * E18, sizeE18: 5n * E18 })
    expect(said()).to.match(/keeps its place/)
    expect(sent).to.deep.equal([nowSec.value + 60])
  })

  it('replaces an order for another price or a larger size', async () => {
    const sent: unknown[] = []
    const { changing, said } = aPage({
      replaceOrder(body) {
        sent.push(body.replaces_nonce)
        return Promise.resolve({ order: ORDER, replaced: ORDER } as never)
      },
    })
    await changing.edit(ORDER, { priceE18: 1_500n * E18, sizeE18: 5n * E18 })
    await changing.edit(ORDER, { priceE18: 1_600n * E18, sizeE18: 50n * E18 })
    expect(said()).to.equal('Replaced.')
    expect(sent).to.deep.equal(['5', '5'])
  })

  it('keeps what else an order was given: account, side, expiry and flags', async () => {
    const sent: unknown[] = []
    const { changing } = aPage({
      replaceOrder({ subaccount_id, side, expiry, post_only, reduce_only }) {
        sent.push({ subaccount_id, side, expiry, post_only, reduce_only })
        return Promise.resolve({ order: ORDER, replaced: ORDER } as never)
      },
    })
    const { subaccount_id, side, expiry } = ORDER
    const flags = { post_only: 'reject', reduce_only: true } as const
    await changing.edit({ ...ORDER, ...flags }, { priceE18: 1_500n * E18, sizeE18: 5n * E18 })
    await changing.edit(ORDER, { priceE18: 1_500n * E18, sizeE18: 5n * E18 })
    expect(sent).to.deep.equal([
      { subaccount_id, side, expiry, ...flags },
      { subaccount_id, side, expiry, post_only: undefined, reduce_only: undefined },
    ])
  })

  it('moves what is left of an order alone: what has matched keeps its price', async () => {
    const sent: unknown[] = []
    const { changing, said } = aPage({
      replaceOrder(body) {
        sent.push(body.desired_amount)
        return Promise.resolve({ order: ORDER, replaced: ORDER } as never)
      },
    })
    // Of 10 USDC for 16,000 cNGN, nine have matched.
    const record = {
      ...ORDER,
      inherited_filled_amount: '1600',
      filled_amount: '8000',
      pending_amount: '4800',
    }
    await changing.edit(record, { priceE18: 1_500n * E18, sizeE18: 10n * E18 })
    await changing.edit(record, { priceE18: 1_000n * E18, sizeE18: 10n * E18 })
    await changing.edit(record, { priceE18: 1_500n * E18, sizeE18: undefined })
    await changing.edit(record, { priceE18: 1_500n * E18, sizeE18: 9n * E18 })
    expect(said()).to.match(/below the smallest/)
    expect(sent).to.deep.equal(['15900', '15400', '15900'])
  })

  it('is sent once however often it is pressed, and says why it failed', async () => {
    let calls = 0
    const { changing, said } = aPage({
      cancelOrder() {
        calls += 1
        return Promise.reject(new Error('no such order'))
      },
    })
    await Promise.all([changing.cancel(ORDER), changing.cancel(ORDER)])
    expect(calls).to.equal(1)
    expect(said()).to.equal('Cancelling: no such order')
    await changing.cancel(ORDER)
    expect(calls).to.equal(2)
  })
})
