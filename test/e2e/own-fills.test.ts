import { expect } from 'chai'
import { createPublicClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { subAccountsAbi } from '../../chain/abi/contracts.js'
import {
  createLocalFills,
  createRestClient,
  createSeenSeqs,
  createSocketClient,
  signFrame,
  type FillRecord,
  type LocalFills,
  type OrderDelta,
  type OrderRecord,
} from '../../client/index.js'
import type { Market } from '../../core/model/market.js'
import { E18 } from '../../core/money.js'
import type { AccountBalances } from '../../interface/balances.js'
import type { FillEvent } from '../../interface/fill-event.js'
import { signedAuth } from '../support/auth-frames.js'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { PERP } from './stage/perp-trader.js'
import { openSeries, openSeriesTraders } from './stage/series.js'
import { createTrader, e18, SPOT, type Trader } from './stage/trader.js'

/** 1,000 USDC and 10,000,000 cNGN. */
const FUNDS = { usdc: 1_000_000_000n, cngn: 10_000_000_000_000n }
const BUYER = 1
/** USDC of 1,000 are a contract. */
const CONTRACT = 1_000n

/** Funding of such a position in seconds, at 1e18: a thousandth of the fees here. */
const FUNDING_MAX = 10n ** 12n

/** A kind of market as the buyer trades it. */
interface Desk {
  readonly market: string
  readonly subaccountId: string
  readonly price: string
  /** A little lower. */
  readonly lowPrice: string
  readonly amounts: readonly string[]
}

const PRICES = { price: '0.00065', lowPrice: '0.000649' }

/** Amount, value, average price at 18 decimals rounded half up, and fees. */
function figuresOf(fills: readonly FillRecord[], isFuture: boolean): bigint[] {
  const sum = (of: (fill: FillRecord) => bigint) =>
    fills.reduce((total, fill) => total + of(fill), 0n)
  const amount = sum(({ size }) => e18(size))
  const product = sum(({ price, size }) => e18(price) * e18(size))
  return [
    amount,
    isFuture ? amount : product / E18,
    (2n * product + amount) / (2n * amount),
  ].concat(sum(({ fee }) => e18(fee)))
}

type Figures = Pick<OrderDelta, 'filled_amount' | 'filled_quote' | 'average_price' | 'fee_paid'>

const shownFigures = (record: Figures | undefined): bigint[] =>
  [
    ...[record?.filled_amount, record?.filled_quote],
    ...[record?.average_price, record?.fee_paid],
  ].map((text) => e18(text ?? 'absent'))

/** What the fills channel tells an owner is what the chain has moved, in a market of each kind. */
describe('the fills of an owner, summed', function () {
  let venue: TestVenue
  let series: Market
  let desks: Desk[]
  let seller: (desk: Desk) => Trader
  let buyer: (desk: Desk) => Trader

  before(async () => {
    venue = await startVenue({ blockTime: 1, feeder: true, markets: SPOT_AND_PERP })
    series = await openSeries(venue, 2)
    const [other, own] = await openSeriesTraders(venue, series, FUNDS)
    const { accounts } = venue.devnet
    const { spot_subaccount_id: spot = '', perp_subaccount_id: perp = '' } = accounts[BUYER] ?? {}
    desks = [
      { market: SPOT, subaccountId: spot, ...PRICES, amounts: ['100', '35'] },
      { market: PERP, subaccountId: perp, ...PRICES, amounts: ['1000', '700'] },
      {
        market: series.market,
        subaccountId: `${own?.subaccountId}`,
        price: '1530',
        lowPrice: '1529',
        amounts: ['100', '300'],
      },
    ]
    const sellerIds = new Map([
      [SPOT, accounts[0]?.spot_subaccount_id],
      [PERP, accounts[0]?.perp_subaccount_id],
      [series.market, `${other?.subaccountId}`],
    ])
    buyer = ({ market, subaccountId }) =>
      createTrader(venue.devnet, BUYER, undefined, { market, subaccountId })
    seller = ({ market }) =>
      createTrader(venue.devnet, 0, undefined, {
        market,
        subaccountId: sellerIds.get(market) ?? '',
      })
    const rest = createRestClient(venue.gatewayUrl)
    await eventually(async () => {
      const open = (await rest.markets()).filter((market) => market.trading_status === 'open')
      return desks.every((desk) => open.some(({ market }) => market === desk.market))
    }, 60_000)
  })
  after(async () => venue.stop())

  async function balancesOf(ids: readonly string[]): Promise<Map<string, AccountBalances>> {
    const key = venue.devnet.accounts[BUYER]?.private_key
    if (key === undefined) throw new Error('the devnet has no accounts')
    const domain = venue.devnet.auth_domain
    const frame = await signFrame(privateKeyToAccount(key), { purpose: 'history', domain })
    const { accounts } = await createRestClient(venue.gatewayUrl).balances(frame, ids)
    return new Map(accounts.map((account) => [account.subaccount_id, account]))
  }

  /** The legs that the channel tells the buyer, by market. */
  async function followFills(): Promise<Map<string, LocalFills>> {
    const privateKey = venue.devnet.accounts[BUYER]?.private_key
    if (privateKey === undefined) throw new Error('the devnet has no accounts')
    const fills = new Map(desks.map(({ market }) => [market, createLocalFills()]))
    const socket = new WebSocket(new URL('/v1/ws', venue.gatewayUrl.replace(/^http/, 'ws')))
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    let snapshots = 0
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as {
        readonly type: string
        readonly channel?: string
        readonly market?: string
        readonly data?: FillEvent | readonly FillEvent[]
      }
      if (frame.channel !== 'fills' || frame.data === undefined) return
      snapshots += frame.type === 'snapshot' ? 1 : 0
      fills.get(frame.market ?? '')?.apply(frame.data)
    })
    socket.send(JSON.stringify(await signedAuth({ privateKey, domain: venue.devnet.auth_domain })))
    for (const { market } of desks) {
      socket.send(JSON.stringify({ op: 'subscribe', channel: 'fills', market }))
    }
    await eventually(() => snapshots === desks.length)
    return fills
  }

  const onChain = (subaccountId: string, asset: `0x${string}`, subId = 0n): Promise<bigint> =>
    createPublicClient({ transport: http(venue.devnet.rpc_url) }).readContract({
      address: venue.devnet.sub_accounts,
      abi: subAccountsAbi,
      functionName: 'getBalance',
      args: [BigInt(subaccountId), asset, subId],
    })
  const signed = (text: string): bigint => (text.startsWith('-') ? -e18(text.slice(1)) : e18(text))
  const tokenOf = (account: AccountBalances | undefined, token: string): bigint =>
    signed(account?.tokens.find((one) => one.token === token)?.total ?? '')
  const marginOf = (account: AccountBalances | undefined, market: string) =>
    account?.margin.find((one) => one.market === market)

  it('are what the balances of the chain have moved, on spot, a perpetual and a future (MON-022)', async () => {
    const ids = desks.map(({ subaccountId }) => subaccountId)
    const before = await balancesOf(ids)
    const fills = await followFills()
    for (const desk of desks) {
      for (const amount of desk.amounts) {
        const terms = { amount, price: desk.price }
        const resting = await seller(desk).place({ side: 'sell', ...terms })
        const crossing = await buyer(desk).place({ side: 'buy', ...terms })
        await buyer(desk).until(crossing.order_id, 'filled')
        await seller(desk).until(resting.order_id, 'filled')
      }
    }
    const settledOf = ({ market }: Desk) => fills.get(market)?.settled() ?? []
    await eventually(() => desks.every((desk) => settledOf(desk).length === desk.amounts.length))
    expect(desks.flatMap(({ market }) => fills.get(market)?.pending() ?? [])).to.deep.equal([])
    const sums = desks.map((desk) => {
      const legs = settledOf(desk)
      const sum = (of: (leg: (typeof legs)[number]) => bigint) =>
        legs.reduce((total, leg) => total + of(leg), 0n)
      return {
        bought: sum(({ size }) => e18(size)),
        paid: sum(({ size, price }) => (e18(size) * e18(price)) / E18),
        fees: sum(({ fee }) => e18(fee ?? '0')),
      }
    })
    const [spot, perp, future] = sums
    const [spotDesk, perpDesk, futureDesk] = desks
    if (!spot || !perp || !future || !spotDesk || !perpDesk || !futureDesk) throw new Error('none')
    const after = await balancesOf(ids)
    const moved = ({ subaccountId }: Desk, token: string): bigint =>
      tokenOf(after.get(subaccountId), token) - tokenOf(before.get(subaccountId), token)

    expect(moved(spotDesk, 'cNGN')).to.equal(spot.bought)
    expect(moved(spotDesk, 'USDC')).to.equal(-spot.paid - spot.fees)
    const cngn = await onChain(spotDesk.subaccountId, venue.devnet.wrapped_cngn)
    expect(tokenOf(after.get(spotDesk.subaccountId), 'cNGN')).to.equal(cngn)

    const perpMargin = marginOf(after.get(perpDesk.subaccountId), PERP)
    expect(signed(perpMargin?.position ?? '')).to.equal(perp.bought)
    expect(await onChain(perpDesk.subaccountId, venue.devnet.perp_asset)).to.equal(perp.bought)
    // Opening a position moves no cash but the fee; the second match settles the funding of the first one's few seconds.
    const funding = moved(perpDesk, 'USDC') + perp.fees
    expect(funding > -FUNDING_MAX && funding < FUNDING_MAX, `${funding}`).to.equal(true)
    expect(await onChain(perpDesk.subaccountId, venue.devnet.cash_asset)).to.equal(
      tokenOf(after.get(perpDesk.subaccountId), 'USDC'),
    )

    const { assetAddress, subId } = series
    const futureMargin = marginOf(after.get(futureDesk.subaccountId), series.market)
    const contracts = future.bought / CONTRACT
    expect(await onChain(futureDesk.subaccountId, assetAddress, subId)).to.equal(contracts)
    expect(signed(futureMargin?.position ?? '')).to.be.oneOf([contracts, future.bought])
    expect(moved(futureDesk, 'USDC')).to.equal(-future.fees)
  })

  it('are the figures of their order, the same in each of its records (MON-025)', async () => {
    const key = venue.devnet.accounts[BUYER]?.private_key ?? '0x'
    const domain = venue.devnet.auth_domain
    const owner = privateKeyToAccount(key)
    const seen = createSeenSeqs()
    const rest = createRestClient(venue.gatewayUrl, { seen })
    const socket = createSocketClient({
      url: new URL('/v1/ws', venue.gatewayUrl.replace(/^http/, 'ws')).href,
      WebSocket,
      seen,
      authenticate: () => signFrame(owner, { purpose: 'socket', domain }),
    })
    try {
      for (const desk of desks) {
        const [lot = '0'] = desk.amounts
        // One lot is taken at a lower price, one is sold to what rests, and one is left to be cancelled.
        await seller(desk).place({ side: 'sell', price: desk.lowPrice, amount: lot })
        const wish = { side: 'buy', price: desk.price, amount: `${3 * Number(lot)}` } as const
        const order = await buyer(desk).place(wish)
        const untilFilled = (lots: number): Promise<void> =>
          eventually(async () => {
            const { filled_amount, pending_amount } = await rest.order(order.order_id)
            return Number(filled_amount) === lots * Number(lot) && pending_amount === '0'
          })
        // Two matches may settle in any order.
        await untilFilled(1)
        await seller(desk).place({ side: 'sell', price: desk.price, amount: lot })
        await untilFilled(2)
        const updates: OrderDelta[] = []
        const snapshot = await new Promise<OrderRecord | undefined>((resolve) => {
          socket.subscribe('orders', desk.market, {
            onSnapshot: (orders) =>
              resolve(orders.find(({ order_id }) => order_id === order.order_id)),
            onUpdate: (delta) => updates.push(delta),
          })
        })
        const lookedUp = await rest.order(order.order_id)
        const cancelled = await buyer(desk).cancel(order)
        await eventually(() => updates.some(({ final }) => final))
        const frame = await signFrame(owner, { purpose: 'history', domain })
        const { orders } = await rest.orderHistory(frame)
        const { fills } = await rest.fills(frame)
        const own = fills.filter(({ order_id }) => order_id === order.order_id)
        expect(own.map(({ liquidity }) => liquidity)).to.deep.equal(['maker', 'taker'])
        const figures = figuresOf(own, desk.market === series.market)
        const records = [
          ...[snapshot, lookedUp, lookedUp.order, cancelled, updates.at(-1)],
          orders.find(({ order_id }) => order_id === order.order_id),
        ]
        for (const [index, record] of records.entries()) {
          expect(shownFigures(record), `${desk.market} ${index}`).to.deep.equal(figures)
        }
      }
    } finally {
      socket.close()
    }
  })
})
