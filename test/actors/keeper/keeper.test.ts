import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAbiItem } from 'viem'
import { openKeeper, type RunningKeeper } from '../../../actors/keeper/open-keeper.js'
import type { KeeperObserver } from '../../../actors/keeper/round.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import { dutchAuctionAbi, perpAssetAbi } from '../../../chain/abi/contracts.js'
import { deploymentSchema } from '../../../chain/reads/deployment.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Market } from '../../../core/model/market.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { STOP_DEADLINE_MS } from '../../../runtime/process/process.js'
import { aFuture, aPerp } from '../../support/builders.js'
import { lower, testKey, openWorld, type Trader } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import {
  act,
  ask,
  HOUR,
  INDEX,
  openTraders,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  withSeries,
  type FuturesWorld,
} from '../../support/futures-world.js'
import { FAST_SENDER } from '../../support/sender-world.js'
import { startRpcProxy } from '../../support/rpc-proxy.js'
import { openPerpAccount, setPrices, stopTheClock, trade } from '../../support/perp-world.js'
import { ONE } from '../../support/devnet-actions.js'

const KEY = testKey(1_077)
const SIGNER = createTransactionSigner(KEY, 8_453)
const ETHER = 10n ** 18n

describe('a keeper', function () {
  let world: FuturesWorld
  let bus: MemoryBus
  let account: Trader
  let markets: readonly Market[]
  const dirs: string[] = []
  const running: RunningKeeper[] = []
  const told: string[] = []

  before(async () => {
    world = await withSeries(await openWorld())
    const { at, client } = world
    await client.setBalance({ address: SIGNER.address, value: 100n * ETHER })
    await act(world, at.deployer, 'asset', 'setMarkKeeper', SIGNER.address)
    await stopTheClock(world)
    const dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    account = await openPerpAccount(world, world.carol, { cash: 100 })
    await trade(world, { buyer: account, seller: dealer, size: 1_000_000 })
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
    markets = [perp, future]
    bus = createMemoryBus()
  })
  afterEach(async () => {
    for (const keeper of running.splice(0)) await keeper.stop()
  })
  after(async () => {
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
    await world.anvil.stop()
  })

  const facts: KeeperObserver = {
    sent: (job) => told.push(`sent ${job}`),
    refused: (job, _, why) => told.push(`refused ${job} ${why}`),
    confirmed: (job) => told.push(`confirmed ${job}`),
    lost: (job) => told.push(`lost ${job}`),
    unreadable: () => undefined,
  }

  async function open(hourBudgetWei = ETHER, rpcUrl = world.anvil.rpcUrl): Promise<RunningKeeper> {
    const dataDir = mkdtempSync(join(tmpdir(), 'keeper-'))
    dirs.push(dataDir)
    const keeper = await openKeeper({
      bus: bus.connect(),
      rpcUrl,
      signers: { current: SIGNER },
      deployment: deploymentSchema.parse(world.at),
      dataDir,
      markets: () => markets,
      reserveWei: 0n,
      hourBudgetWei,
      policy: FAST_SENDER,
      facts,
      log: createLog('test', 'silent'),
      onFatal: (error: unknown) => {
        throw error
      },
    })
    running.push(keeper)
    return keeper
  }

  const isLive = () =>
    world.client.readContract({
      address: world.at.dutch_auction,
      abi: dutchAuctionAbi,
      functionName: 'isAuctionLive',
      args: [account.subaccountId],
    })
  const fundedAt = () =>
    world.client.readContract({
      address: world.at.perp_asset,
      abi: perpAssetAbi,
      functionName: 'lastFundingPaidAt',
    })
  const startedAuctions = async () =>
    (
      await world.client.getLogs({
        address: world.at.dutch_auction,
        event: getAbiItem({ abi: dutchAuctionAbi, name: 'SolventAuctionStarted' }),
        fromBlock: 0n,
      })
    ).length

  it('lets funding accrue within a minute while there is open interest', async () => {
    await open()
    for (let passed = 0; passed < 3; passed += 1) {
      const before = await fundedAt()
      await warpTo(world, Number(before) + 36)
      await eventually(async () => expect((await fundedAt()) > before).to.equal(true))
      expect((await fundedAt()) - before <= 60n).to.equal(true)
    }
  })

  it('starts the auction of an account below maintenance margin, once, and ends it when that is restored', async () => {
    await open()
    expect(await isLive()).to.equal(false)
    await setPrices(world, { index: '0.00058' })
    await eventually(async () => expect(await isLive()).to.equal(true))
    // Another one takes over, on a disk of its own.
    await running.pop()?.stop()
    const next = await open()
    await setPrices(world, { index: '0.00058' })
    const before = await fundedAt()
    await warpTo(world, (await timeOf(world)) + 36)
    // It has seen that block.
    await eventually(async () => expect((await fundedAt()) > before).to.equal(true))
    expect(next.late()).to.deep.equal([])
    expect(await startedAuctions()).to.equal(1)
    await setPrices(world, { index: '0.00065' })
    await eventually(async () => expect(await isLive()).to.equal(false))
    expect(told).to.not.include('lost auction_start').and.not.include('lost auction_end')
  })

  it('goes on with an auction that no bidder took, and starts one anew that has become insolvent', async () => {
    const insolvent = async () =>
      (
        await world.client.readContract({
          address: world.at.dutch_auction,
          abi: dutchAuctionAbi,
          functionName: 'getAuction',
          args: [account.subaccountId],
        })
      ).insolvent
    await open()
    await setPrices(world, { index: '0.00058' })
    await eventually(async () => expect(await isLive()).to.equal(true))
    expect(await insolvent()).to.equal(false)
    // 900 s and 43,200 s without a bid.
    await warpTo(world, (await timeOf(world)) + 44_100)
    await eventually(async () => expect(await insolvent()).to.equal(true))
    await setPrices(world, { index: '0.00065' })
    await eventually(async () => expect(await isLive()).to.equal(false))
    await setPrices(world, { index: '0.00058' })
    await eventually(async () => expect(await isLive()).to.equal(true))
    expect(await insolvent()).to.equal(false)
    // Worth less than nothing: the contract ends the auction, and the next one pays the bidder.
    await setPrices(world, { index: '0.0005' })
    await eventually(async () => expect((await isLive()) && (await insolvent())).to.equal(true))
    await setPrices(world, { index: '0.00065' })
    await eventually(async () => expect(await isLive()).to.equal(false))
  })

  it('moves the mark, and says what it may not do', async () => {
    const mark = async () =>
      (await ask<readonly bigint[]>(world, 'asset', 'series', world.subId))[1]
    const [long, short] = await openTraders(world, [11, 12], {
      usdc: 1_000n * ONE,
      cngn: 1_000_000n * ONE,
    })
    if (long === undefined || short === undefined) throw new Error('no traders')
    await setIndex(world, INDEX)
    await settleFill(world, { taker: long, maker: short, amount: ONE, price: INDEX })
    await warpTo(world, (await timeOf(world)) + HOUR)
    await act(world, world.at.deployer, 'asset', 'setMarkKeeper', world.at.deployer)
    const keeper = await open()
    await setIndex(world, 1_520n * ONE)
    await eventually(() => expect(told).to.include('refused mark FA_OnlyKeeper'))
    // Until it is late the index has to be fresh.
    for (let passed = 0; passed < 8; passed += 1) {
      await warpTo(world, (await timeOf(world)) + 50)
      await setIndex(world, 1_520n * ONE)
    }
    await eventually(() =>
      expect(keeper.late().find(({ job }) => job === 'mark')?.why).to.equal('FA_OnlyKeeper'),
    )
    const answer = await bus.ask(askPing('keeper'), new Uint8Array(), 5_000)
    expect(decodePingAnswer(answer).detail).to.match(
      /mark has been due for \d+ s \(FA_OnlyKeeper\)/,
    )
    await act(world, world.at.deployer, 'asset', 'setMarkKeeper', SIGNER.address)
    await setIndex(world, 1_520n * ONE)
    await eventually(async () => expect(await mark()).to.equal(1_520n * ONE))
  })

  it('is not ready while it cannot read what is due', async () => {
    const proxy = await startRpcProxy(world.anvil.rpcUrl)
    await open(ETHER, proxy.rpcUrl)
    const standing = async () =>
      decodePingAnswer(await bus.ask(askPing('keeper'), new Uint8Array(), 5_000))
    await eventually(async () => expect((await standing()).ready).to.equal(true))
    proxy.fateOf = (method) => (method === 'eth_call' ? { error: 'out of gas' } : 'pass')
    await warpTo(world, (await timeOf(world)) + 10)
    await eventually(async () => expect((await standing()).ready).to.equal(false), 20_000)
    expect((await standing()).detail).to.match(/has not been readable for 1\d s/)
    proxy.fateOf = () => 'pass'
    await eventually(async () => expect((await standing()).ready).to.equal(true))
    await running.pop()?.stop()
    await proxy.stop()
  })

  it('stops in time while the node leaves its questions without an answer', async () => {
    const proxy = await startRpcProxy(world.anvil.rpcUrl)
    await open(ETHER, proxy.rpcUrl)
    let release: () => void = () => undefined
    const after = new Promise<void>((resolve) => (release = resolve))
    let held = 0
    proxy.fateOf = () => {
      held += 1
      return { after }
    }
    // Those of its rounds and of its sender.
    await eventually(() => held > 1)
    const stoppedAt = performance.now()
    await running.pop()?.stop()
    // Half of it is for the machine; a question is asked for 15 s.
    expect(performance.now() - stoppedAt).to.be.below(2 * STOP_DEADLINE_MS)
    release()
    await proxy.stop()
  })

  it('sends nothing beyond the gas budget of an hour', async () => {
    const before = await fundedAt()
    told.length = 0
    await open(1n)
    await warpTo(world, Number(before) + 600)
    await eventually(() => expect(told).to.include('refused funding gas_budget'))
    expect(await fundedAt()).to.equal(before)
  })
})
