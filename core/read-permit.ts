import type { Hex } from './action.js'
import type { Checked } from './checked.js'
import { parseInteger } from './decimal.js'
import { asJsonObject, fieldOf } from './json-fields.js'
import type { TokenUnits6 } from './money.js'
import { strangeField } from './read-transfer-body.js'
import { fieldRequired, invalidInteger } from './refusals.js'
import { isSignatureText } from './signature-text.js'
import { notInBody, permitTooSmall, transferRefusals } from './transfer-refusals.js'
import type { TransferRefusal } from './transfer-refusals.js'

/** An EIP-2612 permit on USDC from the owner to the deposit module. */
export interface Permit {
  /** In the token's units; any uint256. */
  readonly value: bigint
  /** Unix seconds; any uint256. */
  readonly deadline: bigint
  readonly signature: Hex
}

const permitFields = ['value', 'deadline', 'signature'] as const

/** Reads the `permit` of a deposit in its form alone. */
export function readPermit(sent: unknown): Checked<Permit> {
  const fields = asJsonObject(sent)
  if (fields === undefined) return { refusal: notInBody('permit') }
  const strange = strangeField(fields, permitFields, 'permit.')
  if (strange !== undefined) return { refusal: strange }
  const missing = permitFields.find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(`permit.${missing}`) }
  const value = parseInteger(fields.value)
  if (value === undefined) return { refusal: invalidInteger('permit.value', fields.value) }
  const deadline = parseInteger(fields.deadline)
  if (deadline === undefined) return { refusal: invalidInteger('permit.deadline', fields.deadline) }
  const { signature } = fields
  if (!isSignatureText(signature)) return { refusal: transferRefusals.permitSignatureForm }
  return { value, deadline, signature }
}

/** Why a well-formed permit cannot cover the deposit; to be asked only when the allowance does not. */
export function refusePermit(
  { value, deadline }: Permit,
  amount: TokenUnits6,
  nowMs: number,
): TransferRefusal | undefined {
  if (value < amount) return permitTooSmall(value, amount)
  // The token accepts a permit in a block whose time is its deadline; that block is at least a second away.
  return deadline * 1000n <= BigInt(Math.floor(nowMs)) ? transferRefusals.permitExpired : undefined
}
