import type { Action, ActionJson, Hex } from './action.js'
import type { Checked } from './checked.js'
import { parseInteger } from './decimal.js'
import { asJsonObject, fieldOf, parseAddress } from './json-fields.js'
import type { JsonFields } from './json-fields.js'
import { dataNotHex, fieldRequired, invalidAddress, invalidInteger, refusals } from './refusals.js'
import type { Refusal } from './refusals.js'

/** A signed action as it came and as it was read. */
export interface ReadAction {
  /** The seven fields exactly as the client wrote them. */
  readonly json: ActionJson
  readonly action: Action
}

/** The seven fields of an action on the wire. */
export const actionFields = [
  'subaccount_id',
  'nonce',
  'module',
  'data',
  'expiry',
  'owner',
  'signer',
] as const satisfies readonly (keyof ActionJson)[]

/** Reads `action_json`: an object, or a string holding one. Fields beyond the seven are dropped. */
export function readAction(value: unknown): Checked<ReadAction> {
  const fields = asJsonObject(typeof value === 'string' ? parseJson(value) : value)
  if (fields === undefined) return { refusal: refusals.actionJson }
  return readActionFields(fields, {
    path: 'action_json',
    dataNotText: dataNotHex('expected a hex string'),
  })
}

/** Where in the body an action stands, and what is answered when its `data` is no text. */
export interface ActionPlace {
  readonly path: string
  readonly dataNotText: Refusal
}

/** Reads the seven fields of an action; refusals name them by the place where the action stands. */
export function readActionFields(fields: JsonFields, place: ActionPlace): Checked<ReadAction> {
  const { path, dataNotText } = place
  const missing = actionFields.find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(`${path}.${missing}`) }

  // Every field is a string once it is read, or has passed for one.
  const json = fields as unknown as ActionJson
  const subaccountId = parseInteger(json.subaccount_id)
  if (subaccountId === undefined) return malformedInteger(fields, path, 'subaccount_id')
  const nonce = parseInteger(json.nonce)
  if (nonce === undefined) return malformedInteger(fields, path, 'nonce')
  const expiry = parseInteger(json.expiry)
  if (expiry === undefined) return malformedInteger(fields, path, 'expiry')
  const module = parseAddress(json.module)
  if (module === undefined) return { refusal: invalidAddress(`${path}.module`) }
  const owner = parseAddress(json.owner)
  if (owner === undefined) return { refusal: invalidAddress(`${path}.owner`) }
  const signer = json.signer === json.owner ? owner : parseAddress(json.signer)
  if (signer === undefined) return { refusal: invalidAddress(`${path}.signer`) }
  if (typeof json.data !== 'string') return { refusal: dataNotText }
  const data = json.data.toLowerCase() as Hex
  return {
    json: {
      subaccount_id: json.subaccount_id,
      nonce: json.nonce,
      module: json.module,
      data: json.data,
      expiry: json.expiry,
      owner: json.owner,
      signer: json.signer,
    },
    action: { subaccountId, nonce, module, data, expiry, owner, signer },
  }
}

const malformedInteger = (
  fields: JsonFields,
  path: string,
  name: keyof ActionJson,
): { readonly refusal: Refusal } => ({ refusal: invalidInteger(`${path}.${name}`, fields[name]) })

/** Text that is not JSON is refused like any other value that is no object. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The signed content of an order as one text: equal for two bodies that carry the same action and signature, however
 * they spell hex digits and leading zeros.
 */
export function signedOrderText({ json, action }: ReadAction, signature: string): string {
  const { module, data, owner, signer } = action
  const subaccountId = canonical(json.subaccount_id, action.subaccountId)
  const nonce = canonical(json.nonce, action.nonce)
  const expiry = canonical(json.expiry, action.expiry)
  return `${subaccountId} ${nonce} ${module} ${data} ${expiry} ${owner} ${signer} ${signature.toLowerCase()}`
}

/** The integer without leading zeros, which nearly always is how it was written. */
const canonical = (text: string, value: bigint): string =>
  text.startsWith('0') ? value.toString() : text
