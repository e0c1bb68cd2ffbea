import { expect } from 'chai'
import {
  createLiquidationFollower,
  type LiquidationFollower,
} from '../../../actors/chain-reader/follow-liquidations.js'
import { LOOK_BACK, READ_AGAIN } from '../../../actors/chain-reader/follow-close-outs.js'
import { openLiquidationLog } from '../../../actors/chain-reader/liquidation-log.js'
import {
  decodeLiquidations,
  encodeLiquidations,
  MAX_LIQUIDATIONS,
} from '../../../bus-schemas/liquidations.js'
import { liquidationsStream, liquidationsSubject } from '../../../bus-schemas/subjects.js'
import type { SeenMarket } from '../../../chain/contracts/read-liquidations.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { MAX_LOG_BLOCKS } from '../../../chain/reads/logs.js'
import type { Liquidation } from '../../../core/contracts/liquidation.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aFuture, aPerp } from '../../support/builders.js'
import { silentLog } from '../../support/intake-stage.js'
import { aLiquidation } from '../../support/liquidations.js'

const PERP: SeenMarket = { market: aPerp(), seen: {} }
const FUTURE: SeenMarket = { market: aFuture(), seen: {} }

describe('the liquidations that the chain reader tells', () => {
  let bus: MemoryBus
  let follower: LiquidationFollower
  /** What the chain holds now. */
  let onChain: Liquidation[]
  let spans: (readonly [bigint, bigint])[]
  let isDown: boolean
  /** Blocks of a read above which the node refuses it. */
  let mostBlocks: bigint

  beforeEach(async () => {
    bus = createMemoryBus()
    ;[onChain, spans, isDown, mostBlocks] = [[], [], false, MAX_LOG_BLOCKS]
    follower = await open()
  })

  const open = async (): Promise<LiquidationFollower> =>
    createLiquidationFollower(
      (markets, { first, last }) => {
        spans.push([first, last])
        if (last - first >= mostBlocks)
          return Promise.reject(new ChainUnreachable('too many events'))
        if (isDown) return Promise.reject(new ChainUnreachable('no answer'))
        const names = new Set(markets.map(({ market }) => market.market))
        return Promise.resolve(
          onChain.filter(
            (one) => names.has(one.market) && one.blockNumber >= first && one.blockNumber <= last,
          ),
        )
      },
      await openLiquidationLog(bus, silentLog),
    )
  const told = async () => {
    const messages = await bus.read(liquidationsStream, 1, 10_000)
    return messages.map(({ data }) => {
      const { added, takenBack } = decodeLiquidations(data)
      return [
        ...takenBack.map(({ blockHash }) => `-${Number(blockHash)}`),
        ...added.map(({ blockHash }) => `+${Number(blockHash)}`),
      ].join(' ')
    })
  }
  const round = (head: number, markets: readonly SeenMarket[] = [PERP]) =>
    follower.round(markets, BigInt(head))

  it('are each told once, though their blocks are read again, and those of blocks that are lost are taken back', async () => {
    onChain = [aLiquidation({ block: 100 }), aLiquidation({ block: 101 })]
    await round(101)
    await round(102)
    onChain.push(aLiquidation({ block: 103 }))
    await round(103)
    expect(await told()).to.deep.equal(['+100 +101', '+103'])
    expect(spans.at(-1)).to.deep.equal([103n - READ_AGAIN, 103n])
    // A reorganisation takes block 101 on: the event is in another one now, the last one is gone.
    onChain = [aLiquidation({ block: 100 }), aLiquidation({ block: 102 })]
    await round(104)
    expect(await told()).to.deep.equal(['+100 +101', '+103', '+102'])
    await round(105)
    expect(await told()).to.deep.equal(['+100 +101', '+103', '+102', '-101 -103'])
    await round(106)
    expect(await told()).to.have.length(4)
  })

  it('survive a chain that has become shorter', async () => {
    onChain = [aLiquidation({ block: 1_000 })]
    await round(1_000)
    onChain = []
    await round(500)
    await round(501)
    expect(await told()).to.deep.equal(['+1000', '-1000'])
    onChain = [aLiquidation({ block: 502 })]
    await round(502)
    expect(await told()).to.deep.equal(['+1000', '-1000', '+502'])
  })

  it('are not doubled by a reader that starts again, nor by two readers at once', async () => {
    onChain = [aLiquidation({ block: 1_000 })]
    await round(1_000)
    const other = follower
    follower = await open()
    spans = []
    await round(1_001)
    // From what was told last on.
    expect(spans[0]?.[0]).to.equal(1_000n - READ_AGAIN)
    onChain.push(aLiquidation({ block: 1_002 }))
    await round(1_002)
    await other.round([PERP], 1_002n)
    await other.round([PERP], 1_003n)
    onChain.push(aLiquidation({ block: 1_004 }))
    await other.round([PERP], 1_004n)
    await round(1_005)
    await round(1_006)
    expect(await told()).to.deep.equal(['+1000', '+1002', '+1004'])
  })

  it('are taken back when their block was lost while no reader ran, however long ago', async () => {
    onChain = [aLiquidation({ block: 1_000 })]
    await round(1_000)
    onChain = [aLiquidation({ block: 1_001 })]
    follower = await open()
    const later = 1_001 + Number(READ_AGAIN) + 3 * Number(MAX_LOG_BLOCKS)
    for (let i = 0; i < 4; i += 1) await round(later + i)
    expect(await told()).to.deep.equal(['+1000', '+1001', '-1000'])
    onChain.push(aLiquidation({ block: later + 4 }))
    await round(later + 4)
    expect((await told()).at(-1), 'and it goes on to the head').to.equal(`+${later + 4}`)
  })

  it('begin a day before the head where none was told, in runs that a node takes', async () => {
    onChain = [aLiquidation({ block: 60_000 })]
    for (let i = 0; i < 100 && (await told()).length === 0; i += 1) await round(100_000)
    expect(spans[0]?.[0]).to.equal(100_000n - LOOK_BACK - READ_AGAIN)
    for (const [first, last] of spans) expect(last - first < MAX_LOG_BLOCKS).to.equal(true)
    expect(await told()).to.deep.equal(['+60000'])
  })

  it('of a market that is followed later are read from the beginning', async () => {
    const ofFuture = aLiquidation({ block: 90, market: FUTURE.market.market, event: 'takeover' })
    onChain = [aLiquidation({ block: 100 }), ofFuture]
    await round(1_000)
    await round(1_001)
    expect(await told()).to.deep.equal(['+100'])
    await round(1_002, [PERP, FUTURE])
    await round(1_003, [PERP, FUTURE])
    expect(await told()).to.deep.equal(['+100', '+90'])
    // One that is not read for a while stays.
    await round(1_004)
    await round(1_005)
    expect(await told()).to.have.length(2)
  })

  it('are read in shorter parts where a node refuses long ones, and in long ones again after it', async () => {
    const untilTold = async (count: number, head: number): Promise<void> => {
      for (let i = 0; i < 100 && (await told()).length < count; i += 1) await round(head)
      expect(await told()).to.have.length(count)
    }
    onChain = [aLiquidation({ block: 1_000 })]
    await untilTold(1, 1_000)
    mostBlocks = 5n
    onChain.push(aLiquidation({ block: 1_010 }))
    await untilTold(2, 1_010)
    onChain.push(aLiquidation({ block: 1_500 }))
    await untilTold(3, 1_600)
    mostBlocks = 0n
    const refused = async (): Promise<unknown> => untilTold(4, 1_600).catch((e: unknown) => e)
    expect(await refused()).to.be.instanceOf(ChainUnreachable)
    mostBlocks = MAX_LOG_BLOCKS
    onChain.push(aLiquidation({ block: 9_000 }))
    await untilTold(4, 9_000)
    expect(
      spans.some(([first, last]) => first > 1_600n && last - first + 1n === MAX_LOG_BLOCKS),
    ).to.equal(true)
  })

  it('wait for the chain', async () => {
    isDown = true
    onChain = [aLiquidation({ block: 5 })]
    const failed = await round(5).then(
      () => 'read',
      (error: unknown) => error,
    )
    expect(failed).to.be.instanceOf(ChainUnreachable)
    isDown = false
    await round(6)
    expect(await told()).to.deep.equal(['+5'])
  })

  it('are told in several messages where one does not take them', async () => {
    const count = MAX_LIQUIDATIONS + 1
    onChain = Array.from({ length: count }, (_, i) => ({
      ...aLiquidation({ block: 10 }),
      logIndex: i,
    }))
    await round(10)
    const messages = await bus.read(liquidationsStream, 1, 10)
    const sizes = messages.map(({ data }) => decodeLiquidations(data).added.length)
    expect(sizes).to.deep.equal([MAX_LIQUIDATIONS, 1])
  })

  it('are compared anew after another reader has told of them meanwhile', async () => {
    onChain = [aLiquidation({ block: 7 })]
    const news = { takenBack: [], added: onChain }
    await bus.append(liquidationsSubject, encodeLiquidations(news))
    await round(7)
    await round(8)
    expect(await told()).to.deep.equal(['+7'])
  })
})
