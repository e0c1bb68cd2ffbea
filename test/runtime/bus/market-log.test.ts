import { expect } from 'chai'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsStream, commandsSubject } from '../../../bus-schemas/subjects.js'
import type { Command } from '../../../core/model/command.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { joinMarketLog, openMarketLog, readOpening } from '../../../runtime/bus/market-log.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { rejectionOf } from './probes.js'

const market = aMarket()
const NAME = market.market
const stream = commandsStream(NAME)
/** The row after an edit of what never changes, and of a rule. */
const edited = { ...aPerp(), market: NAME, ordinal: 9, takerFeeBps: 31 }
const options = { writer: 'matcher', nowMs: () => 1, onRaised: () => undefined } as const

describe('the log of a market', () => {
  let bus: MemoryBus
  beforeEach(() => (bus = createMemoryBus()))
  const write = (command: Command) => {
    const { encode } = commandMessages(market)
    return bus.append(
      commandsSubject(NAME),
      encode([{ source: 'matcher', sourceNo: 1, atMs: 1, command }]),
    )
  }

  it('is opened once, as the row of the first process states it', async () => {
    await openMarketLog(bus, market, options)
    await openMarketLog(bus, edited, options)
    expect((await bus.streamState(stream)).lastSeq).to.equal(1)
    expect(await readOpening(bus, market)).to.deep.equal(openingOf(market))
  })

  it('gives a process that joins it the row with what the log has fixed, and leaves its rules', async () => {
    expect(await joinMarketLog(bus, market, options)).to.deep.equal(market)
    const joined = await joinMarketLog(bus, edited, options)
    expect(joined).to.deep.equal({ ...edited, ...openingOf(market).identity })
    expect(joined).to.include({ ordinal: market.ordinal, takerFeeBps: 31 })
  })

  it('says nothing of the market once its beginning is trimmed', async () => {
    await openMarketLog(bus, market, options)
    await write({ kind: 'Tick' })
    await bus.trim(stream, 2)
    expect(await readOpening(bus, market)).to.equal(undefined)
    expect(await joinMarketLog(bus, edited, options)).to.equal(edited)
  })

  it('is refused when it begins with anything else', async () => {
    await bus.declareStream({ stream, subject: commandsSubject(NAME), description: 'log' })
    await write({ kind: 'Tick' })
    const refused = await rejectionOf(readOpening(bus, market))
    expect((refused as Error).message).to.equal(
      `${stream} does not begin with MarketOpened: it belongs to an earlier release`,
    )
  })
})
