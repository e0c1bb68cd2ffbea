import type { Market } from '../../../core/contracts/market.js'
import {
  bestLevels,
  bestLevelsBefore,
  checksumOf,
  levelsThatDiffer,
  type LevelBook,
  type LevelChange,
} from '../../../core/market-data/level-book.js'
import type { BookLevels } from '../../../core/records/listing-record.js'
import { levelsRecord } from '../../../core/records/market-data.js'
import { isoTime } from '../../../core/time.js'
import type { LevelDepth } from '../../../interface/market-data.js'
import { keptData, updateFrame, type ValueStream } from './value-stream.js'

/** What the levels are read from: the view of the market and the book added up by price, both at the head. */
export interface LevelsSource {
  readonly view: { readonly market: Market; readonly seq: number; readonly atMs: number }
  readonly book: () => LevelBook
  /** The changes after a sequence, as far as they are in memory. */
  readonly changesAfter: (seq: number) => readonly LevelChange[] | undefined
}

/**
 * The best levels of a market, numbered by the market's changes that they reflect. Changes of one turn of the event loop
 * share an update. Resumed as far back as the changes are in memory: the levels as they were follow from them.
 */
export function levelsStream(
  { view, book, changesAfter }: LevelsSource,
  depth: LevelDepth,
): ValueStream {
  let shown = bestLevels(book(), depth)
  let [foldedSeq, updateSeq] = [view.seq, view.seq]
  const data = keptData(() => levelsRecord(view.market, shown, checksumOf(shown)))

  const frame = (levels: BookLevels, after: BookLevels, prevSeq: number): Buffer =>
    updateFrame(
      { channel: 'levels', market: view.market.market, depth },
      {
        ...{ seq: view.seq, prevSeq, ts: isoTime(view.atMs) },
        data: levelsRecord(view.market, levels, checksumOf(after)),
      },
    )

  return {
    headSeq: () => view.seq,
    next() {
      if (view.seq === foldedSeq) return []
      foldedSeq = view.seq
      const best = bestLevels(book(), depth)
      const changed = levelsThatDiffer(shown, best)
      if (isEmpty(changed)) return []
      const next = frame(changed, best, updateSeq)
      shown = best
      updateSeq = view.seq
      data.drop()
      return [next]
    },
    snapshot: () => ({ seq: view.seq, data: data.get() }),
    after(sinceSeq) {
      const changes = changesAfter(sinceSeq)
      if (changes === undefined) return undefined
      const best = bestLevels(book(), depth)
      const changed = levelsThatDiffer(bestLevelsBefore(book(), changes, depth), best)
      return isEmpty(changed) ? [] : [frame(changed, best, sinceSeq)]
    },
  }
}

const isEmpty = ({ bids, asks }: BookLevels): boolean => bids.length + asks.length === 0
