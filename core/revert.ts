/** What a match or a transfer is refused with when the chain gives no name of an error, as journals and records have it. */

/** Name of the venue's own refusal of a match whose signer is code and has lost its gas of the hour. */
export const GAS_LOST = 'CodeGasLost'
/** A call to an address without code, malformed calldata, or a bare `revert()`. */
export const EMPTY_REVERT = 'empty revert'
export const OUT_OF_GAS = 'out of gas'
/** The batch was mined without trying the match, so nothing is known about the match itself. */
export const NOT_TRIED = 'not tried'
/** No transaction has carried out the settlement, and none will. */
export const NOT_CARRIED_OUT = 'not_carried_out'
/** The transaction was mined and reverted, and no node gives the reason. */
export const UNKNOWN_REVERT = 'unknown'

/** Stands where a revert would: the executor takes no match at all, so nothing is refused either. */
export const SETTLEMENT_UNAVAILABLE = 'settlement_unavailable'

const MAX_TEXT_LENGTH = 200

/** A revert with the text that the contract gave. */
export const textRevert = (message: string): string => `Error: ${message.slice(0, MAX_TEXT_LENGTH)}`
/** A failed assertion of the language: division by zero, a missing element, an overflow. */
export const panicRevert = (code: bigint): string =>
  `Panic(0x${code.toString(16).padStart(2, '0')})`
/** An error that no contract of the venue declares. `data` is hex with the error's selector in front. */
export const selectorRevert = (data: string): string => `unknown revert ${data.slice(0, 10)}`

/** A revert as answers and public records state it. */
export interface RevertFields {
  /** Always an identifier. */
  readonly revert: string
  /** What the name leaves out: `message` of an `Error`, `code` of a `Panic`, `selector` of an `UnknownRevert`. */
  readonly detail?: Readonly<Record<string, string>>
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

const NAMES: ReadonlyMap<string, string> = new Map([
  [EMPTY_REVERT, 'EmptyRevert'],
  [OUT_OF_GAS, 'OutOfGas'],
  [NOT_TRIED, 'NotTried'],
  [NOT_CARRIED_OUT, 'NotCarriedOut'],
  [UNKNOWN_REVERT, 'UnknownRevert'],
])

const WITH_DETAIL: readonly (readonly [text: RegExp, revert: string, detail: string])[] = [
  [/^Error: (.*)$/s, 'Error', 'message'],
  [/^Panic\((0x[0-9a-f]+)\)$/, 'Panic', 'code'],
  [/^unknown revert (0x[0-9a-f]*)$/, 'UnknownRevert', 'selector'],
]

/** Presents a revert as stored; a text that already is a name stays as it is. */
export function revertFields(stored: string): RevertFields {
  const own = NAMES.get(stored)
  if (own !== undefined) return { revert: own }
  if (IDENTIFIER.test(stored)) return { revert: stored }
  for (const [text, revert, key] of WITH_DETAIL) {
    const [, value] = text.exec(stored) ?? []
    if (value !== undefined) return { revert, detail: { [key]: value } }
  }
  return { revert: 'UnknownRevert', detail: { message: stored.slice(0, MAX_TEXT_LENGTH) } }
}

/** The same of a record that may have none. */
export const revertFieldsOf = (stored: string | undefined): Partial<RevertFields> =>
  stored === undefined ? {} : revertFields(stored)

const UNNAMED: ReadonlySet<string> = new Set(['EmptyRevert', 'Error', 'Panic', 'UnknownRevert'])

/**
 * Whether the revert may be that of a signature which code was asked for, by its name: the chain's own refusal of it, gas that
 * ran out, or a revert without a name.
 */
export const isOfSignature = (revert: string): boolean =>
  revert === 'OV_InvalidSignature' || revert === 'OutOfGas' || UNNAMED.has(revert)

/** Whether the name of a revert does not tell which rule of the venue's contracts was broken. */
export const isUnnamed = (revert: string): boolean => UNNAMED.has(revert)
