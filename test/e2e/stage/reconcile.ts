import { expect } from 'chai'
import { createPublicClient, http, parseEventLogs, type PublicClient, type RpcLog } from 'viem'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { feedStream } from '../../../bus-schemas/subjects.js'
import { futureTradeModuleAbi, tradeModuleAbi } from '../../../chain/abi/contracts.js'
import {
  createLocalBook,
  createRestClient,
  type BookDelta,
  type MarketEntry,
  type OrderBody,
  type OrderRecord,
  type TradeRecord,
} from '../../../client/index.js'
import { notionalFeeFloor, notionalFloor } from '../../../core/contracts/fees.js'
import type { Change } from '../../../core/model/change.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { eventually } from '../../support/eventually.js'
import { connectSocket } from '../../support/socket-client.js'
import type { TestVenue } from '../../support/venue.js'
import type { Answered } from './load.js'
import { e18, readBalances, SPOT, type SpotBalances } from './trader.js'

const TAKER_FEE_BPS = 25
const PAGE = 100
const READERS = 16
/** Signed bytes that a node lost are sent again after ten seconds; the rest is for a busy machine. */
const QUIET_WITHIN_MS = 60_000
const READ_BLOCKS = 512
/** Of a reconciliation at one moment of all markets. */
const ATTEMPTS = 20

/** An order record with what the interface adds to it. */
export type StoredOrder = OrderRecord & { readonly pending_amount: string }

/** The order by its id; undefined when the venue does not know it. */
export async function readOrder(venue: TestVenue, id: string): Promise<StoredOrder | undefined> {
  const response = await fetch(new URL(`/v1/orders/${encodeURIComponent(id)}`, venue.gatewayUrl))
  const body = (await response.json()) as StoredOrder
  expect(response.status).to.be.oneOf([200, 404])
  return response.status === 200 ? body : undefined
}

/** The orders by id, those that the venue does not know left out. */
export async function readOrders(
  venue: TestVenue,
  ids: readonly string[],
): Promise<Map<string, StoredOrder>> {
  const found = new Map<string, StoredOrder>()
  let next = 0
  const reader = async () => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      const order = await readOrder(venue, id)
      if (order !== undefined) found.set(id, order)
    }
  }
  await Promise.all(Array.from({ length: READERS }, reader))
  return found
}

export interface Quiet {
  /** How long settlements may take to come to an end; a minute by default. */
  readonly withinMs?: number
  /** Names of the markets of the orders; the spot market by default. */
  readonly markets?: readonly string[]
}

/** Resolves when nothing of these orders awaits its settlement and the chain holds every trade that was told. */
export async function untilQuiet(
  venue: TestVenue,
  ids: readonly string[],
  { withinMs = QUIET_WITHIN_MS, markets = [SPOT] }: Quiet = {},
): Promise<void> {
  let waiting = ids
  await eventually(async () => {
    const orders = await readOrders(venue, waiting)
    waiting = waiting.filter((id) => orders.get(id)?.pending_amount !== '0')
    expect(waiting, 'orders with matches that are not settled').to.deep.equal([])
  }, withinMs)
  const trades = await Promise.all(markets.map((market) => readTrades(venue, market)))
  const hashes = [...new Set(trades.flat().map((trade) => trade.tx_hash ?? ''))]
  await eventually(async () => {
    const receipts = await readReceipts(venue, hashes)
    expect(receipts.filter((receipt) => receipt === null)).to.deep.equal([])
  }, withinMs)
}

/** Every trade of the market, newest first. */
export async function readTrades(
  { gatewayUrl }: TestVenue,
  market: string = SPOT,
): Promise<TradeRecord[]> {
  const rest = createRestClient(gatewayUrl)
  const all: TradeRecord[] = []
  for (let before: number | undefined; ;) {
    const { trades, next_before_trade_id } = await rest.trades(market, {
      limit: PAGE,
      ...(before !== undefined && { beforeTradeId: before }),
    })
    all.push(...trades)
    if (next_before_trade_id === undefined) return all
    before = next_before_trade_id
  }
}

/** What was ordered and traded in a market. */
interface Traded {
  readonly market: MarketEntry
  readonly orders: ReadonlyMap<string, StoredOrder>
  readonly trades: readonly TradeRecord[]
}

/** Each order's `filled_amount`, the sum of its trades and what the chain counts as filled are one number. */
async function expectFillsAgree(
  venue: TestVenue,
  { market, orders, trades }: Traded,
): Promise<void> {
  const signedScale = BigInt(market.future?.amount_scale ?? E18)
  const traded = new Map<string, bigint>()
  for (const { taker_order_id, maker_order_id, size } of trades) {
    for (const id of [taker_order_id, maker_order_id])
      traded.set(id, (traded.get(id) ?? 0n) + e18(size))
  }
  const client = chainOf(venue)
  const rows = await Promise.all(
    [...orders.values()].map(async ({ order_id, owner_address, nonce, filled_amount }) => ({
      order_id,
      filled: e18(filled_amount),
      traded: traded.get(order_id) ?? 0n,
      onChain: await client.readContract({
        address: market.trade_module_address as `0x${string}`,
        abi: tradeModuleAbi,
        functionName: 'filled',
        args: [owner_address as `0x${string}`, BigInt(nonce)],
      }),
    })),
  )
  const differing = rows.filter(
    ({ filled, traded, onChain }) => filled !== traded || (traded * signedScale) / E18 !== onChain,
  )
  expect(differing, `${market.market}: orders whose fills, trades and chain differ`).to.deep.equal(
    [],
  )
}

/** What the chain holds for the accounts of the devnet and for the fees. */
export async function readAllBalances({ devnet }: TestVenue): Promise<Map<string, SpotBalances>> {
  const ids = [
    ...devnet.accounts.map((account) => account.spot_subaccount_id),
    devnet.spot_fee_subaccount_id,
  ]
  const read = async (id: string) => [id, await readBalances(devnet, BigInt(id))] as const
  return new Map(await Promise.all(ids.map(read)))
}

/** Balances as they must be after the trades: every unit that one account lost another one or the fees gained. */
export function balancesAfter(
  venue: TestVenue,
  before: ReadonlyMap<string, SpotBalances>,
  { orders, trades }: { orders: ReadonlyMap<string, OrderRecord>; trades: readonly TradeRecord[] },
): Map<string, SpotBalances> {
  const after = new Map(before)
  const move = (id: string | undefined, cngnE18: bigint, usdcE18: bigint) => {
    const held = after.get(id ?? '')
    if (held === undefined || id === undefined)
      throw new Error(`a trade of the unknown subaccount ${id}`)
    after.set(id, { cngnE18: held.cngnE18 + cngnE18, usdcE18: held.usdcE18 + usdcE18 })
  }
  for (const trade of trades) {
    const amount = amountE18(e18(trade.size))
    const price = priceE18(e18(trade.price))
    const quote = notionalFloor(price, amount)
    const fee = notionalFeeFloor(price, amount, TAKER_FEE_BPS)
    const sign = trade.aggressor_side === 'buy' ? 1n : -1n
    const taker = orders.get(trade.taker_order_id)?.subaccount_id
    move(taker, sign * amount, -sign * quote - fee)
    move(orders.get(trade.maker_order_id)?.subaccount_id, -sign * amount, sign * quote)
    move(venue.devnet.spot_fee_subaccount_id, 0n, fee)
  }
  return after
}

interface Receipt {
  readonly status: string
  readonly from: string
  readonly logs: RpcLog[]
}

/**
 * Every trade has a fill of its own in a mined, successful transaction, which holds no other; and the executor sent no
 * other transaction. One transaction may settle many trades.
 */
export async function expectSettledOnce(
  venue: TestVenue,
  trades: readonly TradeRecord[],
): Promise<void> {
  const told = new Map<string, number>()
  for (const { tx_hash: hash = '' } of trades) told.set(hash, (told.get(hash) ?? 0) + 1)
  const hashes = [...told.keys()]
  const receipts = await readReceipts(venue, hashes)
  expect(receipts.filter((receipt) => receipt?.status !== '0x1')).to.deep.equal([])
  const fills = receipts.map((receipt) => countFills(venue, receipt))
  expect(fills, 'fills of each transaction').to.deep.equal([...told.values()])
  // Several after a rotation of the executor's key.
  const senders = new Set(receipts.map((receipt) => receipt?.from as `0x${string}`))
  const counts = [...senders].map((address) => chainOf(venue).getTransactionCount({ address }))
  const sent = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  expect(sent, 'transactions that the executor ever sent').to.equal(hashes.length)
}

function countFills({ devnet }: TestVenue, receipt: Receipt | null): number {
  const { spot_trade_module: spot, perp_trade_module: perp, future_trade_module: future } = devnet
  const logs = (receipt?.logs ?? []).filter(({ address }) => [spot, perp, future].includes(address))
  const abi = [...tradeModuleAbi, ...futureTradeModuleAbi]
  return parseEventLogs({ abi, logs, eventName: ['OrderMatched', 'FutureMatched'] }).length
}

async function readReceipts(
  venue: TestVenue,
  hashes: readonly string[],
): Promise<(Receipt | null)[]> {
  const client = chainOf(venue)
  return Promise.all(
    hashes.map((hash) =>
      client.request({ method: 'eth_getTransactionReceipt', params: [hash as `0x${string}`] }),
    ),
  )
}

/** A receipt with many fills has 100 kB and more, and viem reads at most 10 MB at once. */
const RECEIPTS_AT_ONCE = 10

const chainOf = ({ devnet }: TestVenue): PublicClient =>
  createPublicClient({
    transport: http(devnet.rpc_url, { batch: { batchSize: RECEIPTS_AT_ONCE } }),
  })

/** Every change of the market as the feed's stream holds it. */
export async function readFeed(
  { bus: place }: Pick<TestVenue, 'bus'>,
  market: string = SPOT,
): Promise<Change[]> {
  const bus = await connectNatsBus({ ...place, name: 'test', user: 'auditor' })
  const changes: Change[] = []
  for (let next = 1; ;) {
    const messages = await bus.read(feedStream(market), next, READ_BLOCKS)
    if (messages.length === 0) break
    changes.push(...messages.flatMap(({ data }) => decodeBlock(data).changes))
    next += messages.length
  }
  await bus.close()
  return changes
}

/**
 * A socket that asks for everything from the beginning gets every change once and in order, and folding them gives the
 * book that REST shows.
 */
async function expectSocketAgrees(
  venue: TestVenue,
  market: string,
  headSeq: number,
): Promise<void> {
  const socket = await connectSocket(`${venue.gatewayUrl.replace(/^http/, 'ws')}/v1/ws`)
  socket.send({ op: 'subscribe', channel: 'book', market, since_seq: 0 })
  await eventually(() => socket.frames.length >= headSeq)
  socket.ws.close()
  const seqs = socket.frames.map(({ type, seq }) => `${type} ${seq}`)
  expect(seqs).to.deep.equal(Array.from({ length: headSeq }, (_, index) => `update ${index + 1}`))
  const book = createLocalBook()
  for (const { data, seq = 0 } of socket.frames) book.apply(data as BookDelta, seq)
  const { bids, asks } = await createRestClient(venue.gatewayUrl).book(market)
  const shown = new Map([...bids, ...asks].map((order) => [order.order_id, order.open_amount]))
  expect(shown.size).to.equal(bids.length + asks.length)
  expect(new Map([...book.openAmounts()].sort())).to.deep.equal(new Map([...shown].sort()))
}

export interface Reconciliation {
  /** Balances before anything was sent. */
  readonly before: ReadonlyMap<string, SpotBalances>
  /** How long settlements may take to come to an end; a minute by default. */
  readonly quietWithinMs?: number
  /** Names of all markets in which orders were sent; the spot market by default. */
  readonly markets?: readonly string[]
}

/**
 * Everything that was sent is once where it was answered to be: every placement in the reads and in the feed, what was
 * cancelled cancelled, every trade one successful transaction, fills and balances the chain's own, and a socket's fold
 * the book. Resolves with the number of trades by market.
 */
export async function expectReconciled(
  venue: TestVenue,
  answered: readonly Answered[],
  { before, quietWithinMs = QUIET_WITHIN_MS, markets = [SPOT] }: Reconciliation,
): Promise<ReadonlyMap<string, number>> {
  const placed = answered.filter(({ step }) => step.kind === 'place')
  const ids = idsOf(placed.map(({ step }) => step.body))
  const refused = placed.filter(({ answer }) => ![200, 409].includes(answer.status))
  // What was answered, once each: the orders themselves say little about it.
  const answers = refused.map(({ answer: { status, body } }) => {
    const { code, error } = body as { readonly code?: string; readonly error?: string }
    return `${status} ${code ?? ''} ${error ?? ''}`
  })
  expect([...new Set(answers)]).to.deep.equal([])
  return whileStill(venue, markets, async () => {
    await untilQuiet(venue, ids, { withinMs: quietWithinMs, markets })
    return reconcile(venue, { answered, ids, before, markets })
  })
}

interface Sent extends Required<Pick<Reconciliation, 'before' | 'markets'>> {
  readonly answered: readonly Answered[]
  readonly ids: readonly string[]
}

/** Looks for all that was sent, at one moment of all markets. Returns the number of trades by market. */
async function reconcile(
  venue: TestVenue,
  { answered, ids, before, markets }: Sent,
): Promise<ReadonlyMap<string, number>> {
  const orders = await readOrders(venue, ids)
  expect([...orders.keys()].sort()).to.deep.equal([...ids].sort())
  for (const { step, answer } of answered) {
    if (step.kind !== 'cancel' || answer.status === 404) continue
    expect(answer.status).to.equal(200)
    expect(orders.get(step.body.order_id)?.status).to.equal('cancelled')
  }

  const traded: Traded[] = []
  for (const market of await listed(venue, markets))
    traded.push(await expectMarketReconciled(venue, market, orders))
  await expectSettledOnce(
    venue,
    traded.flatMap(({ trades }) => trades),
  )
  const [spot] = traded.filter(({ market }) => market.market === SPOT)
  if (spot !== undefined)
    expect(await readAllBalances(venue)).to.deep.equal(balancesAfter(venue, before, spot))
  return new Map(traded.map(({ market, trades }) => [market.market, trades.length]))
}

/**
 * Reads, and reads again when a market has moved meanwhile: an order that was held while a process was down may return and
 * trade at any moment, and several reads would then be of several moments.
 */
async function whileStill<T>(
  venue: TestVenue,
  markets: readonly string[],
  read: () => Promise<T>,
): Promise<T> {
  const heads = () => Promise.all(markets.map(async (name) => (await readFeed(venue, name)).length))
  for (let attempt = 1; ; attempt += 1) {
    const before = await heads()
    const [result] = await Promise.allSettled([read()])
    const after = await heads()
    const isStill = after.every((head, index) => head === before[index])
    if (!isStill && attempt < ATTEMPTS) continue
    if (result.status === 'rejected') throw result.reason
    return result.value
  }
}

async function listed(venue: TestVenue, names: readonly string[]): Promise<MarketEntry[]> {
  const all = await createRestClient(venue.gatewayUrl).markets()
  const found = all.filter(({ market }) => names.includes(market))
  expect(found.map(({ market }) => market)).to.have.members([...names])
  return found
}

/** What was sent in one market is once in its feed, its trades, on the chain and on a socket. */
async function expectMarketReconciled(
  venue: TestVenue,
  market: MarketEntry,
  all: ReadonlyMap<string, StoredOrder>,
): Promise<Traded> {
  const name = market.market
  const orders = new Map([...all].filter(([, order]) => order.market === name))
  const changes = await readFeed(venue, name)
  expect(changes.map(({ seq }) => seq)).to.deep.equal(changes.map((_, index) => index + 1))
  const placements = changes.filter(({ kind }) => kind === 'OrderPlaced')
  expect(placements.map(({ orderId }) => orderId).sort()).to.deep.equal([...orders.keys()].sort())
  const trades = await readTrades(venue, name)
  await expectFillsAgree(venue, { market, orders, trades })
  await expectSocketAgrees(venue, name, changes.length)
  return { market, orders, trades }
}

/** The ids of the bodies, each once. */
export const idsOf = (bodies: readonly OrderBody[]): string[] => [
  ...new Set(bodies.map(({ order_id }) => order_id)),
]
