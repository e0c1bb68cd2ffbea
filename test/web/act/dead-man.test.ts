import { mock } from 'node:test'
import { expect } from 'chai'
import { createDeadMan, OUTLIVES_SEC } from '../../../web/act/dead-man.js'
import type { OrderChanges } from '../../../web/act/change.js'
import { anotherOwn, anOwn, fakeTerminal } from './fake-terminal.js'

function aSwitch() {
  const page = fakeTerminal({})
  const signed: number[] = []
  const cancelAllAfter = (seconds: number): Promise<void> => {
    // As a signature does: it reads the time.
    if (page.nowSec.value > 0) signed.push(seconds)
    return Promise.resolve()
  }
  const deadMan = createDeadMan(page.terminal, { cancelAllAfter } as OrderChanges)
  return { ...page, deadMan, signed }
}

describe('web/act: the dead man’s switch', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
  afterEach(() => mock.timers.reset())

  it('is renewed each five seconds, and not by the clock', () => {
    const { deadMan, signed, nowSec } = aSwitch()
    deadMan.toggle()
    expect(signed).to.deep.equal([OUTLIVES_SEC])
    for (let second = 0; second < 10; second++) {
      nowSec.value += 1
      mock.timers.tick(1_000)
    }
    expect(signed).to.deep.equal([OUTLIVES_SEC, OUTLIVES_SEC, OUTLIVES_SEC])
    deadMan.toggle()
    expect(signed.at(-1)).to.equal(0)
    mock.timers.tick(60_000)
    expect(signed).to.have.length(4)
  })

  it('is disarmed by another trader, and not possible where each renewal asks', () => {
    const { deadMan, signed, own } = aSwitch()
    deadMan.toggle()
    own.value = anotherOwn()
    expect(deadMan.isArmed.value).to.equal(false)
    mock.timers.tick(60_000)
    expect(signed).to.deep.equal([OUTLIVES_SEC])
    own.value = anOwn({ isSilent: false })
    expect(deadMan.isPossible.value).to.equal(false)
  })
})
