/**
 * What keeps a program from starting until an operator changes something: a setting, a file, the server's configuration,
 * the release. The message is one sentence that names the thing and what is wrong with it. A restart does not help.
 */
export class CannotStart extends Error {
  override readonly name: string = 'CannotStart'
}

/** One fault that a schema has found. */
interface Fault {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** The faults in one line: `NATS_URL is missing; LOG_LEVEL must be …`. `given` is the value that was checked. */
export const faultsOf = (faults: readonly Fault[], given: unknown): string =>
  faults
    .map(({ path, message }) => {
      const what = valueAt(given, path) === undefined ? 'is missing' : plain(message)
      return `${path.map(String).join('.')} ${what}`.trim()
    })
    .join('; ')

const plain = (message: string): string => message.replace(/^Invalid input: /, '')

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key]
  }
  return value
}
