import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAbiItem } from 'viem'
import { openKeeper, type RunningKeeper } from '../../../actors/keeper/open-keeper.js'
import { deploymentSchema } from '../../../chain/reads/deployment.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import { dutchAuctionAbi } from '../../../chain/abi/contracts.js'
import { BID_AFTER_SEC } from '../../../core/contracts/perpetual-upkeep.js'
import type { Hex } from '../../../core/action.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { auctionAbi } from '../../support/auction-calls.js'
import { aFuture, aPerp } from '../../support/builders.js'
import { ONE } from '../../support/devnet-actions.js'
import { balanceOf, lower, openWorld, testKey, type Trader } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import {
  act,
  ask,
  INDEX,
  leaveMatching,
  openTraders,
  positionOf,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  withSeries,
  type FuturesWorld,
} from '../../support/futures-world.js'
import { FAST_SENDER } from '../../support/sender-world.js'
import {
  openPerpAccount,
  positionOf as perpPositionOf,
  setPrices,
  stopTheClock,
  trade,
} from '../../support/perp-world.js'

const KEY_NUMBER = 1_080
const SIGNER = createTransactionSigner(testKey(KEY_NUMBER), 8_453)

describe('a keeper with accounts of its own', function () {
  let world: FuturesWorld
  let snapshot: Hex
  let bidder: Trader
  let rescuer: Trader
  let perpAccount: Trader
  let short: Trader
  let long: Trader
  const dirs: string[] = []
  const running: RunningKeeper[] = []
  const told: string[] = []

  before(async () => {
    world = await withSeries(await openWorld())
    const { at, client } = world
    await client.setBalance({ address: SIGNER.address, value: 100n * ONE })
    await act(world, at.deployer, 'asset', 'setMarkKeeper', SIGNER.address)
    await stopTheClock(world)
    const dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    bidder = await openPerpAccount(
      world,
      { ...world.alice, address: SIGNER.address },
      { cash: 1_000 },
    )
    perpAccount = await openPerpAccount(world, world.carol, { cash: 100 })
    const rich = { usdc: 100_000n * ONE, cngn: 100_000_000n * ONE }
    const [a, b] = await openTraders(world, [KEY_NUMBER, 11], rich)
    const [c] = await openTraders(world, [12], { usdc: 1_100n * ONE, cngn: 0n })
    if (a === undefined || b === undefined || c === undefined) throw new Error('no traders')
    ;[rescuer, long, short] = [a, b, c]
    await leaveMatching(world, rescuer, bidder)
    await setPrices(world, { index: '0.00065' })
    await trade(world, { buyer: perpAccount, seller: dealer, size: 1_000_000 })
    await setIndex(world, INDEX)
    await settleFill(world, { taker: long, maker: short, amount: 10n * ONE, price: INDEX })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
    told.length = 0
  })
  afterEach(async () => {
    for (const keeper of running.splice(0)) await keeper.stop()
    await world.client.revert({ id: snapshot })
  })
  after(async () => {
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
    await world.anvil.stop()
  })

  async function open(accounts: readonly bigint[], mostUsd = 5_000n * ONE): Promise<void> {
    const { at } = world
    const dataDir = mkdtempSync(join(tmpdir(), 'keeper-'))
    dirs.push(dataDir)
    const perp = aPerp({
      assetAddress: lower(at.perp_asset),
      tradeModuleAddress: lower(at.perp_trade_module),
      marginManagerAddress: lower(at.perp_manager),
      subId: 0n,
    })
    const future = aFuture({
      assetAddress: lower(at.future_asset),
      subId: world.subId,
      marginManagerAddress: lower(at.futures_manager),
    })
    const keeper = await openKeeper({
      bus: createMemoryBus().connect(),
      rpcUrl: world.anvil.rpcUrl,
      dataDir,
      signers: { current: SIGNER },
      deployment: deploymentSchema.parse(at),
      markets: () => [perp, future],
      rescue: { accounts, mostUsd },
      lookEveryMs: 20,
      reserveWei: 0n,
      hourBudgetWei: 10n * ONE,
      policy: FAST_SENDER,
      facts: {
        sent: (job) => told.push(`sent ${job}`),
        refused: (job, _, why) => told.push(`refused ${job} ${why}`),
        confirmed: (job) => told.push(`confirmed ${job}`),
        lost: (job) => told.push(`lost ${job}`),
        unreadable: () => undefined,
      },
      log: createLog('test', 'silent'),
      onFatal: (error: unknown) => {
        throw error
      },
    })
    running.push(keeper)
  }

  const isLive = () =>
    world.client.readContract({
      address: world.at.dutch_auction,
      abi: dutchAuctionAbi,
      functionName: 'isAuctionLive',
      args: [perpAccount.subaccountId],
    })
  /** Cash of each bid since the chain began. */
  const paidByBidders = async () => {
    const event = getAbiItem({ abi: auctionAbi, name: 'Bid' })
    const address = world.at.dutch_auction
    const logs = await world.client.getLogs({ address, event, fromBlock: 0n })
    return logs.map(({ args }) => args.cashFromBidder)
  }
  const later = async (sec: number) => warpTo(world, (await timeOf(world)) + sec)
  /** To so many percent of what it was; a feed takes only newer prices. */
  async function moveIndex(percent: bigint): Promise<void> {
    await later(2)
    await setIndex(world, (INDEX * percent) / 100n)
  }
  const ledgerOf = ({ subaccountId }: Trader) =>
    ask<bigint>(world, 'manager', 'variation', subaccountId)
  const marginOf = ({ subaccountId }: Trader) =>
    ask<bigint>(world, 'manager', 'getMargin', subaccountId, false)
  const futureOf = ({ subaccountId }: Trader) => positionOf(world, subaccountId)

  it('bids a minute after the start of an auction without a bidder', async () => {
    await open([bidder.subaccountId])
    await setPrices(world, { index: '0.00058' })
    await eventually(async () => expect(await isLive()).to.equal(true))
    const funded = () => told.filter((line) => line === 'confirmed funding').length
    const before = funded()
    await later(BID_AFTER_SEC - 10)
    // What is due at that block has been looked at: funding is, and before bids.
    await eventually(() => expect(funded() > before).to.equal(true))
    expect(await perpPositionOf(world, bidder)).to.equal(0n)
    await later(20)
    await eventually(async () => expect(await isLive()).to.equal(false))
    expect((await perpPositionOf(world, bidder)) > 0n).to.equal(true)
    expect(await paidByBidders()).to.have.length(1)
  })

  it('bids in none without an account, and pays no more than its bound', async () => {
    await open([])
    await setPrices(world, { index: '0.00058' })
    await eventually(async () => expect(await isLive()).to.equal(true))
    await later(BID_AFTER_SEC + 20)
    await running.pop()?.stop()
    expect(told).to.not.include('sent auction_bid')
    const most = 2n * ONE
    await open([bidder.subaccountId], most)
    await eventually(() => expect(told).to.include('confirmed auction_bid'))
    const [paid = 0n] = await paidByBidders()
    expect(paid > 0n && paid <= most, `${paid}`).to.equal(true)
    expect((await perpPositionOf(world, bidder)) > 0n).to.equal(true)
  })

  it('takes over the position of an account below maintenance margin, as far as restores it', async () => {
    await open([rescuer.subaccountId])
    const usdc = await balanceOf(world, rescuer.subaccountId, world.at.wrapped_usdc)
    await moveIndex(105n)
    await eventually(async () => expect((await marginOf(short)) >= 0n).to.equal(true))
    const taken = await futureOf(rescuer)
    expect(taken < 0n && taken > -10n * ONE, `${taken}`).to.equal(true)
    expect((await futureOf(short)) + taken).to.equal(-10n * ONE)
    // For a bonus.
    expect((await balanceOf(world, rescuer.subaccountId, world.at.wrapped_usdc)) > usdc).to.equal(
      true,
    )
    expect(told.filter((line) => line === 'sent liquidation')).to.have.length(1)
    expect(told.filter((line) => line.startsWith('lost'))).to.deep.equal([])
  })

  it('pays what is owed for USDC, and has what nothing is left to pay borne by the claims', async () => {
    await open([rescuer.subaccountId], 100_000n * ONE)
    // 1,304 USD are lost at the new index, and 1,100 were there.
    await moveIndex(115n)
    await eventually(async () => expect(await futureOf(short)).to.equal(0n))
    await eventually(async () => expect(await ledgerOf(short)).to.equal(0n), 20_000)
    // What is taken is rounded down.
    expect((await balanceOf(world, short.subaccountId, world.at.wrapped_usdc)) <= 1n).to.equal(true)
    // Booked in the round after the block.
    await eventually(() => expect(told).to.include('confirmed cure').and.include('confirmed loss'))
    // The claim of the long was cut.
    const gain = (INDEX * 15n * 10_000n) / 100n
    const cngn = await balanceOf(world, long.subaccountId, world.at.wrapped_cngn)
    expect((await ledgerOf(long)) + cngn < 100_000_000n * ONE + gain).to.equal(true)
  })

  it('says why an account of its own cannot take over', async () => {
    await open([long.subaccountId])
    await moveIndex(105n)
    await eventually(() => expect(told).to.include('refused liquidation FM_NotAccountOwner'))
    await setPrices(world, { index: '0.00058' })
    await eventually(async () => expect(await isLive()).to.equal(true))
  })
})
