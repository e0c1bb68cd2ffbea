import type { Action, ActionJson, Address, Hex } from './action.js'
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

const integerFields = ['subaccount_id', 'nonce', 'expiry'] as const
const addressFields = ['module', 'owner', 'signer'] as const
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
  const refusal = refuseField(fields, place)
  if (refusal !== undefined) return { refusal }

  // Every field is a string from here on: refuseField has seen each of them.
  const text = (name: keyof ActionJson): string => fields[name] as string
  const json: ActionJson = {
    subaccount_id: text('subaccount_id'),
    nonce: text('nonce'),
    module: text('module'),
    data: text('data'),
    expiry: text('expiry'),
    owner: text('owner'),
    signer: text('signer'),
  }
  return {
    json,
    action: {
      subaccountId: BigInt(json.subaccount_id),
      nonce: BigInt(json.nonce),
      module: json.module.toLowerCase() as Address,
      data: json.data.toLowerCase() as Hex,
      expiry: BigInt(json.expiry),
      owner: json.owner.toLowerCase() as Address,
      signer: json.signer.toLowerCase() as Address,
    },
  }
}

/** Text that is not JSON is refused like any other value that is no object. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refuseField(fields: JsonFields, { path, dataNotText }: ActionPlace): Refusal | undefined {
  const missing = actionFields.find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return fieldRequired(`${path}.${missing}`)
  for (const name of integerFields) {
    if (parseInteger(fields[name]) === undefined) {
      return invalidInteger(`${path}.${name}`, fields[name])
    }
  }
  const address = addressFields.find((name) => parseAddress(fields[name]) === undefined)
  if (address !== undefined) return invalidAddress(`${path}.${address}`)
  return typeof fields.data === 'string' ? undefined : dataNotText
}

/**
 * The signed content of an order as one text: equal for two bodies that carry the same action and signature, however
 * they spell hex digits and leading zeros. Undefined when the action cannot be read.
 */
export function signedOrderText(actionJson: unknown, signature: string): string | undefined {
  const read = readAction(actionJson)
  if ('refusal' in read) return undefined
  const { action } = read
  return [
    action.subaccountId,
    action.nonce,
    action.module,
    action.data,
    action.expiry,
    action.owner,
    action.signer,
    signature.toLowerCase(),
  ].join(' ')
}
