import { MAX_FEED_SEQS, MAX_FEED_SEQS_LENGTH } from './limits.js'

/**
 * How far the feeds of markets are shown or known: by market the number of its newest change. The text of it, of `X-Feed-Seq` and
 * `min_seq`, is `<market>=<seq>, <market>=<seq>`.
 */
export type FeedSeqs = ReadonlyMap<string, number>

/** The text of these numbers, in their order. */
export const feedSeqsText = (seqs: Iterable<readonly [market: string, seq: number]>): string =>
  Array.from(seqs, ([market, seq]) => `${market}=${seq}`).join(', ')

const PART = /^([^=,\s]+)=([0-9]{1,16})$/

/**
 * Reads the text; spaces around a comma are free, and of a market named twice the greater number counts. Undefined for any other
 * text: one that is longer, names more markets or a number that is no exact integer.
 */
export function readFeedSeqs(text: string): Map<string, number> | undefined {
  if (text.length > MAX_FEED_SEQS_LENGTH) return undefined
  const parts = text.split(',')
  if (parts.length > MAX_FEED_SEQS) return undefined
  const seqs = new Map<string, number>()
  for (const part of parts) {
    const [, market, digits] = PART.exec(part.trim()) ?? []
    const seq = Number(digits)
    if (market === undefined || !Number.isSafeInteger(seq)) return undefined
    raiseSeq(seqs, market, seq)
  }
  return seqs
}

/** Notes that a market's feed has come at least so far. */
export function raiseSeq(seqs: Map<string, number>, market: string, seq: number): void {
  seqs.set(market, Math.max(seq, seqs.get(market) ?? 0))
}
