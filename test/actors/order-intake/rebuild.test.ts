import { expect } from 'chai'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import { termOf } from '../../../core/model/command.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { anIntakeStage, ask, signedBody } from '../../support/intake-stage.js'
import { aheadOfTicks, startOn } from '../matcher/stage.js'

/** A checkpoint every few ticks, and nothing is kept that none of them needs. */
const TRIMMING = { everyCommands: 5, everyMs: 3_600_000, keepCommandsMs: 0 }

describe('a registry that is lost', () => {
  it('is rebuilt from the feed where the log is trimmed, and numbers go on above all others', async () => {
    const bus = createMemoryBus()
    const lost = anIntakeStage()
    const { market } = lost.market
    let intake = await lost.start(bus)
    const { matcher, fatal } = await startOn(bus, { checkpoints: TRIMMING, nowMs: aheadOfTicks })
    const bodies = await Promise.all([1, 2, 3].map(() => signedBody()))
    for (const body of bodies) expect((await ask(bus, 'place', body)).kind).to.equal('order')
    const { lastSeq } = await bus.streamState(commandsStream(market))
    // The next one says that they are stored, so that the log is trimmed.
    await intake.stop()
    intake = await lost.start(bus)
    await eventually(async () => {
      const { firstSeq } = await bus.streamState(commandsStream(market))
      expect(firstSeq).to.be.greaterThan(lastSeq)
    })
    const { lastNo } = lost.registry().folded(market)
    await intake.stop()

    const rebuilt = anIntakeStage()
    intake = await rebuilt.start(bus)
    for (const body of bodies) {
      const answer = await ask(bus, 'place', body)
      if (answer.kind !== 'refused') throw new Error('expected a refusal')
      expect(answer.refusal).to.include({ status: 409, existingOrderId: body.order_id })
    }
    expect(termOf(rebuilt.registry().folded(market).lastNo)).to.equal(termOf(lastNo) + 1)
    expect((await ask(bus, 'place', await signedBody())).kind).to.equal('order')
    expect(fatal).to.deep.equal([])
    await intake.stop()
    await matcher.stop()
    for (const stage of [lost, rebuilt]) stage.close()
  })
})
