import { revertName } from '../../chain/abi/errors.js'
import { decodeMatch } from '../../chain/contracts/calldata.js'
import { observeAccount, observeMarket } from '../../chain/contracts/observe-account.js'
import { createChainClient } from '../../chain/reads/client.js'
import { tradingOf } from '../../core/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import type { SettlementOutcome } from '../../core/model/command.js'
import type { Match } from '../../core/model/match.js'
import type { AccountObservation } from '../../core/model/observation.js'
import type { Order, Side } from '../../core/model/order.js'
import { amountE18, priceE18 } from '../../core/money.js'
import { blameNow } from './blame.js'
import { matchCall, signOrder, type SignedOrder } from './devnet-actions.js'
import { perform, revertOf, type Trader, type World } from './devnet-world.js'
import { matcherOrder, testMatcher, type TestMatcher } from './matching.js'

/** A market with margin on a chain of its own, and what its tests vary. */
export interface MarginStage {
  readonly world: World
  readonly market: Market
  readonly traders: readonly Trader[]
  /** Engine sizes are this many times what is signed. */
  readonly sizeScale: bigint
}

export interface OrderIdea {
  readonly trader: Trader
  readonly side: Side
  readonly price: bigint
  readonly amount: bigint
  readonly reduceOnly: boolean
}

/** What the chain said of a match. */
export interface Settled {
  readonly match: Match
  readonly outcome: SettlementOutcome
  readonly taker: Order
  readonly maker: Order
}

const WORST_FEE = 10n ** 21n

/** The real step on the facts of a real chain: orders as intake would take them, matches as the executor would settle them. */
export async function openMarginVenue({ world, market, traders, sizeScale }: MarginStage) {
  const client = createChainClient(world.anvil.rpcUrl, 'read')
  const deployment = { matching: world.at.matching, subAccounts: world.at.sub_accounts }
  const deps = { client, deployment }
  const findGuilty = blameNow(world, { client, markets: [market] })
  const engine: TestMatcher = testMatcher(market.takerFeeBps, market.contractType)
  const trading = tradingOf(market)
  const signed = new Map<string, SignedOrder>()
  const orders = new Map<string, Order>()
  const inFlight: Match[] = []

  const apply: TestMatcher['apply'] = (command) => {
    const applied = engine.apply(command)
    for (const change of applied.changes)
      if (change.kind === 'OrderMatched') inFlight.push(change.match)
    if (applied.moreIsDue) apply({ kind: 'Tick' })
    return applied
  }

  async function readMarket() {
    const block = await client.getBlock()
    const nowMs = Number(block.timestamp) * 1000
    if (nowMs > engine.nowMs()) engine.advance(nowMs - engine.nowMs())
    const seen = await observeMarket(deps, market, block, engine.nowMs())
    if (seen === undefined) throw new Error('the market has no facts')
    return { seen, block }
  }

  /** Logs what the chain shows of the market and of all accounts. */
  async function look(): Promise<void> {
    const { seen } = await readMarket()
    apply({ kind: 'MarketObserved', observation: seen })
    apply({ kind: 'Tick' })
    for (const trader of traders)
      apply({ kind: 'AccountObserved', account: await readAccount(trader) })
  }

  async function readAccount({ subaccountId }: Trader): Promise<AccountObservation> {
    const { seen, block } = await readMarket()
    return observeAccount(deps, market, subaccountId, { ...block, seen: seen.facts })
  }

  /** Places an order unless intake would refuse it; whether it was placed. */
  async function place({ trader, side, price, amount, reduceOnly }: OrderIdea): Promise<boolean> {
    const { seen, block } = await readMarket()
    const at = { ...block, seen: seen.facts }
    const account = await observeAccount(deps, market, trader.subaccountId, at)
    const order = matcherOrder({
      orderId: `o${orders.size + 1}`,
      side,
      owner: trader.address,
      subaccountId: trader.subaccountId,
      limitPrice: priceE18(price),
      desiredAmount: amountE18(amount),
      goodUntilSec: engine.nowMs() / 1000 + 86_400,
      ...(reduceOnly && { reduceOnly: true }),
    })
    const admitted = { market, order, account, observed: seen }
    if (trading.admission?.some((check) => check(admitted) !== undefined)) return false
    orders.set(order.orderId, order)
    const { assetAddress: asset, subId, tradeModuleAddress: module } = market
    const terms = { asset, subId, limitPrice: price, desiredAmount: amount / sizeScale }
    const trade = { ...terms, worstFee: WORST_FEE, isBid: side === 'buy' }
    signed.set(order.orderId, await signOrder(world, trader, trade, { module }))
    apply({ kind: 'MarketObserved', observation: seen })
    apply({ kind: 'PlaceOrder', order, account })
    return true
  }

  /** Settles one match that awaits it, and reports the outcome. */
  async function settle(pick: number): Promise<Settled | undefined> {
    const [match] = inFlight.splice(pick % Math.max(1, inFlight.length), 1)
    if (match === undefined) return undefined
    const taker = match.takerOrderId
    const maker = match.makerOrderId
    const fill = { amount: match.amount / sizeScale, price: match.price, fee: 0n }
    const call = matchCall(world, {
      taker: known(signed, taker),
      fills: [{ maker: known(signed, maker), ...fill }],
      takerFee: match.takerFee,
    })
    const refused = await revertOf(world, call)
    let outcome: SettlementOutcome
    if (refused === 'none') {
      const { transactionHash: txHash, blockNumber } = await perform(world, call)
      outcome = { kind: 'success', txHash, blockNumber }
    } else {
      const revert = revertName(refused)
      const guilty = (await findGuilty(decodeMatch(call.data), revert)) ?? 'unclear'
      outcome = { kind: 'reverted', revert, guilty }
    }
    apply({ kind: 'SettlementReported', settlementId: match.settlementId, outcome })
    return { match, outcome, taker: known(orders, taker), maker: known(orders, maker) }
  }

  await look()
  return { engine, place, settle, look, readAccount, apply, waiting: () => inFlight.length }
}

export type MarginVenue = Awaited<ReturnType<typeof openMarginVenue>>

function known<Value>(map: ReadonlyMap<string, Value>, id: string): Value {
  const value = map.get(id)
  if (value === undefined) throw new Error(`${id} is not known`)
  return value
}
