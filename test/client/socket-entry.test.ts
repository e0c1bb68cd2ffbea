import { expect } from 'chai'
import { WebSocket } from 'ws'
import {
  createSeenSeqs,
  createSocketClient,
  OutcomeUnknown,
  VenueRefused,
  type NewOrder,
  type SeenSeqs,
  type SocketClient,
} from '../../client/index.js'
import { encodeOrderAnswer, type OrderReply } from '../../bus-schemas/orders.js'
import { askCancelOrder, askPlaceOrder } from '../../bus-schemas/subjects.js'
import { refusals } from '../../core/entry/refusals.js'
import { anOrder, progressOf } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { startRig, type FanOutRig } from '../support/fan-out-rig.js'

const order = anOrder()
const taken: OrderReply = {
  kind: 'order',
  feed_seq: 1,
  market: order.market,
  order,
  progress: progressOf(order),
}
const timing = { minBackoffMs: 5, maxBackoffMs: 20, pingEveryMs: 1_000 }

describe('orders by the socket client', () => {
  let rig: FanOutRig
  let client: SocketClient
  let seen: SeenSeqs
  let answers: ((answer: OrderReply) => void)[]

  beforeEach(async () => {
    rig = await startRig()
    answers = []
    for (const subject of [askPlaceOrder, askCancelOrder]) {
      await rig.bus.answer(subject, 'intake', (_, replyTo) => {
        answers.push((answer) => rig.bus.reply(replyTo, encodeOrderAnswer(answer)))
      })
    }
    await eventually(() => rig.fanOut().standing().ready)
    seen = createSeenSeqs()
    client = createSocketClient({ url: rig.url(), WebSocket, timing, seen })
  })
  afterEach(async () => {
    client.close()
    await rig.end()
  })

  const body = {} as NewOrder
  const failureOf = (request: Promise<unknown>): Promise<Error> =>
    request.then(
      () => new Error('it was taken'),
      (error: unknown) => error as Error,
    )

  it('resolve when they are decided, whatever came before them', async () => {
    await eventually(() => client.isOpen())
    const first = failureOf(client.placeOrder(body))
    const second = client.cancelOrder({ owner_address: order.owner, nonce: '1' })
    await eventually(() => answers.length === 2)
    answers[1]?.(taken)
    expect((await second).order_id).to.equal(order.orderId)
    expect(seen.minSeq()).to.equal(`${order.market}=1`)
    answers[0]?.({ kind: 'refused', refusal: refusals.signature })
    const refused = await first
    expect(refused).to.be.instanceOf(VenueRefused)
    expect(refused).to.include({ status: 400, code: 'invalid_signature' })
  })

  it('are of unknown outcome when the venue says so, and as a repeat that it does not show', async () => {
    await eventually(() => client.isOpen())
    const repeat = { ...refusals.duplicateOrderId, existingOrderId: 'o' }
    const decided = { market: order.market, seq: 1 }
    const held = { ...refusals.duplicateOrderId, detail: { held_by: 'another_order' } }
    const requests = [0, 1, 2].map(() => failureOf(client.placeOrder(body)))
    await eventually(() => answers.length === 3)
    answers[0]?.({ kind: 'refused', refusal: repeat })
    answers[1]?.({ kind: 'refused', refusal: { ...repeat, decided } })
    answers[2]?.({ kind: 'refused', refusal: held })
    const [undecided, stored, another] = await Promise.all(requests)
    expect(undecided).to.be.instanceOf(OutcomeUnknown)
    expect(undecided).to.include({ retryAfterSec: 1 })
    expect(stored).to.be.instanceOf(OutcomeUnknown)
    expect(another).to.be.instanceOf(VenueRefused)
  })

  it('are of unknown outcome without a connection, and when it is lost', async () => {
    await eventually(() => client.isOpen())
    const lost = failureOf(client.placeOrder(body))
    await eventually(() => answers.length === 1)
    client.close()
    expect(await lost).to.be.instanceOf(OutcomeUnknown)
    expect(await failureOf(client.placeOrder(body))).to.be.instanceOf(OutcomeUnknown)
    expect(answers).to.have.length(1)
  })
})
