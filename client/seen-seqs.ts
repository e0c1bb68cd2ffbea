import { feedSeqsText, readFeedSeqs } from '../core/feed-seqs.js'

/**
 * What a program has seen of each market: the number of the newest change. A REST client asks in each read for at least that, so
 * that REST never shows less than an answer or a frame before it. One may be shared by a REST client and socket clients of one venue.
 */
export interface SeenSeqs {
  /** Notes that the market was seen as of this `seq` of its feed. */
  note(market: string, seq: number): void
  /** Notes what an `X-Feed-Seq` says; another text says nothing. */
  noteAll(text: string | null): void
  /** `min_seq` of the next read; undefined while nothing was seen. */
  minSeq(): string | undefined
  /** Forgets everything: a venue that was restored from a backup may number anew from less. */
  forget(): void
}

/** Markets that are kept and named, the ones noted last: a venue takes more, in a longer address. */
const MAX_MARKETS = 100

export function createSeenSeqs(): SeenSeqs {
  const seen = new Map<string, number>()

  function note(market: string, seq: number): void {
    if ((seen.get(market) ?? 0) >= seq) return
    // Behind all others: a map keeps the order in which names came into it.
    seen.delete(market)
    seen.set(market, seq)
    const [oldest] = seen.keys()
    if (seen.size > MAX_MARKETS && oldest !== undefined) seen.delete(oldest)
  }

  return {
    note,
    noteAll(text) {
      for (const [market, seq] of readFeedSeqs(text ?? '') ?? []) note(market, seq)
    },
    minSeq: () => (seen.size === 0 ? undefined : feedSeqsText(seen)),
    forget: () => seen.clear(),
  }
}
