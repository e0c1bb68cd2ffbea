import { expect } from 'chai'
import { amountE18, E18, priceE18 } from '../../core/money.js'
import type { Market } from '../../core/model/market.js'
import type { Side } from '../../core/model/order.js'
import { AT, setBalance } from '../sim/chain-state.js'
import { KINDS, planMarkets, type Kind } from '../sim/markets.js'
import { createRandom, type Random } from '../sim/random.js'
import { accountsIn, endow, makeTraders, type Trader } from '../sim/traders.js'
import { EPOCH_MS } from '../sim/world.js'
import { matcherOrder } from '../support/matching.js'
import { MarketsRig } from './markets-rig.js'

const SEEDS = 12
const STEPS = 60
const DRAIN_ROUNDS = 60
const EXPIRY_SEC = EPOCH_MS / 1_000 + 30 * 86_400
const GOOD_UNTIL_SEC = EPOCH_MS / 1_000 + 86_400
/** Hundredths around mark and index, which stay at 1. */
const PRICES = [99, 99, 100, 100]
/** Traders with wallet contracts, whose signatures cost nothing. */
const TRADERS = makeTraders(13).filter(({ key }) => key === undefined)
const [RICH, ...POOR] = TRADERS as [Trader, ...Trader[]]
/** Of an order that all others together do not fill. */
const PLENTY = 20_000n * E18

interface Wish {
  readonly side: Side
  readonly hundredths: number
  readonly size: bigint
}

/** A random day of spot, a future and a perpetual, where each trader has one account for the first two. */
class Day {
  readonly rig: MarketsRig
  private readonly random: Random
  private readonly markets: readonly Market[]
  /** Those that trade from the same accounts. */
  private readonly shared: readonly Market[]
  private placed = 0

  constructor(seed: number) {
    const random = createRandom(seed)
    const { markets } = planMarkets({ kinds: KINDS, expirySec: EXPIRY_SEC })
    this.rig = new MarketsRig({
      seed,
      markets,
      batches: random.chance(0.6),
      beforeBlame: () => {
        if (random.chance(0.3)) this.rig.mineUnseen()
      },
      genesis: (state) => {
        endow(state, TRADERS)
        const prices = { mark: E18, isStale: false }
        state.perp = { ...prices, funding: 0n }
        state.future = { ...prices, index: E18, pool: 0n, expirySec: EXPIRY_SEC }
        for (const trader of TRADERS)
          for (const account of trader.accounts.get(AT.manager) ?? [])
            for (const [asset, most] of [
              [AT.usdc, 40],
              [AT.cngn, 10],
            ] as const) {
              const amount = trader === RICH ? 100_000 : random.int(most)
              setBalance(state, account, asset, BigInt(amount) * E18)
            }
      },
    })
    this.random = random
    this.markets = markets
    this.shared = markets.filter(({ marginManagerAddress: manager }) => manager === AT.manager)
  }

  async live(): Promise<void> {
    for (const market of this.markets) await this.rig.observeMarket(market)
    // Both sides of both markets, from which the others take.
    for (const market of this.shared) {
      await this.placeOne(market, RICH, { side: 'sell', hundredths: 100, size: PLENTY })
      await this.placeOne(market, RICH, { side: 'buy', hundredths: 99, size: PLENTY })
    }
    for (let step = 0; step < STEPS; step += 1) {
      await this.rig.passTime(this.random.int(700))
      await this.act()
    }
    for (let round = 0; this.rig.pending() > 0; round += 1) {
      if (round === DRAIN_ROUNDS) throw new Error(`${this.rig.pending()} matches have no outcome`)
      await this.rig.passTime(2_000)
      await this.rig.pass()
      await this.rig.mine()
      await this.observe()
    }
  }

  private async act(): Promise<void> {
    const drawn = this.random.next()
    if (drawn < 0.62) await this.place()
    else if (drawn < 0.82) await this.rig.pass()
    else if (drawn < 0.92) {
      await this.rig.mine()
      await this.observe()
    } else await this.rig.observeMarket(this.random.pick(this.markets))
  }

  /** Mostly an account asks in both of its markets at once for what it can bear only once. */
  private async place(): Promise<void> {
    const { random } = this
    const trader = random.pick(POOR)
    if (random.chance(0.15)) return this.placeOne(random.pick(this.markets), trader)
    const first = random.int(2)
    await this.placeOne(this.shared[first], trader)
    if (random.chance(0.7)) await this.placeOne(this.shared[1 - first], trader)
  }

  private async placeOne(market: Market | undefined, trader: Trader, wish?: Wish): Promise<void> {
    if (market === undefined) throw new Error('two markets share their accounts')
    const { random } = this
    const account = accountOf(trader, market)
    const side = wish?.side ?? (random.chance(0.6) ? 'buy' : 'sell')
    const { hundredths = random.pick(PRICES), size = this.sizeFor(market, account, side) } =
      wish ?? {}
    this.placed += 1
    const order = matcherOrder({
      orderId: `o${this.placed}`,
      nonce: BigInt(this.placed),
      market: market.market,
      side,
      owner: trader.owner,
      subaccountId: account,
      goodUntilSec: GOOD_UNTIL_SEC,
      limitPrice: priceE18((BigInt(hundredths) * E18) / 100n),
      desiredAmount: amountE18(size),
    })
    await this.rig.place(market, order)
  }

  /** A good part of what the account can bear by itself: of a future nearly all, of spot little enough for both fees. */
  private sizeFor({ contractType, quoteAssetAddress }: Market, account: bigint, side: Side) {
    const { rig, random } = this
    const usdc = rig.balance(account, AT.usdc)
    const cngn = rig.balance(account, AT.cngn)
    const [bearable, percent] = {
      spot: [side === 'buy' ? usdc : cngn, 30 + random.int(55)] as const,
      future: [10n * (usdc + (9n * cngn) / 10n), 80 + random.int(17)] as const,
      perpetual: [10n * rig.balance(account, quoteAssetAddress), 50] as const,
    }[contractType as Kind]
    return E18 + ((bearable * BigInt(percent)) / 100n / E18) * E18
  }

  /** The chain reader looks at all accounts, as it does soon after each block that touches them. */
  private async observe(): Promise<void> {
    for (const market of this.markets) {
      await this.rig.observeMarket(market)
      for (const trader of TRADERS) {
        await this.rig.observeAccount(accountOf(trader, market), [market])
      }
    }
  }
}

function accountOf(trader: Trader, market: Market): bigint {
  const [account] = accountsIn(trader, market)
  if (account === undefined) throw new Error(`no account for ${market.market}`)
  return account
}

/** Facts are constant: of one market alone the chain would refuse nothing. */
describe('accounts that trade in several markets at once', function () {
  const seen = { deferred: 0, refused: 0 }
  const filled = new Set<string>()

  for (let seed = 1; seed <= SEEDS; seed += 1) {
    it(`are promised nothing twice that reaches the chain, and no refusal counts, day ${seed}`, async () => {
      const day = new Day(seed)
      try {
        await day.live()
        const { reported, deferred } = day.rig
        const refused = reported.filter(({ outcome }) => outcome.kind === 'reverted')
        const sent = refused.filter(({ outcome }) => 'txHash' in outcome)
        expect(sent, 'sent and reverted').to.deep.equal([])
        const counted = refused.filter((one) => one.counted.length + one.cancelled.length > 0)
        expect(counted, 'counted as refusals').to.deep.equal([])
        seen.deferred += deferred.length
        seen.refused += refused.length
        for (const { market, outcome } of reported)
          if (outcome.kind === 'success') filled.add(market)
      } finally {
        day.rig.close()
      }
    })
  }

  it('met each other in these days: matches were deferred and refused, and each market has fills', () => {
    expect(seen.deferred).to.be.greaterThan(5)
    expect(seen.refused).to.be.greaterThan(5)
    expect(filled.size).to.equal(KINDS.length)
  })
})
