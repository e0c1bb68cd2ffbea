import { expect } from 'chai'
import { parseAbi, parseEventLogs, type Log } from 'viem'
import { cashAssetAbi, dutchAuctionAbi, managerAbi } from '../../chain/abi/contracts.js'
import { perpetual } from '../../chain/contracts/perpetual.js'
import { createChainClient } from '../../chain/reads/client.js'
import { readTouches } from '../../chain/reads/touches.js'
import type { Hex } from '../../core/action.js'
import { hidePerpetual, type PerpetualFacts } from '../../core/contracts/perpetual-facts.js'
import { PERP_PARAMETERS } from '../../devnet/chain/perp-parameters.js'
import { aPerp } from '../support/builders.js'
import { auctionAbi, auctionCall, bidCall, type BidTerms } from '../support/auction-calls.js'
import { actionsCall, depositCall, ONE, signWithdrawal } from '../support/devnet-actions.js'
import {
  administer,
  balanceOf,
  lastAccountId,
  openWorld,
  perform,
  revertOf,
  type Trader,
  type World,
} from '../support/devnet-world.js'
import {
  cashOf,
  e18,
  marginOf,
  openPerpAccount,
  positionOf,
  setPrices,
  stopTheClock,
  trade,
  tradeCall,
} from '../support/perp-world.js'

const MILLION = 1_000_000
const ENDOWMENT = PERP_PARAMETERS.securityEndowment * 10n ** 12n
const mul = (a: bigint, b: bigint): bigint => (a * b) / ONE

/**
 * Discount 95 % to 70 % in 900 s and to 0 in 43,200 s more; insolvent auctions last 3,600 s; fee 1 %, buffer 15 %. The
 * account has 100 USDC and is long by 1,000,000 contracts from 0.00065.
 */
describe('liquidation', () => {
  let world: World
  let snapshot: Hex
  let dealer: Trader
  let bidder: Trader
  let account: Trader
  let security: Trader
  /** When the auction started. */
  let started: bigint

  before(async () => {
    world = await openWorld()
    await stopTheClock(world)
    dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    bidder = await openPerpAccount(world, world.alice, { cash: 1_000 })
    account = await openPerpAccount(world, world.carol, { cash: 100 })
    security = { ...dealer, subaccountId: BigInt(world.at.security_subaccount_id) }
    await trade(world, { buyer: account, seller: dealer, size: MILLION })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  async function start(index: string) {
    await setPrices(world, { index })
    started = (await world.client.getBlock()).timestamp + 10n
    await world.client.setNextBlockTimestamp({ timestamp: started })
    return perform(world, auctionCall(world, 'startAuction', account))
  }

  /** Sends the bid so many seconds after the start; resolves with what was bought and paid. */
  async function bidAt(seconds: bigint, terms: Partial<BidTerms> & { cash: bigint }) {
    const call = await bidCall(world, { bidder, account, ...terms })
    await world.client.setNextBlockTimestamp({ timestamp: started + seconds })
    const { logs } = await perform(world, call)
    const [bid] = parseEventLogs({ abi: auctionAbi, eventName: 'Bid', logs })
    if (bid === undefined) throw new Error('no bid')
    return { ...bid.args, ended: endedIn(logs) }
  }

  const endedIn = (logs: Log[]) =>
    parseEventLogs({ abi: dutchAuctionAbi, eventName: 'AuctionEnded', logs }).length > 0

  const isLive = () =>
    world.client.readContract({
      address: world.at.dutch_auction,
      abi: dutchAuctionAbi,
      functionName: 'isAuctionLive',
      args: [account.subaccountId],
    })

  const newestAccount = async (): Promise<Trader> => ({
    ...bidder,
    subaccountId: await lastAccountId(world),
  })

  it('starts below maintenance margin, and takes a fee for the security module', async () => {
    const { logs } = await start('0.00058')
    const [event] = parseEventLogs({
      abi: dutchAuctionAbi,
      eventName: 'SolventAuctionStarted',
      logs,
    })
    // B = -7.7 - 0.15 x 37.7, of which B / (B - 30) x 30 x 1 %
    const fee = 92_411_486_564_410_102n
    expect(event?.args).to.include({ markToMarket: e18('30'), fee })
    expect(await cashOf(world, account)).to.equal(e18('30') - fee)
    expect(await cashOf(world, security)).to.equal(ENDOWMENT + fee)
    expect(await isLive()).to.equal(true)
  })

  it('sells the portion that restores the buffer margin, and ends', async () => {
    await start('0.00058')
    const bid = await bidAt(450n, { cash: e18('200') })
    const portion = 352_754_408_573_387_673n
    const paid = 8_703_777_800_778_401_667n
    expect(bid).to.include({ finalPercentage: portion, cashFromBidder: paid, cashToBidder: 0n })
    expect(bid.ended).to.equal(true)
    expect(await isLive()).to.equal(false)
    const before = e18('30') - 92_411_486_564_410_102n
    const bought = await newestAccount()
    expect(await positionOf(world, bought)).to.equal(mul(e18('1000000'), portion))
    expect(await cashOf(world, bought)).to.equal(e18('200') - paid + mul(before, portion))
    expect(await cashOf(world, bidder)).to.equal(e18('800'))
    expect(await cashOf(world, account)).to.equal(before - mul(before, portion) + paid)
    expect((await marginOf(world, account, false)) > 0n).to.equal(true)
  })

  it('sells less to a bidder that wants less, and reserves its cash', async () => {
    await start('0.00058')
    const bid = await bidAt(450n, { cash: e18('200'), portion: e18('0.1') })
    expect(bid).to.include({ finalPercentage: e18('0.1'), ended: false })
    const { reservedCash, ongoing } = await world.client.readContract({
      address: world.at.dutch_auction,
      abi: auctionAbi,
      functionName: 'getAuction',
      args: [account.subaccountId],
    })
    expect([reservedCash, ongoing]).to.deep.equal([bid.cashFromBidder, true])
    const rest = await bidAt(460n, { cash: e18('200') })
    expect(rest.ended).to.equal(true)
    expect(await positionOf(world, account)).to.equal(
      mul(e18('900000'), ONE - rest.finalPercentage),
    )
  })

  it('merges what was bought into the account of the bidder', async () => {
    await start('0.00058')
    const bid = await bidAt(0n, { cash: e18('200'), merge: true })
    expect(await positionOf(world, bidder)).to.equal(mul(e18('1000000'), bid.finalPercentage))
    expect(await cashOf(world, await newestAccount())).to.equal(0n)
  })

  it('ends without a bid once the account is above its buffer margin', async () => {
    await start('0.00058')
    await setPrices(world, { index: '0.00065' })
    await perform(world, auctionCall(world, 'terminateAuction', account))
    expect(await isLive()).to.equal(false)
  })

  it('pays the bidder of an insolvent account from the security module', async () => {
    const { logs } = await start('0.0005')
    const [event] = parseEventLogs({
      abi: dutchAuctionAbi,
      eventName: 'InsolventAuctionStarted',
      logs,
    })
    expect(event?.args.maintenanceMargin).to.equal(e18('-82.5'))
    // Half way from -50 to -82.5.
    const bid = await bidAt(1_800n, { cash: e18('20') })
    expect(bid).to.include({ cashFromBidder: 0n, cashToBidder: e18('66.25'), ended: true })
    const bought = await newestAccount()
    expect(await cashOf(world, bought)).to.equal(e18('36.25'))
    expect(await positionOf(world, bought)).to.equal(e18('1000000'))
    expect(await cashOf(world, account)).to.equal(0n)
    expect(await positionOf(world, account)).to.equal(0n)
    expect(await cashOf(world, security)).to.equal(ENDOWMENT - e18('66.25'))
  })

  it('is seen by a follower of the chain when it starts, and when it ends without a transfer', async () => {
    const { at, anvil } = world
    const deployment = { matching: at.matching, subAccounts: at.sub_accounts }
    const market = aPerp({
      assetAddress: at.perp_asset,
      tradeModuleAddress: at.perp_trade_module,
      marginManagerAddress: at.perp_manager,
    })
    const client = createChainClient(anvil.rpcUrl, 'read')
    const touched = async (block: bigint) => {
      const facts = { auction: at.dutch_auction } as PerpetualFacts
      const events = perpetual.accountEvents?.(hidePerpetual(facts))
      expect(events?.address).to.equal(at.dutch_auction)
      const reader = { client, deployment, markets: [market] }
      return readTouches(reader, block, block, events && [events])
    }
    const { blockNumber, transactionHash: txHash } = await start('0.0005')
    const { subaccountId } = account
    expect(await touched(blockNumber)).to.deep.include({ subaccountId, txHash, tradedBy: [] })
    await setPrices(world, { index: '0.00066' })
    const ended = await perform(world, auctionCall(world, 'terminateAuction', account))
    expect((await touched(ended.blockNumber)).map((it) => it.subaccountId)).to.deep.equal([
      subaccountId,
    ])
  })

  it('pays at most the maintenance margin, and portions of it for portions', async () => {
    await start('0.0005')
    const bid = await bidAt(7_200n, { cash: e18('1'), portion: e18('0.5') })
    expect(bid).to.include({ cashToBidder: e18('41.25'), ended: false })
    expect(await positionOf(world, account)).to.equal(e18('500000'))
  })

  it('makes a solvent auction without bidders insolvent', async () => {
    await start('0.00058')
    await world.client.setNextBlockTimestamp({ timestamp: started + 44_100n })
    await perform(world, auctionCall(world, 'convertToInsolventAuction', account))
    started += 44_100n
    // The portfolio is worth something, so that the price begins at zero.
    const bid = await bidAt(0n, { cash: e18('200') })
    expect(bid).to.include({ cashToBidder: 0n, cashFromBidder: 0n, ended: true })
  })

  it('stops cash withdrawals of all accounts while the security module has too little', async () => {
    await drain(world)
    expect(await withdraws(dealer)).to.equal('none')
    await start('0.0005')
    expect((await withdraws(dealer)).slice(0, 10)).to.equal('0x93e8e9e4')
    await bidAt(3_600n, { cash: e18('1') })
    expect(await withdraws(dealer)).to.equal('none')
  })

  it('prints what the security module cannot pay, and charges withdrawals for it', async () => {
    await drain(world)
    await start('0.0005')
    await bidAt(3_600n, { cash: e18('1') })
    const read = { address: world.at.cash_asset, abi: cashAssetAbi } as const
    expect(
      await world.client.readContract({ ...read, functionName: 'temporaryWithdrawFeeEnabled' }),
    ).to.equal(true)
    const rate = await world.client.readContract({
      ...read,
      functionName: 'getCashToStableExchangeRate',
    })
    // Backed by 1,001,100 USDC: 82.5 were printed.
    expect(rate).to.equal((e18('1001100') * ONE) / e18('1001182.5'))
    const terms = { asset: world.at.cash_asset, assetAmount: 1_000_000n }
    const { subaccountId } = bidder
    const action = await signWithdrawal(world, world.alice, terms, { subaccountId })
    const before = await cashOf(world, bidder)
    await perform(world, actionsCall(world, [action]))
    expect(before - (await cashOf(world, bidder))).to.equal((ONE * ONE + rate - 1n) / rate)
  })

  it('freezes the account: no trade, deposit or withdrawal, whatever it costs', async () => {
    await start('0.00058')
    const { subaccountId } = account
    const reduce = { buyer: dealer, seller: account, size: 1_000, price: '0.00058' }
    const terms = { asset: world.at.cash_asset, assetAmount: 1n }
    const calls = [
      await tradeCall(world, reduce),
      await depositCall(world, world.carol, { amount: 0n, asset: terms.asset }, { subaccountId }),
      actionsCall(world, [await signWithdrawal(world, world.carol, terms, { subaccountId })]),
    ]
    for (const call of calls)
      expect((await revertOf(world, call)).slice(0, 10)).to.equal('0x72d35b56')
  })

  it('starts while the manager is paused, but takes no bid', async () => {
    await administer(world, world.at.perp_manager, managerAbi, 'setAdjustmentsPaused', true)
    await start('0.00058')
    const call = await bidCall(world, { bidder, account, cash: e18('200') })
    expect((await revertOf(world, call)).slice(0, 10)).to.equal('0x83d3980b')
  })

  async function withdraws(trader: Trader): Promise<Hex | 'none'> {
    const { subaccountId } = trader
    const terms = { asset: world.at.cash_asset, assetAmount: 1n }
    const action = await signWithdrawal(world, trader, terms, { subaccountId })
    return revertOf(world, actionsCall(world, [action]))
  }
})

/** Takes all cash out of the security module. */
async function drain(world: World): Promise<void> {
  const { security_module: module, deployer, cash_asset: cash } = world.at
  const abi = parseAbi(['function withdraw(uint256 stableAmount, address recipient)'])
  const held = await balanceOf(world, BigInt(world.at.security_subaccount_id), cash)
  await administer(world, module, abi, 'withdraw', held / 10n ** 12n, deployer)
}
