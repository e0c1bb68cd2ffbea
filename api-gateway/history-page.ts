import { DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '../core/limits.js'
import { readRefusals } from '../core/read-refusals.js'
import { type Refusal, refusals } from '../core/refusals.js'
import type { HistoryPage, HistoryPosition } from '../data/history-page.js'
import type { GatewayContext } from './context.js'
import { readPositive } from './read-positive.js'

/** The two histories; a cursor of one is none of the other. */
export type HistoryKind = 'orders' | 'fills'

/** Reads `limit` and `before` of a history's query. */
export function readHistoryPage(
  ctx: GatewayContext,
  kind: HistoryKind,
): HistoryPage | { readonly refusal: Refusal } {
  const { limit: askedLimit, before: askedBefore } = ctx.query
  const limit = readPositive(askedLimit, DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT)
  if (limit === undefined) return { refusal: refusals.pageLimit }
  if (askedBefore === undefined) return { limit }
  const before = typeof askedBefore === 'string' ? readCursor(kind, askedBefore) : undefined
  return before === undefined ? { refusal: readRefusals.historyBefore } : { limit, before }
}

/** `next_before` of a page: absent when the page is not full, for then nothing is older. */
export function nextBefore(
  kind: HistoryKind,
  rows: readonly { readonly position: HistoryPosition }[],
  { limit }: HistoryPage,
): { readonly next_before?: string } {
  const last = rows.at(-1)
  return last === undefined || rows.length < limit
    ? {}
    : { next_before: writeCursor(kind, last.position) }
}

/** Opaque to clients: the history and a row's place in it. */
function writeCursor(kind: HistoryKind, { atMs, key }: HistoryPosition): string {
  return Buffer.from(`${kind}:${atMs}:${key}`).toString('base64url')
}

function readCursor(kind: HistoryKind, text: string): HistoryPosition | undefined {
  const [found, at = '', key = ''] = Buffer.from(text, 'base64url').toString().split(':')
  const position = { atMs: Number.parseInt(at, 10), key: Number.parseInt(key, 10) }
  // Only the text that this very place is written as: nothing else was ever returned.
  if (found !== kind || writeCursor(kind, position) !== text) return undefined
  const whole = [position.atMs, position.key].every((part) => Number.isSafeInteger(part))
  return whole ? position : undefined
}
