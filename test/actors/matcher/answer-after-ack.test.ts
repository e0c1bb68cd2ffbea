import { expect } from 'chai'
import type { AskExecutor } from '../../../actors/matcher/ask-executor.js'
import { decodeOrderAnswer, type OrderReply } from '../../../bus-schemas/orders.js'
import { commandsStream, feedStream } from '../../../bus-schemas/subjects.js'
import type { Command } from '../../../core/model/command.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { anIntakeStage, ask, signedBody } from '../../support/intake-stage.js'
import { appendCommands, neverDecides, placeOrder, stageMarket, startOn } from './stage.js'

const { market } = stageMarket

/** Asks through the bus as the intake does for its caller, with the command put into the log at once. */
async function askFor(bus: MemoryBus, command: Command): Promise<OrderReply> {
  const listening = await bus.answer('ask.test', 'q', (_, replyTo) => {
    void appendCommands(bus, [command], { replyTo })
  })
  const answer = await bus.ask('ask.test', new Uint8Array(), 60_000)
  await listening.stop()
  return decodeOrderAnswer(answer)
}

/** Enough turns of the loop for anything that waits for nothing but the loop to have happened. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

async function lastOf(bus: MemoryBus, stream: string): Promise<number> {
  return (await bus.streamState(stream)).lastSeq
}

describe('before the bus has acknowledged', () => {
  const running: (() => unknown)[] = []
  // Also after a failure, which the clocks of what runs would keep from being told.
  afterEach(async () => {
    for (const stop of running.splice(0)) await stop()
  })

  it('a block, the matcher answers no caller and settles nothing (SET-006)', async () => {
    const bus = createMemoryBus()
    const asked: string[] = []
    const executor: AskExecutor = (id, ...rest) => {
      asked.push(id)
      return neverDecides(id, ...rest)
    }
    const { matcher } = await startOn(bus, { ask: executor, tickMs: 600_000 })
    running.push(() => matcher.stop())
    await appendCommands(bus, [placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n })])
    await eventually(async () => (await lastOf(bus, feedStream(market))) === 2)
    const acknowledge = bus.holdAppendAcks()
    running.unshift(acknowledge)
    const answers: OrderReply[] = []
    const answered = askFor(bus, placeOrder({ orderId: 't', side: 'buy' })).then((answer) => {
      answers.push(answer)
    })
    // Stored, but not acknowledged to the matcher.
    await eventually(async () => (await lastOf(bus, feedStream(market))) === 3)
    await manyTurns()
    expect({ answers, asked }).to.deep.equal({ answers: [], asked: [] })
    acknowledge()
    await answered
    expect(answers).to.have.nested.property('[0].kind', 'order')
    await eventually(() => asked.length === 1)
  })

  it('anything, a placement is not answered on its way from the intake to the block (ORD-001)', async () => {
    const stage = anIntakeStage()
    const bus = createMemoryBus()
    const intake = await stage.start(bus)
    const { matcher } = await startOn(bus, { tickMs: 600_000 })
    running.push(
      () => matcher.stop(),
      () => intake.stop(),
      () => stage.close(),
    )
    const acknowledge = bus.holdAppendAcks()
    running.unshift(acknowledge)
    const answers: OrderReply[] = []
    const body = await signedBody()
    const answered = ask(bus, 'place', body, { timeoutMs: 60_000 }).then((answer) => {
      answers.push(answer)
    })
    await eventually(async () => (await lastOf(bus, commandsStream(market))) === 3)
    await eventually(async () => (await lastOf(bus, feedStream(market))) === 3)
    await manyTurns()
    expect(answers).to.deep.equal([])
    expect(stage.registry().folded(market).streamSeq).to.equal(2)
    acknowledge()
    await answered
    expect(answers).to.have.nested.property('[0].kind', 'order')
  })
})
