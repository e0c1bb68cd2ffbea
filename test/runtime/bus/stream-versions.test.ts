import { expect } from 'chai'
import { WIRE_VERSION } from '../../../bus-schemas/envelope.js'
import { streamVersions } from '../../../bus-schemas/stream-versions.js'
import { commandsStream, feedStream } from '../../../bus-schemas/subjects.js'
import { CannotStart } from '../../../core/cannot-start.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import {
  assertReadable,
  NewerStream,
  OlderStream,
  recordVersions,
} from '../../../runtime/bus/stream-versions.js'
import { aMarket } from '../../support/builders.js'
import { rejectionOf } from './probes.js'

const market = aMarket()
const FEED = feedStream(market.market)
const known = streamVersions([market])
const version = known.get(FEED) ?? 0

describe('the versions that streams carry', () => {
  const open = async () => {
    const bus = createMemoryBus()
    await bus.declareStream({ stream: FEED, subject: 'feed', description: '' })
    return bus
  }

  it('are recorded before the first message, and said aloud when a release is shut out by it', async () => {
    const bus = await open()
    const said: string[] = []
    const record = (number: number) =>
      recordVersions(bus, new Map([[FEED, number]]), (what) => said.push(what))
    await record(version)
    await record(version)
    expect(said).to.deep.equal([])
    await record(version + 1)
    expect(said).to.deep.equal([
      `${FEED} gets messages of version ${version + 1} from now on: a release that reads up to version ${version} cannot run this venue any more`,
    ])
    expect(await rejectionOf(record(version))).to.be.instanceOf(NewerStream)
    expect(await bus.streamVersion(FEED)).to.equal(version + 1)
  })

  it('refuse an older build at start, with the stream, both versions and the cure', async () => {
    const bus = await open()
    await assertReadable(bus, known)
    await bus.raiseStreamVersion(FEED, version + 1)
    const refused = await rejectionOf(assertReadable(bus, known))
    expect(refused).to.be.instanceOf(NewerStream)
    expect((refused as Error).message).to.equal(
      `the stream ${FEED} holds messages of version ${version + 1}, this build reads up to version ${version}: run the release that wrote them, or a newer one (docs/UPGRADING.md)`,
    )
  })

  it('refuse data of a release before 0.3.0 at start, in one sentence', async () => {
    const bus = await open()
    await bus.raiseStreamVersion(FEED, WIRE_VERSION - 1)
    for (const refusing of [
      assertReadable(bus, known),
      recordVersions(bus, known, () => expect.fail('nothing is recorded')),
    ]) {
      const refused = await rejectionOf(refusing)
      expect(refused).to.be.instanceOf(OlderStream).and.instanceOf(CannotStart)
      expect((refused as Error).message).to.equal(
        `the stream ${FEED} holds messages of version ${WIRE_VERSION - 1}, of a release before 0.3.0, which this build does not read: run that release, or begin with an empty store (docs/UPGRADING.md)`,
      )
    }
    expect(await bus.streamVersion(FEED)).to.equal(WIRE_VERSION - 1)
  })

  it('are none for streams that do not exist yet', async () => {
    const bus = await open()
    expect(known.has(commandsStream(market.market))).to.equal(true)
    await assertReadable(bus, known)
  })
})
