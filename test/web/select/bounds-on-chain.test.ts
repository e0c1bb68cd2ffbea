import { expect } from 'chai'
import fc from 'fast-check'
import { randomNonce, signOrder } from '../../../client/index.js'
import type { Action, Address, Hex } from '../../../core/action.js'
import { tradingOf } from '../../../core/contracts/registry.js'
import { formatDecimal } from '../../../core/decimal.js'
import type { Market } from '../../../core/model/market.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { marketTerms, type MarketArithmetic } from '../../../web/select/market-terms.js'
import { receiptOf } from '../../../web/select/receipt.js'
import { planOf, type Plan } from '../../../web/select/ticket.js'
import { isWithin } from '../../../web/select/walk-book.js'
import { ANVIL_CHAIN_ID } from '../../support/anvil.js'
import { ticketCase, type TicketCase } from '../../support/arbitrary-tickets.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import {
  matchCall,
  ONE,
  signOrder as signMaker,
  type SignedAction,
} from '../../support/devnet-actions.js'
import {
  administer,
  balanceOf,
  openWorld,
  perform,
  revertOf,
  type Call,
  type Trader,
} from '../../support/devnet-world.js'
import {
  INDEX,
  openTraders,
  positionOf as futureOf,
  withSeries,
  type FuturesWorld,
} from '../../support/futures-world.js'
import {
  keepPricesFresh,
  openPerpAccount,
  perpAdminAbi,
  positionOf as perpetualOf,
} from '../../support/perp-world.js'
import { runs } from '../../support/property-runs.js'

/** So many fills of a ticket are settled; each takes a transaction. */
const FILLS = 3

/** A market of the devnet's contracts, who has the ticket, and who meets it. */
interface Desk {
  readonly market: Market
  readonly taker: Trader
  readonly maker: Trader
  /** What the taker has of the engine's base (a position on margin markets) and of its quote, at 1e18. */
  readonly held: () => Promise<{ readonly base: bigint; readonly quote: bigint }>
  /** Prices that the chain fills; absent where it fills any. */
  readonly band?: readonly [lowE18: bigint, highE18: bigint]
}

interface Signed {
  readonly desk: Desk
  readonly terms: MarketArithmetic
  readonly plan: Plan
  readonly order: SignedAction
}

interface Fill {
  readonly amount: bigint
  readonly price: bigint
  /** Of the taker, in quote; on a future in USDC. */
  readonly fee: bigint
}

describe('web/select: what the words of a ticket promise, on the contracts', () => {
  let world: FuturesWorld
  const desks = new Map<string, Desk>()

  before(async () => {
    world = await withSeries(await openWorld())
    await keepPricesFresh(world)
    await administer(world, world.at.futures_index_feed, perpAdminAbi, 'setHeartbeat', 10n ** 9n)
    desks.set('the spot market', spotDesk())
    desks.set('the perpetual', await perpetualDesk())
    desks.set('a future', await futureDesk())
  })
  after(() => world?.anvil.stop())

  function spotDesk(): Desk {
    const { at, alice, bob } = world
    const market = aMarket({
      assetAddress: at.wrapped_cngn,
      quoteAssetAddress: at.wrapped_usdc,
      tradeModuleAddress: at.spot_trade_module,
      marginManagerAddress: at.spot_manager,
    })
    const of = (asset: Address) => balanceOf(world, alice.subaccountId, asset)
    const held = async () => ({ base: await of(at.wrapped_cngn), quote: await of(at.wrapped_usdc) })
    return { market, taker: alice, maker: bob, held }
  }

  async function perpetualDesk(): Promise<Desk> {
    const { at, alice, bob } = world
    const market = aPerp({
      assetAddress: at.perp_asset,
      quoteAssetAddress: at.cash_asset,
      tradeModuleAddress: at.perp_trade_module,
      marginManagerAddress: at.perp_manager,
    })
    const taker = await openPerpAccount(world, alice, { cash: 1_000_000 })
    const maker = await openPerpAccount(world, bob, { cash: 1_000_000 })
    const held = async () => ({ base: await perpetualOf(world, taker), quote: 0n })
    return { market, taker, maker, held }
  }

  async function futureDesk(): Promise<Desk> {
    const { at, subId } = world
    const market = aFuture({
      subId,
      assetAddress: at.future_asset,
      quoteAssetAddress: at.wrapped_usdc,
      tradeModuleAddress: at.future_trade_module,
      marginManagerAddress: at.futures_manager,
    })
    const funds = { usdc: 1_000_000n * ONE, cngn: 1_000_000_000n * ONE }
    const [taker, maker] = await openTraders(world, [21, 22], funds)
    if (taker === undefined || maker === undefined) throw new Error('no traders')
    // A position is counted in contracts of 1,000 USDC.
    const held = async () => ({
      base: 1_000n * (await futureOf(world, taker.subaccountId)),
      quote: 0n,
    })
    return { market, taker, maker, held, band: [(INDEX * 91n) / 100n, (INDEX * 109n) / 100n] }
  }

  /** The plan as the page's client signs it. */
  async function signed(desk: Desk, terms: MarketArithmetic, plan: Plan): Promise<Signed> {
    const { account, subaccountId } = desk.taker
    const domain = { chainId: ANVIL_CHAIN_ID, matching: world.at.matching }
    const { action_json: json, signature } = await signOrder(account, domain, {
      market: marketEntry(desk.market),
      orderId: 'a',
      subaccountId: `${subaccountId}`,
      nonce: randomNonce(),
      expirySec: 4_000_000_000,
      side: plan.side,
      price: formatDecimal(plan.limitE18, 18),
      amount: formatDecimal(plan.amountE18, 18),
      worstFeeBps: plan.worstFeeBps,
    })
    const action: Action = {
      subaccountId,
      nonce: BigInt(json.nonce),
      expiry: BigInt(json.expiry),
      module: json.module as Address,
      data: json.data as Hex,
      owner: json.owner as Address,
      signer: json.signer as Address,
    }
    return { desk, terms, plan, order: { action, signature: signature as Hex } }
  }

  async function callOf({ desk, terms, plan, order }: Signed, fill: Fill): Promise<Call> {
    const { market, maker } = desk
    const amount = fill.amount / terms.perSignedUnit
    const met = await signMaker(
      world,
      maker,
      {
        asset: market.assetAddress,
        subId: market.subId,
        limitPrice: fill.price,
        desiredAmount: amount,
        isBid: plan.side === 'sell',
        worstFee: 10n ** 30n,
      },
      { module: market.tradeModuleAddress, subaccountId: maker.subaccountId },
    )
    const taker = { ...order, trade: met.trade }
    return matchCall(world, { taker, fills: [{ maker: met }], takerFee: fill.fee })
  }

  /** Settles the fills that the contracts take; answers what was filled. */
  async function settle(order: Signed, { fills }: TicketCase, isGreedy: boolean): Promise<Fill> {
    const { desk, terms, plan } = order
    const { takerFee } = tradingOf(desk.market)
    let [left, fees] = [plan.amountE18, 0n]
    const some = fills.slice(0, FILLS)
    for (const [at, [share, better]] of some.entries()) {
      const part = at === some.length - 1 ? left : (left * BigInt(share)) / 1_000n
      const amount = amountE18(part - (part % terms.stepE18))
      if (amount === 0n) continue
      const price = priceE18(priceOf(order, better))
      const highest = ((plan.worstFeeE18 + 1n) * amount - 1n) / (terms.perSignedUnit * E18)
      const fee = isGreedy ? highest : takerFee(desk.market, price, amount)
      const call = await callOf(order, { amount, price, fee })
      if ((await revertOf(world, call)) !== 'none') continue
      await perform(world, call)
      left -= amount
      fees += fee
    }
    return { amount: plan.amountE18 - left, price: plan.limitE18, fee: fees }
  }

  /** A price on the better side of the limit, within the band where one is. */
  function priceOf({ desk, plan }: Signed, better: number): bigint {
    const move = (plan.limitE18 * BigInt(better)) / 2_000n
    const price = plan.side === 'buy' ? plan.limitE18 - move : plan.limitE18 + move
    const [low, high] = desk.band ?? [0n, price]
    const inBand = price < low ? low : price > high ? high : price
    return isWithin(plan.side, inBand, plan.limitE18) ? inBand : price
  }

  /** What is worse than what was signed: a price beyond the limit, more than the amount, a higher fee. */
  async function expectRefused(order: Signed, filled: Fill): Promise<void> {
    const { terms, plan } = order
    const { limitE18: limit, worstFeeE18 } = plan
    const beyond = plan.side === 'buy' ? limit + terms.tickE18 : limit - terms.tickE18
    const step = terms.stepE18
    const attempts: [string, Fill][] = [
      ['more', { amount: plan.amountE18 - filled.amount + step, price: limit, fee: 0n }],
    ]
    if (filled.amount < plan.amountE18) {
      if (beyond > 0n) attempts.push(['beyond', { amount: step, price: beyond, fee: 0n }])
      const fee =
        ((worstFeeE18 + 1n) * step + terms.perSignedUnit * E18 - 1n) / (terms.perSignedUnit * E18)
      attempts.push(['dearer', { amount: step, price: limit, fee }])
    }
    for (const [what, fill] of attempts)
      expect(await revertOf(world, await callOf(order, fill)), what).not.to.equal('none')
  }

  async function hold(desk: Desk, terms: MarketArithmetic, given: TicketCase, isGreedy: boolean) {
    const plan = planOf(terms, given.ticket, given.book)
    if (typeof plan === 'string') return 0n
    const { exchange, feeMostE18 } = receiptOf(terms, plan)
    const before = await desk.held()
    const order = await signed(desk, terms, plan)
    const filled = await settle(order, given, isGreedy)
    const after = await desk.held()
    const base = after.base - before.base
    const quote = after.quote - before.quote
    expect(filled.fee <= feeMostE18, `fee ${filled.fee} of ${feeMostE18}`).to.equal(true)
    expect(plan.side === 'buy' ? base : -base).to.equal(filled.amount)
    if (exchange !== undefined) {
      const [gives, receives] = plan.side === 'buy' ? [-quote, base] : [-base, quote]
      expect(gives <= exchange.giveMostE18, `gives ${gives}`).to.equal(true)
      const isWhole = filled.amount === plan.amountE18
      if (isWhole)
        expect(receives >= exchange.receiveLeastE18, `receives ${receives}`).to.equal(true)
    }
    await expectRefused(order, filled)
    return filled.amount
  }

  for (const name of ['the spot market', 'the perpetual', 'a future'])
    it(`bounds what the owner gives and receives, whatever the executor settles: ${name}`, async () => {
      const desk = desks.get(name) as Desk
      const terms = marketTerms(marketEntry(desk.market))
      let filled = 0
      const price = desk.band === undefined ? 65n * 10n ** 13n : INDEX
      const sized = (side: 'buy' | 'sell'): TicketCase => ({
        ticket: {
          side,
          sizeE18: 1_000n * E18,
          guardBps: 100n,
          priceE18: terms.isInverted ? (E18 * E18) / price : price,
        },
        book: { bids: [], asks: [] },
        fills: [
          [300, 0],
          [500, 100],
          [0, 10],
        ],
      })
      await fc.assert(
        fc.asyncProperty(ticketCase(terms), fc.boolean(), async (given, isGreedy) => {
          const snapshot = await world.client.snapshot()
          try {
            if ((await hold(desk, terms, given, isGreedy)) > 0n) filled += 1
          } finally {
            await world.client.revert({ id: snapshot })
          }
        }),
        {
          numRuns: runs(16),
          examples: [
            [sized('buy'), true],
            [sized('sell'), true],
          ],
        },
      )
      expect(filled, 'tickets that filled').to.be.at.least(2)
    })
})
