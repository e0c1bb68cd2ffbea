import { crc32 } from '../../core/crc32.js'

export interface ExpiringCacheOptions<Value> {
  /** How long a value is kept; 0 keeps none, but concurrent callers still share a load. */
  readonly ttlMs: number
  /** Keeps a value beyond its time. */
  readonly keep?: {
    /** Whether a value still holds; it was asked for at `askedAtMs`. */
    readonly stillHolds: (value: Value, askedAtMs: number, key: string) => boolean
    /** No value is kept for longer; its key decides how much of the last fifth of this time it is kept. */
    readonly mostMs: number
  }
  /** Beyond it the least recently loaded entry is dropped. */
  readonly maxEntries: number
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number
}

/** A known value, or a promise of it. A known value saves a turn of the event loop. */
export type CacheAnswer<Value> = Value | Promise<Value>

/** Keeps values for a short time. Concurrent callers share one load. */
export interface ExpiringCache<Value> {
  /** The cached value, or the result of `load`. Failures and undefined are not cached. */
  get(key: string, load: () => Promise<Value | undefined>): CacheAnswer<Value | undefined>
}

interface CacheEntry<Value> {
  readonly asking: Promise<Value | undefined>
  /** Undefined before the answer. */
  value: Value | undefined
  readonly askedAtMs: number
  /** How old it may become where something keeps it beyond its time. */
  readonly keptMs: number
}

/** Ends are spread over the last fifth of the longest time, by key: values that were read together would else end together. */
const SPREAD = 1 / 5
const spreadMs = (mostMs: number, key: string): number =>
  mostMs * (1 - (SPREAD * crc32(key)) / 2 ** 32)

export function createExpiringCache<Value>(
  options: ExpiringCacheOptions<Value>,
): ExpiringCache<Value> {
  const { ttlMs, maxEntries, keep, nowMs = () => performance.now() } = options
  const entries = new Map<string, CacheEntry<Value>>()

  function forget(key: string, entry: CacheEntry<Value>): void {
    if (entries.get(key) === entry) entries.delete(key)
  }

  function load(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    // The age counts from the call: a slow answer is old when it arrives.
    const askedAtMs = nowMs()
    const asking = read()
    const entry: CacheEntry<Value> = {
      asking,
      value: undefined,
      askedAtMs,
      keptMs: keep === undefined ? 0 : spreadMs(keep.mostMs, key),
    }
    entries.delete(key)
    entries.set(key, entry)
    evictOldest(entries, maxEntries)
    asking.then(
      (value) => {
        entry.value = value
        if (value === undefined) forget(key, entry)
      },
      () => forget(key, entry),
    )
    return asking
  }

  /** A value that is still asked for counts as good. */
  function isGood({ value, askedAtMs, keptMs }: CacheEntry<Value>, key: string): boolean {
    if (value === undefined) return true
    const ageMs = nowMs() - askedAtMs
    if (ageMs < ttlMs) return true
    return keep !== undefined && ageMs < keptMs && keep.stillHolds(value, askedAtMs, key)
  }

  return {
    get: (key, read) => {
      const entry = entries.get(key)
      if (entry === undefined || !isGood(entry, key)) return load(key, read)
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
