import type fc from 'fast-check'

/** A message, any value of it, and how it is written and read. */
export interface Declared {
  readonly name: string
  readonly any: fc.Arbitrary<unknown>
  readonly write: (value: never) => string
  readonly read: (text: string) => unknown
}

const text = (data: Uint8Array): string => Buffer.from(data).toString('utf8')
export const bytes = (json: string): Uint8Array => Buffer.from(json, 'utf8')

export const message = <T>(
  name: string,
  any: fc.Arbitrary<T>,
  { encode, decode }: { encode: (value: T) => Uint8Array; decode: (data: Uint8Array) => unknown },
): Declared => ({
  name,
  any,
  write: (value: T) => text(encode(value)),
  read: (json) => decode(bytes(json)),
})
