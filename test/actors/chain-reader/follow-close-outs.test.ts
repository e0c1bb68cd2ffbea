import { expect } from 'chai'
import {
  createCloseOutFollower,
  LOOK_BACK,
  READ_AGAIN,
  type CloseOutFollower,
} from '../../../actors/chain-reader/follow-close-outs.js'
import { openFacts } from '../../../actors/chain-reader/publish-facts.js'
import { MAX_CLOSE_OUTS } from '../../../bus-schemas/commands.js'
import { commandsStream, commandsSubjects } from '../../../bus-schemas/subjects.js'
import type { CloseOutSpan } from '../../../chain/contracts/read-close-outs.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { MAX_LOG_BLOCKS } from '../../../chain/reads/logs.js'
import type { Hex } from '../../../core/action.js'
import type { CloseOut } from '../../../core/model/close-out.js'
import { createNumbering } from '../../../core/model/command.js'
import type { MarketFacts } from '../../../core/model/observation.js'
import { priceE18 } from '../../../core/money.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { decodeCommands } from '../../support/spot-log.js'

const [TRADING, SETTLED] = [{}, { settled: true }] as readonly MarketFacts[]
const closeOut = (subaccountId: bigint, blockNumber: bigint, variation = 5n): CloseOut => ({
  subaccountId,
  owner: `0x${'0a'.repeat(20)}`,
  position: 7n,
  price: priceE18(1_500n),
  variation,
  txHash: `0x${'11'.repeat(32)}`,
  blockNumber,
  blockTimeSec: 9,
})

describe('following close-outs', () => {
  let follower: CloseOutFollower
  let onChain: CloseOut[]
  let isAnyLeft: boolean
  let answers: boolean
  let spans: [first: bigint, last: bigint][]
  let told: [account: bigint, variation: bigint][]

  const read = ({ first, last }: CloseOutSpan) => {
    if (!answers) return Promise.reject(new ChainUnreachable('no answer'))
    spans.push([first, last])
    const closed = onChain.filter(({ blockNumber: at }) => at >= first && at <= last)
    return Promise.resolve({ closed, isAnyLeft })
  }
  beforeEach(() => {
    ;[onChain, isAnyLeft, answers, spans, told] = [[], true, true, [], []]
    follower = createCloseOutFollower({
      hasBegun: (seen) => seen === SETTLED,
      read,
      publish(closed) {
        for (const { subaccountId, variation } of closed) told.push([subaccountId, variation])
        return Promise.resolve()
      },
    })
  })
  const round = (seen: MarketFacts | undefined, number: bigint) =>
    follower.round(seen ?? {}, { number, hash: `0x${number}` as Hex, timestamp: 0n })

  it('reads nothing while the market trades, then what follows', async () => {
    await round(TRADING, 1_000n)
    onChain = [closeOut(1n, 1_001n), closeOut(2n, 1_003n)]
    await round(SETTLED, 1_002n)
    await round(SETTLED, 1_003n)
    await round(SETTLED, 1_003n)
    expect(told).to.deep.equal([
      [1n, 5n],
      [2n, 5n],
    ])
    expect(spans[0]).to.deep.equal([1_001n - READ_AGAIN, 1_002n])
  })

  it('looks back for a day when it finds the market settled, some blocks at a time', async () => {
    const head = 3n * LOOK_BACK
    const first = head - LOOK_BACK
    onChain = [closeOut(1n, first - 1n), closeOut(2n, first), closeOut(3n, head)]
    for (let rounds = 0; rounds < 150; rounds += 1) await round(SETTLED, head)
    expect(told.map(([id]) => id)).to.deep.equal([2n, 3n])
    expect(spans[0]).to.deep.equal([first, first + MAX_LOG_BLOCKS - 1n])
    for (const [from, to] of spans) expect(to - from < MAX_LOG_BLOCKS).to.equal(true)
  })

  it('tells again what a reorganisation has changed, and nothing else', async () => {
    await round(TRADING, 10n)
    onChain = [closeOut(1n, 11n), closeOut(2n, 11n)]
    await round(SETTLED, 11n)
    onChain = [closeOut(1n, 11n), closeOut(2n, 12n, 6n)]
    await round(SETTLED, 12n)
    expect(told).to.deep.equal([
      [1n, 5n],
      [2n, 5n],
      [2n, 6n],
    ])
  })

  it('goes on where the chain has not answered', async () => {
    await round(TRADING, 10n)
    onChain = [closeOut(1n, 11n)]
    answers = false
    const failure = await round(SETTLED, 11n).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(ChainUnreachable)
    answers = true
    await round(SETTLED, 900n)
    expect(told).to.deep.equal([[1n, 5n]])
  })

  it('ends once nothing has been open for some blocks, and not before', async () => {
    await round(TRADING, 10n)
    isAnyLeft = false
    await round(SETTLED, 11n)
    // A reorganisation has opened it again.
    isAnyLeft = true
    await round(SETTLED, 12n)
    isAnyLeft = false
    await round(SETTLED, 13n)
    onChain = [closeOut(1n, 14n)]
    await round(SETTLED, 13n + READ_AGAIN)
    expect(told).to.deep.equal([[1n, 5n]])
    const before = spans.length
    await round(SETTLED, 14n + READ_AGAIN)
    expect(spans.length).to.equal(before)
  })

  it('writes many in commands of some, which the log takes from the chain reader', async () => {
    const bus = createMemoryBus()
    const market = 'USDC-cNGN-30NOV26'
    await bus.declareStream({
      stream: commandsStream(market),
      subject: commandsSubjects(market),
      description: 'a log',
    })
    const facts = await openFacts({
      bus,
      market,
      contractType: 'spot',
      numbers: createNumbering(1),
      nowMs: () => 1,
      signal: new AbortController().signal,
      onUnknown: () => undefined,
    })
    const count = MAX_CLOSE_OUTS + 1
    const closed = Array.from({ length: count }, (_, i) => closeOut(BigInt(i), 1n))
    await facts.closed(closed)
    const messages = await bus.read(commandsStream(market), 2, 100)
    const commands = messages.flatMap(({ data }) => decodeCommands(data))
    const kinds = commands.map(({ command }) =>
      command.kind === 'PositionsClosed' ? command.closed : [],
    )
    expect(kinds.map(({ length }) => length)).to.deep.equal([MAX_CLOSE_OUTS, 1])
    expect(kinds.flat()).to.deep.equal(closed)
    await bus.close()
  })
})
