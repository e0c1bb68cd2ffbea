import type { OrderIntakeOptions } from '../../../actors/order-intake/intake.js'
import { createApp } from '../../../api-gateway/app.js'
import { createOwnWrites } from '../../../api-gateway/reads.js'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import { readFrameHeader } from '../../../chain/signing/verify-frame.js'
import { createSignatureVerifier } from '../../../chain/signing/verify-signature.js'
import type { Address } from '../../../core/action.js'
import type { Market } from '../../../core/model/market.js'
import { openReadModel } from '../../../data/history/read-model.js'
import type { StoredOrder } from '../../../data/history/read-orders.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { closeServer, createHttpServer, listen } from '../../../runtime/http/server.js'
import { codeAnswer } from '../../support/actions.js'
import { aFuture, aMarket, progressOf, testDomain } from '../../support/builders.js'
import { aBlock } from '../../support/changes.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import {
  A_DEPLOYMENT,
  aBookShelf,
  send,
  type Answered,
  type SendOptions,
} from '../../support/gateway-stage.js'
import { openHistory, streamed } from '../../support/history.js'
import {
  anIntakeStage,
  silentLog,
  testFrameWords,
  type FakeChain,
} from '../../support/intake-stage.js'
import { busyHistory } from '../../support/random-history.js'
import { startShapeSubmitters } from './submitters.js'

/** A gateway and an order intake that work together, with a matcher whose book never crosses. */
export interface OrderStage {
  readonly port: number
  readonly chain: FakeChain
  readonly matcher: FakeMatcher
  readonly markets: readonly Market[]
  /** Addresses with code whose contract authorizes nothing. */
  readonly contracts: Set<Address>
  /** Unix seconds of the venue. */
  readonly nowSec: number
  /** Rejects when the answer is not what the gateway's own document says. */
  send(method: string, path: string, options?: SendOptions): Promise<Answered>
  /** How much is in the registry and in the log: equal before and after whatever left no trace. */
  kept(): Promise<{ readonly stored: number; readonly published: number }>
  /** From now on nothing can be read from the registry. */
  loseRegistry(): void
  close(): Promise<void>
}

const NOW_MS = Date.parse('2026-11-21T10:00:00Z')

/** The stage with the spot market and a disabled future; signatures are judged for real. */
export async function anOrderStage(
  overrides: Partial<OrderIntakeOptions> = {},
  nowMs: number = NOW_MS,
): Promise<OrderStage> {
  const bus = createMemoryBus()
  const intake = anIntakeStage()
  const markets = overrides.markets ?? [aMarket(), aFuture({ enabled: false })]
  const contracts = new Set<Address>()
  const running = await intake.start(bus, {
    markets,
    nowMs: () => nowMs,
    readFrame: (header) => readFrameHeader(header, { words: testFrameWords, nowMs: () => nowMs }),
    verifier: createSignatureVerifier({
      domain: testDomain,
      readCode: (address) => codeAnswer(contracts.has(address)),
      callIsValidSignature: () => Promise.resolve(false),
    }),
    ...overrides,
  })
  await startShapeSubmitters(bus, () => nowMs)
  const matcher = await startFakeMatcher(bus, intake.market.market)
  const { server, port, history } = await startGateway({ bus, markets, matcher, nowMs })
  return {
    port,
    matcher,
    markets,
    contracts,
    chain: intake.chain,
    nowSec: nowMs / 1_000,
    send: (method, path, options) => send(port, { method, path, judged: true, ...options }),
    kept: async () => ({
      stored: intake.registry().lastNo(),
      published: (await bus.streamState(commandsStream(intake.market.market))).lastSeq,
    }),
    loseRegistry: () => void intake.registry().close(),
    close: async () => {
      await closeServer(server, 0)
      await running.stop()
      await matcher.stop()
      history.close()
      intake.close()
    },
  }
}

interface GatewayParts {
  readonly bus: MemoryBus
  readonly markets: readonly Market[]
  readonly matcher: FakeMatcher
  readonly nowMs: number
}

/** A gateway whose reads show some trades of the past, and the orders that the matcher took. */
async function startGateway({ bus, markets, matcher, nowMs }: GatewayParts) {
  const history = openPast(markets)
  const readModel = {
    ...history.reads,
    projectedSeq: () => matcher.taken.length,
    order: (orderId: string) => placed(matcher, orderId) ?? history.reads.order(orderId),
  }
  const app = createApp({
    bus,
    markets,
    readModel,
    log: silentLog,
    refreshMarkets: () => undefined,
    ownWrites: createOwnWrites({
      readModel,
      maxWaitMs: 100,
      readHead: () => Promise.resolve(undefined),
    }),
    books: aBookShelf(readModel),
    readiness: { missing: () => Promise.resolve({}) },
    deployment: {
      ...A_DEPLOYMENT,
      chainId: testDomain.chainId,
      matching: testDomain.verifyingContract,
    },
    aliasCutoffMs: Date.parse('2027-01-06T00:00:00Z'),
    auth: { header: 'X-Service-Auth', words: { domain: 'venue.test', product: 'service' } },
    trustedProxies: 0,
    isAllowedOrigin: (origin) => origin === 'https://app.example',
    nowMs: () => nowMs,
  })
  const server = createHttpServer(app.callback())
  return { server, history, port: await listen(server, 0, '127.0.0.1') }
}

const PAST_ROUNDS = 60

function openPast(markets: readonly Market[]) {
  const history = openHistory(markets)
  const [spot] = markets
  const block = aBlock(spot?.market ?? '', busyHistory(PAST_ROUNDS))
  history.projection.applyBatch(streamed([block]))
  const reads = openReadModel(history.path)
  const close = (): void => {
    reads.close()
    history.remove()
  }
  return { reads, close }
}

function placed({ taken }: FakeMatcher, orderId: string): StoredOrder | undefined {
  for (const { command } of taken) {
    if (command.kind === 'PlaceOrder' && command.order.orderId === orderId) {
      return { order: command.order, progress: progressOf(command.order) }
    }
  }
  return undefined
}
