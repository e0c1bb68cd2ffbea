import { expect } from 'chai'
import { startChainReader } from '../../../actors/chain-reader/start.js'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import {
  commandsStream,
  commandsSubject,
  commandsSubjects,
  feedStream,
  feedSubject,
} from '../../../bus-schemas/subjects.js'
import { balanceFacts } from '../../../core/contracts/balances.js'
import type { LoggedCommand } from '../../../core/model/command.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { OPEN, type Market } from '../../../core/model/market.js'
import { amountE18, quoteE18 } from '../../../core/money.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket, anOrder, aPerp } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'
import { fakeChain } from './fake-chain.js'

const NAME = 'EDITED'
const logged = aMarket({ market: NAME, ordinal: 7, aliases: [], subId: 7n })
/** The entry of the register, with what never changes changed. */
const edited: Market = { ...aPerp(), market: NAME, ordinal: 7, aliases: [], subId: 7n }
const resting = anOrder({ market: NAME, orderId: 'resting', nonce: 5n })
const account = {
  facts: balanceFacts({ base: amountE18(10n), quote: quoteE18(10n) }),
  subaccountId: 7n,
  leaving: false,
  blockNumber: 9n,
  blockTimeSec: 10,
}

describe('a market that is registered with another contract type than its log has', () => {
  let bus: MemoryBus
  beforeEach(async () => {
    bus = createMemoryBus()
    const streams = [
      [commandsStream(NAME), commandsSubjects(NAME)],
      [feedStream(NAME), feedSubject(NAME)],
    ] as const
    for (const [stream, subject] of streams)
      await bus.declareStream({ stream, subject, description: 'of the market' })
    const { encode } = commandMessages(logged)
    const write = (source: string, command: LoggedCommand['command']) =>
      bus.append(commandsSubject(NAME), encode([{ source, sourceNo: 1, atMs: 1, command }]))
    await write('market-file', { kind: 'MarketOpened', opening: openingOf(logged) })
    await write('intake', { kind: 'PlaceOrder', order: resting, account })
    const terms = { ...openingOf(logged), standing: OPEN }
    const block = { market: NAME, commandSeq: 1, commandIndex: 0, firstSeq: 1, changes: [] }
    await bus.append(feedSubject(NAME), encodeBlock({ ...block, terms }))
  })

  it('is observed on the chain as its log has it', async () => {
    const fatal: unknown[] = []
    const asked: Market[] = []
    const chain = fakeChain()
    const change = { seq: 1, atMs: 1, orderId: 'resting', owner: resting.owner } as const
    const amounts = {
      side: resting.side,
      limitPrice: resting.limitPrice,
      desired: resting.desiredAmount,
      filled: amountE18(0n),
      pending: amountE18(0n),
      open: resting.desiredAmount,
      openDelta: resting.desiredAmount,
      status: 'active' as const,
    }
    const placed = { ...change, ...amounts, kind: 'OrderPlaced', order: resting, rank: 1 } as const
    const block = { market: NAME, commandSeq: 2, commandIndex: 0, firstSeq: 1, changes: [placed] }
    await bus.append(feedSubject(NAME), encodeBlock(block))
    const reader = await startChainReader({
      bus,
      chain,
      markets: [edited],
      nowMs: Date.now,
      log: silentLog,
      pollMs: 5,
      observe: (market) => {
        asked.push(market)
        return Promise.resolve(account)
      },
      onFatal: (error) => fatal.push(error),
    })
    chain.mine()
    await eventually(() => asked.length > 0)
    expect(asked[0]).to.deep.include(openingOf(logged).identity)
    const stream = commandsStream(NAME)
    await eventually(async () => (await bus.streamState(stream)).lastSeq > 3)
    const [observed] = (await bus.read(stream, 4, 1)).flatMap((message) =>
      commandMessages(logged).take(message),
    )
    expect(observed?.command).to.deep.include({ kind: 'AccountObserved', account })
    expect(fatal).to.deep.equal([])
    await reader.stop()
  })
})
