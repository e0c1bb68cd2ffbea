import { expect } from 'chai'
import {
  OutcomeUnknown,
  VenueRefused,
  type NewOrder,
  type RestClient,
} from '../../../client/index.js'
import { placeLadder } from '../../../web/act/place-ladder.js'
import type { LadderPlan } from '../../../web/select/ladder.js'
import { TYPED as LIMIT } from '../typed-ticket.js'
import { anOwn, anotherOwn, fakeTerminal } from './fake-terminal.js'

const TYPED = { ...LIMIT, post: 'reject' } as const

const rung = (limitE18: bigint) => ({
  plan: { side: 'sell', limitE18, amountE18: 10n ** 21n, worstFeeBps: 10 },
  guards: [],
})
const LADDER = {
  rungs: [625n, 630n, 640n].map((limit) => rung(limit * 10n ** 12n)),
  guards: [],
} as unknown as LadderPlan

const recordOf = ({ order_id }: NewOrder) => ({ order_id, status: 'active', updated_at: '1' })
const placed = (order: NewOrder) => ({ status: 200, order: recordOf(order) })

function aPage(venue: Partial<RestClient>) {
  const page = fakeTerminal(venue)
  const [market] = page.markets
  if (market === undefined) throw new Error('no market')
  const given = { market, subaccountId: '7', typed: TYPED, livesSec: 600 }
  const place = (ladder: LadderPlan | 'bad_count' = LADDER, own = page.own.value ?? anOwn()) =>
    placeLadder(page.terminal, own, { ladder, given }).then(
      () => page.toasts.shown.value.at(-1)?.text ?? '',
      (error: Error) => error.message,
    )
  return { ...page, place }
}

describe('web/act: a ladder', () => {
  it('is one request of orders that are each signed, and says what became of them', async () => {
    const batches: (readonly NewOrder[])[] = []
    const { place, own } = aPage({
      placeOrders(bodies) {
        batches.push(bodies)
        return Promise.resolve(bodies.map((body) => placed(body)) as never)
      },
    })
    expect(await place()).to.equal('Buy USDC, ladder of 3: 3 placed')
    expect(batches).to.have.length(1)
    const [batch = []] = batches
    expect(new Set(batch.map(({ signature }) => signature)).size).to.equal(3)
    expect(batch.map(({ post_only: post }) => post)).to.deep.equal(['reject', 'reject', 'reject'])
    expect(own.value?.orders.value.size).to.equal(3)
  })

  it('sends one without an outcome again as the same bytes, and names those that are refused', async () => {
    const again: string[] = []
    const sent: NewOrder[] = []
    const { place } = aPage({
      placeOrders(bodies) {
        sent.push(...(bodies as readonly NewOrder[]))
        return Promise.resolve([
          placed(sent[0] as NewOrder),
          { status: 422, error: 'post_only_would_cross', message: 'It would cross.' },
          { status: 503, error: 'unavailable' },
        ] as never)
      },
      placeOrder(body) {
        again.push(body.signature)
        return Promise.resolve(recordOf(body) as never)
      },
    })
    expect(await place()).to.equal('Buy USDC, ladder of 3: 2 placed, 1 not placed: It would cross.')
    expect(again).to.deep.equal([sent[2]?.signature])
  })

  it('asks for one by itself that the batch names a duplicate: the venue may have it', async () => {
    const again: string[] = []
    const sent: NewOrder[] = []
    const { place, own } = aPage({
      placeOrders(bodies) {
        sent.push(...(bodies as readonly NewOrder[]))
        const duplicate = { status: 409, error: 'duplicate_order', message: 'It is there.' }
        const [first, , third] = sent.map((body) => placed(body))
        return Promise.resolve([first, duplicate, third] as never)
      },
      placeOrder(body) {
        again.push(body.signature)
        return Promise.resolve(recordOf(body) as never)
      },
    })
    expect(await place()).to.equal('Buy USDC, ladder of 3: 3 placed')
    expect(again).to.deep.equal([sent[1]?.signature])
    expect(own.value?.orders.value.size).to.equal(3)
  })

  it('asks for each order by itself where the batch has no answer, and says which have none then either', async () => {
    const silence = () => Promise.reject(new OutcomeUnknown('no answer'))
    let left = 2
    const { place } = aPage({
      placeOrders: silence,
      placeOrder: (body) => (left-- > 0 ? Promise.resolve(recordOf(body) as never) : silence()),
    })
    expect(await place()).to.equal(
      'Buy USDC, ladder of 3: 2 placed, 1 without an answer, which may still appear: no answer',
    )
  })

  it('does not take for refused what may have been placed before it was sent again too often', async () => {
    const busy = new VenueRefused(429, 'rate_limited', 'Too many orders.', {})
    const { place } = aPage({
      placeOrders: () => Promise.reject(new OutcomeUnknown('no answer')),
      placeOrder: () => Promise.reject(busy),
    })
    expect(await place()).to.equal(
      'Buy USDC, ladder of 3: 0 placed, 3 without an answer, which may still appear: Too many orders.',
    )
  })

  it('throws where none is placed, one by one or as a whole: the ticket keeps it', async () => {
    const whole = new VenueRefused(429, 'rate_limited', 'Too many orders.', {})
    const each = { status: 422, error: 'insufficient_balance', message: 'Too little.' }
    for (const [placeOrders, why] of [
      [() => Promise.reject(whole), 'Too many orders.'],
      [() => Promise.resolve([each, each, each]), 'Too little.'],
    ] as const) {
      const { terminal, own, markets, toasts } = aPage({ placeOrders: placeOrders as never })
      const given = { market: markets[0], subaccountId: '7', typed: TYPED, livesSec: 600 } as never
      const thrown = await placeLadder(terminal, own.value ?? anOwn(), { ladder: LADDER, given })
        .then(() => 'nothing')
        .catch((error: Error) => error.message)
      expect(thrown).to.equal(`0 placed, 3 not placed: ${why}`)
      expect(toasts.shown.value.map(({ kind, text }) => [kind, text])).to.deep.equal([
        ['bad', `Buy USDC, ladder of 3: ${thrown}`],
      ])
    }
  })

  it('sends nothing with a key that asks for each order, of another account, or where something stands in the way', async () => {
    const { place } = aPage({
      placeOrders: () => Promise.reject(new Error('it was sent')),
    })
    expect(await place(LADDER, anOwn({ isSilent: false }))).to.match(/enable trading/)
    expect(await place(LADDER, anotherOwn())).to.match(/The account has changed/)
    expect(await place('bad_count')).to.match(/2 to 20 orders/)
    const guards = [{ level: 'block', code: 'ladder_crosses' }] as const
    expect(await place({ ...LADDER, guards })).to.match(/a ladder rests/)
  })
})
