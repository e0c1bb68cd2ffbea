import { expect } from 'chai'
import { openChainSource } from '../../../actors/chain-reader/chain-source.js'
import { READ_AGAIN } from '../../../actors/chain-reader/follow-close-outs.js'
import { startChainReader, type ChainReader } from '../../../actors/chain-reader/start.js'
import { startMatcher, type Matcher } from '../../../actors/matcher/matcher.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import { projectPrices } from '../../../actors/projector/project-prices.js'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import type { Market } from '../../../core/model/market.js'
import { createWriteCloseOuts } from '../../../data/history/close-outs.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { createPriceWriter } from '../../../data/history/write-prices.js'
import type { Subscription } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aFuture } from '../../support/builders.js'
import { ONE } from '../../support/devnet-actions.js'
import type { Trader } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import {
  act,
  DAY,
  INDEX,
  KEEPER,
  leaveMatching,
  openFuturesWorld,
  openTraders,
  setIndex,
  settleFill,
  warpTo,
  type FuturesWorld,
} from '../../support/futures-world.js'
import { openHistory, type TestHistory } from '../../support/history.js'
import { silentLog } from '../../support/intake-stage.js'

const FUNDS = { usdc: 1_000n * ONE, cngn: 1_000_000n * ONE }
const SETTLED_AT = 1_510n * ONE

type Closing = ReturnType<typeof act>

describe('the close-outs of a series, from the chain to the read model', () => {
  let world: FuturesWorld
  let market: Market
  let bus: MemoryBus
  let matcher: Matcher
  let reader: ChainReader
  let history: TestHistory
  let reads: ReadModel
  let projected: Subscription
  let traders: Trader[]
  const fatal: unknown[] = []
  const onFatal = (error: unknown) => void fatal.push(error)

  before(async () => {
    world = await openFuturesWorld()
    const { at } = world
    market = aFuture({
      subId: world.subId,
      assetAddress: at.future_asset,
      quoteAssetAddress: at.wrapped_usdc,
      tradeModuleAddress: at.future_trade_module,
      marginManagerAddress: at.futures_manager,
    })
    traders = await openTraders(world, [31, 32, 33], FUNDS)
    bus = createMemoryBus()
    matcher = await startMatcher({
      bus,
      market,
      facts: observeMatcher(silentLog),
      nowMs: Date.now,
      tickMs: 1_000,
      ask: () => Promise.reject(new Error('nothing is to be settled here')),
      onFatal,
    })
    history = openHistory([market])
    reads = openReadModel(history.path)
    projected = await projectPrices({
      bus,
      market,
      onFatal,
      writer: createPriceWriter(history.db),
      writeCloseOuts: createWriteCloseOuts(history.db),
    })
    reader = await startReader()
  })
  after(async () => {
    await reader.stop()
    await projected.stop()
    await matcher.stop()
    await bus.close()
    reads.close()
    history.remove()
    await world.anvil.stop()
    expect(fatal).to.deep.equal([])
  })

  const startReader = () => {
    const markets = [market]
    const deployment = { matching: world.at.matching, subAccounts: world.at.sub_accounts }
    return startChainReader({
      bus,
      markets,
      nowMs: Date.now,
      log: silentLog,
      pollMs: 20,
      onFatal,
      ...openChainSource({ rpcUrl: world.anvil.rpcUrl, deployment, markets }),
    })
  }
  const trader = (i: number): Trader => {
    const found = traders[i]
    if (found === undefined) throw new Error('no trader')
    return found
  }
  const closeOut = (...of: readonly Trader[]): Closing => {
    const ids = of.map(({ subaccountId }) => subaccountId)
    return act(world, KEEPER, 'manager', 'closeOut', world.subId, ids)
  }
  const shown = (of: Trader) => reads.closeOuts(of.address, { limit: 10 })
  const told = async () => {
    const messages = await bus.read(commandsStream(market.market), 1, 100_000)
    const { take } = commandMessages(market)
    return messages
      .flatMap((message) => take(message))
      .flatMap(({ command }) => (command.kind === 'PositionsClosed' ? command.closed : []))
  }

  it('name owner, size, settlement price and final variation margin of each account that Matching holds (FUT-052)', async () => {
    const long = trader(0)
    const short = trader(1)
    const gone = trader(2)
    const fill = { maker: short, amount: 2n * ONE, price: INDEX }
    await settleFill(world, { taker: long, ...fill })
    await settleFill(world, { taker: gone, ...fill })
    await leaveMatching(world, gone)
    await eventually(() => reads.marks(market.market, { limit: 1 }).length === 1)
    await warpTo(world, Number(world.subId) + DAY + 1)
    await setIndex(world, INDEX)
    const subId = world.subId
    await act(world, world.at.deployer, 'asset', 'setFallbackPrice', subId, SETTLED_AT)
    expect(shown(long)).to.deep.equal([])
    const expected = async (closing: Closing, of: Trader, contracts: bigint) => {
      const { blockNumber, transactionHash } = await closing
      const { timestamp } = await world.client.getBlock({ blockNumber })
      return {
        market: market.market,
        subaccountId: of.subaccountId,
        size: contracts * 1_000n,
        price: SETTLED_AT,
        variation: contracts * 1_000n * 10n,
        txHash: transactionHash,
        blockNumber: Number(blockNumber),
        atMs: Number(timestamp) * 1_000,
      }
    }
    const longs = closeOut(long, gone)
    await eventually(() => shown(long).length === 1)
    expect(shown(long)[0]).to.deep.include(await expected(longs, long, 2n * ONE))
    // Any caller may close the shorts much later.
    await world.client.mine({ blocks: Number(READ_AGAIN) + 5 })
    const head = Number(await world.client.getBlockNumber())
    await eventually(() => reader.standing().positions.block_number === head)
    const shorts = closeOut(short)
    await eventually(() => shown(short).length === 1)
    expect(shown(short)[0]).to.deep.include(await expected(shorts, short, -4n * ONE))
    expect(shown(gone)).to.deep.equal([])
    expect(await told()).to.have.length(2)
  })

  it('are found again by a reader that starts later, and listed once', async () => {
    await reader.stop()
    reader = await startReader()
    await eventually(async () => expect(await told()).to.have.length(4))
    await projected.stop()
    projected = await projectPrices({
      bus,
      market,
      onFatal,
      writer: createPriceWriter(history.db),
      writeCloseOuts: createWriteCloseOuts(history.db),
    })
    for (const of of traders.slice(0, 2)) expect(shown(of)).to.have.length(1)
  })
})
