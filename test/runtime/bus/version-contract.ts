import { expect } from 'chai'
import { StreamMissing } from '../../../runtime/bus/bus.js'
import type { BusUnderTest } from './bus-contract.js'
import { rejectionOf } from './probes.js'

/** The promises of bus.ts about the versions of streams, checked on one implementation. */
export function versionContract(name: string, open: () => Promise<BusUnderTest>): void {
  describe(`versions of streams: ${name}`, () => {
    it('are 0 until one is recorded, are seen by all and only grow', async () => {
      const underTest = await open()
      const bus = await underTest.connect()
      const other = await underTest.connect()
      const spec = { stream: 'VERSIONS', subject: 'versions', description: 'contract' }
      try {
        expect(await rejectionOf(bus.streamVersion(spec.stream))).to.be.instanceOf(StreamMissing)
        await bus.declareStream(spec)
        expect(await bus.streamVersion(spec.stream)).to.equal(0)
        await bus.raiseStreamVersion(spec.stream, 4)
        expect(await other.streamVersion(spec.stream)).to.equal(4)
        await other.raiseStreamVersion(spec.stream, 6)
        await bus.raiseStreamVersion(spec.stream, 5)
        await bus.declareStream(spec)
        expect(await bus.streamVersion(spec.stream)).to.equal(6)
      } finally {
        await bus.close()
        await other.close()
      }
    })
  })
}
