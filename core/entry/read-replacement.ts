import { parseDecimal, parseInteger } from '../decimal.js'
import { asJsonObject, fieldOf, type JsonFields } from '../json.js'
import { changeRefusals } from './change-refusals.js'
import { fieldRequired, invalidInteger, refusals, type Checked } from './refusals.js'

/** What a replacement asks for. */
export interface ReplacementRequest {
  /** The body of the new order, unchecked. */
  readonly order: JsonFields
  /** Nonce of the owner's order that it replaces. */
  readonly replaces: bigint
  /** A service tagged it as its own; it may then not touch protected namespaces (decision B13). */
  readonly serviceTagged: boolean
}

/** Reads what the body of `POST /v1/orders/replace` says beside its order. Pure. */
export function readReplacement(body: unknown): Checked<ReplacementRequest> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const sent = fieldOf(fields, 'replaces_nonce')
  if (sent === undefined) return { refusal: fieldRequired('replaces_nonce') }
  const replaces = parseInteger(sent)
  if (replaces === undefined) return { refusal: invalidInteger('replaces_nonce', sent) }
  const filled = fieldOf(fields, 'filled_amount')
  if (filled !== undefined && parseDecimal(filled, 18) !== 0n) {
    return { refusal: changeRefusals.replacementFilled }
  }
  const serviceTagged = fieldOf(fields, 'service') !== undefined
  return { order: { ...fields, replaces_nonce: undefined }, replaces, serviceTagged }
}
