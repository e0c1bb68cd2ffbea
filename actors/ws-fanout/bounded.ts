/** Adds to the end of a set; the oldest value beyond the bound is dropped and returned. */
export function addBounded<Value>(set: Set<Value>, value: Value, max: number): Value | undefined {
  set.delete(value)
  set.add(value)
  if (set.size <= max) return undefined
  const [oldest] = set
  if (oldest !== undefined) set.delete(oldest)
  return oldest
}

/** The same for a map. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
