import { expect } from 'chai'
import { observeMatcher } from '../../actors/matcher/observe.js'
import { answerAsks, type AnswerDeps } from '../../actors/transfer-submitter/submitter.js'
import { decodeMarketAnswer } from '../../bus-schemas/markets.js'
import { decodeTrimAnswer } from '../../bus-schemas/operations.js'
import {
  askBalances,
  askCancelOrder,
  askCancels,
  askIndexLag,
  askKnownOrders,
  askMarket,
  askOrderFacts,
  askPlaceOrder,
  askReduceOrder,
  askReplaceOrder,
  askSettlement,
  askTransfer,
  askTransferRecord,
  askTrim,
  askValidateOrder,
  tellTouched,
} from '../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import { createMemoryBus } from '../../runtime/bus/memory-bus.js'
import { createLog } from '../../runtime/process/log.js'
import { startRig } from '../support/fan-out-rig.js'
import { anIntakeStage } from '../support/intake-stage.js'
import { stageMarket, startOn } from './matcher/stage.js'

/** No message, and one of a version that no build knows. */
const UNREADABLE = ['x', '[999,[]]']

/** A log with the lines that it wrote. */
function warnings() {
  const lines: string[] = []
  const log = createLog('test', 'warn', { write: (line: string) => void lines.push(line) })
  const unreadable = (): number => lines.filter((line) => line.includes('cannot be read')).length
  return { log, unreadable }
}

/** The answers to such questions, one subject after the other; undefined where there is none. */
async function answersTo(bus: Bus, subjects: readonly string[]) {
  const answers: (Uint8Array | undefined)[] = []
  for (const subject of subjects) {
    for (const text of UNREADABLE) {
      const noAnswer = (error: unknown): undefined => {
        expect(error, subject)
          .to.be.instanceOf(NoAnswer)
          .and.to.match(/within/)
      }
      answers.push(await bus.ask(subject, Buffer.from(text), 20).catch(noAnswer))
    }
  }
  return answers
}

/** An error that a handler throws is caught nowhere: it would end the process, here the test's. */
describe('a question that cannot be read', () => {
  it('is refused by a matcher, or left unanswered, and ends nothing', async () => {
    const bus = createMemoryBus()
    const { log, unreadable } = warnings()
    const { matcher, fatal } = await startOn(bus, { facts: observeMatcher(log) })
    const { market } = stageMarket
    const answers = await answersTo(bus, [
      askTrim(market),
      askMarket(market),
      askSettlement(market),
    ])
    const [trim, , change] = answers as Uint8Array[]
    expect(trim && decodeTrimAnswer(trim)).to.include({ kind: 'refused' })
    expect(change && decodeMarketAnswer(change)).to.include({ kind: 'refused' })
    expect(answers.map((answer) => answer !== undefined)).to.deep.equal([
      true,
      true,
      true,
      true,
      false,
      false,
    ])
    expect(unreadable()).to.equal(6)
    expect(fatal).to.deep.equal([])
    await matcher.stop()
  })

  it('is left unanswered by the order intake, with a warning', async () => {
    const bus = createMemoryBus()
    const stage = anIntakeStage()
    const { log, unreadable } = warnings()
    const intake = await stage.start(bus, { log })
    const orders = [
      askPlaceOrder,
      askReplaceOrder,
      askCancelOrder,
      askReduceOrder,
      askValidateOrder,
    ]
    const subjects = [...orders, askCancels, askKnownOrders, askIndexLag, tellTouched]
    const answers = await answersTo(bus, subjects)
    expect(answers.every((answer) => answer === undefined)).to.equal(true)
    expect(unreadable()).to.equal(2 * subjects.length)
    await intake.stop()
    stage.close()
  })

  it('is left unanswered by the fan-out, with a warning', async () => {
    const { log, unreadable } = warnings()
    const rig = await startRig({ log })
    expect(await answersTo(rig.bus, [askBalances, askOrderFacts])).to.have.length(4)
    expect(unreadable()).to.equal(4)
    expect(rig.failures).to.deep.equal([])
    await rig.end()
  })

  it('is left unanswered by a submitter of transfers, with a warning', async () => {
    const bus = createMemoryBus()
    const { log, unreadable } = warnings()
    const fatal: unknown[] = []
    const onFatal = (error: unknown) => void fatal.push(error)
    const answering = await answerAsks({
      kind: 'deposit',
      bus,
      log,
      onFatal,
    } as unknown as AnswerDeps)
    await answersTo(bus, [askTransfer('deposit'), askTransferRecord('deposit')])
    expect(unreadable()).to.equal(4)
    expect(fatal).to.deep.equal([])
    await answering.stop()
  })
})
