/** What must never reach a log, under whatever object it is logged. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  'signature',
  'signatures',
  'permit',
  'privateKey',
  'private_key',
  'secret',
  'authorization',
  'x-service-auth',
  'x-executor-secret',
  'rawTx',
  'raw_tx',
  'rawTransaction',
])

/** Secrets are looked for in the logged object and in this many levels of objects or arrays below it. */
const REDACTED_DEPTH = 3

/**
 * The value with `[redacted]` for every signature, permit, private key, authorization header and raw transaction in it.
 * What holds none is the value itself: most lines are flat, and cost one look at each of their keys.
 */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > REDACTED_DEPTH) return value
  if (presentsItself(value)) {
    const shown = value.toJSON()
    return shown === value ? value : redacted(shown, depth)
  }
  let copy: object | undefined
  const fields = value as Readonly<Record<string, unknown>>
  for (const key in fields) {
    if (!Object.hasOwn(fields, key)) continue
    const field = fields[key]
    const shown = SECRET_KEYS.has(key) ? '[redacted]' : redacted(field, depth + 1)
    if (shown === field) continue
    copy ??= Array.isArray(value) ? [...(value as unknown[])] : { ...value }
    Object.assign(copy, { [key]: shown })
  }
  return copy ?? value
}

/** A date, for one: what it says of itself is what is logged. */
function presentsItself(value: object): value is { readonly toJSON: () => unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}
