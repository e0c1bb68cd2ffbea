import { expect } from 'chai'
import { projectPrices } from '../../../actors/projector/project-prices.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../../../bus-schemas/subjects.js'
import type { Address } from '../../../core/action.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import type { CloseOut } from '../../../core/model/close-out.js'
import type { Command } from '../../../core/model/command.js'
import { E18, priceE18 } from '../../../core/money.js'
import { createWriteCloseOuts } from '../../../data/history/close-outs.js'
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
      stream: commandsStream(name),
      subject: commandsSubjects(name),
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
      bus,
      writer: createPriceWriter(history.db),
      market: perp,
      writeCloseOuts: createWriteCloseOuts(history.db),
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
      blockNumber: 1n,
      blockTimeSec,
      readAtMs: blockTimeSec * 1000,
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

  it('takes what the chain has closed, each account once, in its last form (FUT-052)', async () => {
    const owner: Address = `0x${'0a'.repeat(20)}`
    const closeOut = (subaccountId: bigint, different: Partial<CloseOut> = {}): CloseOut => ({
      subaccountId,
      owner,
      position: -(3n * E18),
      price: priceE18(e18('1500')),
      variation: e18('-7.5'),
      txHash: `0x${'1'.repeat(64)}`,
      blockNumber: 9n,
      blockTimeSec: START,
      ...different,
    })
    const close = (...closed: readonly CloseOut[]) => log({ kind: 'PositionsClosed', closed })
    const seen = () =>
      reads.closeOuts(owner, { limit: 10 }).map((one) => [one.subaccountId, one.variation])
    await close(closeOut(1n), closeOut(2n, { blockTimeSec: START + 2 }))
    await start()
    await eventually(() => expect(seen()).to.deep.equal([2n, 1n].map((id) => [id, e18('-7.5')])))
    const [newest] = reads.closeOuts(owner, { limit: 1 })
    expect(newest).to.deep.include({
      market: name,
      subaccountId: 2n,
      size: -(3n * E18),
      price: e18('1500'),
      blockNumber: 9,
      atMs: (START + 2) * 1_000,
      txHash: `0x${'1'.repeat(64)}`,
    })
    // The chain has another block in the place of that one; and the log is read again after a restart.
    await close(closeOut(2n, { variation: e18('-8'), blockTimeSec: START + 1 }))
    await close(closeOut(3n, { owner: `0x${'0b'.repeat(20)}` }))
    await running?.stop()
    await start()
    const expected = [
      [2n, e18('-8')],
      [1n, e18('-7.5')],
    ]
    await eventually(() => expect(seen()).to.deep.equal(expected))
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
      bus: { ...bus, follow },
      writer: createPriceWriter(history.db),
      market: aMarket(),
      writeCloseOuts: createWriteCloseOuts(history.db),
      onFatal: (error) => failures.push(error),
    })
    await spot.stop()
  })
})
