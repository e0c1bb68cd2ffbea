import type { ChainClient } from '../../chain/client.js'
import { readTradeLogs } from '../../chain/read-trade-logs.js'
import { readFeeBalance, readFilled, type PinnedBlock } from '../../chain/read-trade-state.js'
import type { Address, Hex } from '../../core/action.js'
import type { Match } from '../../core/change.js'
import type { Market } from '../../core/market.js'
import { notionalFloor } from '../../core/money.js'
import type { Order } from '../../core/order.js'
import type { AuditScratch, SettledTrade, WantedFill } from '../../data/audit-scratch.js'
import type { JournalReader } from '../../data/read-journal.js'
import type { MarketFold } from './fold-market.js'
import type { Verdicts } from './verdicts.js'

const PAGE = 500
/** Fills of strangers that are told one by one. */
const STRANGERS_TOLD = 20

export interface ChainChecks {
  readonly client: ChainClient
  /** Everything that is asked of the chain is asked as of this block. */
  readonly block: PinnedBlock
  /** The newest block after everything else was read: a fill beyond it is of a block that the chain has lost. */
  readonly newest: PinnedBlock
  readonly fromBlock: bigint
  readonly scratch: AuditScratch
  readonly journal: JournalReader | undefined
  readonly verdicts: Verdicts
  /** Fees stay in the fee account, so that it holds what was charged. */
  readonly feesKept: boolean
}

/** What of a market the chain has, as far as it is known to be ours. */
interface Claimed {
  /** Of the takers of its fills, quote at 1e18. */
  fees: bigint
  /** Settled matches that are known to be on their way into a block again. */
  waiting: number
  /** Base amounts at 1e18 by order, of matches whose outcome is still on its way to the feed. */
  readonly ahead: Map<string, bigint>
}

/**
 * Every settled match is one fill on the chain and every fill on the chain is a match of ours; what the module counts as
 * filled of each order and what it charged are the sums of those.
 */
export async function checkChain(checks: ChainChecks, folds: readonly MarketFold[]): Promise<void> {
  const charged = new Map<Address, bigint>()
  for (const module of new Set(folds.map(({ market }) => market.tradeModuleAddress))) {
    charged.set(module, await readLogs(checks, module))
  }
  const fees = new Map<Address, bigint>()
  for (const { market, ledger } of folds) {
    const claimed: Claimed = { fees: 0n, waiting: 0, ahead: new Map() }
    claimTrades(checks, market, claimed)
    for (const match of ledger.pending()) claimPending(checks, market, { match, claimed })
    tellFills(checks, market, claimed)
    await checkFilled(checks, market, claimed.ahead)
    const module = market.tradeModuleAddress
    fees.set(module, (fees.get(module) ?? 0n) + claimed.fees)
  }
  tellStrangers(checks, folds)
  for (const [module, told] of fees) {
    const first = folds.find(({ market }) => market.tradeModuleAddress === module)?.market.market
    if (first === undefined) continue
    await checkFees(checks, first, { module, told, charged: charged.get(module) ?? 0n })
  }
}

/** Keeps what the module told, and answers the fees it charged. */
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

interface Legs {
  readonly maker: Order
  readonly taker: Order
  readonly price: SettledTrade['price']
  readonly amount: SettledTrade['amount']
}

function wantedFill(market: Market, { maker, taker, price, amount }: Legs): WantedFill {
  return {
    base: market.assetAddress,
    taker: taker.subaccountId,
    maker: maker.subaccountId,
    takerIsBid: taker.side === 'buy',
    quote: notionalFloor(price, amount),
    amount,
  }
}

/** Finds the fill of each settled match. */
function claimTrades(checks: ChainChecks, market: Market, claimed: Claimed): void {
  for (let after = 0; ;) {
    const trades = checks.scratch.trades(market.ordinal, after, PAGE)
    if (trades.length === 0) return
    for (const trade of trades) claimTrade(checks, market, { trade, claimed })
    after = trades.at(-1)?.tradeId ?? after
  }
}

function claimTrade(
  { scratch, block, newest, journal, verdicts }: ChainChecks,
  market: Market,
  { trade, claimed }: { readonly trade: SettledTrade; readonly claimed: Claimed },
): void {
  const { settlementId, txHash, takerFee, blockNumber } = trade
  const find = (what: string) => verdicts.find(market.market, 'settlements', what)
  const signed = journal?.find(settlementId)
  const hashes = [txHash, ...(signed?.hashes ?? [])]
  const found = scratch.claim(settlementId, wantedFill(market, trade), hashes)
  if (found !== undefined) {
    claimed.fees += takerFee
    if (!hashes.includes(found)) find(wordOtherHash(trade, found))
  } else if (signed?.status === 'open') claimed.waiting += 1
  else if (blockNumber <= block.number || blockNumber > newest.number)
    find(`${settlementId} has no fill in ${txHash}`)
}

const wordOtherHash = ({ settlementId, txHash }: SettledTrade, found: Hex): string =>
  `${settlementId} is said to be settled by ${txHash}, its fill is in ${found}`

/** A match whose outcome the feed has not told yet may have its fill already. */
function claimPending(
  { scratch, journal }: ChainChecks,
  market: Market,
  { match, claimed }: { readonly match: Match; readonly claimed: Claimed },
): void {
  const [maker, taker] = [scratch.order(match.makerOrderId), scratch.order(match.takerOrderId)]
  if (maker === undefined || taker === undefined) return
  const { settlementId, price, amount, takerFee } = match
  const hashes = journal?.find(settlementId)?.hashes ?? []
  const wanted = wantedFill(market, { maker, taker, price, amount })
  if (scratch.claim(settlementId, wanted, hashes) === undefined) return
  claimed.fees += takerFee
  const { ahead } = claimed
  for (const { orderId } of [maker, taker]) ahead.set(orderId, (ahead.get(orderId) ?? 0n) + amount)
}

function tellFills(
  { scratch, block, verdicts }: ChainChecks,
  market: Market,
  claimed: Claimed,
): void {
  const count = scratch.countFills(market.assetAddress)
  const pending = claimed.ahead.size === 0 ? '' : ', some not told yet'
  const waiting = claimed.waiting === 0 ? '' : `, ${claimed.waiting} waiting to be mined again`
  const detail = `${count} fills on the chain up to block ${block.number}${pending}${waiting}`
  verdicts.done(market.market, 'settlements', detail)
}

async function checkFilled(
  checks: ChainChecks,
  market: Market,
  ahead: Claimed['ahead'],
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
      const settled = scratch.settledOnChain(orderKey) + (ahead.get(order.orderId) ?? 0n)
      if (filled[index] === settled) continue
      const what = `the chain counts ${filled[index]} as filled, its settled fills say ${settled}`
      verdicts.find(market.market, 'filled', `${order.orderId}: ${what}`)
    }
    count += orders.length
    after = orders.at(-1)?.orderKey ?? after
  }
  verdicts.done(market.market, 'filled', `${count} orders as the chain counts them`)
}

/** Whoever settles by our key what we never matched has stolen it. */
function tellStrangers({ scratch, verdicts }: ChainChecks, folds: readonly MarketFold[]): void {
  for (const { txHash, logIndex, base } of scratch.unclaimed(STRANGERS_TOLD)) {
    const of = folds.find(({ market }) => market.assetAddress === base) ?? folds[0]
    const what = `the fill ${logIndex} of ${txHash} belongs to no settlement of ours`
    if (of !== undefined) verdicts.find(of.market.market, 'settlements', what)
  }
}

async function checkFees(
  { client, block, verdicts, feesKept }: ChainChecks,
  market: string,
  {
    module,
    told,
    charged,
  }: { readonly module: Address; readonly told: bigint; readonly charged: bigint },
): Promise<void> {
  const held = await readFeeBalance(client, { module, block })
  verdicts.done(market, 'fees', `${charged} charged, ${held} in the fee account`)
  if (charged !== told)
    verdicts.find(market, 'fees', `the chain charged ${charged}, the fills on it say ${told}`)
  if (feesKept && held < charged)
    verdicts.find(market, 'fees', `the fee account holds only ${held} of ${charged}`)
}
