import type { TouchedAccounts } from '../core/touched-accounts.js'
import { uint } from '../core/wire/codec.js'
import { list, optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** The question on `tellTouched`; its answer is empty. */
export const { encode: encodeTouched, decode: decodeTouched } = message(
  'touched accounts',
  since(
    WIRE_VERSION,
    struct<TouchedAccounts>({ first: uint, head: uint, accounts: optional(list(uint)) }),
  ),
)
