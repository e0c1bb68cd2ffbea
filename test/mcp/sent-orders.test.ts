import { expect } from 'chai'
import { OutcomeUnknown, type OrderRecord } from '../../client/index.js'
import { createSentOrders } from '../../mcp/sent-orders.js'

const ACTIVE = { status: 'active' } as OrderRecord

describe('orders that venue-mcp has sent when it is stopped', () => {
  it('are waited for: it says what became of each, and sends no more', async () => {
    const said: string[] = []
    const sent = createSentOrders((words) => said.push(words))
    let answer: (order: OrderRecord) => void = () => undefined
    let fail: (error: Error) => void = () => undefined
    const first = sent.track('a', () => new Promise((resolve) => (answer = resolve)))
    const second = sent.track('b', () => new Promise((_, reject) => (fail = reject)))
    await sent.track('answered', () => Promise.resolve(ACTIVE))
    const settled = sent.settle(60_000)
    expect(() => sent.track('c', () => Promise.resolve(ACTIVE))).to.throw('this program stops')
    answer(ACTIVE)
    fail(new OutcomeUnknown('no answer from /v1/orders'))
    await settled
    expect(await first).to.equal(ACTIVE)
    expect(await second.catch((error: unknown) => error)).to.be.instanceOf(OutcomeUnknown)
    expect(said).to.deep.equal([
      'stops, and waits for the answer to a, b',
      'order a is active',
      'order b: no answer from /v1/orders',
    ])
  })

  it('are named where no answer comes in time', async () => {
    const said: string[] = []
    const sent = createSentOrders((words) => said.push(words))
    void sent.track('a', () => new Promise(() => undefined))
    await sent.settle(1)
    expect(said.slice(1)).to.deep.equal([
      'order a has no answer: it may be placed. Look it up by this id',
    ])
  })

  it('are none where all are answered: it says nothing', async () => {
    const said: string[] = []
    const sent = createSentOrders((words) => said.push(words))
    await sent.track('a', () => Promise.resolve(ACTIVE))
    await sent.settle(60_000)
    expect(said).to.deep.equal([])
  })
})
