import { expect } from 'chai'
import { openLiquidationLog } from '../../../actors/chain-reader/liquidation-log.js'
import { encodeLiquidations } from '../../../bus-schemas/liquidations.js'
import { liquidationsStream, liquidationsSubject } from '../../../bus-schemas/subjects.js'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { silentLog } from '../../support/intake-stage.js'
import { aLiquidation } from '../../support/liquidations.js'

describe('the stream of liquidations', () => {
  it('is written on although the bus does not answer for a moment when it is trimmed, or read after another reader', async () => {
    const bus = createMemoryBus()
    const gone = () => Promise.reject(new BusUnavailable('a moment'))
    let isAway = false
    let trims = 0
    const read: MemoryBus['read'] = (...args) => (isAway ? gone() : bus.read(...args))
    const trim = () => ((trims += 1), gone())
    const log = await openLiquidationLog({ ...bus, read, trim }, silentLog)
    const others = { takenBack: [], added: [aLiquidation({ block: 8 })] }
    await bus.append(liquidationsSubject, encodeLiquidations(others))
    const news = { takenBack: [], added: [aLiquidation({ block: 9 })] }
    isAway = true
    expect(await log.publish(news)).to.equal(false)
    expect(await log.publish(news)).to.equal(false)
    isAway = false
    expect(await log.publish(news)).to.equal(false)
    expect(log.held.since(0n)).to.deep.equal(others.added)
    expect(await log.publish(news)).to.equal(true)
    while (trims === 0) expect(await log.publish(news)).to.equal(true)
    expect((await bus.streamState(liquidationsStream)).firstSeq).to.equal(1)
  })
})
