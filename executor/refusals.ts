import { badRequest, refuse as refusal, refusals, type Refusal } from '../core/entry/refusals.js'
import { refuseWith } from '../runtime/http/server.js'

/** Answers with a refusal as `{error, …extra}`. */
export const refuse = refuseWith(({ message }) => ({ error: message }))

/** Room for the largest match that fits a transaction. */
export const MAX_BODY_BYTES = 256 * 1024

export const MAX_REVERSALS = 100

/** What the executor refuses besides the refusals of every HTTP service. */
export const executorRefusals = {
  pathNotFound: { ...refusals.pathNotFound, message: 'not found' },
  bodyTooLarge: {
    ...refusals.bodyTooLarge,
    message: `request body exceeds ${MAX_BODY_BYTES} bytes`,
  },
  /** A page of a browser whose name was moved to this address asks by its own name. */
  foreignHost: refusal(403)('foreign_host', 'Host is not a name of this executor'),
  notJson: refusal(415)('not_json', 'content-type must be application/json'),
  secretRequired: refusal(401)('secret_required', 'the shared secret is required'),
  keyForm: badRequest(
    'invalid_idempotency_key',
    'Idempotency-Key must be 1 to 200 printable characters',
  ),
  keyReused: badRequest('idempotency_key_reused', 'Idempotency-Key was used for another match'),
  after: badRequest('invalid_after', 'after must be a whole number'),
  limit: badRequest('invalid_limit', `limit must be between 1 and ${MAX_REVERSALS}`),
  outcomeUnknown: refusal(502)(
    'outcome_unknown',
    'outcome unknown, ask again with the same Idempotency-Key',
  ),
} as const satisfies Record<string, Refusal>

export const invalidPayload = (reason: string): Refusal =>
  badRequest('invalid_payload', `invalid payload: ${reason}`)

/** The venue does not settle this match; nothing was sent. */
export const unsettleable = (reason: string): Refusal =>
  refusal(422)('not_to_be_settled', `not to be settled: ${reason}`)

/** The simulation of the match reverted; nothing was sent. */
export const wouldRevert = (revert: string): Refusal =>
  refusal(422)('would_revert', `the match would revert: ${revert}`)

/** The executor goes on taking nothing. */
export const foreignNotAccepted = (reason: string): Refusal =>
  refusal(422)('foreign_not_accepted', reason)

/** Nothing can be settled now; the reason is for operators. */
export const unavailable = (reason: string): Refusal => refusal(503)('unavailable', reason)
