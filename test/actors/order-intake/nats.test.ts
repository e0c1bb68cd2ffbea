import { expect } from 'chai'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'

const ORDERS = 64
/** Of a caller that asks again when its answer was lost. */
const IMPATIENT = { timeoutMs: 3_000 }

describe('order intake on JetStream', function () {
  let server: TestNatsServer
  let stage: IntakeStage
  let bus: Bus
  let gateway: Bus
  let matcher: FakeMatcher
  let intake: RunningProcess

  beforeEach(async () => {
    server = await startNatsServer()
    stage = anIntakeStage()
    const connect = (name: string): Promise<Bus> => connectNatsBus({ url: server.url, name })
    bus = await connect('order-intake')
    gateway = await connect('gateway')
    intake = await stage.start(bus)
    matcher = await startFakeMatcher(gateway, stage.market.market)
  })

  afterEach(async () => {
    await matcher.stop()
    await intake.stop()
    await bus.close()
    await gateway.close()
    stage.close()
    await server.stop()
  })

  const bodies = (count: number) => Promise.all(Array.from({ length: count }, () => signedBody()))

  it(`carries ${ORDERS} concurrent orders in fewer than a quarter as many messages`, async () => {
    const signed = await bodies(ORDERS)
    const answers = await Promise.all(signed.map((body) => ask(gateway, 'place', body)))
    expect(answers.every(({ kind }) => kind === 'order')).to.equal(true)
    const { lastSeq } = await bus.streamState(commandsStream(stage.market.market))
    expect(lastSeq).to.be.below(ORDERS / 4)
    expect(matcher.taken).to.have.length(ORDERS)
  })

  it('logs every order it took exactly once through a crash of the server', async () => {
    const signed = await bodies(200)
    const answers = signed.map(async (body, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 5))
      return ask(gateway, 'place', body, IMPATIENT).catch(() => undefined)
    })
    await eventually(() => matcher.taken.length > 20)
    await server.kill()
    await server.restart()
    const settled = await Promise.all(answers)
    const lost = signed.filter((_body, index) => settled[index] === undefined)
    expect(lost.length, 'the crash must have cost some answers').to.be.greaterThan(0)

    // What a client does with an unknown outcome: it sends the same order again.
    for (const body of lost) {
      let answer = await ask(gateway, 'place', body, IMPATIENT).catch(() => undefined)
      await eventually(async () => {
        answer ??= await ask(gateway, 'place', body, IMPATIENT).catch(() => undefined)
        return answer !== undefined
      })
      if (answer?.kind === 'refused') expect(answer.refusal.status).to.equal(409)
    }
    await eventually(() => matcher.taken.length >= signed.length)
    const ids = matcher.taken.map(({ command }) =>
      command.kind === 'PlaceOrder' ? command.order.orderId : command.kind,
    )
    expect(new Set(ids).size).to.equal(ids.length)
    expect([...ids].sort()).to.deep.equal(signed.map(({ order_id }) => order_id).sort())
  })
})
