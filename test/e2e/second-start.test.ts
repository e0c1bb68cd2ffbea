import { expect } from 'chai'
import { rm } from 'node:fs/promises'
import { createRestClient, type OrderRecord, type TradeRecord } from '../../client/index.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { expectSettledOnce, readAllBalances, readFeed } from './stage/reconcile.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, SPOT } from './stage/trader.js'

/** Long enough to stop a venue between two blocks. */
const SLOW_BLOCKS_S = 10
const DEPLOYS = /deploy the contracts/

/** All that a client can ask for, and what the chain holds. */
async function everything(venue: TestVenue, orderIds: readonly string[]) {
  const rest = createRestClient(venue.gatewayUrl)
  const orders: OrderRecord[] = []
  for (const id of orderIds) orders.push(await rest.order(id))
  const { bids, asks } = await rest.book(SPOT)
  const trades: readonly TradeRecord[] = (await rest.trades(SPOT)).trades
  return { orders, bids, asks, trades, balances: await readAllBalances(venue) }
}

async function trade(venue: TestVenue): Promise<string[]> {
  const maker = createTrader(venue.devnet, 0)
  const taker = createTrader(venue.devnet, 1)
  const resting = await maker.place({ side: 'sell', amount: '90', price: '0.0007' })
  const crossing = await taker.place({ side: 'buy', amount: '30', price: '0.0007' })
  await taker.until(crossing.order_id, 'filled')
  const cancelled = await maker.place({ side: 'sell', amount: '5', price: '0.0009' })
  await maker.cancel(cancelled)
  return [resting, crossing, cancelled].map((order) => order.order_id)
}

describe('a second start', function () {
  let dataDir: string
  let venue: TestVenue
  /** An order that rests through all starts. */
  let resting: string
  after(async () => {
    await venue?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('continues with every order, trade and balance', async () => {
    venue = await startVenue()
    ;({ dataDir } = venue)
    expect(venue.output()).to.match(DEPLOYS)
    const ids = await trade(venue)
    resting = ids[0] ?? ''
    const before = await everything(venue, ids)
    const changes = (await readFeed(venue)).length
    const { matching, accounts } = venue.devnet
    expect(await venue.stop({ keepData: true })).to.equal(0)

    venue = await startVenue({ dataDir, blockTime: SLOW_BLOCKS_S })
    expect(venue.output()).to.not.match(DEPLOYS)
    expect(venue.devnet.matching).to.equal(matching)
    expect(venue.devnet.accounts).to.deep.equal(accounts)
    expect(await everything(venue, ids)).to.deep.equal(before)
    expect((await readFeed(venue)).length).to.equal(changes)
  })

  it('settles what was matched and not yet mined when the venue stopped', async () => {
    const maker = createTrader(venue.devnet, 0)
    const taker = createTrader(venue.devnet, 1)
    // Before what rests already.
    const terms = { amount: '40', price: '0.0006' } as const
    const selling = await maker.place({ side: 'sell', ...terms })
    const crossing = await taker.place({ side: 'buy', ...terms })
    expect(crossing.status).to.equal('matching')
    expect(await venue.stop({ keepData: true })).to.equal(0)

    venue = await startVenue({ dataDir })
    await createTrader(venue.devnet, 1).until(crossing.order_id, 'filled')
    await createTrader(venue.devnet, 0).until(selling.order_id, 'filled')
    const { trades } = await createRestClient(venue.gatewayUrl).trades(SPOT)
    expect(trades.filter((it) => it.taker_order_id === crossing.order_id)).to.have.length(1)
    await expectSettledOnce(venue, trades)
  })

  it('trades on with what rested before it', async () => {
    const taker = createTrader(venue.devnet, 1)
    const crossing = await taker.place({ side: 'buy', amount: '60', price: '0.0007' })
    await taker.until(crossing.order_id, 'filled')
    await createTrader(venue.devnet, 0).until(resting, 'filled')
    const [newest, older] = (await createRestClient(venue.gatewayUrl).trades(SPOT)).trades
    expect(newest?.maker_order_id).to.equal(resting)
    expect(newest?.trade_id).to.be.above(older?.trade_id ?? Infinity)
  })

  it('does not meet another venue on the same machine', async () => {
    const other = await sharedVenue()
    expect(other.dataDir).to.not.equal(venue.dataDir)
    const addresses = ({ devnet: { gateway_url, executor_url, rpc_url } }: TestVenue) => [
      ...[gateway_url, executor_url, rpc_url],
    ]
    const all = [...addresses(venue), ...addresses(other)]
    expect(new Set(all).size).to.equal(all.length)
    const here = createTrader(venue.devnet, 2)
    const there = createTrader(other.devnet, 2)
    const order = await here.place({ side: 'buy', amount: '10', price: '0.00001' })
    const missing = await createRestClient(other.gatewayUrl).order(order.order_id).catch(String)
    expect(missing).to.include('order not found')
    const own = await there.place({ side: 'buy', amount: '10', price: '0.00001' })
    await there.cancel(own)
    expect((await createRestClient(venue.gatewayUrl).order(order.order_id)).status).to.equal(
      'active',
    )
  })
})
