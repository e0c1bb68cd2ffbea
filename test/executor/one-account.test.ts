import { expect } from 'chai'
import type { Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { aFuture, aMarket } from '../support/builders.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import type { Trader } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  temporaryDir,
  type RunningExecutor,
} from '../support/executor-world.js'
import {
  INDEX,
  openFuturesWorld,
  openTraders,
  type FuturesWorld,
} from '../support/futures-world.js'

/** USDC per cNGN, near the index of 1,500. */
const PRICE = 660_000_000_000_000n

/** Matches of spot and of a future on one account: neither market sees what the other has promised of it. */
describe('executor settling two markets of one account', function () {
  let world: FuturesWorld
  let snapshot: Hex
  /** 300 USDC and nothing else. */
  let own: Trader
  let rich: Trader
  let deferred: string[]
  let executor: RunningExecutor
  let dataDir: string

  before(async () => {
    world = await openFuturesWorld()
    const [poor] = await openTraders(world, [41], { usdc: 300n * ONE, cngn: 0n })
    const [other] = await openTraders(world, [42], { usdc: 10_000n * ONE, cngn: 10n ** 7n * ONE })
    assert(poor !== undefined && other !== undefined, 'two accounts are open')
    ;[own, rich] = [poor, other]
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
    dataDir = await temporaryDir()
    deferred = []
    const { at, subId } = world
    const markets = [
      aMarket({
        assetAddress: at.wrapped_cngn,
        quoteAssetAddress: at.wrapped_usdc,
        tradeModuleAddress: at.spot_trade_module,
        marginManagerAddress: at.spot_manager,
      }),
      aFuture({
        subId,
        assetAddress: at.future_asset,
        quoteAssetAddress: at.wrapped_usdc,
        tradeModuleAddress: at.future_trade_module,
        marginManagerAddress: at.futures_manager,
      }),
    ]
    const facts = { deferred: (settlementId: string) => void deferred.push(settlementId) }
    executor = await startExecutor(world, { dataDir, markets, facts, timeoutMs: 15_000 })
    await world.client.setAutomine(false)
  })
  afterEach(async () => {
    await executor.stop()
    await removeDir(dataDir)
    await world.client.setAutomine(true)
    await world.client.revert({ id: snapshot })
  })
  after(() => world.anvil.stop())

  /** The account takes cNGN for so many USDC. */
  async function spotBody(usdc: bigint) {
    const worstFee = PRICE / 400n
    const terms = { worstFee, limitPrice: PRICE, desiredAmount: (usdc * ONE * ONE) / PRICE }
    const taker = await signOrder(world, own, { ...terms, isBid: true })
    return executeBody({
      taker,
      makers: [await signOrder(world, rich, { ...terms, isBid: false })],
    })
  }

  /** The account, as the maker, goes long so many tenths of a contract: 10 USDC of margin each. */
  async function futureBody(tenths: bigint) {
    const { at, subId } = world
    const terms = {
      asset: at.future_asset,
      subId,
      limitPrice: INDEX,
      desiredAmount: (tenths * ONE) / 10n,
      worstFee: 3n * ONE,
    }
    const module = { module: at.future_trade_module }
    return executeBody({
      market: aFuture().market,
      taker: await signOrder(world, rich, { ...terms, isBid: false }, module),
      makers: [await signOrder(world, own, { ...terms, isBid: true }, module)],
      // 0.25 USDC each.
      takerFee: (tenths * ONE) / 4n,
    })
  }

  const pending = async () => (await world.client.getTxpoolStatus()).pending

  async function mineUntil<T>(answer: Promise<T>): Promise<T> {
    let isDone = false
    const done = answer.finally(() => (isDone = true))
    await eventually(async () => {
      if (!isDone) await world.client.mine({ blocks: 1 })
      return isDone
    })
    return done
  }

  it('sends both at once where the account carries both', async () => {
    const spot = executor.post(await spotBody(100n), 's:1')
    await eventually(async () => (await pending()) === 1)
    const future = executor.post(await futureBody(10n), 'f:1')
    await eventually(async () => (await pending()) === 2)
    const answers = await mineUntil(Promise.all([spot, future]))
    for (const { body } of answers) expect(body).to.include({ receipt_status: 'success' })
    expect(deferred).to.deep.equal([])
  })

  const rows = [
    ['spot', 'future', 'maker'],
    ['future', 'spot', 'taker'],
  ] as const
  for (const [first, second, guilty] of rows) {
    it(`lets the ${second} wait for the ${first} that takes its margin, and says so in the end`, async () => {
      const bodyOf = (which: 'spot' | 'future') =>
        which === 'spot' ? spotBody(250n) : futureBody(29n)
      const taken = executor.post(await bodyOf(first), 'm:1')
      await eventually(async () => (await pending()) === 1)
      const waiting = executor.post(await bodyOf(second), 'm:2')
      await eventually(() => deferred.includes('m:2'))
      expect(await pending()).to.equal(1)
      const [settled, refused] = await mineUntil(Promise.all([taken, waiting]))
      expect(settled.body).to.include({ receipt_status: 'success' })
      const revert = 'SRM_PortfolioBelowMargin'
      expect(refused.status).to.equal(422)
      expect(refused.body).to.include({ revert, guilty, spent_elsewhere: true })
    })
  }
})
