import type { z } from 'zod'
import { errorBody } from './error-body.js'

/** One status that an endpoint answers. */
export interface Answer {
  readonly description: string
  /** Absent: the body is `text`. */
  readonly body?: z.ZodType
  /** `application/json` unless told. */
  readonly contentType?: string
  /** Names of the headers it may carry besides `X-Request-Id`. */
  readonly headers?: readonly ResponseHeader[]
}

export type ResponseHeader =
  | 'Deprecation'
  | 'Sunset'
  | 'X-Canonical-Market'
  | 'Cache-Control'
  | 'Content-Security-Policy'
  | 'Retry-After'

export type Tag =
  'Orders' | 'Deposits and withdrawals' | 'History' | 'Market data' | 'Venue' | 'Documentation'

/** What an endpoint takes and answers: the source of its documentation and of what tests hold its answers to. */
export interface Operation {
  /** Unique; the name that generated clients give the call. */
  readonly id: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  readonly path?: z.ZodObject
  readonly query?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType
  readonly responses: Readonly<Record<number, Answer>>
}

/** A refusal with the usual error body. */
export const refused = (description: string): Answer => ({ description, body: errorBody })

/** What every read that shows the venue's state may answer besides its own. */
export const readRefusals = {
  500: refused('Something broke on our side; its reason is in our log under `request_id`.'),
  503: refused('Reads lag behind what this venue already answered; ask again shortly.'),
} as const
