import { expect } from 'chai'
import { trimSteps } from '../../../actors/transfer-submitter/records.js'
import {
  transfersStream,
  transfersSubjects,
  transferSubject,
} from '../../../bus-schemas/subjects.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'

const STEPS = 600
const subject = transferSubject('deposit', `0x${'ab'.repeat(32)}`)

describe('steps of records on the bus', () => {
  let nowMs = 0
  let bus: MemoryBus

  /** One step at each of the milliseconds 1 to 600. */
  beforeEach(async () => {
    bus = createMemoryBus({ nowMs: () => nowMs })
    await bus.declareStream({
      stream: transfersStream,
      subject: transfersSubjects,
      description: 'steps',
    })
    for (nowMs = 1; nowMs <= STEPS; nowMs += 1) await bus.append(subject, new Uint8Array())
  })
  afterEach(() => bus.close())

  const kept = () => bus.streamState(transfersStream)

  it('are deleted once they are old, and no younger one', async () => {
    await trimSteps(bus, 501)
    expect(await kept()).to.deep.equal({ firstSeq: 501, lastSeq: STEPS })
    await trimSteps(bus, 501)
    expect(await kept()).to.deep.equal({ firstSeq: 501, lastSeq: STEPS })
  })

  it('may all be old, and the next one still has the next number', async () => {
    await trimSteps(bus, STEPS + 1)
    expect(await kept()).to.deep.equal({ firstSeq: STEPS + 1, lastSeq: STEPS })
    expect(await bus.append(subject, new Uint8Array())).to.equal(STEPS + 1)
  })

  it('stay while the bus is away, until the next time', async () => {
    bus.setConnected(false)
    await trimSteps(bus, STEPS)
    bus.setConnected(true)
    expect(await kept()).to.deep.equal({ firstSeq: 1, lastSeq: STEPS })
  })

  it('may be deleted by the other submitter at the same time', async () => {
    await Promise.all([trimSteps(bus, 300), trimSteps(bus.connect(), 400)])
    expect(await kept()).to.deep.equal({ firstSeq: 400, lastSeq: STEPS })
  })
})
