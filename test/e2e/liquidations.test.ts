import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFunctionData, parseEventLogs } from 'viem'
import { futuresManagerAbi } from '../../chain/abi/contracts.js'
import { createRestClient, type LiquidationRecord } from '../../client/index.js'
import type { Market } from '../../core/model/market.js'
import { formatDecimal } from '../../core/decimal.js'
import { E18 } from '../../core/money.js'
import { eventually } from '../support/eventually.js'
import { connectSocket, type SocketClient } from '../support/socket-client.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { bidInNextAuction, openOwnAccount } from './stage/bidder.js'
import { createPerpTrader, PERP } from './stage/perp-trader.js'
import { openSeries, openSeriesTraders, type SeriesTrader } from './stage/series.js'

/** 175.50 USDC of a perpetual at 0.00065 with 20; eight contracts of a future with 1,100. */
const PERP_SIZE = 270_000
const FUTURE_SIZE = '8000'
const INDEX = '0.00065'
const LOWER = '0.0006'

/** Perpetual and future on the running venue: the contracts are called from outside, the venue shows what they did. */
describe('liquidations on the running venue', function () {
  let venue: TestVenue
  let future: Market
  let short: SeriesTrader
  let long: ReturnType<typeof createPerpTrader>
  let socket: SocketClient
  let bids: Awaited<ReturnType<typeof bidInNextAuction>>

  before(async () => {
    venue = await startVenue({ blockTime: 1, feeder: true, markets: SPOT_AND_PERP })
    future = await openSeries(venue, 2)
    await setIndex(INDEX)
    await openPositions()
    socket = await connectSocket(`${venue.gatewayUrl.replace(/^http/, 'ws')}/v1/ws`)
    socket.send({ op: 'subscribe', channel: 'liquidations' })
    const snapshot = await socket.next(({ channel }) => channel === 'liquidations')
    expect(snapshot).to.deep.include({ type: 'snapshot', seq: 0, data: [] })
    bids = await bidInNextAuction(venue.devnet)
    await setIndex(LOWER)
  })
  after(async () => {
    socket?.ws.terminate()
    await bids?.stop()
    await venue.stop()
  })

  const rest = () => createRestClient(venue.gatewayUrl)
  async function setIndex(index: string): Promise<void> {
    writeFileSync(join(venue.dataDir, 'prices.json'), JSON.stringify({ index }))
    await eventually(async () => {
      const markets = await rest().markets()
      const { perp } = markets.find(({ market }) => market === PERP) ?? {}
      const { future: series } = markets.find(({ market }) => market === future.market) ?? {}
      return perp?.mark_price_ui === index && series?.band_status === 'ok'
    }, 60_000)
  }

  async function openPositions(): Promise<void> {
    long = createPerpTrader(venue.devnet, 0)
    await long.open('20')
    const dealer = createPerpTrader(venue.devnet, 2)
    const sold = await dealer.place({ side: 'sell', size: PERP_SIZE, price: INDEX })
    const bought = await long.place({ side: 'buy', size: PERP_SIZE, price: INDEX })
    await dealer.until(sold, 'filled')
    await long.until(bought, 'filled')
    const funds = { usdc: 1_100_000_000n, cngn: 0n }
    const traders = await openSeriesTraders(venue, future, funds)
    short = traders[0] as SeriesTrader
    const other = traders[1] as SeriesTrader
    const price = '1530'
    const bid = await other.place({ side: 'buy', price, amount: FUTURE_SIZE })
    const ask = await short.place({ side: 'sell', price, amount: FUTURE_SIZE })
    await other.until(bid.order_id, 'filled')
    await short.until(ask.order_id, 'filled')
  }

  const told = (market: string): LiquidationRecord[] =>
    socket.frames
      .filter(({ channel, type }) => channel === 'liquidations' && type === 'update')
      .flatMap(({ data }) => data as LiquidationRecord[])
      .filter((one) => one.market === market)
  /** What the channel has told of the market, once it is so much; the list shows the same. */
  async function untilTold(market: string, events: number): Promise<LiquidationRecord[]> {
    await eventually(() => told(market).length >= events, 120_000)
    const all = told(market)
    await eventually(async () => {
      const { liquidations } = await rest().liquidations({ symbol: market })
      expect(liquidations).to.deep.equal(all.toReversed())
    }, 30_000)
    return all
  }

  it('of a perpetual show the auction that the keeper starts, the bid and the end (PER-030)', async () => {
    // The contract tells the end before the bid that brings it.
    const [started, ended, bid, ...more] = await untilTold(PERP, 3)
    const account = long.subaccountId()
    expect(more).to.deep.equal([])
    for (const one of [started, bid, ended])
      expect(one).to.include({ market: PERP, subaccount_id: account })
    expect(started).to.include({ event: 'auction_started', size: `${PERP_SIZE}`, price: LOWER })
    expect(bid).to.include({ event: 'bid', price: LOWER, received: '0' })
    expect(bid?.by_subaccount_id).to.equal((await bids.done)?.toString())
    const left = await long.position()
    expect(bid?.size).to.equal(formatDecimal(BigInt(PERP_SIZE) * E18 - left, 18))
    const { liquidations } = await rest().liquidations({ subaccount_id: account, limit: 1 })
    expect(liquidations).to.deep.equal([bid])
  })

  it('of a future show who took the position over, at the index, and for which bonus', async () => {
    const { devnet } = venue
    const trader = createPerpTrader(devnet, 1)
    const by = await openOwnAccount(
      { devnet, trader },
      {
        manager: devnet.futures_manager,
        asset: devnet.wrapped_usdc,
        amount: 5_000_000_000n,
      },
    )
    const call = { abi: futuresManagerAbi, functionName: 'liquidate' } as const
    const args = [short.subaccountId, future.subId, by, E18] as const
    const logs = await trader.call(devnet.futures_manager, encodeFunctionData({ ...call, args }))
    const [event] = parseEventLogs({
      abi: futuresManagerAbi,
      eventName: 'PositionLiquidated',
      logs,
    })
    if (event === undefined) throw new Error('nothing was taken over')
    const [takeover, ...more] = await untilTold(future.market, 1)
    expect(more).to.deep.equal([])
    const { contracts, price, bonus } = event.args
    expect(contracts < 0n).to.equal(true)
    expect(takeover).to.deep.include({
      subaccount_id: short.subaccountId.toString(),
      by_subaccount_id: by.toString(),
      size: formatDecimal(contracts * 1_000n, 18),
      price: formatDecimal(price, 18),
      received: formatDecimal(bonus, 18),
      tx_hash: event.transactionHash,
    })
  })

  it('are shown to a client that comes later, and to one that resumes', async () => {
    const all = [...told(PERP), ...told(future.market)]
    const url = `${venue.gatewayUrl.replace(/^http/, 'ws')}/v1/ws`
    const late = await connectSocket(url)
    late.send({ op: 'subscribe', channel: 'liquidations' })
    const { data, seq } = await late.next(({ type }) => type === 'snapshot')
    expect(data).to.deep.equal(all.toReversed())
    const resumed = await connectSocket(url)
    resumed.send({ op: 'subscribe', channel: 'liquidations', since_seq: 1, req_id: 'r' })
    await resumed.next(({ message }) => message === 'resumed')
    const updates = resumed.frames.filter(({ type }) => type === 'update')
    expect(updates.map((frame) => frame.seq)).to.deep.equal(
      Array.from({ length: (seq ?? 0) - 1 }, (_, i) => i + 2),
    )
    for (const client of [late, resumed]) client.ws.terminate()
  })
})
