import { expect } from 'chai'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { Running } from '../../../runtime/process/process.js'
import { takeTurn, type CopyOptions } from '../../../runtime/process/standby.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'

const SILENCE_MS = 100

describe('copies of a process', () => {
  let bus: MemoryBus
  const turns: Running[] = []
  beforeEach(() => (bus = createMemoryBus()))
  afterEach(async () => {
    for (const turn of turns.splice(0)) await turn.stop()
  })

  /** A copy that waits for its turn. */
  function aCopy(id: string, given: Partial<CopyOptions> = {}) {
    const seen = { working: false, looks: 0, outdone: [] as string[] }
    const turn = takeTurn({
      ...{ bus, name: 'intake', standby: true, id, nowMs: Date.now, log: silentLog },
      meanwhile: () => {
        seen.looks += 1
        return Promise.resolve(true)
      },
      onOutdone: (reason) => seen.outdone.push(reason),
      silenceMs: SILENCE_MS,
      ...given,
    }).then((running) => {
      seen.working = true
      turns.push(running)
      return running
    })
    return { seen, turn }
  }

  it('work when no other one does, and follow the one that works until it is gone', async () => {
    const first = await aCopy('first').turn
    const second = aCopy('second')
    await eventually(() => second.seen.looks > 2)
    expect(second.seen.working).to.equal(false)
    await first.stop()
    await second.turn
  })

  it('stay where they are while the bus does not answer', async () => {
    let isReached = false
    const copy = aCopy('cut off', { meanwhile: () => Promise.resolve(isReached) })
    await new Promise((resolve) => setTimeout(resolve, 10 * SILENCE_MS))
    expect(copy.seen.working).to.equal(false)
    isReached = true
    await copy.turn
  })

  it('end when another one has begun to work later, as standbys only', async () => {
    const old = aCopy('old', { nowMs: () => 1 })
    await old.turn
    const forced = aCopy('forced', { standby: false, nowMs: () => 2 })
    await forced.turn
    await eventually(() => old.seen.outdone.length === 1)
    expect(old.seen.outdone[0]).to.equal('intake forced works now')
    const later = aCopy('later', { standby: false, nowMs: () => 3 })
    await later.turn
    expect([forced.seen.outdone, later.seen.outdone]).to.deep.equal([[], []])
  })
})
