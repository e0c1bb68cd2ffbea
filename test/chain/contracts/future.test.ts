import { expect } from 'chai'
import { encodeFunctionData, parseAbi } from 'viem'
import { revertName } from '../../../chain/abi/errors.js'
import { decodeMatch } from '../../../chain/contracts/calldata.js'
import { createFundsReader } from '../../../chain/contracts/funds-reader.js'
import { createMarkReader } from '../../../chain/contracts/read-mark.js'
import { createMarketReader } from '../../../chain/contracts/market-reader.js'
import { observeAccount, observeMarket } from '../../../chain/contracts/observe-account.js'
import { readWiring } from '../../../chain/contracts/wiring.js'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import { readTouches } from '../../../chain/reads/touches.js'
import type { Hex } from '../../../core/action.js'
import { NO_CLAIMS } from '../../../core/contracts/funds.js'
import {
  futureAccountOf,
  futureOf,
  type FutureAccountFacts,
  type FutureFacts,
} from '../../../core/contracts/future-facts.js'
import { futureFunds } from '../../../core/contracts/future-funds.js'
import { initialTerms, lowerCngn, surplusOf } from '../../../core/contracts/future-margin.js'
import type { Market } from '../../../core/model/market.js'
import { contractOf } from '../../../core/contracts/registry.js'
import { formatDecimal } from '../../../core/decimal.js'
import { E18 } from '../../../core/money.js'
import { FUTURES_PARAMETERS } from '../../../devnet/chain/futures-parameters.js'
import { blameNow, type BlameNow } from '../../support/blame.js'
import { aFuture } from '../../support/builders.js'
import { ONE } from '../../support/devnet-actions.js'
import { perform, revertOf, underEarlierManager, type Trader } from '../../support/devnet-world.js'
import {
  act,
  ask,
  DAY,
  FEE,
  fillCall,
  INDEX,
  KEEPER,
  openFuturesWorld,
  openTraders,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  type FutureFill,
  type FuturesWorld,
} from '../../support/futures-world.js'

const FUNDS = { usdc: 1_000n * ONE, cngn: 1_000_000n * ONE }

describe('a dated future on a chain', function () {
  let world: FuturesWorld
  let market: Market
  let client: ChainClient
  let findGuilty: BlameNow
  let buyer: Trader
  let seller: Trader
  let poor: Trader
  let elsewhere: Trader
  let snapshot: Hex

  before(async () => {
    world = await openFuturesWorld()
    const { at } = world
    client = createChainClient(world.anvil.rpcUrl, 'read')
    market = aFuture({
      subId: world.subId,
      assetAddress: at.future_asset,
      quoteAssetAddress: at.wrapped_usdc,
      tradeModuleAddress: at.future_trade_module,
      marginManagerAddress: at.futures_manager,
    })
    const [a, b] = await openTraders(world, [21, 22], FUNDS)
    const [c] = await openTraders(world, [23], { usdc: 2n * ONE, cngn: 1_000_000n * ONE })
    if (a === undefined || b === undefined || c === undefined) throw new Error('no traders')
    ;[buyer, seller, poor] = [a, b, c]
    elsewhere = (await underEarlierManager(world)).alice
    findGuilty = blameNow(world, { client, markets: [market] })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  const deployment = () => ({ matching: world.at.matching, subAccounts: world.at.sub_accounts })
  const fill = (different: Partial<FutureFill> = {}): FutureFill => ({
    taker: buyer,
    maker: seller,
    amount: 2n * ONE,
    price: 1_495n * ONE,
    ...different,
  })

  async function observe({ subaccountId }: Trader): Promise<{
    readonly facts: FutureFacts
    readonly account: FutureAccountFacts
  }> {
    const deps = { client, deployment: deployment() }
    const block = await client.getBlock()
    const seen = (await observeMarket(deps, market, block, 5_000))?.facts
    if (seen === undefined) throw new Error('the market has no facts')
    const { facts } = await observeAccount(deps, market, subaccountId, { ...block, seen })
    return { facts: futureOf(seen), account: futureAccountOf(facts) }
  }

  /** Initial margin from what the venue has read, and as the manager says. */
  async function margins(trader: Trader): Promise<readonly [own: bigint, chain: bigint]> {
    const { facts, account } = await observe(trader)
    const { usdc, position, otherSize } = account
    const size = (position < 0n ? -position : position) + otherSize
    const cngn = lowerCngn(account, facts)
    const own = surplusOf({ usdc, cngn, size }, facts.index, initialTerms(facts))
    return [own, await ask<bigint>(world, 'manager', 'getMargin', trader.subaccountId, true)]
  }

  it('shows what the asset and the manager say of the market', async () => {
    const { facts } = await observe(buyer)
    expect(facts).to.deep.equal({
      expirySec: Number(world.subId),
      moduleAllowed: true,
      paused: false,
      indexStale: false,
      index: INDEX,
      mark: INDEX,
      totalPosition: 0n,
      positionCap: FUTURES_PARAMETERS.positionCap,
      initialRate: E18 / 10n,
      maintenanceRate: (7n * E18) / 100n,
      initialFactor: (9n * E18) / 10n,
      maintenanceFactor: (95n * E18) / 100n,
      cngnAsset: world.at.wrapped_cngn,
    })
  })

  it('shows an account whose margin is that of the manager, across series and marks', async () => {
    await settleFill(world, fill({ takerFee: 5n * ONE }))
    const other = world.subId + BigInt(DAY)
    await act(world, world.at.deployer, 'asset', 'createSeries', other)
    await settleFill(world, fill({ amount: ONE, price: INDEX, subId: other }))
    const { account } = await observe(seller)
    expect(account).to.deep.include({
      position: -2n * ONE,
      usdc: FUNDS.usdc,
      otherSize: ONE,
      others: { net: -ONE, worth: -1_000n * INDEX },
    })
    for (const trader of [buyer, seller]) {
      const [own, chain] = await margins(trader)
      expect(own).to.equal(chain)
    }
    await warpTo(world, (await timeOf(world)) + 3_600)
    await setIndex(world, 1_530n * ONE)
    await act(world, KEEPER, 'asset', 'updateMark', world.subId, 1_520n * ONE)
    for (const trader of [buyer, seller]) {
      const [own, chain] = await margins(trader)
      expect(own).to.equal(chain)
    }
    const moved = await observe(seller)
    // Five below the mark when it sold, then twenty more, two contracts of a thousand.
    expect(moved.account.cngn).to.equal(FUNDS.cngn - 50_000n * ONE)
    expect(moved.account.mark).to.equal(1_520n * ONE)
  })

  it('shows margin as the manager computes it while a settled series is not closed out', async () => {
    await settleFill(world, fill({ takerFee: 5n * ONE }))
    const subId = world.subId + BigInt(30 * DAY)
    await act(world, world.at.deployer, 'asset', 'createSeries', subId)
    await settleFill(world, fill({ amount: ONE, price: INDEX, subId }))
    await warpTo(world, Number(world.subId) + DAY + 1)
    await setIndex(world, 1_530n * ONE)
    await act(world, world.at.deployer, 'asset', 'setFallbackPrice', world.subId, 1_510n * ONE)
    const reader = createFundsReader({ client, deployment: deployment(), nowMs: () => 5_000 })
    const markets = [market, { ...market, market: 'USDC-cNGN-OTHER', subId }]
    for (const { subaccountId } of [buyer, seller]) {
      const seen = await reader.readFunds(markets, subaccountId)
      const rows = seen?.markets.map((one) => futureFunds({ ...one, claims: NO_CLAIMS }).margin)
      const [initial, maintenance] = await Promise.all(
        [true, false].map((each) => ask<bigint>(world, 'manager', 'getMargin', subaccountId, each)),
      )
      const isBuyer = subaccountId === buyer.subaccountId
      expect(rows?.map((row) => row?.position)).to.deep.equal(['0', isBuyer ? '1000' : '-1000'])
      for (const row of rows ?? []) {
        expect(row).to.deep.include({
          initial_margin_surplus: formatDecimal(initial ?? 0n, 18),
          maintenance_margin_surplus: formatDecimal(maintenance ?? 0n, 18),
          initial_margin: '100',
        })
      }
    }
  })

  it('refuses a row whose module or manager belongs to another asset', async () => {
    const deps = { client, deployment: deployment() }
    expect(await readWiring(deps, market)).to.equal(undefined)
    const { perp_asset: perp, spot_trade_module: spotModule } = world.at
    const { earlier_spot_manager: spotManager } = world.at
    const wrong = (fields: Partial<Market>) => readWiring(deps, { ...market, ...fields } as Market)
    expect(await wrong({ assetAddress: perp })).to.equal(
      `trade module ${market.tradeModuleAddress} trades ${market.assetAddress}, not ${perp}`,
    )
    expect(await wrong({ tradeModuleAddress: spotModule })).to.equal(
      `trade module ${spotModule} trades nothing, not ${market.assetAddress}`,
    )
    expect(await wrong({ marginManagerAddress: spotManager })).to.match(/^trade module .* books at/)
    const nowhere = `0x${'77'.repeat(20)}` as const
    expect(await wrong({ marginManagerAddress: nowhere })).to.equal(
      `no contract at margin manager ${nowhere}`,
    )
  })

  it('shows a series that was not created without prices', async () => {
    const unknown = { ...market, subId: world.subId + 7n }
    const deps = { client, deployment: deployment() }
    const observed = await observeMarket(deps, unknown, await client.getBlock(), 5_000)
    if (observed === undefined) throw new Error('the market has no facts')
    const facts = futureOf(observed.facts)
    expect(facts).to.deep.include({ index: 0n, mark: 0n, indexStale: true })
    const { future } = contractOf(unknown).present.marketEntry(unknown, observed)
    const prices = ['mark_price', 'index_price', 'band_status', 'fill_band_low', 'band_width']
    expect(future).to.not.have.any.keys(...prices)
    expect(future).to.include({ last_trade_time: Number(unknown.subId) - 3_600, paused: false })
  })

  it('reads the pause and the index again where the rest is cached (PER-001)', async () => {
    const deps = { client, deployment: deployment(), cacheMs: 1_000_000, nowMs: () => 5_000 }
    const reader = createMarketReader(deps)
    const read = async () => {
      const seen = await reader.readMarket(market)
      if (seen === undefined) throw new Error('unreadable')
      return futureOf(seen.facts)
    }
    expect(await read()).to.deep.include({ paused: false, index: INDEX, indexStale: false })
    await act(world, world.at.deployer, 'manager', 'setAdjustmentsPaused', true)
    await warpTo(world, (await timeOf(world)) + 5)
    await setIndex(world, 1_400n * ONE)
    expect(await read()).to.deep.include({ paused: true, index: 1_400n * ONE })
    await warpTo(world, (await timeOf(world)) + 400)
    expect(await read()).to.deep.include({ index: 1_400n * ONE, indexStale: true })
  })

  it('finds the accounts that a fill, a deposit of cNGN and another series have changed', async () => {
    const first = (await client.getBlock()).number + 1n
    const { transactionHash } = await settleFill(world, fill({ takerFee: ONE }))
    await act(world, KEEPER, 'manager', 'settleVariation', [buyer.subaccountId])
    const last = (await client.getBlock()).number
    const deps = { client, deployment: deployment(), markets: [market] }
    const touches = await readTouches(deps, first, last)
    const ofSeller = touches.filter(({ subaccountId }) => subaccountId === seller.subaccountId)
    expect(new Set(ofSeller.map(({ txHash }) => txHash))).to.deep.equal(new Set([transactionHash]))
    const byModule = ofSeller.map(({ tradedBy }) => tradedBy)
    expect(new Set(byModule.flat())).to.deep.equal(new Set([market.tradeModuleAddress]))
    // Variation margin that was paid out later is not a trade.
    const paid = touches.filter(({ txHash }) => txHash !== transactionHash)
    expect(paid.map(({ subaccountId }) => subaccountId)).to.include(buyer.subaccountId)
    expect(paid.flatMap(({ tradedBy }) => tradedBy)).to.deep.equal([])
  })

  it('shows the mark at which a mined match was booked, whatever the mark is now (FUT-030)', async () => {
    const readMark = createMarkReader(client, [market])
    const call = await fillCall(world, fill({ takerFee: ONE }))
    const { transactionHash: hash, blockHash, blockNumber } = await perform(world, call)
    await warpTo(world, (await timeOf(world)) + 3_600)
    await setIndex(world, INDEX)
    await act(world, KEEPER, 'asset', 'updateMark', world.subId, 1_520n * ONE)
    const mined = { hash, blockHash, blockNumber }
    expect(await readMark(decodeMatch(call.data), mined)).to.equal(INDEX)
    const other = await fillCall(world, fill({ price: 1_496n * ONE }))
    expect(await readMark(decodeMatch(other.data), mined)).to.equal(undefined)
    const silent = createChainClient('http://127.0.0.1:9', 'read')
    const asked = createMarkReader(silent, [market])(decodeMatch(call.data), mined)
    expect(await asked).to.equal('unreadable')
    const defect = new TypeError('planted')
    const broken = { request: () => Promise.reject(defect) } as unknown as ChainClient
    const failed = createMarkReader(broken, [market])(decodeMatch(call.data), mined)
    expect(await failed.catch((error: unknown) => error)).to.equal(defect)
  })

  describe('blames a refused match', () => {
    const administer = (...call: readonly [string, ...unknown[]]) =>
      act(world, world.at.deployer, 'manager', ...call)
    const age = async (sec: number) => warpTo(world, (await timeOf(world)) + sec)
    const rows: readonly (readonly [
      attempt: string,
      revert: string,
      guilty: string | undefined,
      fill: () => Partial<FutureFill>,
      prepare?: () => Promise<unknown>,
    ])[] = [
      ['outside the band', 'FT_OutsideFillBand', 'venue', () => ({ price: 1_700n * ONE })],
      ['with a stale index', 'FT_IndexStale', 'venue', () => ({}), () => age(400)],
      [
        'after the last trade, whatever the manager of a side',
        'FT_TradingEnded',
        'venue',
        () => ({ maker: elsewhere }),
        async () => {
          await warpTo(world, Number(world.subId) - 3_600)
          await setIndex(world, INDEX)
        },
      ],
      [
        'while the manager is paused',
        'BM_AdjustmentsPaused',
        'venue',
        () => ({}),
        () => administer('setAdjustmentsPaused', true),
      ],
      [
        'above the cap',
        'BM_AssetCapExceeded',
        'venue',
        () => ({}),
        () =>
          act(
            world,
            world.at.deployer,
            'asset',
            'setTotalPositionCap',
            world.at.futures_manager,
            1n,
          ),
      ],
      [
        'through a module that the manager does not admit',
        'FM_OnlyTradeModule',
        'venue',
        () => ({}),
        () => administer('setTradeModule', world.at.future_trade_module, false),
      ],
      [
        'through a module that Matching does not admit',
        'M_OnlyAllowedModule',
        'venue',
        () => ({}),
        () => {
          const abi = parseAbi(['function setAllowedModule(address,bool)'])
          const args = [world.at.future_trade_module, false] as const
          const data = encodeFunctionData({ abi, args })
          return perform(world, { from: world.at.deployer, to: world.at.matching, data })
        },
      ],
      [
        'of a maker under another manager',
        'MW_UnknownManager',
        'maker',
        () => ({ maker: elsewhere }),
      ],
      [
        'of a taker beyond initial margin',
        'SRM_PortfolioBelowMargin',
        'taker',
        // 2 USDC and 600 of its cNGN carry six contracts.
        () => ({ taker: poor, amount: 7n * ONE, price: INDEX }),
      ],
      [
        'of a maker beyond initial margin',
        'SRM_PortfolioBelowMargin',
        'maker',
        () => ({ maker: poor, amount: 7n * ONE, price: INDEX }),
      ],
      [
        'of two beyond initial margin',
        'SRM_PortfolioBelowMargin',
        'both',
        () => ({ amount: 40n * ONE, price: INDEX }),
      ],
      [
        'of a taker without USDC for its fee',
        'WERC_CannotBeNegative',
        'taker',
        () => ({ taker: poor, amount: 2n * ONE, price: INDEX, takerFee: 5n * ONE }),
      ],
      [
        'with proceeds to another account',
        'TM_InvalidRecipientId',
        undefined,
        () => ({ recipientId: poor.subaccountId }),
      ],
      [
        'above the fee bound',
        'TM_FeeTooHigh',
        undefined,
        () => ({ amount: ONE, takerFee: FEE, worstFee: FEE - 1n }),
      ],
    ]
    for (const [attempt, revert, guilty, different, prepare] of rows) {
      it(`${attempt}: ${revert} on ${guilty ?? 'what its name says'}`, async () => {
        await prepare?.()
        const call = await fillCall(world, fill(different()))
        const data = await revertOf(world, call)
        expect(data === 'none' ? data : revertName(data)).to.equal(revert)
        expect(await findGuilty(decodeMatch(call.data), revert)).to.equal(guilty)
      })
    }

    it('and none when a side would bear it after all', async () => {
      const call = await fillCall(world, fill({ taker: poor, amount: 6n * ONE, price: INDEX }))
      expect(await revertOf(world, call)).to.equal('none')
      expect(await findGuilty(decodeMatch(call.data), 'SRM_PortfolioBelowMargin')).to.equal(
        undefined,
      )
    })
  })
})
