export type Json = Record<string, unknown>

/** Makes a wrong request out of a good one. Text is sent as it is, anything else as JSON. */
export type Change<Good> = (good: Good) => unknown

/** One refusal of the venue: what is answered, and the requests that are answered so. */
export interface Rule<Good> {
  readonly status: number
  readonly code: string
  /** The exact text of `error`; each stands in one rule. */
  readonly error: string
  readonly field?: string
  /** What `detail` has among other things. */
  readonly detail?: Json
  /** Changes by what they do, in a few words. */
  readonly when: Readonly<Record<string, Change<Good>>>
}

/** A rule of status 400; `field` is absent where the answer names none. */
export function rule<Good>([code, error, field]: Answer, when: Rule<Good>['when']): Rule<Good> {
  return { status: 400, code, error, ...(field !== undefined && { field }), when }
}

export const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 40) ?? 'nothing'

/** One change for each value of a field. */
export function valuesOf(field: string, values: readonly unknown[]): Rule<object>['when'] {
  return each(values, (value) => [`${field} ${shown(value)}`, set({ [field]: value })])
}

/** One change for each value. */
export function each<T, Good>(
  values: readonly T[],
  change: (value: T) => readonly [name: string, change: Change<Good>],
): Rule<Good>['when'] {
  return Object.fromEntries(values.map(change))
}

/** Replaces fields; undefined takes one out of the JSON. */
export const set =
  (fields: Json) =>
  (good: object): Json => ({ ...good, ...fields })

/** Replaces fields of the signed action. */
export const setAction =
  (fields: Json) =>
  (good: { readonly action_json: object }): Json => ({
    ...good,
    action_json: { ...good.action_json, ...fields },
  })

/** The change of another request than the usual good one. */
export const of =
  <Good>(good: Good, change: Change<Good>) =>
  (): unknown =>
    change(good)

/** What a rule answers: code, text, and the field that it names. */
export type Answer = readonly [code: string, error: string, field?: string]

/** Answers that several requests share, each text written once. */
export const INVALID_JSON: Answer = ['invalid_json', 'invalid JSON body']
export const required = (field: string): Answer => [
  `${field.replace('.', '_')}_required`,
  `${field} is required`,
  field,
]
export const noText = (field: string): Answer => [
  'invalid_text',
  `${field} must be a string`,
  field,
]
export const noAddress = (field: string): Answer => [
  'invalid_address',
  `${field} must be 0x followed by 40 hex digits`,
  field,
]
export const noInteger = (field: string, value: unknown): Answer => [
  'invalid_integer',
  `invalid integer value for ${field}: expected a string of base-10 digits in range, got ${echoed(value)}`,
  field,
]
export const noDecimal = (field: string, value: unknown): Answer => [
  'invalid_decimal',
  `invalid decimal value for ${field}: expected a string like "12.5" with at most 18 decimals, got ${echoed(value)}`,
  field,
]
export const notPositive = (field: string): Answer => [
  `${field.replace('.', '_')}_not_positive`,
  `${field} must be greater than zero`,
  field,
]
export const noSignature = (field: string, code: string): Answer => [
  code,
  `${field} must be 0x-prefixed hex of at most 4096 bytes`,
  field,
]

/** Client text as errors repeat it: quoted, escaped, cut when long. */
function echoed(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'string') return `a JSON ${typeof value}`
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
