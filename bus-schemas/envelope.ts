import { isAscii } from 'node:buffer'
import { InvariantBroken } from '../core/assert.js'
import { MalformedMessage, type Codec } from '../core/wire/codec.js'

/**
 * The envelope of every message and every stored text: `[version, form]`, one line of JSON in UTF-8. The
 * version comes first, so that a reader of any version finds it.
 */

/**
 * The version with which every declaration of this room begins; older ones are refused. Releases before 0.3.0 wrote smaller ones.
 */
export const WIRE_VERSION = 10

/** A server's limit is 1 MiB for headers and data together; this much is left for data. */
export const MAX_MESSAGE_BYTES = 1_048_576 - 4_096

/** How one version of a value is read. Throws MalformedMessage on what its writer would not give. */
export interface Form<T> {
  readonly read: (raw: never, field: string) => T
}

/** What a form gives. */
export type ValueOf<F> = F extends Form<infer T> ? T : never

/** The versions of one declaration. The newest is written; all are read, and give a value of the newest. */
export interface Versions<T, F extends Form<T> = Codec<T>> {
  /** The newest. */
  readonly version: number
  readonly form: F
  /** The oldest. */
  readonly first: number
  /** The value of a form of that version, which must be one of these. Throws as `read` of the form does. */
  readonly read: (version: number, raw: unknown, field: string) => T
  /**
   * The same with one more version. `upcast` says in the new form what a value of the version before means; it is pure, and
   * refuses nothing.
   */
  readonly next: <G extends Form<unknown>>(
    form: G,
    upcast: (older: T) => ValueOf<G>,
  ) => Versions<ValueOf<G>, G & Form<ValueOf<G>>>
}

/** A declaration whose first version is this. */
export const since = <F extends Form<unknown>>(
  version: number,
  form: F,
): Versions<ValueOf<F>, F & Form<ValueOf<F>>> =>
  extended<ValueOf<F>, F & Form<ValueOf<F>>>(
    version,
    { version, form: form as F & Form<ValueOf<F>> },
    (older) => {
      throw new InvariantBroken(`there is no version ${older}`)
    },
  )

/** `readOlder` gives a value of the newest version from a form of an older one. */
function extended<T, F extends Form<T>>(
  first: number,
  { version, form }: Pick<Versions<T, F>, 'version' | 'form'>,
  readOlder: (older: number, raw: unknown, field: string) => T,
): Versions<T, F> {
  const read: Versions<T, F>['read'] = (of, raw, field) =>
    of === version ? form.read(raw as never, field) : readOlder(of, raw, field)
  return {
    first,
    version,
    form,
    read,
    next: <G extends Form<unknown>>(newer: G, upcast: (older: T) => ValueOf<G>) =>
      extended<ValueOf<G>, G & Form<ValueOf<G>>>(
        first,
        { version: version + 1, form: newer as G & Form<ValueOf<G>> },
        (of, raw, field) => upcast(read(of, raw, field)),
      ),
  }
}

/** Throws InvariantBroken on a version that this build does not read, because a guess could only make a wrong state. */
export function assertKnownVersion(
  name: string,
  version: number,
  { first, version: newest }: Pick<Versions<unknown, Form<unknown>>, 'first' | 'version'>,
): void {
  if (Number.isSafeInteger(version) && version >= first && version <= newest) return
  const known = first === newest ? `version ${first}` : `versions ${first} to ${newest}`
  const cure =
    version > newest
      ? 'run the release that wrote it, or a newer one'
      : 'it was written before release 0.3.0, from which on stored data is read'
  throw new InvariantBroken(`${name} is of version ${version}, this build reads ${known}: ${cure}`)
}

/** A value as a text that is stored. */
export interface StoredText<T> {
  /** The version that is written. */
  readonly version: number
  readonly write: (value: T) => string
  /**
   * Reads every version of the declaration. Throws MalformedMessage on what its writer would not give, and InvariantBroken
   * on a version that this build does not know.
   */
  readonly read: (text: string) => T
}

/** A value as a message. */
export interface Message<T> {
  /** The version that is written. */
  readonly version: number
  readonly encode: (value: T) => Uint8Array
  /** Throws as `read` of a stored text does. */
  readonly decode: (data: Uint8Array) => T
}

/** A form's JSON with its version. */
export const enveloped = (version: number, form: string): string => `[${version},${form}]`

/** `name` says in errors what was to be read. */
export function storedText<T>(name: string, versions: Versions<T>): StoredText<T> {
  const { version, form } = versions
  return {
    version,
    write: (value) => enveloped(version, form.write(value)),
    read(text) {
      try {
        return readForm(name, versions, text)
      } catch (cause) {
        if (!(cause instanceof MalformedMessage)) throw cause
        throw new MalformedMessage(`${name}: ${cause.message}`, { cause })
      }
    },
  }
}

export function message<T>(name: string, versions: Versions<T>): Message<T> {
  const { version, write, read } = storedText(name, versions)
  return {
    version,
    encode: (value) => Buffer.from(write(value)),
    decode: (data) => read(textOf(data)),
  }
}

function readForm<T>(name: string, versions: Versions<T>, text: string): T {
  const json = parsed(name, versions, text)
  if (!Array.isArray(json) || json.length !== 2) throw new MalformedMessage('no version')
  const [version, form] = json as readonly unknown[]
  if (typeof version !== 'number') throw new MalformedMessage('no version')
  assertKnownVersion(name, version, versions)
  return versions.read(version, form, name)
}

/** Messages of the versions before 3 began like this. */
const OLDER = /^\{"v":(\d+)/

function parsed<T>(name: string, versions: Versions<T>, text: string): unknown {
  const older = text.startsWith('{') ? OLDER.exec(text) : null
  if (older !== null) assertKnownVersion(name, Number(older[1]), versions)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MalformedMessage('not JSON', { cause })
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a message's bytes. Throws MalformedMessage unless they are UTF-8. */
export function textOf(data: Uint8Array): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  // Nearly every message is ASCII, and checking and copying that is faster than decoding.
  if (isAscii(bytes)) return bytes.toString('latin1')
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new MalformedMessage('not UTF-8', { cause })
  }
}
