import type { NaiveMarket, NaiveOrder } from './naive-market.js'

/** Signers whose matches have failed without a side at fault, and which of two orders is hidden meanwhile. */

export interface NaivePair {
  readonly signers: readonly string[]
  readonly sinceMs: number
  readonly waitMs: number
}

const isOf = ({ signers }: NaivePair, a: NaiveOrder, b: NaiveOrder): boolean =>
  signers.includes(a.order.signer) &&
  signers.includes(b.order.signer) &&
  (a.order.signer !== b.order.signer || signers[0] === signers[1])

const find = (market: NaiveMarket, a: NaiveOrder, b: NaiveOrder): NaivePair | undefined =>
  market.failed.find((pair) => isOf(pair, a, b) && market.nowMs < pair.sinceMs + 7_200_000)

export function pairFailed(market: NaiveMarket, a: NaiveOrder, b: NaiveOrder): void {
  const before = find(market, a, b)
  if (before !== undefined && market.nowMs < before.sinceMs + before.waitMs) return
  pairSettled(market, a, b)
  const waitMs = before === undefined ? 30_000 : Math.min(3_600_000, before.waitMs * 2)
  const signers = [a.order.signer, b.order.signer]
  market.failed.push({ signers, sinceMs: market.nowMs, waitMs })
}

export function pairSettled(market: NaiveMarket, a: NaiveOrder, b: NaiveOrder): void {
  market.failed = market.failed.filter((pair) => !isOf(pair, a, b))
}

/** Which of two crossing orders is hidden, and until when; undefined when they may match. */
export function hiddenOf(market: NaiveMarket, a: NaiveOrder, b: NaiveOrder) {
  const pair = find(market, a, b)
  const endMs = pair === undefined ? 0 : pair.sinceMs + pair.waitMs
  if (market.nowMs >= endMs) return undefined
  const [later, earlier] = a.rank > b.rank ? [a, b] : [b, a]
  const isCode = ({ order }: NaiveOrder): boolean =>
    order.signedByCode === true || market.code.includes(order.signer)
  const it = isCode(earlier) && !isCode(later) ? earlier : later
  return { it, untilMs: Math.min(endMs, market.nowMs + 10_000) }
}
