import { CANDLE_INTERVALS_SEC } from './candles.js'
import { MAX_CANDLES_LIMIT } from './limits.js'
import { badRequest, refuse } from './refusals.js'
import type { Refusal } from './refusals.js'

/** Refusals of reads alone, whose text is fixed; those of trades and of the book stand with the others. */
export const readRefusals = {
  candleInterval: badRequest(
    'invalid_interval',
    `interval must be one of ${Object.keys(CANDLE_INTERVALS_SEC).join(', ')}`,
    { field: 'interval' },
  ),
  candlesLimit: badRequest(
    'invalid_candles_limit',
    `limit must be between 1 and ${MAX_CANDLES_LIMIT}`,
    { field: 'limit' },
  ),
  candlesStart: badRequest('invalid_start', 'start must be an RFC3339 timestamp', {
    field: 'start',
  }),
  candlesEnd: badRequest('invalid_end', 'end must be an RFC3339 timestamp', { field: 'end' }),
  candlesEndAfterStart: badRequest('end_not_after_start', 'end must be after start', {
    field: 'end',
  }),
  historyBefore: badRequest(
    'invalid_before',
    'before must be a next_before value returned by this endpoint',
    { field: 'before' },
  ),
} as const satisfies Record<string, Refusal>

/** A private read without a frame; `header` is what carries one. */
export const authRequired = (header: string): Refusal =>
  refuse(401)('auth_required', `${header} header is required`)

export const authMalformed = (header: string): Refusal =>
  refuse(401)('auth_malformed', `${header} must be base64url-encoded JSON`)

/** A frame that speaks for nobody, and why. */
export const authFailed = (reason: string): Refusal =>
  refuse(401)('auth_failed', `auth failed: ${reason}`)
