import { expect } from 'chai'
import { parseEventLogs } from 'viem'
import { perpAssetAbi, perpManagerAbi } from '../../chain/abi/contracts.js'
import type { Hex } from '../../core/action.js'
import { openWorld, perform, type Trader, type World } from '../support/devnet-world.js'
import {
  administerPerp,
  cashOf,
  e18,
  keepPricesFresh,
  openPerpAccount,
  readPerp,
  setPrices,
  settleCall,
  trade,
  tradeCall,
  unsettledOf,
} from '../support/perp-world.js'

/** A premium of 2 %: 0.25 % an hour over eight hours, and 0.00125 % for interest. */
const PREMIUM = { index: '0.00065', bid: '0.000663', ask: '0.00067' }
const RATE = '0.0025125'

/** Each transaction that counts is mined at a second that the test chooses. */
describe('funding of a perpetual', () => {
  let world: World
  let snapshot: Hex
  let long: Trader
  let short: Trader
  /** When the positions were opened. */
  let opened: bigint

  before(async () => {
    world = await openWorld()
    await keepPricesFresh(world)
    await setPrices(world, PREMIUM)
    long = await openPerpAccount(world, world.carol, { cash: 1_000 })
    short = await openPerpAccount(world, world.bob, { cash: 1_000 })
    const { blockNumber } = await trade(world, { buyer: long, seller: short, size: 1_760_000 })
    opened = (await world.client.getBlock({ blockNumber })).timestamp
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  async function settleAt(trader: Trader, seconds: bigint) {
    await world.client.setNextBlockTimestamp({ timestamp: opened + seconds })
    return perform(world, settleCall(world, trader))
  }

  it('is the premium over the convergence period, and the static rate', async () => {
    expect(await readPerp(world, 'getFundingRate')).to.equal(e18(RATE))
  })

  it('is negative when the impact ask is below the index', async () => {
    await setPrices(world, { index: '0.00065', bid: '0.00063', ask: '0.000637' })
    expect(await readPerp(world, 'getFundingRate')).to.equal(e18('-0.0024875'))
  })

  it('is the static rate while the index is inside the impact prices', async () => {
    await setPrices(world, { index: '0.00065', bid: '0.00064', ask: '0.00066' })
    expect(await readPerp(world, 'getFundingRate')).to.equal(e18('0.0000125'))
  })

  it('stays inside its bounds', async () => {
    await setPrices(world, { index: '0.00065', bid: '0.000715', ask: '0.000715' })
    expect(await readPerp(world, 'getFundingRate')).to.equal(e18('0.004'))
    await setPrices(world, { index: '0.00065', bid: '0.000585', ask: '0.000585' })
    expect(await readPerp(world, 'getFundingRate')).to.equal(e18('-0.004'))
    await administerPerp(world, world.at.perp_asset, 'setRateBounds', 0n)
    expect(await readPerp(world, 'getFundingRate')).to.equal(0n)
  })

  it('rounds the premium per hour half away from zero', async () => {
    // The premium is 1e-18 of the index: an eighth of it rounds down, a half up.
    await administerPerp(world, world.at.perp_asset, 'setStaticInterestRate', 0n)
    await setPrices(world, { index: '1', bid: '1.000000000000000001', ask: '2' })
    expect(await readPerp(world, 'getFundingRate')).to.equal(0n)
    await administerPerp(world, world.at.perp_asset, 'setConvergencePeriod', e18('2'))
    expect(await readPerp(world, 'getFundingRate')).to.equal(1n)
    await setPrices(world, { index: '1', bid: '0', ask: '0.999999999999999999' })
    expect(await readPerp(world, 'getFundingRate')).to.equal(-1n)
  })

  it('takes 2.8743 of a long position of 1,760,000 in an hour, and gives it to the short', async () => {
    await settleAt(long, 3_600n)
    await settleAt(short, 3_600n)
    expect(await cashOf(world, long)).to.equal(e18('997.1257'))
    expect(await cashOf(world, short)).to.equal(e18('1002.8743'))
  })

  it('is unsettled cash until a touch, and an event at each', async () => {
    const before = await readPerp(world, 'aggregatedFunding')
    await world.client.setNextBlockTimestamp({ timestamp: opened + 3_600n })
    await world.client.mine({ blocks: 1 })
    expect(await unsettledOf(world, long)).to.equal(e18('-2.8743'))
    expect(await unsettledOf(world, short)).to.equal(e18('2.8743'))
    expect(await readPerp(world, 'aggregatedFunding')).to.equal(before)
    const { logs } = await settleAt(long, 7_200n)
    const [updated] = parseEventLogs({
      abi: perpAssetAbi,
      eventName: 'AggregatedFundingUpdated',
      logs,
    })
    // 2 hours x 0.0025125 x 0.00065 for each contract
    expect(updated?.args).to.deep.equal({
      aggregatedFundingRate: before + e18('0.00000326625'),
      fundingRate: e18(RATE),
      lastFundingPaidAt: opened + 7_200n,
    })
    const [settled] = parseEventLogs({ abi: perpManagerAbi, eventName: 'PerpSettled', logs })
    expect(settled?.args.funding).to.equal(e18('-5.7486'))
    expect(settled?.args.pnl).to.equal(0n)
  })

  it('takes the rate and the index of each touch for the time since the last one', async () => {
    await settleAt(long, 1_800n)
    // The rate is now 0.0000125, for the hour before as well.
    await setPrices(world, { index: '0.0006', mark: '0.00065' })
    await settleAt(long, 5_400n)
    await setPrices(world, { index: '0.0006', mark: '0.00065', bid: '0.000612', ask: '0.00062' })
    await settleAt(long, 9_000n)
    // 1.76 million x (0.5 x 0.0025125 x 0.00065 + 0.0000125 x 0.0006 + 0.0025125 x 0.0006)
    expect(await cashOf(world, long)).to.equal(e18('1000') - e18('1.43715') - e18('2.6664'))
    await settleAt(short, 9_000n)
    expect(await cashOf(world, short)).to.equal(e18('1000') + e18('1.43715') + e18('2.6664'))
  })

  it('truncates what accrued in a second toward zero, for the long and for the short', async () => {
    await settleAt(long, 1n)
    await settleAt(short, 1n)
    // floor(0.0025125e18 / 3600) x 0.00065, floored, is the funding of one contract
    const rate = (2_512_500_000_000_000n * 1n) / 3_600n
    const each = (rate * 650_000_000_000_000n) / 10n ** 18n
    const paid = each * 1_760_000n
    expect(await cashOf(world, long)).to.equal(e18('1000') - paid)
    expect(await cashOf(world, short)).to.equal(e18('1000') + paid)
  })

  it('is settled before cash is judged', async () => {
    // After so many hours of paying, the fee would leave less than nothing.
    const poor = await openPerpAccount(world, world.alice, { cash: 1, cngn: 1_000_000 })
    await world.client.setNextBlockTimestamp({ timestamp: opened + 60n })
    await trade(world, { buyer: poor, seller: short, size: 400_000 })
    await world.client.setNextBlockTimestamp({ timestamp: opened + 7_260n })
    await world.client.mine({ blocks: 1 })
    expect(await unsettledOf(world, poor)).to.equal(e18('-1.3065'))
    const terms = { buyer: short, seller: poor, size: 100, taker: 'seller' as const }
    const call = await tradeCall(world, { ...terms, takerFee: '0.0001' })
    await world.client.setNextBlockTimestamp({ timestamp: opened + 7_260n })
    await perform(world, call).then(
      () => expect.fail('the fee was taken'),
      (error: unknown) => expect(String(error)).to.include('reverted: 0x703701fb'),
    )
  })

  it('ends when the perpetual is disabled, at a frozen mark', async () => {
    await world.client.setNextBlockTimestamp({ timestamp: opened + 3_600n })
    await administerPerp(world, world.at.perp_asset, 'disable')
    await setPrices(world, { index: '0.0007' })
    await settleAt(long, 7_200n)
    expect(await cashOf(world, long)).to.equal(e18('997.1257'))
    expect(await readPerp(world, 'isDisabled')).to.equal(true)
    expect(await readPerp(world, 'getFundingRate')).to.equal(0n)
  })
})
