import { join } from 'node:path'
import { Readable } from 'node:stream'
import type Koa from 'koa'
import { openChainSource } from '../../actors/chain-reader/chain-source.js'
import { startChainReader } from '../../actors/chain-reader/start.js'
import {
  askExecutorAt,
  type PosterOptions,
  type PostText,
} from '../../actors/matcher/ask-executor.js'
import { createExecutors, NoExecutor } from '../../actors/matcher/executors.js'
import { askFaultsAt } from '../../actors/matcher/faults.js'
import { startMatcher, type Matcher } from '../../actors/matcher/matcher.js'
import { observeMatcher } from '../../actors/matcher/observe.js'
import { askReversalsAt } from '../../actors/matcher/reversals.js'
import { FAULTS_EVERY_MS } from '../../actors/matcher/settings.js'
import { openChain } from '../../actors/order-intake/chain-clients.js'
import { startOrderIntake } from '../../actors/order-intake/intake.js'
import { startProjector } from '../../actors/projector/project.js'
import type { ClientConnection } from '../../actors/ws-fanout/connection.js'
import { SESSION_LIMITS } from '../../actors/ws-fanout/limits.js'
import { createBalances } from '../../actors/ws-fanout/balances.js'
import { createBalancesChannel } from '../../actors/ws-fanout/balances-channel.js'
import { openLiquidationsChannel } from '../../actors/ws-fanout/liquidations-channel.js'
import { openMarketFeed } from '../../actors/ws-fanout/market-feed.js'
import { createReplayer } from '../../actors/ws-fanout/replay.js'
import { createLeaseKeeper, KEEP_EVERY_MS } from '../../actors/ws-fanout/lease-keeper.js'
import {
  createSession,
  openAuthenticate,
  type ClientSession,
} from '../../actors/ws-fanout/session.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import { ChainUnreachable } from '../../chain/reads/client.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import { readFrameHeader } from '../../chain/signing/verify-frame.js'
import type { Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { ENGINE_VERSION } from '../../core/engine/engine-version.js'
import { createProjection, HISTORY_FILE, historyPath } from '../../data/history/project.js'
import { createWriteCloseOuts } from '../../data/history/close-outs.js'
import { createLiquidationWriter } from '../../data/history/liquidations.js'
import { createPriceWriter } from '../../data/history/write-prices.js'
import { openIntakeRegistry } from '../../data/intake-registry.js'
import { openDatabase } from '../../data/open.js'
import { createAdmission } from '../../executor/admit.js'
import { observeExecutor } from '../../executor/observe.js'
import { openExecutor } from '../../executor/open-executor.js'
import { createTermsCheck } from '../../executor/payload.js'
import { refuse } from '../../executor/refusals.js'
import { getFaults } from '../../executor/routes/get-faults.js'
import { getReversals } from '../../executor/routes/get-reversals.js'
import { postExecute } from '../../executor/routes/post-execute.js'
import { type HttpState, handleRequests } from '../../runtime/http/server.js'
import { AT, CHAIN_ID } from './chain-state.js'
import type { MarketPlan } from './markets.js'
import type { ProcessSpec } from './process.js'

/** The key of the only account that settles. */
export const EXECUTOR_KEY: Hex = `0x${'e7'.repeat(32)}`
export const EXECUTOR_URL = 'http://executor.sim/'
export const FRAME_WORDS = { domain: 'venue.test', product: 'service' }

const elsewhere: Hex = `0x${'99'.repeat(20)}`
export const deployment: Deployment = {
  chainId: CHAIN_ID,
  matching: AT.matching,
  subAccounts: AT.subAccounts,
  depositModule: elsewhere,
  withdrawalModule: elsewhere,
  usdc: elsewhere,
  cngn: elsewhere,
  wrappedUsdc: AT.usdc,
  wrappedCngn: AT.cngn,
  cashAsset: AT.cash,
}

const TICK_MS = 1_000
const REVERSALS_EVERY_MS = 3_000
const RECHECK_MS = 4_000
const POLL_MS = 500
const READ_MS = 1_500
const EXECUTE_TIMEOUT_MS = 4_000
const ASK_TIMEOUT_MS = 9_000

export const intakeSpec = ({ markets, rowOf }: MarketPlan): ProcessSpec<object> => ({
  name: 'intake',
  // An epoch marker of the process before may arrive late.
  mayFailWith: ['BusUnavailable', 'Fenced'],
  start: async ({ bus, log, nodeUrl, dataDir, fail }) => {
    const registry = openIntakeRegistry(join(dataDir, 'intake.db'))
    const chain = await openChain({ rpcUrl: nodeUrl }, deployment, (message) => log.warn(message))
    const running = await startOrderIntake({
      bus,
      registry,
      nowMs: Date.now,
      log,
      onFatal: fail,
      id: `intake-${Date.now()}`,
      markets: markets.map(({ market }) => rowOf(market)),
      protectedPrefixes: [],
      cancelAuth: 'open' as const,
      ...chain,
      readFrame: (header) => readFrameHeader(header, { words: FRAME_WORDS, nowMs: Date.now }),
      recheckEveryMs: RECHECK_MS,
    })
    return {
      face: {},
      stop: async () => {
        await running.stop()
        await bus.close()
        await registry.close()
      },
    }
  },
})

/** What the host of the simulation carries; it has no sockets. */
const postByFetch =
  ({ url, timeoutMs }: PosterOptions): PostText =>
  async (body, headers, stopping) => {
    const giveUp = new AbortController()
    const abort = (): void => giveUp.abort()
    const timer = setTimeout(abort, timeoutMs)
    stopping.addEventListener('abort', abort)
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal: giveUp.signal })
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw cause instanceof Error ? new NoExecutor(cause) : cause
    } finally {
      clearTimeout(timer)
      stopping.removeEventListener('abort', abort)
    }
  }

const executorAddress = () => ({
  executors: createExecutors([EXECUTOR_URL]),
  secret: 'secret of the simulator, longer than it has to be',
  timeoutMs: ASK_TIMEOUT_MS,
})

/** Often, so that each seed goes on from some; nothing is trimmed, since the log is replayed whole at the end. */
const CHECKPOINTS = { everyCommands: 60, everyMs: 20_000, keepCommandsMs: Number.MAX_SAFE_INTEGER }

/** The matcher of one market, or another that stands by. */
export const matcherSpec = (
  { rowOf }: MarketPlan,
  market: string,
  standby: boolean,
): ProcessSpec<Matcher> => ({
  name: `matcher-${market}${standby ? '-standby' : ''}`,
  // Another one leads, or has come to lead: what the fence is for.
  mayFailWith: ['BusUnavailable', 'Fenced'],
  start: async ({ bus, log, name: leaderId, fail }) => {
    const executor = executorAddress()
    const matcher = await startMatcher({
      operators: {
        open: () => Promise.resolve(),
        verdict: (_, { by }) => Promise.resolve({ by }),
      },
      bus,
      market: rowOf(market),
      standby,
      facts: observeMatcher(log),
      nowMs: Date.now,
      tickMs: TICK_MS,
      ask: askExecutorAt(executor, postByFetch),
      faults: { ask: askFaultsAt(executor), everyMs: FAULTS_EVERY_MS },
      reversals: { ask: askReversalsAt(executor), everyMs: REVERSALS_EVERY_MS },
      // A leader that dies early would leave its market on the first step.
      engineVersion: ENGINE_VERSION,
      leaderId,
      checkpoints: CHECKPOINTS,
      onFatal: fail,
    })
    return {
      face: matcher,
      stop: async () => {
        await matcher.stop()
        await bus.close()
      },
    }
  },
})

export const chainReaderSpec = ({ markets }: MarketPlan): ProcessSpec<object> => ({
  name: 'chain-reader',
  // Its leader before is still stopping, or is paused.
  mayFailWith: ['BusUnavailable', 'Fenced'],
  start: async ({ bus, log, name: id, nodeUrl: rpcUrl, fail }) => {
    const running = await startChainReader({
      bus,
      markets,
      log,
      id,
      nowMs: Date.now,
      pollMs: READ_MS,
      onFatal: fail,
      ...openChainSource({ rpcUrl, deployment, markets }),
    })
    return {
      face: {},
      stop: async () => {
        await running.stop()
        await bus.close()
      },
    }
  },
})

export const projectorSpec = ({ markets }: MarketPlan): ProcessSpec<object> => ({
  name: 'projector',
  mayFailWith: ['BusUnavailable'],
  start: async ({ bus, log, dataDir, fail }) => {
    const path = historyPath(dataDir)
    const db = openDatabase({ path, ...HISTORY_FILE })
    const projector = await startProjector({
      bus,
      projection: createProjection(db, []),
      prices: createPriceWriter(db),
      markets,
      writeCloseOuts: createWriteCloseOuts(db),
      log,
      onFatal: fail,
      liquidations: createLiquidationWriter(db),
    })
    return {
      face: {},
      stop: async () => {
        await projector.stop()
        await bus.close()
        db.close()
      },
    }
  },
})

/** A client's socket at a fan-out. */
export interface FanOutFace {
  headSeq(market: string): number
  isReady(): boolean
  converse(connection: ClientConnection): ClientSession
}

export const fanOutSpec = ({ markets }: MarketPlan): ProcessSpec<FanOutFace> => ({
  name: 'ws-fanout',
  mayFailWith: ['BusUnavailable'],
  start: async ({ bus, fail, log }) => {
    const authenticate = await openAuthenticate({
      bus,
      words: FRAME_WORDS,
      readKeyEnd: () => undefined,
      nowMs: Date.now,
    })
    // A small ring, so that a resume has to read the stream as well.
    const open = (market: Market) =>
      openMarketFeed({ bus, market, ringChanges: 24, onFailure: fail })
    const feeds = await Promise.all(markets.map(open))
    const replayer = createReplayer(bus)
    const listedFeeds = () => feeds
    const balances = createBalances({ listedFeeds, reader: undefined, nowMs: Date.now })
    const venue = {
      balances: createBalancesChannel({ balances, listedFeeds, nowMs: Date.now }),
      liquidations: await openLiquidationsChannel({ bus, onFailure: fail }),
    }
    const leases = createLeaseKeeper({ bus, log })
    const keeping = setInterval(() => leases.keep(), KEEP_EVERY_MS)
    const findFeed = (name: string) => feeds[markets.findIndex(({ market }) => market === name)]
    return {
      face: {
        headSeq: (market) => findFeed(market)?.headSeq() ?? 0,
        isReady: () => feeds.every((feed) => feed.isCaughtUp()),
        converse: (connection) =>
          createSession({
            connection,
            authenticate,
            leases,
            findFeed,
            listedFeeds,
            venue,
            replayer,
            bus,
            limits: SESSION_LIMITS,
            log,
            marketNamed: (name) => findFeed(name)?.market,
            standOf: (name, orderId) => findFeed(name)?.standOf(orderId),
          }),
      },
      stop: async () => {
        venue.balances.stop()
        await venue.liquidations.stop()
        clearInterval(keeping)
        await leases.stop()
        await Promise.all(feeds.map((feed) => feed.stop()))
        await bus.close()
      },
    }
  },
})

type SimContext = Parameters<Koa.Middleware<HttpState>>[0]

/** Answers a request as the executor's HTTP application does. */
export type ExecutorFace = (
  url: URL,
  body: string,
  key: string,
) => Promise<{ status: number; text: string }>

const batching: Deployment = { ...deployment, batchExecutor: AT.batchExecutor }

/** The executor of a deployment with or without a batch executor. */
export const executorSpec = (
  { markets }: MarketPlan,
  batches: boolean,
): ProcessSpec<ExecutorFace> => ({
  name: 'executor',
  // It gives up when the chain is silent for half a minute while it starts.
  mayFailWith: ['ChainUnreachable', 'BusUnavailable'],
  start: async ({ bus, log, nodeUrl, dataDir, fail, alarm }) => {
    const observed = observeExecutor(log)
    const frozen: typeof observed.frozen = (found) => {
      observed.frozen(found)
      let { hash } = found.by
      alarm(async () => {
        const acceptance = await (await opening).acceptForeign(hash).catch(unlessUnreachable)
        if (acceptance?.kind === 'another') hash = acceptance.frozen.by.hash
        return acceptance?.kind === 'accepted' || acceptance?.kind === 'not_frozen'
      })
    }
    const facts = { ...observed, frozen }
    const opening = openExecutor({
      bus,
      rpcUrl: nodeUrl,
      dataDir,
      facts,
      signers: { current: createTransactionSigner(EXECUTOR_KEY, CHAIN_ID) },
      deployment: batches ? batching : deployment,
      timeoutMs: EXECUTE_TIMEOUT_MS,
      policy: { pollMs: POLL_MS },
      onFatal: fail,
      markets,
      gasReserveWei: 0n,
    })
    const executor = await opening
    const reversals = getReversals(executor.readReversals)
    const faults = getFaults(executor.faults)
    const execute = postExecute({
      ...executor,
      checkTerms: createTermsCheck(markets),
      admit: createAdmission(bus),
    })
    const handle = handleRequests({ refuse, log, onFatal: fail })
    return {
      face: async (url, body, key) => {
        const ctx = contextOf(url, body, key)
        const reads: Readonly<Record<string, Koa.Middleware<HttpState>>> = {
          '/reversals': reversals,
          '/faults': faults,
        }
        const route = reads[url.pathname] ?? execute
        await handle(ctx, async () => {
          await route(ctx, () => Promise.resolve())
        })
        return { status: ctx.status, text: ctx.body as string }
      },
      stop: async () => {
        await executor.stop()
        await executor.close()
        await bus.close()
      },
    }
  },
})

function unlessUnreachable(error: unknown): undefined {
  if (!(error instanceof ChainUnreachable)) throw error
}

/** As much of a Koa context as the handlers use. */
function contextOf(url: URL, body: string, key: string): SimContext {
  const headers: Readonly<Record<string, string>> = {
    'idempotency-key': key,
    'content-length': String(Buffer.byteLength(body)),
    'content-type': 'application/json',
  }
  const ctx = {
    req: Object.assign(Readable.from([Buffer.from(body)]), { headers }),
    path: url.pathname,
    method: url.pathname === '/execute' ? 'POST' : 'GET',
    query: Object.fromEntries(url.searchParams),
    status: 200,
    body: undefined as unknown,
    state: {},
    get: (name: string) => headers[name.toLowerCase()] ?? '',
    set: () => undefined,
  }
  return ctx as unknown as SimContext
}
