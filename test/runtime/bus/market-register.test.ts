import { expect } from 'chai'
import { registerStream, registerSubject } from '../../../bus-schemas/subjects.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import {
  marketsIn,
  openRegister,
  readRegister,
  type RegisteredMarket,
} from '../../../runtime/bus/market-register.js'
import { aMarket, aPerp, aFuture } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'
import { registerMarkets } from '../../support/registered.js'

const spot = aMarket()
const perp = aPerp()
const future = aFuture()
const fail = (error: unknown) => {
  throw error
}

describe('the register of markets', () => {
  let bus: MemoryBus
  beforeEach(() => (bus = createMemoryBus()))

  it('is empty where no market was registered', async () => {
    expect(await readRegister(bus)).to.deep.equal({ entries: new Map(), seq: 0 })
  })

  it('gives the markets as they were registered, of every kind', async () => {
    await registerMarkets(bus, [spot, perp])
    await registerMarkets(bus, [future])
    const register = await readRegister(bus)
    expect(register.seq).to.equal(2)
    expect(marketsIn(register)).to.deep.equal([spot, perp, future])
  })

  it('is waited for until a market is registered', async () => {
    let waiting = 0
    const log = { info: () => (waiting += 1) }
    const opening = openRegister({ bus, log, onError: fail })
    await eventually(() => waiting === 1)
    await registerMarkets(bus, [spot, perp])
    const register = await opening
    expect(register.markets).to.deep.equal([spot, perp])
    await register.stop()
  })

  it('tells of markets that are registered later and of other texts, one after the other', async () => {
    await registerMarkets(bus, [spot])
    const register = await openRegister({ bus, log: silentLog, onError: fail })
    expect(register.markets).to.deep.equal([spot])
    await registerMarkets(bus, [perp])
    const told: RegisteredMarket[] = []
    const running: string[] = []
    register.watch(async (registered) => {
      running.push(registered.market.market)
      expect(running).to.have.length(1)
      await new Promise((resolve) => setImmediate(resolve))
      running.pop()
      told.push(registered)
    })
    const changed = aMarket({ aliases: ['other'], takerFeeBps: 99 })
    await registerMarkets(bus, [future, changed])
    await eventually(() => told.length === 3)
    // The rules with which it opened are of its first registration.
    const texts = { ...changed, takerFeeBps: spot.takerFeeBps }
    expect(told).to.deep.equal([
      { market: perp, isNew: true, seq: 2 },
      { market: future, isNew: true, seq: 3 },
      { market: texts, isNew: false, seq: 3 },
    ])
    expect(marketsIn(register.now())).to.deep.equal([texts, perp, future])
    await register.stop()
  })

  it('stops while no one watches it and a market waits to be told of', async () => {
    await registerMarkets(bus, [spot])
    const register = await openRegister({ bus, log: silentLog, onError: fail })
    await registerMarkets(bus, [perp])
    await eventually(() => register.now().seq === 2)
    await register.stop()
  })

  it('says why it cannot be followed: a listener that fails, a message that is none', async () => {
    const errors: unknown[] = []
    const follow = () =>
      openRegister({ bus, log: silentLog, onError: (error) => errors.push(error) })
    await registerMarkets(bus, [spot])
    const first = await follow()
    const failure = new Error('not followed')
    first.watch(() => {
      throw failure
    })
    await registerMarkets(bus, [perp])
    await eventually(() => errors.length === 1)
    expect(errors).to.deep.equal([failure])
    await first.stop()
    const second = await follow()
    await bus.append(registerSubject, Buffer.from('{}'))
    await eventually(() => errors.length === 2)
    expect(String(errors[1])).to.match(/registration/)
    await second.stop()
    expect((await bus.streamState(registerStream)).lastSeq).to.equal(3)
  })
})
