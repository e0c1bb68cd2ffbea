import type { PositionsReader } from '../chain/contracts/positions-reader.js'
import type { MarketReader } from '../chain/contracts/market-reader.js'
import type { Deployment } from '../chain/reads/deployment.js'
import type { PermitNonceReader } from '../chain/reads/read-transfer.js'
import type { Market } from '../core/model/market.js'
import type { FrameWords } from '../core/entry/auth-frame.js'
import { refusalBody, type Refusal } from '../core/entry/refusals.js'
import type { VenueFacts } from '../interface/signing.js'
import { mayBeSentAgain, RETRY_AFTER_SEC } from '../core/entry/sent-again.js'
import type { ReadModel } from '../data/history/read-model.js'
import type { Bus } from '../runtime/bus/bus.js'
import { refuseWith, type MeasuredRequest, type HttpContext } from '../runtime/http/server.js'
import type { BodyLimits } from '../runtime/http/read-body.js'
import type { IsAllowed } from '../runtime/http/origins.js'
import type { Logger } from '../runtime/process/log.js'
import type { Books } from './books/books.js'
import type { Readiness } from './health.js'
import type { IndexLagReader } from './index-lag.js'
import type { OrderRate } from '../runtime/process/order-rate.js'
import type { ReadLimits } from './reads-in-flight.js'
import type { OwnWrites } from './reads.js'

/** Dependencies of the routes. */
export interface GatewayDeps {
  readonly bus: Bus
  /** All registered markets, disabled ones included; always the same array. */
  readonly markets: readonly Market[]
  /**
   * Brings the markets up to what the read model showed of their feeds some milliseconds ago at most. Called before each
   * request is handled.
   */
  readonly refreshMarkets: () => void
  readonly readModel: ReadModel
  readonly ownWrites: OwnWrites
  readonly books: Books
  /** What the chain shows of markets; absent without a node. */
  readonly chainMarkets?: MarketReader | undefined
  /** What accounts hold on the chain; absent without a node. */
  readonly positions?: PositionsReader | undefined
  /** How many permits on USDC an owner has used; absent without a node. */
  readonly permitNonce?: PermitNonceReader | undefined
  readonly readiness: Readiness
  readonly deployment: Deployment
  /** Where a devnet describes its accounts, for signed examples in the documents; absent or no such file: there are none. */
  readonly devnetFile?: string
  /** What wallets are told of the chain; by default its number alone. */
  readonly chain?: ToldOfChain
  /** Ids of tokens at CoinMarketCap, by symbol; by default none are known. */
  readonly unifiedIds?: Readonly<Record<string, number | undefined>>
  /** What is shown of a devnet; absent on any other venue. */
  readonly devnet?: NonNullable<VenueFacts['devnet']>
  /** Where demo accounts are given; absent where none are. */
  readonly demoUrl?: string
  /** Header and token of reports on the index; absent: none are taken. */
  readonly indexToken?: IndexToken | undefined
  /** The index against samples from outside; by default it is not shown. */
  readonly indexLimit?: Pick<IndexLagReader, 'lag'>
  /** From this unix millisecond on deprecated market identifiers no longer resolve. */
  readonly aliasCutoffMs: number
  /** Header and words of signed frames. */
  readonly auth: ServiceAuth
  /** Number of trusted proxies in front that append to `X-Forwarded-For`. */
  readonly trustedProxies: number
  /** Bounds of large reads other than the default ones. */
  readonly largeReads?: Partial<ReadLimits>
  /** How many orders an owner may send; absent: any number. */
  readonly orderRate?: OrderRate | undefined
  /** Which pages of browsers may use the venue. */
  readonly isAllowedOrigin: IsAllowed
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Called with each answer of HTTP; nothing is measured by default. */
  readonly onAnswer?: (answer: MeasuredRequest) => void
  /** Called with the seconds that each placed or refused order took; nothing is measured by default. */
  readonly onOrder?: (seconds: number) => void
  readonly log: Logger
}

/** What the operator has set of `chain` in `GET /v1/venue`. */
export type ToldOfChain = Readonly<Record<keyof Required<VenueFacts['chain']>, string | undefined>>

/** What a report on the index proves its source with (PER-020). */
export interface IndexToken {
  readonly header: string
  readonly value: string
}

/** The configurable words of message-signed frames (AUT-035). */
export interface ServiceAuth {
  /** Name of the header that carries a frame. */
  readonly header: string
  readonly words: FrameWords
}

/** A request of the gateway; `params` are the path parameters. */
export type GatewayContext = HttpContext & {
  readonly params: Readonly<Record<string, string>>
}

/** Answers one endpoint: sets status and body; whatever it throws is answered 500. */
export type Handler = (ctx: GatewayContext) => void | Promise<void>

/** Bounds of a request body; an order needs two levels. */
export const BODY_LIMITS: BodyLimits = { maxBytes: 64 * 1024, maxDepth: 8 }

/** Sets `Retry-After` on the answer of a request that was refused only because the venue is busy, or a process silent. */
export function advise(ctx: Pick<GatewayContext, 'set'>, refusal: Refusal): void {
  if (mayBeSentAgain(refusal)) ctx.set('Retry-After', `${RETRY_AFTER_SEC}`)
}

const answerRefusal = refuseWith(refusalBody)

/** Answers with a refusal; extra fields follow its own. */
export const refuse: typeof answerRefusal = (ctx, refusal, extra) => {
  advise(ctx, refusal)
  answerRefusal(ctx, refusal, extra)
}
