import type { Dict, Int, int, Str } from 'ccxt'

/**
 * The newest items of a stream, with a bound, as CCXT's caches keep them: an item replaces the one with its id. It goes behind all
 * others; a candle, whose id is its time, stays in its place. CCXT exports none of its own.
 */
export class Recent extends Array<any> {
  /** Ids that came since the last getLimit, by symbol and in all. */
  private readonly fresh: Map<string, Set<string>>
  private readonly most: int
  private readonly idKey: string | number

  constructor(most: int = 1000, idKey: string | number = 'id') {
    super()
    this.fresh = new Map()
    this.most = most
    this.idKey = idKey
    for (const hidden of ['fresh', 'most', 'idKey']) {
      Object.defineProperty(this, hidden, { enumerable: false })
    }
  }

  /** Copies are plain lists. */
  static override get [Symbol.species]() {
    return Array
  }

  append(item: Dict) {
    const id = item[this.idKey]
    const index = this.findLastIndex((one) => one[this.idKey] === id)
    if (index >= 0 && this.idKey === 0) {
      this[index] = item
    } else {
      this.remove(id)
      this.push(item)
    }
    if (this.length > this.most) {
      this.shift()
    }
    for (const scope of ['', this.scopeOf(item)]) {
      const ids = this.fresh.get(scope) ?? new Set()
      this.fresh.set(scope, ids.add(String(id)))
      if (ids.size > this.most) {
        ids.delete(ids.values().next().value as string)
      }
    }
  }

  remove(id: unknown) {
    const index = this.findLastIndex((one) => one[this.idKey] === id)
    if (index >= 0) {
      this.splice(index, 1)
    }
  }

  /** How many items came since it was asked last, of a symbol or of all; at most `limit`. */
  getLimit(symbol: Str, limit: Int): Int {
    const scope = symbol ?? ''
    const count = this.fresh.get(scope)?.size ?? 0
    this.fresh.delete(scope)
    return limit === undefined ? count : Math.min(count, limit)
  }

  private scopeOf(item: Dict): string {
    return Array.isArray(item) ? '' : (item.symbol as string)
  }
}
