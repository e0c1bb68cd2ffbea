import { expect } from 'chai'
import {
  startChainReader,
  type ChainReader,
  type ChainReaderOptions,
} from '../../../actors/chain-reader/start.js'
import type { Matcher } from '../../../actors/matcher/matcher.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { feedStream } from '../../../bus-schemas/subjects.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'
import { matcherOrder } from '../../support/matching.js'
import { appendCommands, stageMarket, startOn } from '../matcher/stage.js'
import { fakeChain } from './fake-chain.js'

const HOUR_MS = 3_600_000

describe('a venue whose clock is off the newest block', function () {
  let aheadMs = 0
  const nowMs = (): number => Date.now() + aheadMs
  const chain = fakeChain()
  let bus: MemoryBus
  let matcher: Matcher
  let reader: ChainReader
  let mining: NodeJS.Timeout
  const fatal: unknown[] = []

  before(async () => {
    // The clocks of the bus and of all processes are one, as on one machine.
    bus = createMemoryBus({ nowMs })
    ;({ matcher } = await startOn(bus, { nowMs, tickMs: 20 }))
    const source = {
      ...chain,
      readHead: async () => {
        const head = await chain.readHead()
        return { ...head, timestamp: BigInt(Math.floor(Date.now() / 1_000)) }
      },
    }
    chain.mine({ 1: 10n ** 30n })
    const observe: ChainReaderOptions['observe'] = (_, id, head) =>
      chain.observe(id, { ...head, parentHash: '0x' })
    reader = await startChainReader({
      bus,
      markets: [stageMarket],
      chain: source,
      observe,
      nowMs,
      log: silentLog,
      pollMs: 10,
      onFatal: (error) => fatal.push(error),
    })
    mining = setInterval(() => chain.mine(), 20)
  })
  after(async () => {
    clearInterval(mining)
    await reader.stop()
    await matcher.stop()
    await bus.close()
  })

  const blocks = async () =>
    (await bus.read(feedStream(stageMarket.market), 1, 10_000)).map(({ data }) => decodeBlock(data))
  const standing = async () =>
    (await blocks()).flatMap(({ terms }) => (terms === undefined ? [] : [terms.standing])).at(-1)
  const kinds = async () =>
    (await blocks()).flatMap(({ changes }) => changes.map(({ kind }) => kind))

  it('holds the market, expires nothing, says so, and goes on by itself', async () => {
    await eventually(() => reader.clockAheadMs() !== undefined)
    const goodUntilSec = Math.floor(Date.now() / 1_000) + 600
    const order = matcherOrder({ orderId: 'ask', side: 'sell', goodUntilSec })
    await appendCommands(bus, [{ kind: 'PlaceOrder', order }])
    await eventually(async () => expect(await kinds()).to.deep.equal(['OrderPlaced']))

    for (const off of [HOUR_MS, -HOUR_MS]) {
      aheadMs = off
      await eventually(async () =>
        expect(await standing()).to.deep.equal({ status: 'held', reason: 'clock_skew' }),
      )
      const { ready, detail } = reader.standing()
      expect(ready).to.equal(false)
      expect(detail).to.match(
        off > 0 ? /3\d{3} s ahead of .*clock_skew/ : /3\d{3} s behind .*clock_skew/,
      )
      aheadMs = 0
      await eventually(async () => expect(await standing()).to.deep.equal({ status: 'open' }))
      await eventually(() => reader.standing().ready)
    }
    expect(await kinds()).to.deep.equal(['OrderPlaced'])
    expect(fatal).to.deep.equal([])
  })
})
