import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  createLocalFills,
  createRestClient,
  createSocketClient,
  signFrame,
  type AccountBalances,
  type LocalFills,
  type SettledLeg,
  type SocketClient,
} from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import type { TestVenue } from '../support/venue.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, e18, SPOT, type SpotBalances, type Trader } from './stage/trader.js'

const ROUNDS = 8

/** A trader who follows its fills and balances. */
interface Follower extends Trader {
  readonly fills: LocalFills
  /** The spot account as the channel has shown it last. */
  shown(): AccountBalances | undefined
  /** The same as REST shows it now. */
  read(): Promise<AccountBalances>
}

describe('fills and balances', function () {
  let venue: TestVenue
  let ann: Follower
  let bob: Follower
  const sockets: SocketClient[] = []
  before(async function () {
    venue = await sharedVenue()
    ann = await follow(0)
    bob = await follow(1)
  })
  after(() => sockets.forEach((socket) => socket.close()))

  async function follow(name: number): Promise<Follower> {
    const { devnet } = venue
    const account = devnet.accounts[name]
    if (account === undefined) throw new Error(`the devnet has no account ${name}`)
    const signer = privateKeyToAccount(account.private_key)
    const domain = devnet.auth_domain
    const frame = await signFrame(signer, { purpose: 'history', domain, validSec: 3_600 })
    const rest = createRestClient(venue.gatewayUrl)
    const socket = createSocketClient({
      url: new URL('/v1/ws', venue.gatewayUrl.replace(/^http/, 'ws')).href,
      WebSocket,
      authenticate: () => signFrame(signer, { purpose: 'socket', domain }),
    })
    sockets.push(socket)
    const fills = createLocalFills()
    let accounts: readonly AccountBalances[] = []
    let isFollowing = false
    socket.subscribe('fills', SPOT, {
      onSnapshot(legs) {
        isFollowing = true
        fills.apply(legs)
      },
      onUpdate: (leg) => fills.apply(leg),
    })
    socket.subscribeBalances({
      onSnapshot: (all) => (accounts = all),
      onUpdate: (all) => (accounts = all),
    })
    await eventually(() => isFollowing)
    const id = account.spot_subaccount_id
    return {
      ...createTrader(devnet, name),
      fills,
      shown: () => accounts.find(({ subaccount_id }) => subaccount_id === id),
      async read() {
        const [one] = (await rest.balances(frame, [id])).accounts
        if (one === undefined) throw new Error(`account ${id} is not shown`)
        return one
      },
    }
  }

  const tokenOf = ({ tokens }: AccountBalances, token: string) =>
    tokens.find((one) => one.token === token)

  /** What legs have moved, as the trade module rounds it. */
  function movedBy(legs: readonly SettledLeg[]): SpotBalances {
    let [cngnE18, usdcE18] = [0n, 0n]
    for (const { side, price, size, fee } of legs) {
      const sign = side === 'buy' ? 1n : -1n
      cngnE18 += sign * e18(size)
      usdcE18 -= sign * ((e18(price) * e18(size)) / 10n ** 18n) + e18(fee)
    }
    return { cngnE18, usdcE18 }
  }

  it('add up: what an account had, with all its fills, is what the chain says it has (MON-022)', async () => {
    const traders = [ann, bob] as const
    const before = await Promise.all(traders.map((one) => one.balances()))
    const known = traders.map(
      ({ fills }) => new Set(fills.settled().map(({ trade_id }) => trade_id)),
    )
    const random = (below: number) => Math.floor(Math.random() * below)
    const takers: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const [maker, taker] = random(2) === 0 ? [ann, bob] : [bob, ann]
      const side = random(2) === 0 ? 'buy' : 'sell'
      const order = {
        amount: `${1_000 + random(100_000)}.${random(1_000_000)}`,
        price: `0.00065${random(1_000_000)}1`,
      }
      const rests = await maker.place({ side, ...order })
      const takes = await taker.place({ side: side === 'buy' ? 'sell' : 'buy', ...order })
      takers.push(takes.order_id, rests.order_id)
      await taker.until(takes.order_id, 'filled')
      await maker.until(rests.order_id, 'filled')
    }
    for (const [i, trader] of traders.entries()) {
      const own = () => trader.fills.settled().filter(({ order_id }) => takers.includes(order_id))
      await eventually(() => own().length === ROUNDS)
      expect(trader.fills.pending()).to.deep.equal([])
      expect(own().filter(({ trade_id }) => known[i]?.has(trade_id))).to.deep.equal([])
      const moved = movedBy(own())
      const after = await trader.balances()
      expect(after.cngnE18 - (before[i]?.cngnE18 ?? 0n)).to.equal(moved.cngnE18)
      expect(after.usdcE18 - (before[i]?.usdcE18 ?? 0n)).to.equal(moved.usdcE18)
      const expected = { USDC: after.usdcE18, cNGN: after.cngnE18 }
      for (const [token, total] of Object.entries(expected)) {
        const says = async () => tokenOf(await trader.read(), token)
        await eventually(async () => e18((await says())?.total ?? '0') === total)
        await eventually(() => {
          const shown = trader.shown()
          return shown !== undefined && e18(tokenOf(shown, token)?.total ?? '0') === total
        })
      }
    }
  })

  it('show what an open order reserves, at once over REST and within moments on the socket', async () => {
    const before = await ann.read()
    const order = await ann.place({ side: 'sell', amount: '5000', price: '0.0099' })
    const during = await ann.read()
    const cngn = tokenOf(during, 'cNGN')
    expect(e18(cngn?.reserved_by_orders ?? '0')).to.equal(
      e18(tokenOf(before, 'cNGN')?.reserved_by_orders ?? '0') + e18('5000'),
    )
    expect(e18(cngn?.available ?? '0')).to.equal(
      e18(cngn?.total ?? '0') -
        e18(cngn?.reserved_by_orders ?? '0') -
        e18(cngn?.reserved_by_matches ?? '0'),
    )
    expect(during.facts).to.equal('current')
    const reservedNow = () => {
      const shown = ann.shown()
      return shown && tokenOf(shown, 'cNGN')?.reserved_by_orders
    }
    await eventually(() => reservedNow() === cngn?.reserved_by_orders)
    await ann.cancel(order)
    await eventually(() => reservedNow() === tokenOf(before, 'cNGN')?.reserved_by_orders)
    expect(tokenOf(await ann.read(), 'cNGN')?.reserved_by_orders).to.equal(
      tokenOf(before, 'cNGN')?.reserved_by_orders,
    )
  })

  it('are shown to their owner alone (MON-029)', async () => {
    const { devnet } = venue
    const [account, other] = devnet.accounts
    if (account === undefined || other === undefined) throw new Error('the devnet has two accounts')
    const frame = await signFrame(privateKeyToAccount(account.private_key), {
      purpose: 'history',
      domain: devnet.auth_domain,
    })
    const rest = createRestClient(venue.gatewayUrl)
    const refused = await rest
      .balances(frame, [other.spot_subaccount_id])
      .catch((error: unknown) => error)
    expect(refused).to.include({ status: 403, code: 'subaccount_not_owned' })
  })
})
