import { expect } from 'chai'
import { objectToNewer, startEngineSwitch } from '../../../actors/matcher/engine-version.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import { emptyMatcherState } from '../../../core/engine/empty-state.js'
import { ENGINE_VERSION } from '../../../core/engine/engine-version.js'
import type { Command } from '../../../core/model/command.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { eventually } from '../../support/eventually.js'
import { appendCommands, placeOrder, stageMarket, startOn } from './stage.js'

const NEWER = ENGINE_VERSION + 1

/** A leader of the next release on a bus, in a log of so many placements. */
function leaderOn(
  bus: ReturnType<typeof createMemoryBus>,
  engineVersion: number | undefined,
  { placements = 7, current = ENGINE_VERSION } = {},
) {
  const state = emptyMatcherState(openingOf(stageMarket))
  state.engineVersion = current
  state.rank = placements
  const submitted: Command[] = []
  const waits: string[] = []
  const lowered: number[] = []
  const set: [version: number, isNew: boolean][] = []
  const fatal: unknown[] = []
  const switching = startEngineSwitch({
    bus,
    market: stageMarket,
    engineVersion,
    facts: {
      ...observeMatcher(createLog('matcher', 'silent')),
      engineWaits: (_, why) => waits.push(why),
      engineSet: (version, isNew) => set.push([version, isNew]),
      engineNotLowered: (asked) => lowered.push(asked),
    },
    log: { state },
    own: {
      submit: (command) => {
        submitted.push(command)
        return Promise.resolve()
      },
    },
    onFatal: (error) => fatal.push(error),
  })
  return { submitted, waits, lowered, set, fatal, stop: () => switching.stop() }
}

describe('a leader that is to set an engine version', () => {
  it('sets it once no matcher objects, and waits for one whose build does not know it', async () => {
    const bus = createMemoryBus()
    const standby = { bus, market: stageMarket, leaderId: 'standby' }
    const older = await objectToNewer(standby)
    const itself = await objectToNewer({ ...standby, leaderId: 'leader' }, NEWER)
    const waiting = leaderOn(bus, NEWER)
    await eventually(() => waiting.waits.length > 0)
    expect(waiting.waits[0]).to.equal(
      `matcher standby carries out versions up to ${ENGINE_VERSION}`,
    )
    expect(waiting.submitted).to.deep.equal([])
    waiting.stop()
    await older.stop()

    const alone = leaderOn(bus, NEWER)
    await eventually(() => alone.submitted.length > 0)
    expect(alone.submitted).to.deep.equal([{ kind: 'EngineVersionSet', version: NEWER }])
    expect([...alone.waits, ...alone.fatal, ...waiting.fatal]).to.deep.equal([])
    await itself.stop()
  })

  it('sets the newest in a log in which no order was placed yet, and tells so', async () => {
    const current = ENGINE_VERSION - 1
    const leader = leaderOn(createMemoryBus(), undefined, { placements: 0, current })
    await eventually(() => leader.set.length > 0)
    expect(leader.submitted).to.deep.equal([{ kind: 'EngineVersionSet', version: ENGINE_VERSION }])
    expect(leader.set).to.deep.equal([[ENGINE_VERSION, true]])
    const older = leaderOn(createMemoryBus(), undefined, { placements: 1, current })
    expect(older.submitted).to.deep.equal([])
  })

  it('waits while it cannot be known whether a matcher objects', async () => {
    const cut = createMemoryBus()
    cut.setConnected(false)
    const closed = createMemoryBus()
    await closed.close()
    for (const [bus, why] of [
      [cut, 'disconnected'],
      [closed, 'closed'],
    ] as const) {
      const leader = leaderOn(bus, NEWER)
      await eventually(() => leader.waits.length > 0)
      expect(leader.waits[0]).to.contain(why)
      leader.stop()
      expect([...leader.submitted, ...leader.fatal]).to.deep.equal([])
    }
  })

  it('stops when asking fails, and not when its own stop breaks that off', async () => {
    const defect = new Error('defect')
    const failing = () => ({ ...createMemoryBus(), ask: () => Promise.reject(defect) })
    const leader = leaderOn(failing(), NEWER)
    await eventually(() => expect(leader.fatal).to.deep.equal([defect]))
    const stopped = leaderOn(failing(), NEWER)
    stopped.stop()
    const silent = leaderOn(createMemoryBus(), NEWER)
    silent.stop()
    await new Promise((resolve) => setImmediate(resolve))
    expect([...stopped.fatal, ...silent.fatal, ...silent.submitted]).to.deep.equal([])
  })

  it('leaves a log as it is unless it is asked, and never lowers it', () => {
    const questions: unknown[] = []
    const ask = (subject: string) => {
      questions.push(subject)
      return Promise.reject(new NoAnswer(subject))
    }
    const bus = { ...createMemoryBus(), ask }
    const older = ENGINE_VERSION - 1
    const newest = ENGINE_VERSION
    for (const [asked, current, lowered] of [
      [undefined, newest, []],
      [undefined, older, []],
      [newest, newest, []],
      [older, newest, [older]],
    ] as const) {
      const leader = leaderOn(bus, asked, { current })
      expect(leader.lowered).to.deep.equal(lowered)
    }
    expect(questions).to.deep.equal([])
  })

  it('goes on when the version that it has is set again, and stops on one it does not know', async () => {
    const bus = createMemoryBus()
    const { matcher, fatal } = await startOn(bus)
    await appendCommands(bus, [{ kind: 'EngineVersionSet', version: ENGINE_VERSION }])
    await appendCommands(bus, [placeOrder({ orderId: 'after', side: 'buy' })])
    await eventually(() => matcher.positions().feed_seq === 1)
    await appendCommands(bus, [{ kind: 'EngineVersionSet', version: NEWER }])
    await eventually(() => fatal.length > 0)
    expect(String(fatal[0])).to.contain(`engine version ${NEWER}`)
    await matcher.stop()

    const again = await startOn(bus)
    expect(String(again.fatal[0])).to.contain('run the release that set it, or a newer one')
    await again.matcher.stop()
  })
})
