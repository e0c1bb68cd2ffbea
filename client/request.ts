import type { SeenSeqs } from './seen-seqs.js'

/**
 * What a program does after an error. `same`: the same request may be sent again, after `retryAfterSec`; an order is taken once,
 * however often its body is sent. `never`: the same request is refused again, or it is not known to be safe; make another one.
 */
export type Retry = 'same' | 'never'

/** What every method of the clients throws when the venue did not do what was asked. */
export abstract class VenueError extends Error {
  /** Stable, for programs: that of the venue's answer, `no_answer` without one. */
  abstract readonly code: string
  abstract readonly retry: Retry
  /** `Retry-After` of the answer, in seconds, a day at most; undefined when it named none, and without an answer. */
  abstract readonly retryAfterSec: number | undefined
}

/** Statuses of refusals that pass by themselves: the request came too slowly or too often, or what it needs does not answer. */
const PASSING: ReadonlySet<number> = new Set([408, 429, 503])

/** The venue refused the request and changed nothing. `code` is stable; the message is for people. */
export class VenueRefused extends VenueError {
  override readonly name = 'VenueRefused'
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** The whole error body; `retry_after_seconds` is that of `Retry-After`. */
    readonly body: Readonly<Record<string, unknown>>,
  ) {
    super(message)
  }

  /** Undefined where the refusal does not pass by itself. */
  get retryAfterSec(): number | undefined {
    const { retry_after_seconds: sec } = this.body
    return typeof sec === 'number' ? sec : undefined
  }

  get retry(): Retry {
    return PASSING.has(this.status) ? 'same' : 'never'
  }
}

/**
 * No answer, or an answer without an outcome: the request may or may not have been carried out. What names an order may be sent again
 * as it is; a signed cancel of all orders needs a new proof.
 */
export class OutcomeUnknown extends VenueError {
  override readonly name = 'OutcomeUnknown'
  readonly code: string
  readonly retry = 'same'
  readonly retryAfterSec: number | undefined

  constructor(message: string, { retryAfterSec, code = NO_ANSWER, ...options }: OpenAnswer = {}) {
    super(message, options)
    this.code = code
    this.retryAfterSec = retryAfterSec
  }
}

const NO_ANSWER = 'no_answer'

interface OpenAnswer extends ErrorOptions {
  readonly retryAfterSec?: number | undefined
  /** Of the answer, where there is one. */
  readonly code?: string | undefined
}

/** The longest `Retry-After` that a resend waits for. */
const MAX_PAUSE_MS = 5_000

/** Waits until a request without an outcome may be sent again. */
export const pauseAfter = ({ retryAfterSec = 0 }: OutcomeUnknown): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.min(retryAfterSec * 1_000, MAX_PAUSE_MS)))

/**
 * Whether a refusal leaves open what became of an order: a 409 without `order` that does not say which order holds the id or the
 * nonce. A venue may give it while its market has not decided the same order, which may fill later.
 */
export const isOpenDuplicate = (error: unknown): error is VenueRefused =>
  error instanceof VenueRefused &&
  error.status === 409 &&
  error.code.startsWith('duplicate') &&
  error.body.order === undefined &&
  (error.body.detail as { readonly held_by?: unknown } | undefined)?.held_by === undefined

/** Parameters of a request; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** The address of a path of the venue with its query. */
export function urlOf(baseUrl: string, path: string, query: Query = {}): string {
  const url = new URL(path, baseUrl)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, value.toString())
  }
  return url.href
}

/** The init of a request with a JSON body. */
export const jsonBody = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

interface AnswerPolicy {
  /** Which statuses leave open whether the request was carried out; default: 500 and above. */
  readonly leavesOpen?: (status: number) => boolean
  /** Told what the answer shows. */
  readonly seen?: SeenSeqs
}

/** Refusals of what was seen before: the venue does not know it, or not any more. */
const UNSEEN: ReadonlySet<unknown> = new Set(['min_seq_ahead', 'invalid_min_seq'])

/**
 * Sends a request and returns the body of a 2xx answer. Throws OutcomeUnknown without an answer and for a status that
 * `leavesOpen` whether the request was carried out, VenueRefused for any other status.
 */
export async function request<T>(
  url: string,
  init: RequestInit,
  { leavesOpen = (status) => status >= 500, seen }: AnswerPolicy = {},
): Promise<T> {
  const { status, body, retryAfterSec, feedSeq } = await exchange(url, init)
  if (status >= 200 && status < 300) {
    seen?.noteAll(feedSeq)
    return body as T
  }
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const error = typeof fields.error === 'string' ? fields.error : `status ${status}`
  if (UNSEEN.has(fields.code)) seen?.forget()
  const code = typeof fields.code === 'string' ? fields.code : error
  if (leavesOpen(status)) throw new OutcomeUnknown(error, { retryAfterSec, code })
  const message = typeof fields.message === 'string' ? fields.message : error
  const told =
    retryAfterSec === undefined ? fields : { ...fields, retry_after_seconds: retryAfterSec }
  throw new VenueRefused(status, code, message, told)
}

interface HttpAnswer {
  readonly status: number
  readonly body: unknown
  readonly retryAfterSec: number | undefined
  /** `X-Feed-Seq`. */
  readonly feedSeq: string | null
}

/** A longer time is more than the timer of a program may take, which ends at once then. */
const MAX_RETRY_AFTER_SEC = 86_400

/** The header's seconds. What stands before the venue may send its other form, a date, or neither. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_RETRY_AFTER_SEC) : undefined
}

async function exchange(url: string, init: RequestInit): Promise<HttpAnswer> {
  try {
    const response = await fetch(url, init)
    const { status, headers } = response
    return {
      status,
      body: await response.json(),
      retryAfterSec: retryAfterOf(headers),
      feedSeq: headers.get('x-feed-seq'),
    }
  } catch (cause) {
    throw new OutcomeUnknown(`no answer from ${new URL(url).pathname}`, { cause })
  }
}
