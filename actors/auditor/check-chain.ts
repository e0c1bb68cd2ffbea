import { chainContractOf } from '../../chain/contracts/registry.js'
import {
  instrumentText,
  readFeeBalance,
  readFilled,
  readTradeLogs,
} from '../../chain/reads/read-trades.js'
import type { Address, Hex } from '../../core/action.js'
import { wordQuote } from '../../core/contracts/amount-words.js'
import type { Market } from '../../core/model/market.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import type { Order } from '../../core/model/order.js'
import { signedAmount } from '../../core/entry/order-terms.js'
import type { Match } from '../../core/model/match.js'
import { amountE18 } from '../../core/money.js'
import type { SettledTrade, WantedFill } from '../../data/audit-scratch.js'
import type { ChainChecks } from './chain-checks.js'
import { checkPositions } from './check-positions.js'
import { createQuoteCheck, type QuoteCheck } from './check-quotes.js'
import type { MarketFold } from './fold-market.js'
import type { RestoredGaps } from './restored-gaps.js'

const PAGE = 500
/** Most unknown fills that are listed. */
const UNKNOWN_FILLS_MAX = 20

/** The fills on chain that belong to the market's settlements. */
interface ClaimedFills {
  /** Of the takers of its fills, quote at 1e18. */
  fees: bigint
  /** Settled matches whose transaction is waiting to be mined again. */
  waiting: number
  /** Fills that no log holds, since a restore has named them. */
  lost: number
  /** Base amounts at 1e18 by order, of fills on chain that are not in the feed yet. */
  readonly ahead: Map<string, bigint>
  readonly quotes: QuoteCheck
}

/**
 * Checks that every settled match is one fill on chain, that every fill on chain is a match of the venue, and that the
 * module's filled amounts and fees are the sums of those fills.
 */
export async function checkChain(checks: ChainChecks, folds: readonly MarketFold[]): Promise<void> {
  const charged = new Map<Address, bigint>()
  for (const module of new Set(folds.map(({ market }) => market.tradeModuleAddress))) {
    charged.set(module, await readLogs(checks, module))
  }
  const fees = new Map<Address, bigint>()
  const modulesWithGaps = new Set<Address>()
  for (const { market, ledger, gaps } of folds) {
    const quotes = createQuoteCheck(checks, market)
    const claimed: ClaimedFills = { fees: 0n, waiting: 0, lost: 0, ahead: new Map(), quotes }
    await claimTrades(checks, market, claimed)
    for (const match of ledger.pending()) claimPending(checks, market, { match, claimed })
    claimLost(checks, market, { gaps, claimed })
    await quotes.check()
    reportFills(checks, market, claimed)
    await checkFilled(checks, market, { ahead: claimed.ahead, gaps })
    await checkPositions(checks, market)
    const module = market.tradeModuleAddress
    fees.set(module, (fees.get(module) ?? 0n) + claimed.fees)
    if (claimed.lost > 0) modulesWithGaps.add(module)
  }
  reportUnknownFills(checks, folds)
  for (const [module, expected] of fees) {
    const first = folds.find(({ market }) => market.tradeModuleAddress === module)?.market
    if (first === undefined) continue
    const ofChain = charged.get(module) ?? 0n
    const hasGaps = modulesWithGaps.has(module)
    await checkFees(checks, first, { module, expected, charged: ofChain, hasGaps })
  }
}

/** Stores the module's fills and returns the fees that it charged. */
async function readLogs(checks: ChainChecks, module: Address): Promise<bigint> {
  const { client, block, fromBlock, scratch } = checks
  let charged = 0n
  const range = { from: fromBlock, to: block.number }
  for await (const { matches, fees } of readTradeLogs(client, module, range)) {
    scratch.addFills(matches)
    charged += fees
  }
  return charged
}

interface TradeLegs {
  readonly maker: Order
  readonly taker: Order
  readonly price: SettledTrade['price']
  readonly amount: SettledTrade['amount']
}

/**
 * What the trade module states of the match. A quote that does not follow from the match alone is checked once the
 * fill is found.
 */
function wantedFill(market: Market, { maker, taker, price, amount }: TradeLegs): WantedFill {
  const isStated = chainContractOf(market)?.statedQuote !== undefined
  const moved = amountE18(signedAmount(market, amount))
  return {
    instrument: instrumentText(market.assetAddress, market.subId),
    taker: taker.subaccountId,
    maker: maker.subaccountId,
    takerIsBid: taker.side === 'buy',
    ...(!isStated && { quote: notionalFloor(price, moved) }),
    amount: moved,
  }
}

/** Finds the fill of each settled match. */
async function claimTrades(
  checks: ChainChecks,
  market: Market,
  claimed: ClaimedFills,
): Promise<void> {
  for (let after = 0; ;) {
    const trades = checks.scratch.trades(market.ordinal, after, PAGE)
    if (trades.length === 0) return
    for (const trade of trades) claimTrade(checks, market, { trade, claimed })
    await claimed.quotes.check()
    after = trades.at(-1)?.tradeId ?? after
  }
}

function claimTrade(
  { scratch, block, newest, journal, verdicts }: ChainChecks,
  market: Market,
  { trade, claimed }: { readonly trade: SettledTrade; readonly claimed: ClaimedFills },
): void {
  const { settlementId, txHash, takerFee, blockNumber } = trade
  const find = (what: string) => verdicts.find(market.market, 'settlements', what)
  const signed = journal?.find(settlementId)
  const hashes = [txHash, ...(signed?.hashes ?? [])]
  const wanted = wantedFill(market, trade)
  const found = scratch.claim(settlementId, wanted, hashes)
  if (found !== undefined) {
    claimed.fees += takerFee
    claimed.quotes.add({ match: trade, wanted, fill: found })
    if (!hashes.includes(found.txHash)) find(wordOtherHash(trade, found.txHash))
  } else if (signed?.status === 'open') claimed.waiting += 1
  else if (blockNumber <= block.number || blockNumber > newest.number)
    find(`${settlementId} has no fill in ${txHash}`)
}

const wordOtherHash = ({ settlementId, txHash }: SettledTrade, found: Hex): string =>
  `${settlementId} is said to be settled by ${txHash}, its fill is in ${found}`

/** A match without an outcome in the feed may already have its fill on chain. */
function claimPending(
  { scratch, journal }: ChainChecks,
  market: Market,
  { match, claimed }: { readonly match: Match; readonly claimed: ClaimedFills },
): void {
  const maker = scratch.order(match.makerOrderId)
  const taker = scratch.order(match.takerOrderId)
  if (maker === undefined || taker === undefined) return
  const { settlementId, price, amount, takerFee } = match
  const hashes = journal?.find(settlementId)?.hashes ?? []
  const wanted = wantedFill(market, { maker, taker, price, amount })
  const found = scratch.claim(settlementId, wanted, hashes)
  if (found === undefined) return
  claimed.quotes.add({ match, wanted, fill: found })
  claimed.fees += takerFee
  const { ahead } = claimed
  for (const { orderId } of [maker, taker]) ahead.set(orderId, (ahead.get(orderId) ?? 0n) + amount)
}

/** Fills of matches that were lost, as the log's restore has named them: they count in positions. */
function claimLost(
  { scratch }: ChainChecks,
  { market }: Market,
  { gaps, claimed }: { readonly gaps: RestoredGaps; readonly claimed: ClaimedFills },
): void {
  for (const { txHash, logIndex } of gaps.fills())
    if (scratch.claimLost(`${market}:lost ${txHash} ${logIndex}`, txHash, logIndex))
      claimed.lost += 1
}

function reportFills(
  { scratch, block, verdicts }: ChainChecks,
  market: Market,
  claimed: ClaimedFills,
): void {
  const count = scratch.countFills(instrumentText(market.assetAddress, market.subId))
  const pending = claimed.ahead.size === 0 ? '' : ', some not in the feed yet'
  const waiting = claimed.waiting === 0 ? '' : `, ${claimed.waiting} waiting to be mined again`
  const unread = claimed.quotes.unread()
  const quotes = unread === 0 ? '' : `, ${unread} of blocks whose prices the node has not kept`
  const lost = claimed.lost === 0 ? '' : `, ${claimed.lost} of matches that a restore has lost`
  const detail = `${count} fills on the chain up to block ${block.number}${pending}${waiting}${quotes}${lost}`
  verdicts.done(market.market, 'settlements', detail)
}

async function checkFilled(
  checks: ChainChecks,
  market: Market,
  { ahead, gaps }: { readonly ahead: ClaimedFills['ahead']; readonly gaps: RestoredGaps },
): Promise<void> {
  const { client, block, scratch, verdicts } = checks
  const at = { module: market.tradeModuleAddress, block }
  let count = 0
  for (let after = 0; ;) {
    const orders = scratch.orders(market.ordinal, after, PAGE)
    if (orders.length === 0) break
    const filled = await readFilled(
      client,
      at,
      orders.map(({ order }) => order),
    )
    for (const [index, { order, orderKey }] of orders.entries()) {
      const size = scratch.settledOnChain(orderKey) + (ahead.get(order.orderId) ?? 0n)
      const settled = signedAmount(market, amountE18(size))
      const counted = filled[index] ?? 0n
      if (counted === settled || (gaps.hasOrder(order.orderId) && counted > settled)) continue
      const what = `the chain counts ${counted} as filled, its settled fills say ${settled}`
      verdicts.find(market.market, 'filled', `${order.orderId}: ${what}`)
    }
    count += orders.length
    after = orders.at(-1)?.orderKey ?? after
  }
  verdicts.done(market.market, 'filled', `${count} orders as the chain counts them`)
}

/** A fill that the venue never matched means that its key was used elsewhere. */
function reportUnknownFills(
  { scratch, verdicts }: ChainChecks,
  folds: readonly MarketFold[],
): void {
  const instrumentOf = ({ assetAddress, subId }: Market) => instrumentText(assetAddress, subId)
  for (const { txHash, logIndex, instrument } of scratch.unclaimed(UNKNOWN_FILLS_MAX)) {
    const of = folds.find(({ market }) => instrumentOf(market) === instrument) ?? folds[0]
    const what = `the fill ${logIndex} of ${txHash} belongs to no settlement of ours`
    if (of !== undefined) verdicts.find(of.market.market, 'settlements', what)
  }
}

async function checkFees(
  { client, block, verdicts, feesKept }: ChainChecks,
  of: Market,
  {
    module,
    expected,
    charged,
    hasGaps,
  }: {
    readonly module: Address
    readonly expected: bigint
    readonly charged: bigint
    /** Fees of lost matches are known as a sum alone. */
    readonly hasGaps: boolean
  },
): Promise<void> {
  const held = await readFeeBalance(client, { module, block })
  const { market } = of
  const fee = (e18: bigint) => wordQuote(of, e18)
  verdicts.done(market, 'fees', `${fee(charged)} charged, ${fee(held)} in the fee account`)
  if (hasGaps ? charged < expected : charged !== expected) {
    const what = `the chain charged ${fee(charged)}, the fills on it say ${fee(expected)}`
    verdicts.find(market, 'fees', what)
  }
  if (feesKept && held < charged)
    verdicts.find(market, 'fees', `the fee account holds only ${fee(held)} of ${fee(charged)}`)
}
