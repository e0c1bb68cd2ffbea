import { expect } from 'chai'
import { projectPrices } from '../../../actors/projector/project-prices.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import type { Command } from '../../../core/engine/command.js'
import { priceE18 } from '../../../core/money.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { createPriceWriter } from '../../../data/history/write-prices.js'
import type { Subscription } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { openHistory, type TestHistory } from '../../support/history.js'
import { e18, perpetualFacts } from '../../support/perpetual.js'

const perp = aPerp()
const name = perp.market
const START = 1_790_002_800
const { encode } = commandMessages(perp)

describe('projecting prices', () => {
  let bus: MemoryBus
  let history: TestHistory
  let reads: ReadModel
  let running: Subscription | undefined
  let sourceNo = 0
  const failures: unknown[] = []

  beforeEach(async () => {
    bus = createMemoryBus()
    history = openHistory([perp])
    reads = openReadModel(history.path)
    await bus.declareStream({
      ...{ stream: commandsStream(name), subject: commandsSubjects(name) },
      description: 'commands of a market',
    })
  })
  afterEach(async () => {
    await running?.stop()
    await bus.close()
    reads.close()
    history.remove()
    expect(failures).to.deep.equal([])
  })

  const start = async () => {
    running = await projectPrices({
      ...{ bus, writer: createPriceWriter(history.db), market: perp },
      onFatal: (error) => failures.push(error),
    })
  }
  const log = async (command: Command) => {
    sourceNo += 1
    const logged = { source: 'chain-reader', sourceNo, atMs: 1_000, command }
    await bus.append(commandsSubject(name), encode([logged]))
  }
  const observe = (minute: number) => {
    const blockTimeSec = START + minute * 60
    const facts = perpetualFacts({ mark: priceE18(e18(`0.${minute + 1}`)) })
    const observation = {
      facts: hidePerpetual(facts),
      ...{ blockNumber: 1n, blockTimeSec, readAtMs: blockTimeSec * 1000 },
    }
    return log({ kind: 'MarketObserved', observation })
  }
  const minutes = () =>
    reads.marks(name, { limit: 100 }).map(({ startSec }) => (startSec - START) / 60)

  it('takes what the log says of the market, and goes on there after a restart', async () => {
    await observe(0)
    await log({ kind: 'Tick' })
    await start()
    await observe(1)
    await eventually(() => expect(minutes()).to.deep.equal([1, 0]))
    await running?.stop()
    await observe(2)
    await start()
    await eventually(() => expect(minutes()).to.deep.equal([2, 1, 0]))
  })

  it('goes on at the oldest message where the log was trimmed', async () => {
    await observe(0)
    await start()
    await eventually(() => expect(minutes()).to.deep.equal([0]))
    await running?.stop()
    for (const minute of [1, 2, 3]) await observe(minute)
    await bus.trim(commandsStream(name), 4)
    await start()
    await eventually(() => expect(minutes()).to.deep.equal([3, 0]))
  })

  it('follows nothing where the contract has no prices', async () => {
    const follow = () => Promise.reject(new Error('followed'))
    const spot = await projectPrices({
      ...{ bus: { ...bus, follow }, writer: createPriceWriter(history.db), market: aMarket() },
      onFatal: (error) => failures.push(error),
    })
    await spot.stop()
  })
})
