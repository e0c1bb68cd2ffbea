import { expect } from 'chai'
import {
  OutcomeUnknown,
  VenueRefused,
  type NewOrder,
  type OrderRecord,
} from '../../../client/index.js'
import { createLock, createPlacement } from '../../../web/act/place-once.js'

const ORDER = { order_id: 'a', signature: '0x1' } as NewOrder
const RECORD = { order_id: 'a' } as OrderRecord

describe('web/act: one press, one order', () => {
  it('runs once while it runs, and again once it has ended, also by an error', async () => {
    const lock = createLock()
    let runs = 0
    let end = (): void => undefined
    const act = (): Promise<void> => {
      runs += 1
      return new Promise((resolve) => (end = resolve))
    }
    const first = lock.run(act)
    await lock.run(act)
    expect([runs, lock.isBusy.value]).to.deep.equal([1, true])
    end()
    await first
    const failed: unknown = await lock.run(() => Promise.reject(new Error('no'))).catch(String)
    expect(failed).to.equal('Error: no')
    expect(lock.isBusy.value).to.equal(false)
  })

  it('sends the same bytes again where no answer came, and another order where one did', async () => {
    const sent: NewOrder[] = []
    const answers = [
      () => Promise.reject(new OutcomeUnknown('no answer')),
      () => Promise.resolve(RECORD),
    ]
    const placement = createPlacement({
      placeOrder: (order) => {
        sent.push(order)
        return answers.shift()?.() ?? Promise.resolve(RECORD)
      },
    })
    const lost: unknown = await placement.place(ORDER).catch((error: unknown) => error)
    expect(lost).to.be.instanceOf(OutcomeUnknown)
    expect(placement.unanswered()).to.equal(ORDER)
    await placement.place(placement.unanswered() ?? ORDER)
    expect(sent).to.deep.equal([ORDER, ORDER])
    expect(placement.unanswered()).to.equal(undefined)
  })

  it('keeps an order without an answer where it is sent again too soon', async () => {
    const busy = new VenueRefused(429, 'rate_limited', 'Too many orders.', {})
    const answers = [busy, new OutcomeUnknown('no answer'), busy]
    const placement = createPlacement({
      placeOrder: () => Promise.reject(answers.shift() ?? busy),
    })
    const place = () => placement.place(ORDER).catch((error: unknown) => error)
    expect(await place()).to.equal(busy)
    expect(placement.unanswered()).to.equal(undefined)
    await place()
    expect(await place()).to.be.instanceOf(OutcomeUnknown)
    expect(placement.unanswered()).to.equal(ORDER)
  })

  it('forgets an order without an answer when the ticket changes', async () => {
    const placement = createPlacement({
      placeOrder: () => Promise.reject(new OutcomeUnknown('no answer')),
    })
    await placement.place(ORDER).catch(() => undefined)
    placement.forget()
    expect(placement.unanswered()).to.equal(undefined)
  })
})
