import type { Block, Change } from '../../core/model/change.js'

/** What a channel folds of a market's feed besides the view. */
export interface FeedFold {
  /** Takes the next change; the view is as before it. */
  before?(change: Change): void
  /** Takes a block, which the view shows. */
  after?(block: Block): void
}
