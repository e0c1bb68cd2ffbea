import { type Dict, type Int, type int, type Str } from 'ccxt'
import { VenueParsing } from './parsing.js'

/** How histories are read: the newest rows, or the first ones since a time. */

const PAGE = 100
/** Of a window of a history, in milliseconds: the first one, and the least. */
const FIRST_WINDOW = 60_000
const LEAST_WINDOW = 1_000

export abstract class VenueHistories extends VenueParsing {
  /** Without those whose settlement the chain has lost: they count no longer. */
  standing(rows: Dict[]): Dict[] {
    const result: Dict[] = []
    for (let i = 0; i < rows.length; i++) {
      if (!this.safeBool(rows[i], 'reversed', false)) {
        result.push(rows[i] as Dict)
      }
    }
    return result
  }

  /**
   * Rows of a history: with `since` the first ones from then on, oldest first; else the newest, newest first. Only those of a market
   * where one is named. Ends early after `historyRequests` requests, with what follows `since` without a gap.
   */
  async readHistory(
    endpoint: string,
    key: string,
    request: Dict,
    since: Int,
    limit: Int,
    marketId: Str = undefined,
  ): Promise<Dict[]> {
    const wanted = limit === undefined ? PAGE : limit
    if (since === undefined) {
      return await this.readBackward(endpoint, key, request, wanted, marketId)
    }
    return await this.readForward(endpoint, key, request, since, wanted, marketId)
  }

  async readBackward(
    endpoint: string,
    key: string,
    request: Dict,
    limit: int,
    marketId: Str,
  ): Promise<Dict[]> {
    let result: Dict[] = []
    let cursor: Dict = {}
    let requests = this.safeInteger(this.options, 'historyRequests', 100)
    while (result.length < limit && requests > 0) {
      const page = await this.callEndpoint(endpoint, this.extend(request, cursor, { limit: PAGE }))
      requests -= 1
      result = this.arrayConcat(result, this.rowsOf(page, key, marketId))
      cursor = this.nextCursor(page)
      if (Object.keys(cursor).length === 0) {
        break
      }
    }
    return this.arraySlice(result, 0, limit)
  }

  /** By windows of time that grow while they are empty and shrink while one page does not hold them. */
  async readForward(
    endpoint: string,
    key: string,
    request: Dict,
    since: int,
    limit: int,
    marketId: Str,
  ): Promise<Dict[]> {
    const end = this.sum(this.milliseconds(), FIRST_WINDOW)
    let [from, span] = [since, FIRST_WINDOW]
    let result: Dict[] = []
    let requests = this.safeInteger(this.options, 'historyRequests', 100)
    while (from < end && result.length < limit && requests > 0) {
      const to = Math.min(this.sum(from, span), end)
      const range = { start: this.iso8601(from), end: this.iso8601(to), limit: PAGE }
      const window = this.extend(request, range)
      let page = await this.callEndpoint(endpoint, window)
      requests -= 1
      let cursor = this.nextCursor(page)
      if (Object.keys(cursor).length > 0 && span > LEAST_WINDOW) {
        span = Math.max(LEAST_WINDOW, this.parseToInt(span / 4))
        continue
      }
      let rows = this.rowsOf(page, key, marketId)
      while (Object.keys(cursor).length > 0) {
        page = await this.callEndpoint(endpoint, this.extend(window, cursor))
        rows = this.arrayConcat(rows, this.rowsOf(page, key, marketId))
        cursor = this.nextCursor(page)
      }
      result = this.arrayConcat(result, rows.reverse())
      from = to
      if (rows.length < PAGE / 8) {
        span = span * 8
      }
    }
    return this.arraySlice(result, 0, limit)
  }

  async callEndpoint(endpoint: string, request: Dict): Promise<Dict> {
    return await (this as Dict)[endpoint](request)
  }

  nextCursor(page: Dict): Dict {
    const before = this.safeString(page, 'next_before')
    if (before !== undefined) {
      return { before }
    }
    const trade = this.safeInteger(page, 'next_before_trade_id')
    return trade === undefined ? {} : { before_trade_id: trade }
  }

  rowsOf(page: Dict, key: string, marketId: Str): Dict[] {
    const rows = this.safeList(page, key, [])
    return marketId === undefined ? rows : this.filterBy(rows, 'market', marketId)
  }
}
