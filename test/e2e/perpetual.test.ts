import { expect } from 'chai'
import { writeFile } from 'node:fs/promises'
import { encodeFunctionData } from 'viem'
import { perpAssetAbi } from '../../chain/abi/contracts.js'
import { VenueRefused } from '../../client/index.js'
import { formatDecimal } from '../../core/decimal.js'
import { pricesFile, type PricesAsText } from '../../devnet/feeder/prices.js'
import { auctionAbi } from '../support/auction-calls.js'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { e18 } from './stage/trader.js'
import { createPerpTrader, PERP, type PerpTrader } from './stage/perp-trader.js'

const E18 = 10n ** 18n
const MILLION = 1_000_000
/** Units of 1e-18 that truncated products may take or leave: some for each settlement of an account. */
const DUST = 100n

const isDust = (amount: bigint): boolean => amount <= DUST && amount >= -DUST

/** Each test goes on where the one before it ended. Initial margin is a tenth, the taker's fee 25 bps. */
describe('a perpetual on the running venue', function () {
  let venue: TestVenue
  let [alice, bob, carol, dave]: PerpTrader[] = []
  /** The account of dave's that bids. */
  let bidder = 0n
  /** Cash of the venue's own accounts before anything was traded. */
  let cashAtStart = 0n
  /** What was withdrawn, at 1e18. */
  let paidOut = 0n

  before(async function () {
    const env = { FEEDER_EVERY_S: '5' }
    venue = await startVenue({ markets: SPOT_AND_PERP, feeder: true, env })
    ;[alice, bob, carol, dave] = [0, 1, 2, 3].map((i) => createPerpTrader(venue.devnet, i))
    cashAtStart = await cashOf(ownAccounts())
  })
  after(async () => venue.stop())

  const trader = (one: PerpTrader | undefined): PerpTrader => {
    if (one === undefined) throw new Error('there is no venue')
    return one
  }
  const ownAccounts = (): bigint[] => {
    const { perp_fee_subaccount_id: fees, security_subaccount_id: security } = venue.devnet
    return [BigInt(fees), BigInt(security)]
  }

  async function cashOf(accounts: readonly bigint[], blockNumber?: bigint): Promise<bigint> {
    const { balance } = trader(alice)
    const held = accounts.map((id) => balance(id, venue.devnet.cash_asset, blockNumber))
    return (await Promise.all(held)).reduce((sum, cash) => sum + cash, 0n)
  }

  /** Has the feeder publish the prices; resolves once the chain has the index. */
  async function setPrices(prices: PricesAsText): Promise<void> {
    await writeFile(pricesFile(venue.dataDir), JSON.stringify(prices))
    await eventually(async () => {
      const [index] = await trader(alice).chain.readContract({
        address: venue.devnet.perp_asset,
        abi: perpAssetAbi,
        functionName: 'getIndexPrice',
      })
      return index === e18(prices.index)
    }, 60_000)
  }

  async function refused(promise: Promise<unknown>): Promise<VenueRefused> {
    const error = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(VenueRefused)
    return error as VenueRefused
  }

  it('opens an account with a deposit, which can trade at once', async () => {
    const long = trader(alice)
    const short = trader(bob)
    await short.open('500')
    const offer = await short.place({ side: 'sell', size: MILLION, price: '0.00065' })
    expect(offer).to.include({ status: 'active', market: PERP })
    await long.open('500')
    const bought = await long.place({ side: 'buy', size: MILLION, price: '0.00065' })
    await long.until(bought, 'filled')
    await short.until(offer, 'filled')
    expect(await long.position()).to.equal(BigInt(MILLION) * E18)
    expect(await short.position()).to.equal(-BigInt(MILLION) * E18)
    // 25 bps of 650 USDC, from the taker alone.
    expect(await long.cash()).to.equal(500n * E18 - 1_625n * 10n ** 15n)
    expect(await short.cash()).to.equal(500n * E18)
  })

  it('accrues funding from the long to the short while the market is above the index', async () => {
    await setPrices({ index: '0.00065', bid: '0.0007', ask: '0.00072' })
    await eventually(async () => {
      const [{ positions: long }, { positions: short }] = await Promise.all([
        trader(alice).shown(),
        trader(bob).shown(),
      ])
      const paid = long[0]?.unrealized_pnl ?? ''
      const received = short[0]?.unrealized_pnl ?? ''
      return paid.startsWith('-0.00') && /^0\.00\d*[1-9]/.test(received)
    }, 90_000)
  })

  it('counts cNGN that the owner posts by its own transaction', async () => {
    const surplus = async () => {
      const [account] = (await trader(alice).shown()).accounts
      return Number(account?.initial_margin_surplus)
    }
    const without = await surplus()
    await trader(alice).postCngn(100_000n)
    await eventually(async () => {
      const [account] = (await trader(alice).shown()).accounts
      return account?.collateral[0]?.balance === '100000'
    })
    // 65 USDC at the factors 0.8 and 0.9, less a little funding.
    expect((await surplus()) - without).to.be.within(46, 47)
  })

  it('closes with reduce-only orders after the price has moved, and crosses zero with none (PER-034, PER-036)', async () => {
    await setPrices({ index: '0.0007' })
    const long = trader(alice)
    const short = trader(bob)
    const wrong = await refused(
      long.place({ side: 'buy', size: 1, price: '0.0007', reduceOnly: true }),
    )
    expect(wrong).to.include({
      status: 400,
      message: 'reduce_only: order is on the same side as the position',
    })
    // Twice the position: what is left of it ends with the position.
    const ask = await long.place({
      side: 'sell',
      size: 2 * MILLION,
      price: '0.0007',
      reduceOnly: true,
    })
    const bid = await short.place({ side: 'buy', size: MILLION, price: '0.0007', reduceOnly: true })
    await short.until(bid, 'filled')
    await long.until(ask, 'cancelled')
    expect(await long.rest.order(ask.order_id)).to.include({
      cancel_reason: 'reduce_only_no_position',
      filled_amount: String(MILLION),
    })
    for (const one of [long, short]) {
      expect(await one.position()).to.equal(0n)
      const { moved, fees } = await one.traded()
      const funding = await one.funding()
      expect(funding === 0n).to.equal(false)
      expect(isDust((await one.cash()) - (500n * E18 + moved - fees + funding))).to.equal(true)
    }
  })

  it('liquidates an account below maintenance margin through the auction', async () => {
    const poor = trader(carol)
    const short = trader(bob)
    const helper = trader(dave)
    await poor.open('60')
    const offer = await short.place({ side: 'sell', size: 600_000, price: '0.0007' })
    await poor.until(await poor.place({ side: 'buy', size: 600_000, price: '0.0007' }), 'filled')
    await short.until(offer, 'filled')
    bidder = await helper.openBidder(500n)
    await setPrices({ index: '0.00062' })
    await eventually(async () => {
      const [account] = (await poor.shown()).accounts
      return account?.maintenance_margin_surplus.startsWith('-')
    })
    const auction = venue.devnet.dutch_auction
    const id = BigInt(poor.subaccountId())
    // The keeper starts the auction.
    const resting = await poor.place({ side: 'sell', size: 1_000, price: '0.0009' })
    await eventually(async () => {
      const { held_reason } = await poor.rest.order(resting.order_id)
      return held_reason === 'under_liquidation'
    })
    const position = await poor.position()
    const bid = { abi: auctionAbi, functionName: 'bid', args: [id, bidder, E18, 0n, 0n] } as const
    await helper.call(auction, encodeFunctionData(bid))
    const bought = await helper.balance(bidder, venue.devnet.perp_asset)
    expect(bought > 0n).to.equal(true)
    expect(await poor.position()).to.equal(position - bought)
    await eventually(async () => {
      const [account] = (await poor.shown()).accounts
      return !account?.maintenance_margin_surplus.startsWith('-')
    })
  })

  it('pays out what margin allows, and refuses more with the revert of the chain', async () => {
    const asset = venue.devnet.cash_asset
    const flat = trader(alice)
    const short = trader(bob)
    const asked = async ({ transfers, subaccountId }: PerpTrader, amount: string) =>
      transfers.venue.withdraw(
        await transfers.withdrawal({ asset, amount, subaccountId: subaccountId() }),
      )
    // The short's profit is 12 USDC then, less than its initial margin of 40.8.
    await setPrices({ index: '0.00068' })
    const wholeCash = formatDecimal((await flat.cash()) / 10n ** 12n, 6)
    const tooMuch = await refused(asked(flat, '100000'))
    const margin = await refused(asked(short, formatDecimal((await short.cash()) / 10n ** 12n, 6)))
    expect(tooMuch).to.deep.include({ status: 422 })
    expect(tooMuch.body.revert).to.equal('SRM_NoNegativeCash')
    expect(margin).to.deep.include({ status: 422 })
    expect(margin.body.revert).to.equal('SRM_PortfolioBelowMargin')
    for (const [one, amount] of [
      [flat, wholeCash],
      [short, '100'],
    ] as const) {
      const wallet = await one.transfers.wallet()
      const answer = await asked(one, amount)
      const record = await one.transfers.venue.settledWithdrawal(answer.action_hash)
      expect(record).to.include({ status: 'confirmed', subaccount_id: one.subaccountId() })
      const paid = (await one.transfers.wallet()) - wallet
      paidOut += paid * 10n ** 12n
      expect(formatDecimal(paid, 6)).to.equal(amount)
    }
    expect((await flat.cash()) < 10n ** 12n).to.equal(true)
  })

  it('has lost and made no unit of cash', async () => {
    const traders = [trader(alice), trader(bob), trader(carol)]
    const accounts = [...traders.map((one) => BigInt(one.subaccountId())), bidder, ...ownAccounts()]
    const { chain } = trader(alice)
    const blockNumber = await chain.getBlockNumber()
    const unsettled = await Promise.all(
      accounts.map((id) =>
        chain.readContract({
          address: venue.devnet.perp_asset,
          abi: perpAssetAbi,
          blockNumber,
          functionName: 'getUnsettledAndUnrealizedCash',
          args: [id],
        }),
      ),
    )
    const inAccounts = await cashOf(accounts, blockNumber)
    const total = unsettled.reduce((sum, each) => sum + each, inAccounts)
    const paidIn = (500n + 500n + 60n + 500n) * E18
    expect(isDust(total - cashAtStart - paidIn + paidOut)).to.equal(true)
  })
})
