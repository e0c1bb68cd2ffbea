import { expect } from 'chai'
import { createPublicClient, http, parseEventLogs } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { futureAssetAbi, futureTradeModuleAbi, subAccountsAbi } from '../../chain/abi/contracts.js'
import {
  createRestClient,
  randomNonce,
  signFrame,
  signOrder,
  type OrderRecord,
} from '../../client/index.js'
import { assert } from '../../core/assert.js'
import { formatDecimal } from '../../core/decimal.js'
import type { Market } from '../../core/model/market.js'
import { E18 } from '../../core/money.js'
import { runAudit } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { openSeries, openSeriesTraders, type SeriesTrader } from './stage/series.js'

/** 1,000 USDC carry ten contracts; 10,000,000 cNGN pay any variation margin here. */
const FUNDS = { usdc: 1_000_000_000n, cngn: 10_000_000_000_000n }
const PRICE = 1_530n

describe('a dated future on the running venue', function () {
  let venue: TestVenue
  let market: Market
  let [ann, bob]: SeriesTrader[] = []

  before(async () => {
    venue = await startVenue({ blockTime: 1, feeder: true })
    market = await openSeries(venue, 2)
    ;[ann, bob] = await openSeriesTraders(venue, market, FUNDS)
    await eventually(async () => (await entry())?.future?.band_status === 'ok', 60_000)
  })
  after(async () => venue.stop())

  const rest = () => createRestClient(venue.gatewayUrl)
  const entry = async () => (await rest().markets()).find((each) => each.market === market.market)
  const chain = () => createPublicClient({ transport: http(venue.devnet.rpc_url) })
  const own = async ({ privateKey }: SeriesTrader) => {
    const domain = venue.devnet.auth_domain
    return signFrame(privateKeyToAccount(privateKey), { purpose: 'history', domain })
  }
  const positionOf = async ({ subaccountId }: SeriesTrader) =>
    chain().readContract({
      address: venue.devnet.sub_accounts,
      abi: subAccountsAbi,
      functionName: 'getBalance',
      args: [subaccountId, market.assetAddress, market.subId],
    })

  it('is listed with what the chain shows of the series', async () => {
    const listed = await entry()
    const { future } = listed ?? {}
    expect(listed).to.deep.include({
      contract_type: 'future',
      settlement_type: 'cash_settled_future',
      expiry_timestamp: Number(market.subId),
      sub_id: market.subId.toString(),
      engine_side_policy: 'same_as_ui',
      amount_step: '1',
      min_size: '1',
      contract_multiplier: '1000',
    })
    expect(listed).not.to.have.property('order_entry_spec')
    expect(future).to.deep.include({
      band_status: 'ok',
      band_width: '0.1',
      paused: false,
      amount_scale: '1000000000000000',
      last_trade_time: Number(market.subId) - 3_600,
      initial_margin_rate: '0.1',
      maintenance_margin_rate: '0.07',
      trade_module_address: market.tradeModuleAddress,
      margin_manager_address: venue.devnet.futures_manager,
    })
    const [index, , low, high] = await chain().readContract({
      address: market.assetAddress,
      abi: futureAssetAbi,
      functionName: 'band',
      args: [market.subId],
    })
    const shown = [future?.index_price, future?.fill_band_low, future?.fill_band_high]
    expect(shown).to.deep.equal([index, low, high].map((price) => formatDecimal(price, 18)))
    const book = await rest().book(market.market)
    expect(book.market_presentation.future).to.have.property('band_status', 'ok')
  })

  it('settles a match, and states the mark and the variation margin of each side (FUT-029)', async () => {
    const maker = await ann!.place({ side: 'sell', price: `${PRICE}`, amount: '2000' })
    const taker = await bob!.place({ side: 'buy', price: `${PRICE + 5n}`, amount: '2000' })
    await ann!.until(maker.order_id, 'filled')
    await bob!.until(taker.order_id, 'filled')
    expect(await positionOf(bob!)).to.equal(2n * E18)
    expect(await positionOf(ann!)).to.equal(-2n * E18)

    const { trades } = await rest().trades(market.market)
    const [trade] = trades
    const hash = trade?.tx_hash as `0x${string}`
    const { logs } = await chain().getTransactionReceipt({ hash })
    const [event] = parseEventLogs({ abi: futureTradeModuleAbi, logs })
    const { mark = 0n, takerVm = 0n, makerVm = 0n } = event?.args ?? {}
    expect(takerVm).to.equal(2_000n * (mark - PRICE * E18))
    expect(trade).to.include({ mark_price: formatDecimal(mark, 18) })
    const filled = async (trader: SeriesTrader) => (await rest().fills(await own(trader))).fills[0]
    expect(await filled(bob!)).to.deep.include({
      liquidity: 'taker',
      price: `${PRICE}`,
      size: '2000',
      fee: '5',
      mark_price: formatDecimal(mark, 18),
      vm_cngn: formatDecimal(takerVm, 18),
    })
    expect(await filled(ann!)).to.deep.include({
      liquidity: 'maker',
      fee: '0',
      mark_price: formatDecimal(mark, 18),
      vm_cngn: formatDecimal(makerVm, 18),
    })
    // The order exchanged its size in USDC; the volume counts cNGN as well.
    const { orders } = await rest().orderHistory(await own(bob!))
    expect(orders[0]).to.include({ filled_quote: '2000' })
    const { candles } = await rest().candles(market.market, '1h')
    expect(candles[0]).to.include({ volume: '2000', quote_volume: `${2_000n * PRICE}` })
    const tickers = await fetch(
      new URL(`/v1/integrations/tickers?ticker_id=${market.market}`, venue.gatewayUrl),
    )
    expect(tickers.status).to.equal(400)
    expect(await tickers.json()).to.include({ error: 'unknown_market' })
  })

  it('refuses what the chain could not settle, and places nothing (FUT-013)', async () => {
    const refused = async (wish: Parameters<SeriesTrader['sign']>[0], further: object = {}) => {
      const [status, body] = await bob!.post({ ...(await bob!.sign(wish)), ...further })
      expect(status, JSON.stringify(body)).to.equal(400)
      return body
    }
    const buy = { side: 'buy', price: `${PRICE}`, amount: '1000' } as const
    const outside = await refused({ ...buy, price: '2000' })
    expect(outside).to.include({ error: 'outside_fill_band', code: 'outside_fill_band' })
    const { future } = (await entry()) ?? {}
    expect(outside.detail).to.deep.equal({
      index_price: future?.index_price,
      band_width: '0.1',
      fill_band_low: future?.fill_band_low,
      fill_band_high: future?.fill_band_high,
    })
    expect(await refused({ ...buy, amount: '20000000' })).to.include({
      error: 'insufficient_margin',
      code: 'insufficient_margin',
    })
    expect(await refused({ ...buy, amount: '1000.5' })).to.include({
      error: 'invalid amount step: desired_amount must be a multiple of 1',
    })
    const intent = { order_entry_spec: 'cngn_usdc_spot_v1' }
    expect(await refused(buy, intent)).to.include({
      error: 'order_entry_spec and ui_intent are only supported for the spot usdc/cngn contract',
    })
    expect((await rest().book(market.market)).bids).to.deep.equal([])
  })

  it('is audited with what the chain says: fills, filled contracts, fees and positions', async () => {
    const env = { PATH: process.env.PATH, DATA_DIR: venue.dataDir }
    const { output, code } = await runAudit(env)
    expect(code, output).to.equal(0)
    for (const what of ['2 accounts as their fills say', '1 fills on the chain'])
      expect(output).to.include(what)
  })

  it('shares its account with spot, and neither market spends what the other has taken (FUT-038)', async () => {
    // 300 USDC carry 2,900 USDC of the future, or buy cNGN for 250, but not both.
    const [poor] = await openSeriesTraders(venue, market, { usdc: 300_000_000n, cngn: 0n }, 1)
    const [, maker] = await openSeriesTraders(venue, market, { ...FUNDS, usdc: 10_000_000_000n })
    const entries = await rest().markets()
    const spot = entries.find(({ contract_type: type }) => type === 'spot')
    const future = entries.find(({ contract_type: type }) => type === 'future')
    assert(spot !== undefined && future !== undefined, 'both markets are listed')
    expect(spot.margin_manager_address).to.equal(future.margin_manager_address)
    const onSpot = async ({ privateKey, subaccountId }: SeriesTrader, side: 'buy' | 'sell') => {
      const account = privateKeyToAccount(privateKey)
      const domain = { chainId: venue.devnet.chain_id, matching: venue.devnet.matching }
      const wish = { side, price: '0.00065', amount: '384615' } as const
      const body = await signOrder(account, domain, {
        market: spot,
        orderId: `spot-${side}-${subaccountId}`,
        owner: account.address,
        subaccountId: subaccountId.toString(),
        nonce: randomNonce(),
        ...wish,
        expirySec: Math.floor(Date.now() / 1000) + 3_600,
      })
      return rest().placeOrder(body)
    }
    const wish = { price: `${PRICE}`, amount: '2900' }
    const orders = [
      await onSpot(poor!, 'buy'),
      await poor!.place({ ...wish, side: 'buy' }),
    ] as const
    await Promise.all([onSpot(maker!, 'sell'), maker!.place({ ...wish, side: 'sell' })])
    const states = () => Promise.all(orders.map(({ order_id: id }) => rest().order(id)))
    const isHeld = ({ status, held_reason: why }: OrderRecord) =>
      status === 'active' && why !== undefined
    await eventually(async () => {
      const now = await states()
      return now.some(({ status }) => status === 'filled') && now.some(isHeld)
    }, 60_000)
    for (const { cancel_reason: why } of await states()) expect(why ?? '').to.equal('')
    const env = { PATH: process.env.PATH, DATA_DIR: venue.dataDir }
    const { output, code } = await runAudit(env)
    expect(code, output).to.equal(0)
  })
})
