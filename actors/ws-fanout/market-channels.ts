import type { Block, Change } from '../../core/engine/change.js'
import { createFillsChannel, type FillsChannel } from './fills-channel.js'
import { createOwnerClaims, type OwnerClaims } from './owner-claims.js'
import type { ShownView } from './snapshots.js'

/** What a channel folds of a market's feed beside the view. */
export interface FeedFold {
  /** Takes the next change; the view is as before it. */
  before?(change: Change): void
  /** Takes a block, which the view shows. */
  after?(block: Block): void
}

/** What the channels hold of a market that are not numbered by its changes; one line each. */
export interface MarketChannels extends Readonly<Record<string, FeedFold>> {
  readonly fills: FillsChannel
  readonly claims: OwnerClaims
}

/** `held` events of each channel stay in memory. */
export function createMarketChannels(view: ShownView, held: number): MarketChannels {
  const fills = createFillsChannel(view, held)
  return { fills, claims: createOwnerClaims(view, fills) }
}
