import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import {
  createCloseOutFollower,
  type CloseOutFollower,
} from '../../actors/chain-reader/follow-close-outs.js'
import { executeRequest } from '../../actors/matcher/ask-executor.js'
import { carryOut } from '../../actors/operator/change-market.js'
import { checkPlacement, type PlaceOrderDeps } from '../../actors/order-intake/place-order.js'
import { createMarketRefresh } from '../../api-gateway/reads.js'
import { decodeMarketRequest, encodeMarketAnswer } from '../../bus-schemas/markets.js'
import { askMarket, askRegister } from '../../bus-schemas/subjects.js'
import { revertName } from '../../chain/abi/errors.js'
import { encodeMatch } from '../../chain/contracts/calldata.js'
import { createMarketReader } from '../../chain/contracts/market-reader.js'
import {
  createFundsReader,
  observeAccount,
  observeMarket,
} from '../../chain/contracts/observe-account.js'
import { readCloseOuts } from '../../chain/contracts/read-close-outs.js'
import { createMarkReader } from '../../chain/contracts/read-mark.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import { readHead } from '../../chain/reads/blocks.js'
import { createChainClient, createCircuitBreaker } from '../../chain/reads/client.js'
import { deploymentSchema } from '../../chain/reads/deployment.js'
import { createAccountReader } from '../../chain/reads/read-account.js'
import {
  createSignatureReads,
  createSignatureVerifier,
} from '../../chain/signing/verify-signature.js'
import type { CloseOut } from '../../core/model/close-out.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { openingOf } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import { termsOf } from '../../core/engine/apply-market.js'
import { checkBook } from '../../core/engine/check-state.js'
import { emptyMatcherState } from '../../core/engine/empty-state.js'
import type { Command, SettlementOutcome } from '../../core/model/command.js'
import type { LiveOrder } from '../../core/model/live-order.js'
import { knownOrder, type MatcherState } from '../../core/engine/state.js'
import { createMarketList } from '../../core/entry/find-market.js'
import type { Refusal } from '../../core/entry/refusals.js'
import type { Match } from '../../core/model/match.js'
import { createWriteCloseOuts } from '../../data/history/close-outs.js'
import { createProjection, HISTORY_FILE } from '../../data/history/project.js'
import { openReadModel } from '../../data/history/read-model.js'
import { readMarkets } from '../../data/markets.js'
import { openDatabase } from '../../data/open.js'
import { executePayload } from '../../executor/payload.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import { marketsIn, readRegister } from '../../runtime/bus/market-register.js'
import { createMemoryBus } from '../../runtime/bus/memory-bus.js'
import { authHeader } from '../api-gateway/stage/history-gateway.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import type { MarketEntry } from '../../interface/market.js'
import { signedOrderBody, type OrderTerms } from './builders.js'
import { FEEDER_KEY, receiptOf, revertOf, send, testKey } from './devnet-world.js'
import { createFuturesUpkeep } from './futures-upkeep.js'
import { warpTo, type FuturesWorld } from './futures-world.js'
import { aBookShelf, aGatewayStage } from './gateway-stage.js'
import { marketOrderIn } from './market-order.js'
import { registerMarkets, startRegister } from './registered.js'
import { tempDir } from './temp-dir.js'

/** One market of the venue: its log is a number, its feed goes straight into the read model. */
interface OpenMarket {
  readonly market: Market
  readonly state: MatcherState
  commandSeq: number
  streamSeq: number
  readonly closeOuts: CloseOutFollower
}

/** What a test says of an order; the price in cNGN per USDC, the size in USDC. */
export interface PlacedTerms extends Pick<OrderTerms, 'side' | 'price' | 'amount'> {
  readonly market: string
  readonly orderId: string
  readonly key: number
  readonly subaccountId: bigint
}

type Rows = readonly Readonly<Record<string, unknown>>[]

export type SeriesVenue = Awaited<ReturnType<typeof openSeriesVenue>>

/**
 * A venue in one process, without clocks of its own: the entry's checks, the step, the read model and the gateway of the venue, on
 * real contracts. Its time is that of the chain's newest block; nothing happens between calls but answers to operators, on a bus in
 * memory by default.
 */
export async function openSeriesVenue(
  world: FuturesWorld,
  rows: readonly unknown[],
  calendar: FuturesCalendar = 'none',
  shared?: Bus,
) {
  const dir = tempDir()
  const bus = shared ?? createMemoryBus({ nowMs: () => nowMs })
  const answering: Subscription[] = []
  const deploymentFile = join(dir.path, 'deployment.json')
  writeFileSync(deploymentFile, JSON.stringify(world.at))
  const deployment = deploymentSchema.parse(world.at)
  const client = createChainClient(world.anvil.rpcUrl, 'read')
  const db = openDatabase({ path: join(dir.path, 'history.db'), ...HISTORY_FILE })
  const projection = createProjection(db, [])
  const writeCloseOuts = createWriteCloseOuts(db)
  const readModel = openReadModel(join(dir.path, 'history.db'))
  const list = createMarketList([])
  const open = new Map<string, OpenMarket>()
  let nowMs = 0
  let sourceNo = 0
  // Above those of orders that a test signs past the venue.
  let nonce = 10n ** 12n

  const clock = () => nowMs
  const chain = { client, deployment }
  const readMark = createMarkReader(client, list.markets)
  const chainMarkets = createMarketReader({ ...chain, cacheMs: 0, nowMs: clock })
  const reads = createSignatureReads({
    judge: client,
    probe: client,
    breaker: createCircuitBreaker(),
    asker: { matching: deployment.matching, sender: world.executor },
  })
  const { rpcUrl } = world.anvil
  const keeper = createFuturesUpkeep({
    rpcUrl,
    at: world.at,
    feederKey: FEEDER_KEY,
    calendar,
    markets: () => list.markets,
  })
  const domain = { chainId: ANVIL_CHAIN_ID, verifyingContract: world.at.matching }
  const entry: PlaceOrderDeps = {
    markets: list.markets,
    registry: { findOrder: () => undefined, findNonce: () => undefined },
    accounts: createAccountReader({ ...chain, cacheMs: 0 }),
    funds: createFundsReader({ ...chain, cacheMs: 0 }),
    chainMarkets,
    halts: { refusalOf: () => undefined },
    verifier: createSignatureVerifier({ domain, ...reads }),
    domain,
    nowMs: clock,
  }
  const stage = await aGatewayStage({
    markets: list.markets,
    readModel,
    chainMarkets,
    nowMs: clock,
    books: aBookShelf(readModel),
    refreshMarkets: createMarketRefresh(list, readModel, 0),
  })

  /** Takes the time of the newest block. */
  async function readClock() {
    const head = await readHead(client)
    nowMs = Math.max(nowMs, Number(head.timestamp) * 1_000)
    return head
  }

  function apply(of: OpenMarket, command: Command): void {
    sourceNo += 1
    of.commandSeq += 1
    const logged = { source: 'test', sourceNo, atMs: nowMs, command }
    let isMoreDue = false
    const ids: string[] = []
    for (const { block, results } of applyMessage(of.state, of.commandSeq, [logged])) {
      checkBook(of.state)
      if (block !== undefined) {
        of.streamSeq += 1
        projection.applyBatch([{ streamSeq: of.streamSeq, block }])
        if (block.terms !== undefined) list.state(of.market.market, block.terms)
      }
      for (const { applied } of results) {
        isMoreDue ||= applied.moreIsDue
        ids.push(...applied.continueOrderIds)
      }
    }
    for (const orderId of ids) apply(of, { kind: 'ContinueOrder', orderId })
    if (isMoreDue) apply(of, { kind: 'Tick' })
  }

  /** Opens the registered markets that are new. */
  async function openNew(): Promise<void> {
    for (const market of marketsIn(await readRegister(bus))) {
      if (open.has(market.market)) continue
      list.add(market)
      projection.add(market)
      const opening = openingOf(market)
      const state = emptyMatcherState(opening)
      const closeOuts = closeOutsOf(market, (closed) =>
        apply(marketOf(market.market), { kind: 'PositionsClosed', closed }),
      )
      const opened = { market, state, commandSeq: 0, streamSeq: 0, closeOuts }
      open.set(market.market, opened)
      answering.push(await answerOperators(opened))
      apply(opened, { kind: 'MarketOpened', opening })
    }
  }

  /** As its matcher does. */
  const answerOperators = (of: OpenMarket): Promise<Subscription> =>
    bus.answer(askMarket(of.market.market), 'matcher', (data, replyTo) => {
      const { change, by, reason } = decodeMarketRequest(data)
      if (change.kind === 'disable') apply(of, { kind: 'MarketDisabled', by, reason })
      const terms = termsOf(of.state)
      bus.reply(replyTo, encodeMarketAnswer({ kind: 'terms', feed_seq: of.state.seq, terms }))
    })

  /** As the chain reader follows them, and the projector writes them. */
  function closeOutsOf(
    market: Market,
    publish: (closed: readonly CloseOut[]) => void,
  ): CloseOutFollower {
    return createCloseOutFollower({
      hasBegun: (seen) => chainContractOf(market)?.closing?.hasBegun(seen) === true,
      read: (span) => readCloseOuts(chain, market, span),
      publish: (closed) => {
        publish(closed)
        writeCloseOuts(market.market, closed)
        return Promise.resolve()
      },
    })
  }

  const marketOf = (name: string): OpenMarket => {
    const found = open.get(name)
    if (found === undefined) throw new Error(`${name} is not open`)
    return found
  }

  async function observe(of: OpenMarket): Promise<void> {
    const head = await readClock()
    const observation = await observeMarket(chain, of.market, head, nowMs)
    if (observation === undefined) throw new Error(`${of.market.market} has no facts`)
    apply(of, { kind: 'MarketObserved', observation })
    await of.closeOuts.round(observation.facts, head)
    for (const { subaccountId, orders } of of.state.accounts.values()) {
      if (orders.size === 0) continue
      const block = { ...head, seen: observation.facts }
      const account = await observeAccount(chain, of.market, subaccountId, block)
      apply(of, { kind: 'AccountObserved', account })
    }
    // The matcher ticks each second; what the facts allow again is looked for then.
    apply(of, { kind: 'Tick' })
  }

  async function settle(of: OpenMarket, match: Match): Promise<void> {
    const { order: maker } = knownOrder(of.state, match.makerOrderId)
    const { order: taker } = knownOrder(of.state, match.takerOrderId)
    const request = executeRequest(of.market, match, maker, taker)
    const { match: settled } = executePayload.parse(request)
    const data = encodeMatch(settled)
    const call = { from: world.executor, to: world.at.matching, data }
    const hash = await send(world, call)
    const { status, blockNumber, blockHash } = await receiptOf(world, hash)
    await readClock()
    const refused = async (): Promise<SettlementOutcome> => {
      const why = await revertOf(world, call)
      const revert = why === 'none' ? 'none' : revertName(why)
      return { kind: 'reverted', revert, guilty: 'unclear', txHash: hash }
    }
    const done = async (): Promise<SettlementOutcome> => {
      const markPrice = await readMark(settled, { hash, blockNumber, blockHash })
      if (typeof markPrice !== 'bigint') throw new Error('the chain shows no mark of the fill')
      return { kind: 'success', txHash: hash, blockNumber, markPrice }
    }
    const outcome = await (status === 'success' ? done() : refused())
    apply(of, { kind: 'SettlementReported', settlementId: match.settlementId, outcome })
  }

  /** Reads the chain and settles, in every market, until nothing waits for settlement. */
  async function run(): Promise<void> {
    for (const of of open.values()) {
      do {
        await observe(of)
        for (const match of [...of.state.matches.values()]) await settle(of, match)
      } while (of.state.matches.size > 0)
    }
  }

  async function own(key: number, path: string): Promise<Readonly<Record<string, unknown>>> {
    const issuedAt = Math.floor(nowMs / 1_000)
    const privateKey = testKey(key)
    const { address } = privateKeyToAccount(privateKey)
    const frame = { address, issued_at: issuedAt, expiry: issuedAt + 60 }
    const headers = { 'x-service-auth': await authHeader(frame, { privateKey }) }
    return (await stage.send('GET', path, { headers })).json
  }

  await readClock()
  const { markets } = readMarkets({ DEPLOYMENT_FILE: deploymentFile }, rows)
  if (markets.length > 0) await registerMarkets(bus, markets)
  const register = await startRegister(bus)
  await openNew()
  return {
    registered: async () => marketsIn(await readRegister(bus)),
    nowSec: () => Math.floor(nowMs / 1_000),
    marketOf,
    openNew,
    /**
     * One step of the clock: a block of this time, the keeper's round at this price, in USDC per cNGN, then the venue's.
     * Without a price the keeper is down.
     */
    async pass(timeSec: number, usdcPerCngn?: bigint): Promise<void> {
      await warpTo(world, timeSec)
      if (usdcPerCngn !== undefined) await keeper.keep(usdcPerCngn)
      await run()
    },
    /** Every venue's round without any time passing. */
    run,
    /** The refusal's code, or undefined when the order was placed; what it matched is settled. */
    async place({ key, ...terms }: PlacedTerms): Promise<Refusal['code'] | undefined> {
      await readClock()
      nonce += 1n
      const of = marketOf(terms.market)
      const body = await signedOrderBody({
        ...terms,
        market: of.market,
        privateKey: testKey(key),
        nonce,
        domain,
        worstFee: 3n * 10n ** 18n,
      })
      const checked = await checkPlacement(entry, body)
      if ('refusal' in checked) return checked.refusal.code
      const { order, account } = checked
      // What the order meets was observed less than two seconds ago.
      await observe(of)
      apply(of, { kind: 'PlaceOrder', order, ...(account && { account }) })
      await run()
      return undefined
    },
    order: (market: string, orderId: string): LiveOrder | undefined =>
      marketOf(market).state.orders.get(orderId),
    /** `./venue market …`, and the lines that it prints. */
    operate(line: string): Promise<string[]> {
      const ask: Bus['ask'] = async (subject, data, timeoutMs) => {
        if (subject !== askRegister) await openNew()
        return bus.ask(subject, data, timeoutMs)
      }
      const deps = { bus: { ...bus, ask }, deploymentFile, user: 'ada', nowMs: clock }
      return carryOut({ ...deps, calendar }, marketOrderIn(line))
    },
    /** A file of the venue's directory with this content; resolves with its path. */
    write(name: string, content: unknown): string {
      const path = join(dir.path, name)
      writeFileSync(path, JSON.stringify(content))
      return path
    },
    get: (path: string) => stage.send('GET', path),
    /** The newest hundred fills of a trader, as its signed frame reads them. */
    fills: async (key: number) => (await own(key, '/v1/fills?limit=100')).fills as Rows,
    /** What settled series have closed of a trader's accounts, read in the same way. */
    closeOuts: async (key: number) => (await own(key, '/v1/close-outs')).close_outs as Rows,
    /** An order's record as the public reads it. */
    shown: async (orderId: string) => (await stage.send('GET', `/v1/orders/${orderId}`)).json,
    /** The public list of markets. */
    async listed(): Promise<MarketEntry[]> {
      const { text } = await stage.send('GET', '/v1/markets')
      return JSON.parse(text) as MarketEntry[]
    },
    async close(): Promise<void> {
      await register.stop()
      for (const answered of answering) await answered.stop()
      await stage.close()
      readModel.close()
      db.close()
      dir.remove()
    },
  }
}
