import { actionFields, readActionFields } from './action-json.js'
import type { ReadAction } from './action-json.js'
import type { Checked } from './checked.js'
import { asJsonObject, fieldOf } from './json-fields.js'
import { fieldRequired, refusals } from './refusals.js'
import { notInBody, transferDataForm } from './transfer-refusals.js'
import type { TransferRefusal } from './transfer-refusals.js'
import type { TransferKind } from './transfer.js'
import { isHexText } from './words.js'

/** A request whose action can be hashed; everything else about it is still to be judged. */
export interface TransferBody extends ReadAction {
  /** Any text. */
  readonly signature: string
  /** Of deposits only; as it came, undefined when absent. */
  readonly permit: unknown
}

const bodyFields = {
  deposit: ['action', 'signature', 'permit'],
  withdrawal: ['action', 'signature'],
} as const satisfies Record<TransferKind, readonly string[]>

/**
 * Reads the body of `POST /v1/deposits` or `POST /v1/withdrawals`. Strict: fields that are not the request's are
 * refused, because whoever sends one believes that it counts.
 */
export function readTransferBody(kind: TransferKind, body: unknown): Checked<TransferBody> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const strange = strangeField(fields, bodyFields[kind], '')
  if (strange !== undefined) return { refusal: strange }
  const missing = ['action', 'signature'].find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(missing) }

  const { signature } = fields
  const actionJson = asJsonObject(fields.action)
  if (actionJson === undefined) return { refusal: notInBody('action') }
  if (typeof signature !== 'string') return { refusal: notInBody('signature') }
  const strangeInAction = strangeField(actionJson, actionFields, 'action.')
  if (strangeInAction !== undefined) return { refusal: strangeInAction }
  const dataForm = transferDataForm(kind)
  const read = readActionFields(actionJson, { path: 'action', dataNotText: dataForm })
  if ('refusal' in read) return read
  // Data of whole bytes can be hashed, whatever the number of its words.
  const { data } = read.action
  if (data.length % 2 !== 0 || !isHexText(data)) return { refusal: dataForm }
  return { ...read, signature, permit: fieldOf(fields, 'permit') }
}

/** The refusal of the first field that is not one of the known ones. */
export function strangeField(
  fields: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
): TransferRefusal | undefined {
  const strange = Object.keys(fields).find((name) => !known.includes(name))
  return strange === undefined ? undefined : notInBody(`${path}${strange}`.slice(0, MAX_FIELD))
}

const MAX_FIELD = 80
