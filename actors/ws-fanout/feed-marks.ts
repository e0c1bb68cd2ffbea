/** Where a block stands in its stream and what was true before it. */
export interface FeedMark {
  readonly streamSeq: number
  /** Sequence of the newest change before the block. */
  readonly seq: number
  /** Sequence of the newest trade before the block: what its first trade frame names as `prev_seq`. */
  readonly lastTradeSeq: number
}

export interface FeedMarks {
  /** Considers the next block of the stream as a mark. */
  note(mark: FeedMark): void
  /** The newest mark from which the change after `seq` can be reached by reading forward. */
  before(seq: number): FeedMark | undefined
}

/**
 * A sparse index of a stream, so that a replay need not read it from the start. When `capacity` marks are held every
 * second one goes and the distance between marks doubles.
 */
export function createFeedMarks(capacity: number): FeedMarks {
  let marks: FeedMark[] = []
  let every = 1
  let blocks = 0

  function note(mark: FeedMark): void {
    if (blocks++ % every !== 0) return
    if (marks.length === capacity) {
      marks = marks.filter((_, index) => index % 2 === 0)
      every *= 2
      if ((blocks - 1) % every !== 0) return
    }
    marks.push(mark)
  }

  function before(seq: number): FeedMark | undefined {
    let low = 0
    let high = marks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((marks[middle] as FeedMark).seq <= seq) low = middle + 1
      else high = middle
    }
    return marks[low - 1]
  }

  return { note, before }
}
