export interface ExpiringCacheOptions {
  /** How long a value is kept; 0 keeps none, but concurrent callers still share a load. */
  readonly ttlMs: number
  /** Beyond it the least recently loaded entry is dropped. */
  readonly maxEntries: number
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number
}

/** A known value, or a promise of it. A known value saves a turn of the event loop. */
export type Answer<Value> = Value | Promise<Value>

/** Keeps values for a short time. Concurrent callers share one load. */
export interface ExpiringCache<Value> {
  /** The cached value, or the result of `load`. Failures and undefined are not cached. */
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
    // The age counts from the call: a slow answer is old when it arrives.
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
