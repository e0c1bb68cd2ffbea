import type { z } from 'zod'
import type { Refusal } from '../core/entry/refusals.js'
import { ErrorBody, MarketError } from '../interface/venue.js'
import type { GatewayContext, GatewayDeps, Handler } from './context.js'

/** One endpoint: what it takes and answers, and what handles it. Paths name their parameters as `:name`. */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly operation: EndpointOperation
  /** Whether a request takes long to answer: such reads are bounded for each client address. Absent: none does. */
  readonly isLarge?: (ctx: GatewayContext) => boolean
  /** What its refusals say besides their own fields, where the endpoint speaks a protocol of others. */
  readonly refusalFields?: (refusal: Refusal) => Readonly<Record<string, unknown>>
  readonly handler: (deps: GatewayDeps) => Handler
}

/** What an endpoint takes and answers: the source of its documentation, to which the tests hold its answers. */
export interface EndpointOperation {
  /** Unique; the name that generated clients give the call. */
  readonly id: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  readonly path?: z.ZodObject
  readonly query?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType
  readonly responses: Readonly<Record<number, EndpointAnswer>>
}

export type Tag =
  | 'Orders'
  | 'Deposits and withdrawals'
  | 'History'
  | 'Market data'
  | 'Charts'
  | 'Venue'
  | 'Documentation'

/** One status that an endpoint answers. */
export interface EndpointAnswer {
  readonly description: string
  /** Absent: the body is `text`. */
  readonly body?: z.ZodType
  /** Defaults to `application/json`. */
  readonly contentType?: string
  /** Names of the headers it may carry besides those of every answer. */
  readonly headers?: readonly ResponseHeader[]
}

export type ResponseHeader =
  | 'Deprecation'
  | 'Sunset'
  | 'X-Canonical-Market'
  | 'Content-Security-Policy'
  | 'RateLimit-Limit'
  | 'RateLimit-Remaining'
  | 'RateLimit-Reset'
  | 'Retry-After'
  | 'Upgrade'
  | 'ETag'
  | 'Content-Encoding'
  | 'X-Feed-Seq'

/** A refusal with the usual error body. */
export const refused = (description: string): EndpointAnswer => ({ description, body: ErrorBody })

/** The 500 of every endpoint that documents none of its own. */
export const broken = refused(
  'Something broke on our side; its reason is in our log under `request_id`.',
)

/** The 502 of a read of the chain. */
export const chainSilent: EndpointAnswer = {
  ...refused('The chain gave no answer; nothing is known.'),
  headers: ['Retry-After'],
}

/** What every read of the venue's state may answer besides its own. */
export const readRefusals = {
  500: broken,
  503: {
    ...refused(
      'Reads lag behind what this venue already answered, or behind `min_seq`, or too many reads of this address wait for theirs; ask again shortly.',
    ),
    headers: ['Retry-After'],
  },
} as const

/** The 503 of a large read: a whole book, price levels, tickers, a page of trades, candles or history. */
export const tooManyReads: EndpointAnswer = {
  ...refused(
    'Reads lag behind what this venue already answered or behind `min_seq`, or `too_many_reads`: too many large reads of this address are in flight. One at a time is always admitted. Where a frame is read, also `session_key_unreadable`.',
  ),
  headers: ['Retry-After'],
}

/** The 503 of a large read of what the chain shows, which waits for no answer of this venue. */
export const tooManyLarge: EndpointAnswer = {
  ...refused(
    '`too_many_reads`: too many large reads of this address are in flight. One at a time is always admitted.',
  ),
  headers: ['Retry-After'],
}

/** What is left to the owner, where the operator limits the orders of an owner. */
export const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const

/** What every endpoint that reads a body may answer before it reads the body's content. */
export const bodyRefusals = {
  403: refused('The request comes from a page of an origin that is not allowed.'),
  413: refused('The body is larger than 64 KiB.'),
  415: refused('The body is compressed.'),
} as const

/** Headers of an answer to a request that named its market by a deprecated identifier. */
export const aliasHeaders: readonly ResponseHeader[] = [
  'Deprecation',
  'Sunset',
  'X-Canonical-Market',
]

/** What a read of one market may answer besides its own; the alias headers stand on refusals too. */
export const marketRefusals: Readonly<Record<number, EndpointAnswer>> = {
  400: {
    description: '`unknown_market` with the identifiers that exist, or a bad parameter.',
    body: MarketError,
    headers: aliasHeaders,
  },
  500: { ...readRefusals[500], headers: aliasHeaders },
  503: { ...tooManyReads, headers: [...aliasHeaders, 'Retry-After'] },
}

/** What the histories of an owner may answer besides their pages. */
export const historyRefusals: Readonly<Record<number, EndpointAnswer>> = {
  400: refused('A bad `limit`, `before`, `start` or `end`.'),
  401: refused(
    'The frame is missing, malformed, expired or not signed by its address or a session key of it.',
  ),
  500: readRefusals[500],
  503: { ...tooManyReads, headers: ['Retry-After'] },
}
