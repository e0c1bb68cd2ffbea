import type { IndexSample } from '../contracts/index-lag.js'
import { parseStored } from '../decimal.js'
import { priceE18 } from '../money.js'
import { badRequest, refuse, type OrRefusal, type Refusal } from './refusals.js'

/** How far a reporter's clock may be ahead of ours. */
const AHEAD_MAX_MS = 60_000

/** Refusals of samples of the index; their texts are fixed. */
export const indexRefusals = {
  off: refuse(404)('index_status_off', 'this venue takes no samples of the index'),
  token: refuse(401)('index_token', 'the token is missing or wrong'),
  form: badRequest(
    'invalid_index_status',
    'expected {at_ms, usdc_per_cngn, sample_ok}: unix milliseconds, a positive decimal as text, true or false',
  ),
  ahead: badRequest('index_status_ahead', 'at_ms is in the future', { field: 'at_ms' }),
  unavailable: refuse(503)(
    'index_status_unavailable',
    'the sample was not recorded: retry shortly',
  ),
} as const satisfies Record<string, Refusal>

/** Reads the body of `POST /v1/internal/index-status`; further fields are ignored. */
export function readIndexStatus(
  body: Readonly<Record<string, unknown>> | undefined,
  nowMs: number,
): OrRefusal<{ readonly sample: IndexSample }> {
  const { at_ms: atMs, usdc_per_cngn: text, sample_ok: isOk } = body ?? {}
  if (!isTime(atMs) || typeof isOk !== 'boolean') return { refusal: indexRefusals.form }
  const price = typeof text === 'string' ? parseStored(text, 18) : undefined
  if (price === undefined || price === 0n) return { refusal: indexRefusals.form }
  if (atMs > nowMs + AHEAD_MAX_MS) return { refusal: indexRefusals.ahead }
  return { sample: { atMs, usdcPerCngn: priceE18(price), isOk } }
}

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0
