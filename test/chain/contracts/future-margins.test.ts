import { expect } from 'chai'
import { parseUnits } from 'viem'
import { createFundsReader } from '../../../chain/contracts/funds-reader.js'
import { observeAccount, observeMarket } from '../../../chain/contracts/observe-account.js'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import { balancesOf } from '../../../core/contracts/balances.js'
import { NO_CLAIMS } from '../../../core/contracts/funds.js'
import { futureCapacity } from '../../../core/contracts/future-claims.js'
import {
  futureAccountOf,
  futureOf,
  type FutureAccountFacts,
  type FutureFacts,
} from '../../../core/contracts/future-facts.js'
import { futureFunds } from '../../../core/contracts/future-funds.js'
import {
  exposedSurplus,
  futureModel,
  initialTerms,
  isFillAccepted,
} from '../../../core/contracts/future-margin.js'
import { fillBand, FIXING_SEC, markTowards } from '../../../core/contracts/future-prices.js'
import { isReduction } from '../../../core/contracts/margin.js'
import { tradingOf } from '../../../core/contracts/registry.js'
import { formatDecimal } from '../../../core/decimal.js'
import type { Market } from '../../../core/model/market.js'
import type { AccountObservation } from '../../../core/model/observation.js'
import { amountE18, priceE18 } from '../../../core/money.js'
import { aFuture, aMarket, anOrder } from '../../support/builders.js'
import { ONE } from '../../support/devnet-actions.js'
import { receiptOf, revertOf, send, type Trader } from '../../support/devnet-world.js'
import {
  act,
  DAY,
  fillCall,
  HOUR,
  INDEX,
  KEEPER,
  openDatedWorld,
  openTraders,
  setIndex,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../../support/futures-world.js'
import { randomNumbers } from '../../support/random-numbers.js'
import { askAll } from '../../support/solvency-state.js'

/** More by hand: `FUTURES_BLOCKS=500 ./venue test dist/test/chain/contracts/future-margins.test.js`. */
const BLOCKS = Number(process.env.FUTURES_BLOCKS ?? 50)
const SEED = Number(process.env.FUTURES_SEED ?? 22)
const ACCOUNTS = 20
/** The world begins here: 2026-11-02 00:00 UTC. */
const START_SEC = 1_793_577_600
const LOWEST = 300n * ONE
const HIGHEST = 6_000n * ONE

/** An account as the manager of the chain judges it; undefined where it needs an index that is stale. */
interface Margin {
  readonly initial: bigint | undefined
  readonly maintenance: bigint | undefined
}

describe('margin of accounts with positions in several series', () => {
  let world: FuturesWorld
  let client: ChainClient
  let series: Market[]
  let spot: Market
  let traders: readonly Trader[]
  let rich: Trader
  let index: bigint = INDEX
  /** Readers of funds share what they read for a moment. */
  let elapsedMs = 0
  const next = randomNumbers(SEED)
  const done = new Map<string, number>()
  const count = (name: string) => done.set(name, (done.get(name) ?? 0) + 1)

  before(async () => {
    world = await openDatedWorld(START_SEC, 'none')
    const { at } = world
    client = createChainClient(world.anvil.rpcUrl, 'read')
    spot = aMarket({
      assetAddress: at.wrapped_cngn,
      quoteAssetAddress: at.wrapped_usdc,
      marginManagerAddress: at.futures_manager,
    })
    const keys = Array.from({ length: ACCOUNTS }, (_, i) => 700 + i)
    const poor = { usdc: 900n * ONE, cngn: 0n }
    const both = { usdc: 400n * ONE, cngn: 1_234_567n * ONE }
    traders = [
      ...(await openTraders(world, keys.slice(0, ACCOUNTS / 2), poor)),
      ...(await openTraders(world, keys.slice(ACCOUNTS / 2), both)),
    ]
    const [counterpart] = await openTraders(world, [799], {
      usdc: 10n ** 9n * ONE,
      cngn: 10n ** 12n * ONE,
    })
    if (counterpart === undefined) throw new Error('no counterpart')
    rich = counterpart
    series = []
    await setIndex(world, INDEX)
    for (const days of [2, 9, 30]) await openSeries(days)
  })
  after(() => world.anvil.stop())

  const deps = () => ({
    client,
    deployment: { matching: world.at.matching, subAccounts: world.at.sub_accounts },
  })

  async function openSeries(days: number): Promise<void> {
    const subId = BigInt((await timeOf(world)) + days * DAY)
    await act(world, world.at.deployer, 'asset', 'createSeries', subId)
    const { at } = world
    series.push(
      aFuture({
        market: `USDC-cNGN-${subId}`,
        subId,
        assetAddress: at.future_asset,
        quoteAssetAddress: at.wrapped_usdc,
        tradeModuleAddress: at.future_trade_module,
        marginManagerAddress: at.futures_manager,
      }),
    )
  }

  const pick = <T>(list: readonly T[]): T => {
    const picked = list[next(list.length)]
    if (picked === undefined) throw new Error('nothing to pick')
    return picked
  }

  async function publish(price: bigint): Promise<void> {
    index = price < LOWEST ? LOWEST : price > HIGHEST ? HIGHEST : price
    await setIndex(world, index)
  }

  /** A fill of a trader with another, or with one that can bear anything, at any price in the band. */
  async function randomFill() {
    const timeSec = await timeOf(world)
    const open = series.filter(({ subId }) => timeSec + 60 < Number(subId) - FIXING_SEC)
    const market = pick(open)
    const taker = pick(traders)
    const others = [...traders.filter((trader) => trader !== taker), rich, rich, rich]
    const { low, high } = fillBand(priceE18(index), Number(market.subId), timeSec + 60)
    const between = low + ((high - low) * BigInt(next(1_000))) / 1_000n
    const amount = BigInt(1 + next(9_000)) * 10n ** 15n
    const fill = {
      taker,
      maker: pick(others),
      takerBuys: next(2) === 0,
      amount,
      subId: market.subId,
      price: pick([low, high, index, between]),
      takerFee: next(3) === 0 ? 0n : (amount * 25n) / 10n,
    }
    return { market, fill, call: await fillCall(world, fill) }
  }

  async function trade(): Promise<void> {
    for (let i = 0; i < 3; i += 1) {
      const { call } = await randomFill()
      const { status } = await receiptOf(world, await send(world, call))
      count(status === 'success' ? 'fill' : 'refused fill')
    }
  }

  async function jump(): Promise<void> {
    await publish((index * BigInt(pick([30, 60, 85, 97, 103, 115, 160, 300]))) / 100n)
    count('jump')
  }

  async function moveMarks(): Promise<void> {
    await warpTo(world, (await timeOf(world)) + HOUR)
    await publish(index)
    for (const market of series) {
      const { mark } = await factsOf(market)
      const band = fillBand(priceE18(index), Number(market.subId), (await timeOf(world)) + 30)
      const legal = markTowards(mark, priceE18(index), band)
      if (legal === undefined || (await timeOf(world)) >= Number(market.subId)) continue
      await act(world, KEEPER, 'asset', 'updateMark', market.subId, legal)
      count('mark')
    }
  }

  async function staleIndex(): Promise<void> {
    await warpTo(world, (await timeOf(world)) + 400)
    count('stale')
  }

  /** The first series ends at a price near its mark; a part of its positions is closed out, the rest only later. */
  async function settleFirst(): Promise<void> {
    const first = series.reduce((a, b) => (a.subId < b.subId ? a : b))
    await warpTo(world, Math.max(Number(first.subId) + DAY, await timeOf(world)) + 1)
    await publish(index)
    const { mark, settled } = await factsOf(first)
    if (settled === undefined) {
      const price = (mark * 101n) / 100n
      await act(world, world.at.deployer, 'asset', 'setFallbackPrice', first.subId, price)
      count('settlement')
    }
    const ids = [...traders, rich].map(({ subaccountId }) => subaccountId)
    const some = settled === undefined ? ids.slice(0, ACCOUNTS / 2) : ids
    await act(world, KEEPER, 'manager', 'closeOut', first.subId, some)
    if (settled === undefined) return
    series = series.filter((market) => market !== first)
    await openSeries(20 + next(20))
  }

  async function observed(market: Market) {
    const block = await client.getBlock()
    const seen = await observeMarket(deps(), market, block, Number(block.timestamp) * 1_000)
    if (seen === undefined) throw new Error('the market has no facts')
    return { block, seen }
  }
  const factsOf = async (market: Market): Promise<FutureFacts> =>
    futureOf((await observed(market)).seen.facts)

  async function marginsOf(ids: readonly bigint[]): Promise<readonly Margin[]> {
    const { abi } = world.artifacts.FuturesManager
    const asked = ids.flatMap((id) =>
      [true, false].map((isInitial) => ({
        to: world.at.futures_manager,
        abi,
        functionName: 'getMargin',
        args: [id, isInitial],
      })),
    )
    const answers = (await askAll(world, asked)) as readonly (bigint | undefined)[]
    return ids.map((_, i) => ({ initial: answers[2 * i], maintenance: answers[2 * i + 1] }))
  }

  /** What the balances of the account say in each series. */
  async function checkBalances(trader: Trader, { initial, maintenance }: Margin): Promise<void> {
    const clocks = { nowMs: () => 5_000, elapsedMs: () => elapsedMs }
    const reader = createFundsReader({ ...deps(), ...clocks })
    const seen = await reader.readFunds(series, trader.subaccountId)
    expect(seen?.markets.length).to.equal(series.length)
    for (const one of seen?.markets ?? []) {
      const { margin } = futureFunds({ ...one, claims: NO_CLAIMS })
      expect(margin?.initial_margin_surplus).to.equal(textOf(initial))
      expect(margin?.maintenance_margin_surplus).to.equal(textOf(maintenance))
    }
  }
  const textOf = (value: bigint | undefined) =>
    value === undefined ? '' : formatDecimal(value, 18)

  /** What the entry and the engine have, and what a match may claim. */
  function checkOrders(
    account: FutureAccountFacts,
    facts: FutureFacts,
    initial: bigint | undefined,
  ) {
    const standing = futureModel.standing(account, facts)
    expect(standing === undefined).to.equal(facts.indexStale)
    if (standing === undefined || initial === undefined) return
    const own = futureModel.requirement(facts, futureModel.positionOf(account))
    expect(standing.equity - own, 'of an order').to.equal(initial)
    const side = account.position < 0n ? 'short' : 'long'
    expect(futureCapacity(facts, account, side), 'of a claim').to.equal(initial)
  }

  function checkSpot({ facts }: AccountObservation, initial: bigint | undefined): void {
    const { exposure, quote } = balancesOf(facts)
    if (exposure === undefined) return
    count('exposure')
    const surplus = exposedSurplus(exposure, { usdc: quote, cngn: exposure.cngn })
    expect(surplus, 'of a spot order').to.equal(initial)
  }

  async function checkAll(): Promise<void> {
    elapsedMs += 10_000
    const ids = traders.map(({ subaccountId }) => subaccountId)
    const margins = await marginsOf(ids)
    const markets = await Promise.all(series.map(observed))
    const { block } = await observed(pick(series))
    for (const [i, trader] of traders.entries()) {
      const margin = margins[i]
      if (margin === undefined) throw new Error('no margin')
      await checkBalances(trader, margin)
      const accounts = await Promise.all(
        series.map((market, at) =>
          observeAccount(deps(), market, trader.subaccountId, {
            ...block,
            seen: markets[at]?.seen.facts,
          }),
        ),
      )
      const held = accounts.map(({ facts }) => futureAccountOf(facts))
      if (held.filter(({ position }) => position !== 0n).length > 1) count('several series')
      if ((margin.initial ?? 0n) < 0n) count('below margin')
      for (const [at, account] of held.entries()) {
        const facts = futureOf(markets[at]?.seen.facts ?? {})
        if (facts.settled !== true) checkOrders(account, facts, margin.initial)
      }
      checkSpot(await observeAccount(deps(), spot, trader.subaccountId, block), margin.initial)
    }
  }

  /** A match is judged as the chain does; what an order is refused for is never more than that. */
  async function checkFill(): Promise<void> {
    const { market, fill, call } = await randomFill()
    const { block, seen } = await observed(market)
    const facts = futureOf(seen.facts)
    if (facts.indexStale) return
    const judge = async ({ subaccountId }: Trader, size: bigint, fee: bigint) => {
      const at = { ...block, seen: seen.facts }
      const account = await observeAccount(deps(), market, subaccountId, at)
      const borne = { size, price: fill.price, fee }
      const bearer = futureAccountOf(account.facts)
      return { account, isAccepted: isFillAccepted(bearer, borne, facts, initialTerms(facts)) }
    }
    const size = fill.takerBuys ? fill.amount : -fill.amount
    const taker = await judge(fill.taker, size, fill.takerFee)
    const maker = await judge(fill.maker, -size, 0n)
    const isDone = (await revertOf(world, call)) === 'none'
    expect(isDone, 'a match').to.equal(taker.isAccepted && maker.isAccepted)
    count(isDone ? 'accepted match' : 'refused match')
    if (!maker.isAccepted) return
    const order = anOrder({
      side: fill.takerBuys ? 'buy' : 'sell',
      limitPrice: priceE18(fill.price),
      desiredAmount: amountE18(fill.amount * 1_000n),
      initialFilled: amountE18(0n),
    })
    const checks = tradingOf(market).admission ?? []
    const asked = { market, order, account: taker.account, observed: seen }
    const refusal = checks.map((check) => check(asked)).find((found) => found !== undefined)
    count(refusal === undefined ? 'admitted order' : 'refused order')
    // One that only reduces is judged before each match.
    const position = futureModel.positionOf(futureAccountOf(taker.account.facts))
    if (refusal !== undefined || isReduction(position, size * 1_000n)) return
    const whole = { ...fill, takerFee: (fill.amount * 25n) / 10n }
    expect(await revertOf(world, await fillCall(world, whole)), 'an order').to.equal('none')
  }

  it(`is what the manager says to the unit wherever the venue computes it, in ${BLOCKS} blocks (seed ${SEED}, FUT-025, FUT-045)`, async () => {
    for (let block = 0; block < BLOCKS; block += 1) {
      await publish(index)
      if (block % 17 === 16) await settleFirst()
      else await pick([trade, trade, trade, trade, jump, jump, moveMarks, staleIndex])()
      await checkAll()
      await checkFill()
    }
    const wanted = [
      ...['fill', 'jump', 'mark', 'stale', 'settlement', 'exposure', 'several series'],
      ...['below margin', 'accepted match', 'refused match', 'admitted order', 'refused order'],
    ]
    const counts = JSON.stringify(Object.fromEntries(done))
    const missing = BLOCKS < 50 ? [] : wanted.filter((name) => !done.has(name))
    expect(missing, `what the run lacks, of ${counts}`).to.deep.equal([])
  })

  it('shows the index at which maintenance margin is used up, to the unit (REA-059)', async () => {
    await publish(INDEX)
    elapsedMs += 10_000
    const clocks = { nowMs: () => 5_000, elapsedMs: () => elapsedMs }
    const reader = createFundsReader({ ...deps(), ...clocks })
    const outlooks = new Map<string, number>()
    const found: { readonly trader: Trader; readonly price: bigint }[] = []
    for (const trader of traders) {
      const seen = await reader.readFunds(series, trader.subaccountId)
      const shown = (seen?.markets ?? []).map(
        (one) => futureFunds({ ...one, claims: NO_CLAIMS }).margin,
      )
      const [first] = shown
      if (first === undefined) throw new Error('no margin')
      const { liquidation_status: status, liquidation_price: price } = first
      // An account is liquidated as a whole: each series says the same.
      for (const one of shown) expect(one?.liquidation_price).to.equal(price)
      outlooks.set(status, (outlooks.get(status) ?? 0) + 1)
      const surplus = first.maintenance_margin_surplus
      expect(status === 'due', surplus).to.equal(
        surplus.startsWith('-') && status !== 'no_position',
      )
      if (status === 'ok') found.push({ trader, price: parseUnits(price, 18) })
    }
    expect(found.length, JSON.stringify([...outlooks])).to.be.above(3)
    const maintenanceAt = async (at: bigint, { subaccountId }: Trader) => {
      await setIndex(world, at)
      const [margin] = await marginsOf([subaccountId])
      if (margin?.maintenance === undefined) throw new Error('no margin')
      return margin.maintenance
    }
    for (const { trader, price } of found) {
      const beyond = price < INDEX ? price - 1n : price + 1n
      expect((await maintenanceAt(price, trader)) >= 0n, `${price}`).to.equal(true)
      expect((await maintenanceAt(beyond, trader)) < 0n, `${beyond}`).to.equal(true)
    }
  })
})
