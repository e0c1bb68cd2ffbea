export interface ExpiringCacheOptions {
  /** How long a value may be answered again; 0 keeps nothing but still shares a load under way. */
  readonly ttlMs: number
  /** The least recently loaded entry makes room for a new one. */
  readonly maxEntries: number
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number
}

/** Known already, or a promise of it: what is known is not made to wait for a turn of the event loop. */
export type Answer<Value> = Value | Promise<Value>

/** Remembers what was read from the chain for a moment, and lets concurrent askers share one read. */
export interface ExpiringCache<Value> {
  /** The remembered value, or what `load` answers. Failures and undefined are not remembered. */
  get(key: string, load: () => Promise<Value | undefined>): Answer<Value | undefined>
}

interface Entry<Value> {
  readonly asking: Promise<Value | undefined>
  /** Undefined before the answer. */
  value: Value | undefined
  freshUntilMs: number
}

export function createExpiringCache<Value>(options: ExpiringCacheOptions): ExpiringCache<Value> {
  const { ttlMs, maxEntries, nowMs = () => performance.now() } = options
  const entries = new Map<string, Entry<Value>>()

  function forget(key: string, entry: Entry<Value>): void {
    if (entries.get(key) === entry) entries.delete(key)
  }

  function load(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const asking = read()
    const entry: Entry<Value> = {
      asking,
      value: undefined,
      freshUntilMs: Number.POSITIVE_INFINITY,
    }
    entries.delete(key)
    entries.set(key, entry)
    evictOldest(entries, maxEntries)
    // Age counts from the question, not from the answer: a slow answer is already that old.
    const freshUntilMs = nowMs() + ttlMs
    asking.then(
      (value) => {
        entry.value = value
        if (value === undefined) forget(key, entry)
        else entry.freshUntilMs = freshUntilMs
      },
      () => forget(key, entry),
    )
    return asking
  }

  return {
    get: (key, read) => {
      const entry = entries.get(key)
      if (entry === undefined || nowMs() >= entry.freshUntilMs) return load(key, read)
      return entry.value ?? entry.asking
    },
  }
}

function evictOldest(entries: Map<string, unknown>, maxEntries: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= maxEntries) return
    entries.delete(oldest)
  }
}
