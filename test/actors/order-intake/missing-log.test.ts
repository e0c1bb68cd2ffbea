import { expect } from 'chai'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import {
  askPing,
  commandsStream,
  commandsSubject,
  feedStream,
  feedSubject,
} from '../../../bus-schemas/subjects.js'
import { startChainReader } from '../../../actors/chain-reader/start.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { OPEN } from '../../../core/model/market.js'
import { claimOf } from '../../../data/recent-claims.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket, anOrder, signedOrderBody } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, silentLog } from '../../support/intake-stage.js'
import { fakeChain } from '../chain-reader/fake-chain.js'

const good = aMarket()
const lost = aMarket({ market: 'LOST', ordinal: 7, aliases: [], subId: 7n })
const WHY = /LOST.* is empty, but .*LOST.* ends at 1: restore the log/

describe('a market whose log is missing', () => {
  let bus: MemoryBus
  beforeEach(async () => {
    bus = createMemoryBus()
    const subject = feedSubject('LOST')
    await bus.declareStream({ stream: feedStream('LOST'), subject, description: 'Feed' })
    const block = { market: 'LOST', commandSeq: 1, commandIndex: 0, firstSeq: 1, changes: [] }
    const terms = { ...openingOf(lost), standing: OPEN }
    await bus.append(subject, encodeBlock({ ...block, terms }))
  })
  const resting = anOrder({ market: 'LOST', orderId: 'resting', nonce: 5n })
  const restore = async () => {
    await restoreOpening()
    await restoreOrder()
  }
  const { encode } = commandMessages(lost)
  const restoreOpening = () => {
    const open = { kind: 'MarketOpened', opening: openingOf(lost) } as const
    const opened = { source: 'market-file', sourceNo: 1, atMs: 1, command: open } as const
    return bus.append(commandsSubject('LOST'), encode([opened]))
  }
  const restoreOrder = () => {
    const place = { kind: 'PlaceOrder', order: resting } as const
    const placed = { source: 'intake', sourceNo: 1, atMs: 1, command: place } as const
    return bus.append(commandsSubject('LOST'), encode([placed]))
  }
  const standing = async (name: string) =>
    decodePingAnswer(await bus.ask(askPing(name), new Uint8Array(), 500))

  it('is stopped by order intake alone, which names it and takes orders of the others (OPE-010)', async () => {
    const stage = anIntakeStage()
    const { owner } = resting
    const known = { streamSeq: 2, lastNo: 1 }
    stage.registry().fold('LOST', [claimOf(lost, resting)], known)
    const intake = await stage.start(bus, { markets: [lost, good] })
    const matcher = await startFakeMatcher(bus, good.market)
    const { ready, detail } = await standing('order-intake')
    expect(ready).to.equal(false)
    expect(detail).to.match(WHY)
    const refused = await ask(bus, 'place', await signedOrderBody({ market: lost }))
    if (refused.kind !== 'refused') throw new Error('expected a refusal')
    expect(refused.refusal.code).to.equal('trading_paused')
    const cancel = { owner_address: owner, nonce: '5' }
    const kept = await ask(bus, 'cancel', cancel)
    if (kept.kind !== 'refused') throw new Error('expected a refusal')
    expect(kept.refusal).to.include({ status: 400, code: 'trading_paused' })
    expect(kept.refusal.extra?.message)
      .to.match(/^nothing was cancelled: /)
      .and.match(WHY)
    expect((await ask(bus, 'place', await signedOrderBody({ market: good }))).kind).to.equal(
      'order',
    )

    const again = await startFakeMatcher(bus, 'LOST')
    await restore()
    await eventually(async () => (await standing('order-intake')).ready)
    expect((await ask(bus, 'cancel', cancel)).kind).to.equal('order')
    expect(again.taken.map(({ command }) => command.kind)).to.include.members([
      ...['PlaceOrder', 'CancelOrder'],
    ])
    await intake.stop()
    for (const each of [matcher, again]) await each.stop()
    stage.close()
  })

  it('is stopped alone where its log is rolled back, until that is restored', async () => {
    const subject = commandsSubject('LOST')
    await bus.declareStream({ stream: commandsStream('LOST'), subject, description: 'Log' })
    await restoreOpening()
    const stage = anIntakeStage()
    stage.registry().fold('LOST', [claimOf(lost, resting)], { streamSeq: 2, lastNo: 1 })
    const intake = await stage.start(bus, { markets: [lost, good] })
    const matchers = [
      await startFakeMatcher(bus, good.market),
      await startFakeMatcher(bus, 'LOST', commandMessages(lost).decode),
    ]
    expect((await standing('order-intake')).detail).to.match(/LOST ends at 1, .* rolled back/)
    const body = await signedOrderBody({ market: good })
    expect((await ask(bus, 'place', body)).kind).to.equal('order')
    await restoreOrder()
    await eventually(async () => (await standing('order-intake')).ready)
    const cancel = { owner_address: resting.owner, nonce: '5' }
    expect((await ask(bus, 'cancel', cancel)).kind).to.equal('order')
    await intake.stop()
    for (const each of matchers) await each.stop()
    stage.close()
  })

  it('is stopped by the chain reader alone, which names it and follows the others', async () => {
    const fatal: unknown[] = []
    const chain = fakeChain()
    const reader = await startChainReader({
      bus,
      chain,
      markets: [lost, good],
      nowMs: Date.now,
      log: silentLog,
      pollMs: 5,
      observe: () => Promise.reject(new Error('no account is live')),
      onFatal: (error) => fatal.push(error),
    })
    await eventually(async () => expect((await standing('chain-reader')).detail).to.match(WHY))
    expect((await standing('chain-reader')).ready).to.equal(false)
    // It is opened, and the term of the chain reader begins in it.
    expect((await bus.streamState(commandsStream(good.market))).lastSeq).to.equal(2)
    await restore()
    await eventually(async () => (await standing('chain-reader')).ready)
    expect(fatal).to.deep.equal([])
    await reader.stop()
  })
})
