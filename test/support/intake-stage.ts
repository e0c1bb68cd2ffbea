import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { privateKeyToAccount } from 'viem/accounts'
import { startOrderIntake, type OrderIntakeOptions } from '../../actors/order-intake/intake.js'
import { decodeOrderAnswer, encodeOrderRequest, type OrderReply } from '../../bus-schemas/orders.js'
import {
  askCancelOrder,
  askPlaceOrder,
  askReduceOrder,
  askReplaceOrder,
} from '../../bus-schemas/subjects.js'
import type { SubaccountFacts, AccountReader } from '../../chain/reads/read-account.js'
import { readFrameHeader } from '../../chain/signing/verify-frame.js'
import type { SignatureVerdict, SignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import type { MarketObservation, AccountObservation } from '../../core/model/observation.js'
import { openIntakeRegistry, type IntakeRegistry } from '../../data/intake-registry.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import {
  aMarket,
  signedOrderBody,
  testPrivateKey,
  type OrderBody,
  type OrderTerms,
} from './builders.js'

const testOwner = privateKeyToAccount(testPrivateKey).address.toLowerCase() as Address

/** What the stage's intake expects in the text of frames. */
export const testFrameWords = { domain: 'venue.test', product: 'service' }

export const silentLog = pino({ level: 'silent' })

/** What the chain says, changed by a test at will. */
export interface FakeChain {
  owner: Address | undefined
  inCustody: boolean
  readable: boolean
  keyExpirySec: bigint | undefined
  hasCode: boolean
  /** How often it was asked for code, which each look at a live order does. */
  asked: number
  verdict: SignatureVerdict
  /** What every account has; undefined when that cannot be read. */
  funds: AccountObservation | undefined
  /** What every account has by now, when that is not what was read first. */
  newerFunds: AccountObservation | undefined
  /** What every market shows; undefined when that cannot be read. */
  observed: MarketObservation | undefined
  /** The manager of every account. */
  manager: Address
}

export interface IntakeStage {
  readonly market: Market
  readonly chain: FakeChain
  readonly directory: string
  /** The registry of the running intake. */
  registry(): IntakeRegistry
  /** Closes the registry and opens the file again, as a new process would. */
  reopen(): void
  /** Starts an intake on the stage's registry file; `bus` is its connection. */
  start(bus: Bus, overrides?: Partial<OrderIntakeOptions>): Promise<RunningProcess>
  /** Closes the registry and removes the file. */
  close(): void
}

/** A stage for one intake: a registry on disk, and a chain that accepts every signer by default. */
export function anIntakeStage(): IntakeStage {
  const directory = mkdtempSync(join(tmpdir(), 'intake-'))
  const market = aMarket()
  const chain: FakeChain = {
    owner: undefined,
    inCustody: true,
    readable: true,
    keyExpirySec: 0n,
    hasCode: false,
    asked: 0,
    verdict: { kind: 'valid', byCode: false },
    funds: undefined,
    newerFunds: undefined,
    observed: undefined,
    manager: '0x',
  }
  let registry: IntakeRegistry | undefined
  const open = (): IntakeRegistry => {
    void registry?.close()
    registry = openIntakeRegistry(join(directory, 'intake.db'))
    return registry
  }
  return {
    market,
    chain,
    directory,
    registry: () => registry ?? open(),
    reopen: () => void open(),
    start: (bus, overrides = {}) =>
      startOrderIntake({
        bus,
        markets: [market],
        registry: overrides.registry ?? open(),
        accounts: fakeAccounts(chain),
        funds: {
          readFunds: () => Promise.resolve(chain.readable ? chain.funds : undefined),
          readNewer: (seen) => Promise.resolve(chain.newerFunds ?? seen),
        },
        chainMarkets: {
          readMarket: () => Promise.resolve(chain.readable ? chain.observed : undefined),
        },
        verifier: fakeVerifier(chain),
        domain: { name: 'Matching' },
        protectedPrefixes: ['smoke:'],
        cancelAuth: 'open',
        readFrame: (header) => readFrameHeader(header, { words: testFrameWords, nowMs: Date.now }),
        nowMs: Date.now,
        log: silentLog,
        onFatal: (error) => {
          throw error
        },
        ...overrides,
      }),
    close: () => {
      void registry?.close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** Says that the default test key owns every account, unless a test says otherwise. */
function fakeAccounts(chain: FakeChain): AccountReader {
  return {
    readAccount: () => {
      const facts: SubaccountFacts = {
        recordedOwner: chain.owner ?? testOwner,
        inCustody: chain.inCustody,
        manager: chain.manager,
        withdrawRequestedAtSec: 0n,
      }
      return Promise.resolve(chain.readable ? facts : undefined)
    },
    readSessionKeyExpiry: () => Promise.resolve(chain.readable ? chain.keyExpirySec : undefined),
  }
}

function fakeVerifier(chain: FakeChain): SignatureVerifier {
  return {
    digest: () => '0xd1',
    cancelDigest: () => '0xc1',
    cancelAllDigest: () => '0xca',
    hasCode: () => {
      chain.asked += 1
      return Promise.resolve(chain.readable ? chain.hasCode : undefined)
    },
    verify: () => Promise.resolve(chain.verdict),
    verifyDigest: () => Promise.resolve(chain.verdict),
  }
}

export interface AskOptions {
  /** By default more than any answer takes on a loaded machine. */
  readonly timeoutMs?: number
  /** The X-Service-Auth header. */
  readonly serviceAuth?: string
}

const ANSWER_WITHIN_MS = 40_000

const SUBJECTS = {
  place: askPlaceOrder,
  cancel: askCancelOrder,
  replace: askReplaceOrder,
  reduce: askReduceOrder,
}

/** Asks as the gateway does, with more patience; rejects with NoAnswer when nothing came in time. */
export async function ask(
  bus: Bus,
  what: keyof typeof SUBJECTS,
  body: unknown,
  { timeoutMs = ANSWER_WITHIN_MS, serviceAuth }: AskOptions = {},
): Promise<OrderReply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const header = serviceAuth !== undefined && { service_auth: serviceAuth }
  const request = encodeOrderRequest({ request_id: 'request-1', body: text, ...header })
  return decodeOrderAnswer(await bus.ask(SUBJECTS[what], request, timeoutMs))
}

let signedSoFar = 0n

/** A signed order of the same account as all others, with an id and a nonce of its own. */
export function signedBody(terms: OrderTerms = {}): Promise<OrderBody> {
  signedSoFar += 1n
  return signedOrderBody({ orderId: `order-${signedSoFar}`, nonce: signedSoFar, ...terms })
}
