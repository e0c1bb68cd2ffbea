import { expect } from 'chai'
import { parseEventLogs } from 'viem'
import { perpAssetAbi, perpManagerAbi, tradeModuleAbi } from '../../chain/abi/contracts.js'
import type { Hex } from '../../core/action.js'
import { PERP_PARAMETERS } from '../../devnet/chain/perp-parameters.js'
import { balanceOf, openWorld, perform, type Trader, type World } from '../support/devnet-world.js'
import {
  administerPerp,
  cashOf,
  e18,
  marginOf,
  openPerpAccount,
  positionOf,
  setPrices,
  settleCall,
  stopTheClock,
  trade,
} from '../support/perp-world.js'

const MILLION = 1_000_000

/** Initial margin 10 %, maintenance 6.5 %, collateral at 0.8 and initially 0.9 of that; no funding. */
describe('margin of perp accounts', () => {
  let world: World
  let snapshot: Hex
  /** A rich counterparty. */
  let dealer: Trader

  before(async () => {
    world = await openWorld()
    await stopTheClock(world)
    dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  /** Carol with these funds, long by so many contracts at the mark of 0.00065. */
  async function long(funds: { cash?: number; cngn?: number }, size: number): Promise<Trader> {
    const trader = await openPerpAccount(world, world.carol, funds)
    await trade(world, { buyer: trader, seller: dealer, size })
    return trader
  }

  const margins = async (trader: Trader) => [
    await marginOf(world, trader, true),
    await marginOf(world, trader, false),
  ]

  const isHealthy = async (trader: Trader) => (await marginOf(world, trader, false)) >= 0n

  it('is cash less the requirement of the position at the mark', async () => {
    const trader = await long({ cash: 100 }, MILLION)
    expect(await margins(trader)).to.deep.equal([e18('35'), e18('57.75')])
    await setPrices(world, { index: '0.0006' })
    expect(await margins(trader)).to.deep.equal([e18('-10'), e18('11')])
  })

  it('is zero at the liquidation price of a long and of a short', async () => {
    const longer = await long({ cash: 100 }, MILLION)
    await setPrices(world, { index: '0.000588235294117648' })
    expect(await isHealthy(longer)).to.equal(true)
    await setPrices(world, { index: '0.000588235' })
    expect(await isHealthy(longer)).to.equal(false)

    await setPrices(world, { index: '0.00065' })
    const shorter = await openPerpAccount(world, world.carol, { cash: 650 })
    await trade(world, { buyer: dealer, seller: shorter, size: MILLION })
    await setPrices(world, { index: '0.001220657276995305' })
    expect(await isHealthy(shorter)).to.equal(true)
    await setPrices(world, { index: '0.001220657277' })
    expect(await isHealthy(shorter)).to.equal(false)
  })

  it('uses the mark for the profit and the index for collateral', async () => {
    const trader = await long({ cash: 10, cngn: MILLION }, MILLION)
    await setPrices(world, { index: '0.0006', mark: '0.00063' })
    // 10 - 20 + 0.8 x 600 - 0.065 x 630, and initially 0.72 x 600 with 0.1 x 630
    expect(await margins(trader)).to.deep.equal([e18('359'), e18('429.05')])
  })

  it('asks more of an initial position while a confidence is below its threshold', async () => {
    const trader = await long({ cash: 1_000, cngn: MILLION }, MILLION)
    const full = await margins(trader)
    await setPrices(world, { index: '0.00065', confidence: '0.55' })
    expect(await margins(trader)).to.deep.equal(full)
    await setPrices(world, { index: '0.00065', confidence: '0.5' })
    // (1 - 0.5) x 0.4 x 650 for the position, and the same for the collateral
    expect(await margins(trader)).to.deep.equal([(full[0] ?? 0n) - e18('260'), full[1]])
  })

  it('asks more of an initial position while the stable token is below its peg', async () => {
    const trader = await long({ cash: 1_000 }, MILLION)
    const full = await margins(trader)
    await setPrices(world, { index: '0.00065', stable: '0.98' })
    expect(await margins(trader)).to.deep.equal(full)
    await setPrices(world, { index: '0.00065', stable: '0.96' })
    // (0.98 - 0.96) x 1.2 x 650
    expect(await margins(trader)).to.deep.equal([(full[0] ?? 0n) - e18('15.6'), full[1]])
  })

  it('marks cash, profit and collateral to market, the latter in the stable token', async () => {
    const trader = await long({ cash: 10, cngn: MILLION }, MILLION)
    await setPrices(world, { index: '0.0006', stable: '0.96' })
    const args = [trader.subaccountId, false, 0n] as const
    const [margin, mtm] = await world.client.readContract({
      address: world.at.perp_manager,
      abi: perpManagerAbi,
      functionName: 'getMarginAndMarkToMarket',
      args,
    })
    // 10 - 50 + 600 / 0.96, and 10 - 50 + 480 - 39
    expect([mtm, margin]).to.deep.equal([e18('585'), e18('401')])
  })

  it('lets a short account shrink as far as that restores its margin', async () => {
    const trader = await long({ cash: 100 }, MILLION)
    await setPrices(world, { index: '0.0006' })
    const price = '0.0006'
    const sell = { buyer: dealer, seller: trader, price, taker: 'seller' as const }
    await trade(world, { ...sell, size: MILLION / 2, takerFee: '0.75' })
    expect(await marginOf(world, trader, true)).to.equal(e18('19.25'))
    expect(await cashOf(world, trader)).to.equal(e18('49.25'))
  })

  it('leaves a reduction at the mark and free of fees unjudged', async () => {
    const trader = await long({ cash: 100 }, MILLION)
    await setPrices(world, { index: '0.0006' })
    await trade(world, { buyer: dealer, seller: trader, price: '0.0006', size: MILLION / 20 })
    expect(await marginOf(world, trader, true)).to.equal(e18('-7'))
    expect(await positionOf(world, trader)).to.equal(e18('950000'))
  })

  it('holds a trusted caller to the maintenance margin only', async () => {
    const trader = await long({ cash: 100 }, MILLION)
    await setPrices(world, { index: '0.0006' })
    const { perp_manager: manager, perp_trade_module: module } = world.at
    await administerPerp(world, manager, 'setTrustedRiskAssessor', module, true)
    const sell = { buyer: dealer, seller: trader, price: '0.0006', taker: 'seller' as const }
    await trade(world, { ...sell, size: MILLION / 20, takerFee: '0.075' })
    expect(await marginOf(world, trader, true)).to.equal(e18('-7.075'))
  })

  it('moves the difference to the mark and the fees in cash, never the notional', async () => {
    const trader = await openPerpAccount(world, world.carol, { cash: 1_000 })
    const fees = { ...dealer, subaccountId: BigInt(world.at.perp_fee_subaccount_id) }
    const terms = { buyer: trader, seller: dealer, size: MILLION, price: '0.000655' }
    const { logs } = await trade(world, { ...terms, takerFee: '1.6375', makerFee: '0.5' })
    expect(await cashOf(world, trader)).to.equal(e18('993.3625'))
    expect(await cashOf(world, dealer)).to.equal(e18('1000004.5'))
    expect(await cashOf(world, fees)).to.equal(e18('2.1375'))
    const [matched] = parseEventLogs({ abi: tradeModuleAbi, eventName: 'OrderMatched', logs })
    expect(matched?.args.amtQuote).to.equal(e18('5'))
    const settled = parseEventLogs({ abi: perpAssetAbi, eventName: 'PositionSettled', logs })
    expect(settled.map((log) => log.args.perpPrice)).to.deep.equal([e18('0.00065'), e18('0.00065')])
  })

  it('settles profit into cash with every trade, so that no entry price remains', async () => {
    const trader = await long({ cash: 100 }, MILLION)
    await setPrices(world, { index: '0.0007' })
    const { logs } = await trade(world, {
      buyer: trader,
      seller: dealer,
      size: MILLION,
      price: '0.0007',
    })
    expect(await cashOf(world, trader)).to.equal(e18('150'))
    expect(await cashOf(world, dealer)).to.equal(e18('999950'))
    const settled = parseEventLogs({ abi: perpManagerAbi, eventName: 'PerpSettled', logs })
    expect(settled.map((log) => log.args.pnl)).to.deep.equal([e18('50'), e18('-50')])
  })

  it('lets every caller settle, into debt as well and while paused', async () => {
    const trader = await long({ cash: 10, cngn: MILLION }, MILLION)
    await setPrices(world, { index: '0.00063' })
    await administerPerp(world, world.at.perp_manager, 'setAdjustmentsPaused', true)
    await perform(world, settleCall(world, trader))
    expect(await cashOf(world, trader)).to.equal(e18('-10'))
    expect(await marginOf(world, trader, true)).to.equal(e18('380.6'))
  })

  it('counts longs once as open interest, and both sides against the cap (PER-003)', async () => {
    await long({ cash: 1_000 }, MILLION)
    const { perp_asset: address, perp_manager: manager } = world.at
    const read = { address, abi: perpAssetAbi } as const
    const open = () =>
      world.client.readContract({ ...read, functionName: 'openInterest', args: [0n] })
    const total = () =>
      world.client.readContract({ ...read, functionName: 'totalPosition', args: [manager] })
    expect(await open()).to.equal(e18('1000000'))
    expect(await total()).to.equal(e18('2000000'))
    const cap = { ...read, functionName: 'totalPositionCap', args: [manager] } as const
    expect(await world.client.readContract(cap)).to.equal(PERP_PARAMETERS.positionCap)
  })

  it('takes collateral from the same wrapped token that spot uses', async () => {
    const trader = await openPerpAccount(world, world.carol, { cngn: MILLION })
    expect(await margins(trader)).to.deep.equal([e18('468'), e18('520')])
    const held = await balanceOf(world, trader.subaccountId, world.at.wrapped_cngn)
    expect(held).to.equal(e18('1000000'))
  })
})
