import { expect } from 'chai'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import type { LoggedCommand } from '../../../core/model/command.js'
import type { MarketObservation } from '../../../core/model/observation.js'
import { priceE18 } from '../../../core/money.js'
import type { BookRecord } from '../../../interface/order.js'
import { anOrder, aPerp } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'
import { eventually } from '../../support/eventually.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { e18, perpetualFacts } from '../../support/perpetual.js'

const perp = aPerp()
const name = perp.market
const { encode } = commandMessages(perp)

const observation = (mark: string, readAtMs: number): MarketObservation => ({
  facts: hidePerpetual(perpetualFacts({ mark: priceE18(e18(mark)) })),
  blockNumber: 1n,
  blockTimeSec: Math.floor(readAtMs / 1_000),
  readAtMs,
})

describe("a perpetual's book on a socket", () => {
  let rig: FanOutRig
  let sourceNo = 0
  afterEach(() => rig.end())

  const open = async () => {
    rig = await startRig({ markets: [perp] })
    await rig.bus.declareStream({
      stream: commandsStream(name),
      subject: commandsSubjects(name),
      description: 'commands of a market',
    })
  }
  const log = async (command: LoggedCommand['command']) => {
    sourceNo += 1
    const logged = { source: 'chain-reader', sourceNo, atMs: 1_000, command }
    await rig.bus.append(commandsSubject(name), encode([logged]))
  }
  const observe = (mark: string, readAtMs: number) =>
    log({ kind: 'MarketObserved', observation: observation(mark, readAtMs) })
  const snapshot = async () => {
    const client = await rig.connect()
    client.send({ op: 'subscribe', channel: 'book', market: name })
    const { data } = await client.next(({ type }) => type === 'snapshot')
    return data as BookRecord
  }
  const perpOf = async () => (await snapshot()).market_presentation.perp

  it('shows the newest observation of its log, whenever that was made (PER-008)', async () => {
    await open()
    expect(await perpOf()).to.equal(undefined)
    await observe('0.0006', 5_000)
    await eventually(async () => expect(await perpOf()).to.include({ mark_price: '0.0006' }))
    await log({ kind: 'Tick' })
    await observe('0.0007', 6_000)
    await eventually(async () =>
      expect(await perpOf()).to.include({ mark_price: '0.0007', updated_at: 6 }),
    )
    expect(rig.failures).to.deep.equal([])
  })

  it('shows after a restart what was observed before it', async () => {
    await open()
    for (const mark of ['0.0006', '0.0008']) await observe(mark, 5_000)
    for (let ticks = 0; ticks < 100; ticks += 1) await log({ kind: 'Tick' })
    await rig.restart()
    await eventually(async () => expect(await perpOf()).to.include({ mark_price: '0.0008' }))
  })

  it('takes its orders from one fold and the market from the newest observation', async () => {
    await open()
    await observe('0.0006', 5_000)
    const order = anOrder()
    const placed = aChange(1, order, { kind: 'OrderPlaced', order, rank: 1 }, { open: 5n })
    await rig.publish([placed], 1, name)
    await eventually(async () => expect((await snapshot()).bids.length).to.equal(1))
    const before = await snapshot()
    await observe('0.0007', 6_000)
    await eventually(async () => expect(await perpOf()).to.include({ mark_price: '0.0007' }))
    const after = await snapshot()
    expect(after.bids).to.deep.equal(before.bids)
  })
})
