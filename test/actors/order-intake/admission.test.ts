import { expect } from 'chai'
import {
  createDiskReader,
  MAX_BEHIND,
  watchAdmission,
  type Disk,
  type Storage,
} from '../../../actors/order-intake/admission.js'
import { encodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { readStorage } from '../../../runtime/bus/nats-monitor.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, silentLog } from '../../support/intake-stage.js'
import { startNatsServer } from '../../support/nats-server.js'
import { tempDir } from '../../support/temp-dir.js'
import { NoAnswer } from '../../../runtime/bus/bus.js'

const { market } = anIntakeStage().market

/** A log that ends where the test says, and a matcher that has come as far as the test says, or is silent. */
function watched() {
  const at = { lastSeq: 0, commandSeq: 0 as number | undefined }
  const full: { storage: Storage | undefined; disks: readonly Disk[] } = {
    storage: undefined,
    disks: [],
  }
  const admission = watchAdmission({
    bus: {
      streamState: () => Promise.resolve({ firstSeq: 1, lastSeq: at.lastSeq }),
      ask: (subject) => {
        expect(subject).to.equal(askPing(`matcher-${market}`))
        if (at.commandSeq === undefined) return Promise.reject(new NoAnswer('no answer'))
        const positions = { command_seq: at.commandSeq }
        return Promise.resolve(
          encodePingAnswer({ process: 'matcher', ready: true, detail: 'live', positions }),
        )
      },
    },
    markets: [market],
    readStorage: () => Promise.resolve(full.storage),
    readDisks: () => Promise.resolve(full.disks),
    reserve: { bytes: 100n, permille: 20n },
    log: silentLog,
    checkEveryMs: 5,
  })
  return { at, full, admission }
}

describe('room for new orders', () => {
  it('ends where the matcher is too far behind, also when it says nothing any more (OPE-027)', async () => {
    const { at, admission } = watched()
    await eventually(() => expect(admission.trouble(market)).to.equal(undefined))
    at.lastSeq = MAX_BEHIND + 1
    const why = `the matcher is ${MAX_BEHIND + 1} messages behind its log`
    await eventually(() => expect(admission.trouble(market)).to.equal(why))
    at.commandSeq = 1
    await eventually(() => expect(admission.trouble(market)).to.equal(undefined))
    at.commandSeq = undefined
    at.lastSeq = MAX_BEHIND + 2
    await eventually(() => expect(admission.trouble(market)).to.equal(why))
    await admission.stop()
  })

  it('ends at nine tenths of what the bus may store (OPE-027)', async () => {
    const { full, admission } = watched()
    full.storage = { usedBytes: 900n, maxBytes: 1_000n }
    const why = 'the bus has stored 900 of 1000 bytes'
    await eventually(() => expect(admission.trouble(market)).to.equal(why))
    full.storage = { usedBytes: 899n, maxBytes: 1_000n }
    await eventually(() => expect(admission.trouble(market)).to.equal(undefined))
    await admission.stop()
  })

  it('ends where either disk has less free than its reserve in bytes, or than its share', async () => {
    const { full, admission } = watched()
    const data = { place: 'data', freeBytes: 99n, totalBytes: 1_000n } as const
    const bus = { place: 'bus', freeBytes: 199n, totalBytes: 10_000n } as const
    const refusedFor = (disks: readonly Disk[], why: string | undefined) => {
      full.disks = disks
      return eventually(() => expect(admission.trouble(market)).to.equal(why))
    }
    const ofBytes = '99 bytes are free where DATA_DIR is, of 100 that stay free'
    await refusedFor([data], ofBytes)
    await refusedFor([{ ...data, freeBytes: 100n }], undefined)
    const ofShare = '199 bytes are free where the streams of the bus are, of 200 that stay free'
    await refusedFor([{ ...data, freeBytes: 100n }, bus], ofShare)
    await refusedFor([{ ...bus, freeBytes: 200n }], undefined)
    await admission.stop()
  })

  it('is asked for orders, not for cancels, and stores nothing when there is none', async () => {
    const stage = anIntakeStage()
    const bus = createMemoryBus()
    let trouble: string | undefined
    const intake = await stage.start(bus, {
      admission: { trouble: () => trouble, listen: () => undefined },
    })
    const matcher = await startFakeMatcher(bus, market)
    const first = await signedBody()
    const second = await signedBody()
    expect(await ask(bus, 'place', first)).to.include({ kind: 'order' })
    trouble = 'full'
    const refused = await ask(bus, 'place', second)
    expect(refused).to.have.nested.property('refusal.code', 'overloaded')
    expect(stage.registry().findOrder(second.order_id)).to.equal(undefined)
    const { owner_address, nonce } = first
    expect(await ask(bus, 'cancel', { owner_address, nonce })).to.include({ kind: 'order' })
    trouble = undefined
    expect(await ask(bus, 'place', second)).to.include({ kind: 'order' })
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  it('is read from the server', async () => {
    const server = await startNatsServer()
    const storage = await readStorage([server.monitorUrl])
    expect(storage?.usedBytes).to.equal(0n)
    expect((storage?.maxBytes ?? 0n) > 0n).to.equal(true)
    const dir = tempDir()
    const disks = await createDiskReader(dir.path, [server.monitorUrl])()
    expect(disks.map(({ place }) => place)).to.deep.equal(['data', 'bus'])
    for (const { freeBytes, totalBytes } of disks) {
      expect(freeBytes > 0n && freeBytes <= totalBytes).to.equal(true)
    }
    const elsewhere = await createDiskReader(dir.path, ['http://bus.example:8222'])()
    expect(elsewhere.map(({ place }) => place)).to.deep.equal(['data'])
    dir.remove()
    await server.stop()
  })
})
