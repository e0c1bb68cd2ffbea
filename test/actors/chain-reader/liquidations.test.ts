import { expect } from 'chai'
import { parseEventLogs, type TransactionReceipt } from 'viem'
import { openChainSource } from '../../../actors/chain-reader/chain-source.js'
import { startChainReader, type ChainReader } from '../../../actors/chain-reader/start.js'
import { projectLiquidations } from '../../../actors/projector/project-liquidations.js'
import { liquidationsStream } from '../../../bus-schemas/subjects.js'
import { futuresManagerAbi } from '../../../chain/abi/contracts.js'
import type { Market } from '../../../core/model/market.js'
import {
  createLiquidationWriter,
  type HistoryLiquidation,
} from '../../../data/history/liquidations.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import type { Subscription } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { auctionAbi, auctionCall, bidCall } from '../../support/auction-calls.js'
import { aFuture, aPerp } from '../../support/builders.js'
import { ONE } from '../../support/devnet-actions.js'
import {
  lastAccountId,
  lower,
  openWorld,
  perform,
  type Trader,
} from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import {
  act,
  INDEX,
  leaveMatching,
  openTraders,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  withSeries,
  type FuturesWorld,
} from '../../support/futures-world.js'
import { openHistory, type TestHistory } from '../../support/history.js'
import { silentLog } from '../../support/intake-stage.js'
import {
  e18,
  openPerpAccount,
  positionOf,
  setPrices,
  stopTheClock,
  trade,
} from '../../support/perp-world.js'

/** What the chain did, as the read model and the stream have it, beside the events and balances of the contracts. */
describe('liquidations, from the chain to the read model', () => {
  let world: FuturesWorld
  let perp: Market
  let future: Market
  let bus: MemoryBus
  let reader: ChainReader
  let history: TestHistory
  let reads: ReadModel
  let projected: Subscription
  let bidder: Trader
  let account: Trader
  const fatal: unknown[] = []
  const onFatal = (error: unknown) => void fatal.push(error)

  before(async () => {
    world = await withSeries(await openWorld())
    const { at } = world
    await stopTheClock(world)
    const dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    bidder = await openPerpAccount(world, world.alice, { cash: 1_000 })
    account = await openPerpAccount(world, world.carol, { cash: 100 })
    await trade(world, { buyer: account, seller: dealer, size: 1_000_000 })
    perp = aPerp({
      assetAddress: lower(at.perp_asset),
      tradeModuleAddress: lower(at.perp_trade_module),
      quoteAssetAddress: lower(at.cash_asset),
      subId: 0n,
      marginManagerAddress: lower(at.perp_manager),
    })
    future = aFuture({
      subId: world.subId,
      assetAddress: lower(at.future_asset),
      quoteAssetAddress: lower(at.wrapped_usdc),
      tradeModuleAddress: lower(at.future_trade_module),
      marginManagerAddress: lower(at.futures_manager),
    })
    bus = createMemoryBus()
    history = openHistory([perp, future])
    reads = openReadModel(history.path)
    projected = await projectLiquidations({
      bus,
      onFatal,
      writer: createLiquidationWriter(history.db),
    })
    reader = await startReader()
  })
  after(async () => {
    await reader.stop()
    await projected.stop()
    await bus.close()
    reads.close()
    history.remove()
    await world.anvil.stop()
    expect(fatal).to.deep.equal([])
  })

  const startReader = () => {
    const markets = [perp, future]
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
  const shown = (market: Market): HistoryLiquidation[] =>
    reads.liquidations({ limit: 100 }, { market: market.market }).toReversed()
  const untilShown = async (market: Market, count: number): Promise<HistoryLiquidation[]> => {
    await eventually(() => expect(shown(market)).to.have.length(count))
    return shown(market)
  }
  /** The fields that every event of the transaction has. */
  const placeOf = async ({ blockNumber, blockHash, transactionHash }: TransactionReceipt) => {
    const { timestamp } = await world.client.getBlock({ blockNumber })
    return { blockNumber, blockHash, txHash: transactionHash, blockTimeSec: Number(timestamp) }
  }

  it('name the start, each bid and the end of an auction, with position, mark, share and cash (REA-057)', async () => {
    await setPrices(world, { index: '0.00058' })
    const size = await positionOf(world, account)
    const startReceipt = await perform(world, auctionCall(world, 'startAuction', account))
    const bidFor = async (portion: bigint) => {
      await world.client.increaseTime({ seconds: 450 })
      const before = await positionOf(world, account)
      const terms = { bidder, account, cash: e18('200'), portion }
      const receipt = await perform(world, await bidCall(world, terms))
      const [bid] = parseEventLogs({ abi: auctionAbi, eventName: 'Bid', logs: receipt.logs })
      if (bid === undefined) throw new Error('no bid')
      const sold = before - (await positionOf(world, account))
      return { receipt, bid, sold, by: await lastAccountId(world) }
    }
    const first = await bidFor(e18('0.1'))
    const second = await bidFor(ONE)
    // The contract tells the end before the bid that brings it.
    const [started, one, ended, two] = await untilShown(perp, 4)
    const common = { market: perp.market, subaccountId: account.subaccountId }
    const mark = e18('0.00058')
    expect(started).to.deep.include({
      ...common,
      ...(await placeOf(startReceipt)),
      event: 'auction_started',
      size,
      price: mark,
    })
    expect(started).not.to.have.any.keys('portion', 'paid', 'received', 'bySubaccountId')
    for (const [record, { receipt, bid, sold, by }] of [
      [one, first],
      [two, second],
    ] as const) {
      expect(sold > 0n).to.equal(true)
      expect(record).to.deep.include({
        ...common,
        ...(await placeOf(receipt)),
        event: 'bid',
        size: sold,
        price: mark,
        portion: bid.args.finalPercentage,
        paid: bid.args.cashFromBidder,
        received: 0n,
        bySubaccountId: by,
        logIndex: bid.logIndex,
      })
    }
    expect(ended).to.deep.include({
      ...common,
      ...(await placeOf(second.receipt)),
      event: 'auction_ended',
    })
    expect(ended).not.to.have.any.keys('size', 'price')
  })

  it('are not doubled by a reader that starts again', async () => {
    const { lastSeq } = await bus.streamState(liquidationsStream)
    await reader.stop()
    reader = await startReader()
    const again = { market: perp.market, subaccountId: account.subaccountId }
    await world.client.mine({ blocks: 2 })
    await eventually(() => expect(reader.standing().ready).to.equal(true))
    await world.client.mine({ blocks: 2 })
    expect((await bus.streamState(liquidationsStream)).lastSeq).to.equal(lastSeq)
    expect(shown(perp).map(({ market, subaccountId }) => ({ market, subaccountId }))).to.deep.equal(
      Array.from({ length: 4 }, () => again),
    )
  })

  it('name the takeover of a position of a future at the index, with its bonus (REA-057)', async () => {
    const [poor] = await openTraders(world, [41], { usdc: 1_100n * ONE, cngn: 0n })
    const [rich, rescuer] = await openTraders(world, [42, 43], {
      usdc: 10n ** 6n * ONE,
      cngn: 10n ** 9n * ONE,
    })
    if (poor === undefined || rich === undefined || rescuer === undefined) throw new Error('none')
    await leaveMatching(world, rescuer)
    await setIndex(world, INDEX)
    await settleFill(world, { taker: poor, maker: rich, amount: 8n * ONE, price: INDEX })
    await warpTo(world, (await timeOf(world)) + 60)
    const index = (INDEX * 88n) / 100n
    await setIndex(world, index)
    const by = rescuer.subaccountId
    const args = [poor.subaccountId, world.subId, by, ONE] as const
    const receipt = await act(world, rescuer.address, 'manager', 'liquidate', ...args)
    const [event] = parseEventLogs({
      abi: futuresManagerAbi,
      logs: receipt.logs,
      eventName: 'PositionLiquidated',
    })
    if (event === undefined) throw new Error('no liquidation')
    expect(event.args.contracts > 0n).to.equal(true)
    const [record] = await untilShown(future, 1)
    expect(record).to.deep.include({
      market: future.market,
      event: 'takeover',
      subaccountId: poor.subaccountId,
      bySubaccountId: by,
      size: event.args.contracts * 1_000n,
      price: index,
      received: event.args.bonus,
      ...(await placeOf(receipt)),
      logIndex: event.logIndex,
    })
    expect(record).not.to.have.any.keys('paid', 'portion')
    expect(shown(perp)).to.have.length(4)
  })

  it('are taken back when the chain loses their block (REA-058)', async () => {
    const snapshot = await world.client.snapshot()
    await setPrices(world, { index: '0.0005' })
    await perform(world, auctionCall(world, 'startAuction', account))
    const [, , , , lost] = await untilShown(perp, 5)
    expect(lost?.event).to.match(/auction_started$/)
    await world.client.revert({ id: snapshot })
    await world.client.mine({ blocks: 3 })
    await untilShown(perp, 4)
    await setPrices(world, { index: '0.0005' })
    const receipt = await perform(world, auctionCall(world, 'startAuction', account))
    const [, , , , again] = await untilShown(perp, 5)
    expect(again?.blockHash).to.equal(receipt.blockHash)
  })
})
