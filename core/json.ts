import type { Address } from './action.js'

/** The own fields of a JSON object, not validated. */
export type JsonFields = Readonly<Record<string, unknown>>

/** The value as a JSON object; undefined for arrays, null and everything else. */
export function asJsonObject(value: unknown): JsonFields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonFields)
    : undefined
}

/** An own field; undefined when absent, null or empty text, which clients send for "none". Never reads a prototype. */
export function fieldOf(fields: JsonFields, name: string): unknown {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return value === null || value === '' ? undefined : value
}

/** An own field as it was sent, also null or empty text; undefined when absent. */
export const sentField = (fields: JsonFields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Reads `0x` and 40 hex digits, lower-cased; undefined for anything else. */
export function parseAddress(value: unknown): Address | undefined {
  if (typeof value !== 'string' || value.length !== 42) return undefined
  return /^0x[0-9a-fA-F]{40}$/.test(value) ? (value.toLowerCase() as Address) : undefined
}

/** Printable ASCII that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Any text as a JSON string. Most texts need no escaping, and testing for that is cheaper than escaping. */
export const jsonText = (text: string): string =>
  PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
