import { expect } from 'chai'
import type { AskExecutor } from '../../../actors/matcher/ask-executor.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import type { ReportedReversal } from '../../../actors/matcher/settings.js'
import type { SettlementTruth } from '../../../core/engine/settlement-trail.js'
import type { Change } from '../../../core/model/change.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { eventually } from '../../support/eventually.js'
import {
  appendCommands,
  changesOf,
  placeOrder,
  stageMarket,
  startOn,
  type StartedMatcher,
} from './stage.js'

const { market: name } = stageMarket
const LOST: SettlementTruth = { kind: 'reverted', revert: 'WERC_CannotBeNegative' }
const MINED: SettlementTruth = { kind: 'success', txHash: '0xcd', blockNumber: 9n }

describe('matcher whose settlements are turned round', () => {
  let bus: MemoryBus
  let reported: ReportedReversal[]
  let asked: number[]
  let answer: Awaited<ReturnType<AskExecutor>>
  let started: StartedMatcher
  let told: string[]

  beforeEach(async () => {
    bus = createMemoryBus()
    reported = []
    asked = []
    told = []
    answer = { kind: 'success', txHash: '0xab', blockNumber: 7n }
    started = await start()
  })
  afterEach(async () => {
    await started.matcher.stop()
    expect(started.fatal).to.deep.equal([])
  })

  /** The executor tells what is above a number, two at a time. */
  const start = () =>
    startOn(bus, {
      ask: () => Promise.resolve(answer),
      facts: {
        ...observeMatcher(createLog('matcher', 'silent')),
        reversalWaits: (settlementId) => told.push(settlementId),
      },
      reversals: {
        everyMs: 20,
        ask: (after) => {
          asked.push(after)
          return Promise.resolve(reported.filter(({ no }) => no > after).slice(0, 2))
        },
      },
    })

  const tell = (no: number, settlementId: string, now: SettlementTruth): void => {
    reported.push({ no, settlementId, now })
  }
  const kinds = (changes: readonly Change[]): string[] => changes.map(({ kind }) => kind)

  /** A maker of 10 and a taker of 4, whose match is `cNGN-USDC:2`. */
  async function trade(): Promise<void> {
    await appendCommands(bus, [
      placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n, nonce: 1n }),
      placeOrder({ orderId: 't', side: 'buy', nonce: 2n, desiredAmount: 4n as never }),
    ])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(5))
  }
  const untilRead = (no: number) => eventually(() => expect(asked.at(-1)).to.equal(no))

  it('takes the fill back on its feed, once, also when it is started again', async () => {
    await trade()
    tell(1, `${name}:2`, LOST)
    await eventually(async () => expect(await changesOf(bus)).to.have.length(8))
    const [maker, taker, returned] = (await changesOf(bus)).slice(5)
    expect(maker).to.include({ kind: 'FillReversed', orderId: 'm', filled: 0n, status: 'active' })
    expect(taker).to.include({
      kind: 'FillReversed',
      orderId: 't',
      filled: 0n,
      status: 'cancelled',
      revert: 'WERC_CannotBeNegative',
      cancelReason: 'settlement_reversed',
    })
    expect(taker).to.have.nested.property('fill.tradeId', 65_536 + stageMarket.ordinal)
    expect(returned).to.include({ kind: 'OrderReleased', orderId: 'm' })
    await untilRead(1)
    await started.matcher.stop()
    asked = []
    started = await start()
    await untilRead(1)
    expect(asked).not.to.include(0)
    expect(await changesOf(bus)).to.have.length(8)
  })

  it('leaves alone what is told of another market, and what the feed says already', async () => {
    await trade()
    tell(1, 'cNGN-PERP:2', LOST)
    tell(2, `${name}:2`, MINED)
    tell(3, `${name}:2`, MINED)
    await untilRead(3)
    expect(await changesOf(bus)).to.have.length(5)
  })

  it('leaves alone what has no settlement’s id of this market', async () => {
    await trade()
    const ids = [`${name}:02`, `${name}:2x`, `${name}:`, `${name}2`, `x${name}:2`, `${name}:x2`]
    for (const [i, id] of ids.entries()) tell(i + 1, id, LOST)
    await untilRead(ids.length)
    expect(await changesOf(bus)).to.have.length(5)
  })

  it('waits for the outcome of a match that is pending, and goes on with others meanwhile', async () => {
    await trade()
    answer = { kind: 'undecided', why: 'no receipt' }
    await appendCommands(bus, [
      placeOrder({ orderId: 't2', side: 'buy', nonce: 3n, desiredAmount: 2n as never }),
    ])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(7))
    tell(1, `${name}:6`, LOST)
    tell(2, `${name}:2`, LOST)
    await eventually(async () => expect(kinds(await changesOf(bus))).to.include('FillReversed'))
    expect(asked.at(-1)).to.equal(0)
    answer = { kind: 'reverted', revert: 'WERC_CannotBeNegative', guilty: 'taker' }
    await untilRead(2)
    const changes = await changesOf(bus)
    expect(kinds(changes).filter((kind) => kind === 'FillReversed')).to.have.length(2)
    expect(kinds(changes).filter((kind) => kind === 'MatchReverted')).to.have.length(2)
  })

  it('tells once of a fill whose amount is taken, and applies it when that is free again', async () => {
    answer = { kind: 'reverted', revert: 'TM_X', guilty: 'taker' }
    await trade()
    answer = { kind: 'undecided', why: 'no receipt' }
    await appendCommands(bus, [
      placeOrder({ orderId: 't2', side: 'buy', subaccountId: 3n, nonce: 3n }),
    ])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(7))
    tell(1, `${name}:2`, MINED)
    const before = asked.length
    await eventually(() => asked.length > before + 5)
    expect(told).to.deep.equal([`${name}:2`])
    expect(asked.at(-1)).to.equal(0)
    answer = { kind: 'reverted', revert: 'TM_X', guilty: 'taker' }
    await untilRead(1)
    const filled = (await changesOf(bus)).filter(({ kind }) => kind === 'OrderFilled')
    expect(filled.map(({ orderId }) => orderId)).to.deep.equal(['m', 't'])
    expect(told).to.have.length(1)
  })

  it('fills what had reverted and was carried out after all, as soon as the amount is free', async () => {
    answer = { kind: 'reverted', revert: 'TM_X', guilty: 'taker' }
    await trade()
    expect(kinds(await changesOf(bus)).slice(3)).to.deep.equal(['MatchReverted', 'MatchReverted'])
    tell(1, `${name}:2`, MINED)
    await eventually(async () => expect(await changesOf(bus)).to.have.length(7))
    const [maker, taker] = (await changesOf(bus)).slice(5)
    expect(maker).to.include({ kind: 'OrderFilled', orderId: 'm', filled: 4n, status: 'active' })
    expect(taker).to.include({ kind: 'OrderFilled', orderId: 't', filled: 4n, status: 'filled' })
    await untilRead(1)
  })

  it('fills late an order that was reduced before its match and has ended since (CAN-038)', async () => {
    answer = { kind: 'reverted', revert: 'TM_X', guilty: 'taker' }
    const placed = placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n, nonce: 1n })
    if (placed.kind !== 'PlaceOrder') throw new Error('no placement')
    const { owner, nonce } = placed.order
    const four = { side: 'buy', desiredAmount: 4n as never } as const
    await appendCommands(bus, [placed])
    await appendCommands(bus, [
      { kind: 'ReduceOrder', owner, nonce, desired: 4n as never, reason: 'user' },
    ])
    await appendCommands(bus, [placeOrder({ orderId: 't', nonce: 2n, ...four })])
    await eventually(async () => expect(kinds(await changesOf(bus))).to.include('MatchReverted'))
    const id = (await changesOf(bus)).flatMap((it) =>
      it.kind === 'OrderMatched' ? [it.match.settlementId] : [],
    )[0]
    answer = { kind: 'success', txHash: '0xab', blockNumber: 8n }
    await appendCommands(bus, [placeOrder({ orderId: 't2', subaccountId: 3n, nonce: 3n, ...four })])
    const last = async () => (await changesOf(bus)).findLast(({ orderId }) => orderId === 'm')
    await eventually(async () => expect(await last()).to.include({ status: 'filled', filled: 4n }))
    tell(1, id ?? '', MINED)
    await untilRead(1)
    expect(await last()).to.include({ kind: 'OrderFilled', filled: 8n, desired: 8n, open: 0n })
    expect(told).to.deep.equal([])
  })
})
