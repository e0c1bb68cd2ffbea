import { expect } from 'chai'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import { openFeedTrail } from '../../../actors/matcher/reversals.js'
import type { AskReversals } from '../../../actors/matcher/settings.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { feedStream } from '../../../bus-schemas/subjects.js'
import { priceE18 } from '../../../core/money.js'
import { BusUnavailable, MessagesGone, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { eventually } from '../../support/eventually.js'
import { appendCommands, changesOf, placeOrder, stageMarket, startOn } from './stage.js'

const { market } = stageMarket
const LOST = { kind: 'reverted', revert: 'TM_X' } as const

describe('a matcher that reads reversals', () => {
  let bus: MemoryBus
  let unread: [why: string, asked: number][]
  let asked: number
  const running: { stop(): Promise<void> }[] = []
  beforeEach(() => {
    bus = createMemoryBus()
    unread = []
    asked = 0
  })
  afterEach(async () => {
    for (const matcher of running.splice(0)) await matcher.stop()
  })

  async function start(ask: AskReversals, on: Bus = bus) {
    const started = await startOn(on, {
      ask: () => Promise.resolve({ kind: 'success', txHash: '0xab', blockNumber: 7n }),
      facts: {
        ...observeMatcher(createLog('matcher', 'silent')),
        reversalsUnread: (why) => unread.push([why, asked]),
      },
      reversals: {
        everyMs: 1,
        ask: (...given) => {
          asked += 1
          return ask(...given)
        },
      },
    })
    running.push(started.matcher)
    return started
  }
  /** Its match is proposed by the change that follows `before` ones and the maker's placement. */
  async function trade(before = 0): Promise<void> {
    await appendCommands(bus, [placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n })])
    await appendCommands(bus, [placeOrder({ orderId: 't', side: 'buy' })])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(before + 5))
  }

  it('says that none can be read when that lasts, at its start not before seven questions', async () => {
    const { fatal } = await start(() => Promise.resolve(asked === 9 ? [] : `no answer ${asked}`))
    await eventually(() => unread.length >= 4)
    // Two failures at the start, then one after each success.
    expect(unread.slice(0, 4)).to.deep.equal(
      [7, 8, 11, 12].map((question) => [`no answer ${question}`, question]),
    )
    expect(fatal).to.deep.equal([])
  })

  for (const [name, failure] of [
    ['the bus does not answer', new BusUnavailable('no bus')],
    ['the feed was trimmed', new MessagesGone('gone')],
  ] as const) {
    it(`says so while ${name}, and applies them later`, async () => {
      let isReadable = false
      const read: Bus['read'] = (stream, ...rest) =>
        isReadable || stream !== feedStream(market)
          ? bus.read(stream, ...rest)
          : Promise.reject(failure)
      const settlementId = `${market}:2`
      let isTurned = false
      const { fatal } = await start(
        (after) =>
          Promise.resolve(!isTurned || after > 0 ? [] : [{ no: 1, settlementId, now: LOST }]),
        { ...bus, read },
      )
      await trade()
      isTurned = true
      await eventually(() => unread.length > 0)
      expect(unread[0]?.[0]).to.equal(failure.message)
      isReadable = true
      await eventually(async () => {
        const kinds = (await changesOf(bus)).map(({ kind }) => kind)
        expect(kinds.filter((kind) => kind === 'FillReversed')).to.have.length(2)
      })
      expect(fatal).to.deep.equal([])
    })
  }

  it('stops on any other failure', async () => {
    const defect = new Error('defect')
    const { fatal } = await start(() => Promise.reject(defect))
    await eventually(() => expect(fatal).to.deep.equal([defect]))
  })

  it('takes no failure for one that its own stop causes', async () => {
    let isAsked = false
    const { matcher, fatal } = await start(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          isAsked = true
          signal.addEventListener('abort', () => reject(new Error('broken off')))
        }),
    )
    await eventually(() => isAsked)
    await matcher.stop()
    expect(fatal).to.deep.equal([])
  })

  it('reads of the feed no block before the match, and all behind it', async () => {
    await start(() => Promise.resolve([]))
    const orders = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) =>
        placeOrder({ orderId: `o${from + n}`, side: 'buy', limitPrice: priceE18(1n) }),
      )
    for (const order of orders(0, 40)) await appendCommands(bus, [order])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(40))
    await trade(40)
    for (const order of orders(40, 140)) await appendCommands(bus, [order])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(145))

    const { lastSeq } = await bus.streamState(feedStream(market))
    const messages = await bus.read(feedStream(market), 1, lastSeq)
    const proposing = messages.find(({ data }) =>
      decodeBlock(data).changes.some(({ kind }) => kind === 'OrderMatched'),
    )
    const reads: [fromSeq: number, limit: number][] = []
    const read: Bus['read'] = (stream, fromSeq, limit) => {
      reads.push([fromSeq, limit])
      return bus.read(stream, fromSeq, limit)
    }
    const settlementId = `${market}:42`
    const trail = await openFeedTrail({ ...bus, read }, market, {
      settlementIds: [settlementId],
      fromSeq: 42,
    })
    // Found by halving.
    expect(reads.length).to.be.lessThan(10)
    reads.splice(0)
    await trail.readUpTo(lastSeq - 10)
    const [from = 0, page] = reads[0] ?? []
    expect([from, page]).to.deep.equal([proposing?.seq, 64])
    expect(reads.slice(1)).to.deep.equal([[from + 64, lastSeq - 10 - from - 64 + 1]])
    expect(trail.reversalOf(settlementId, 1, LOST)).to.deep.nested.include({
      'match.settlementId': settlementId,
      'now.published.txHash': '0xab',
    })
    reads.splice(0)
    await trail.readUpTo(lastSeq - 10)
    expect(reads).to.deep.equal([])
    await trail.readUpTo(lastSeq)
    expect(reads).to.deep.equal([[lastSeq - 9, 10]])
    reads.splice(0)
    await trail.readBack()
    expect(reads).to.deep.equal([[1, from - 1]])
  })
})
