import type { Hex } from '../action.js'
import type { PriceE18 } from '../money.js'

/** Liquidations of accounts, public facts of the chain: no part of the step, and of no feed. */

/**
 * What the chain did. An auction sells an account of a perpetual in parts and concerns all of it; `takeover` moves a
 * position of a future at once.
 */
export type LiquidationEvent =
  'auction_started' | 'insolvent_auction_started' | 'bid' | 'auction_ended' | 'takeover'

/** Where the chain holds an event. */
export interface LiquidationPlace {
  readonly market: string
  readonly blockHash: Hex
  /** Of the event in its block. */
  readonly logIndex: number
}

/** One event of a liquidation, as a market shows it. */
export interface Liquidation extends LiquidationPlace {
  readonly event: LiquidationEvent
  readonly subaccountId: bigint
  /**
   * Signed, in the engine's amounts at 1e18; positive was long. What the account gave up by a bid or a takeover; at the start
   * of an auction its position after the event's block, absent where the state of that block was not read.
   */
  readonly size?: bigint
  /** At which the contracts valued the position: the mark of a perpetual, the index of a future. */
  readonly price?: PriceE18
  /** Share of the account that a bid took, of what was for sale; at 1e18, at most 1e18. */
  readonly portion?: bigint
  /** The account that took over. */
  readonly bySubaccountId?: bigint
  /** Cash that it paid to the account, at 1e18; of a bid. */
  readonly paid?: bigint
  /** What it was paid besides, at 1e18: of a bid in USDC, by the security module; of a takeover in USD, as its bonus. */
  readonly received?: bigint
  readonly txHash: Hex
  readonly blockNumber: bigint
  readonly blockTimeSec: number
}

/** What one message says of liquidations. Those that are taken back were of blocks that the chain has lost. */
export interface LiquidationNews {
  readonly takenBack: readonly LiquidationPlace[]
  readonly added: readonly Liquidation[]
}

/** Equal places have equal texts. */
export const placeText = ({ market, blockHash, logIndex }: LiquidationPlace): string =>
  `${blockHash} ${logIndex} ${market}`

/** Whether there is anything to publish. */
export const isNews = ({ takenBack, added }: LiquidationNews): boolean =>
  takenBack.length + added.length > 0

/** The newest liquidations that stand, oldest first by when they were told. */
export interface HeldLiquidations {
  /** Takes news in the order in which they were told; returns what they took back, as it was held. Repeated news change nothing. */
  apply(news: LiquidationNews): readonly Liquidation[]
  /** Those of the chain's last `count` events, newest first. */
  newest(count: number): readonly Liquidation[]
  /** Those of blocks from this one on. */
  since(blockNumber: bigint): readonly Liquidation[]
}

/** Folds news of liquidations; the one of the lowest block is forgotten where more than `most` stand. */
export function holdLiquidations(most: number): HeldLiquidations {
  const held = new Map<string, Liquidation>()
  const inOrder = (): Liquidation[] => [...held.values()].toSorted(byPlace)
  return {
    apply({ takenBack, added }) {
      const gone = takenBack.flatMap((place) => {
        const text = placeText(place)
        const one = held.get(text)
        held.delete(text)
        return one ?? []
      })
      for (const one of added) held.set(placeText(one), one)
      const over = held.size - most
      if (over > 0) for (const one of inOrder().slice(0, over)) held.delete(placeText(one))
      return gone
    },
    newest: (count) => inOrder().toReversed().slice(0, count),
    since: (blockNumber) => [...held.values()].filter((one) => one.blockNumber >= blockNumber),
  }
}

/** In the order of the chain. */
const byPlace = (a: Liquidation, b: Liquidation): number =>
  a.blockNumber === b.blockNumber ? a.logIndex - b.logIndex : a.blockNumber < b.blockNumber ? -1 : 1

/** What a read of a range of blocks showed of some markets. */
export interface ShownLiquidations {
  readonly markets: ReadonlySet<string>
  readonly first: bigint
  /** Undefined where the range ends at the newest block: nothing may stand beyond it. */
  readonly last: bigint | undefined
  readonly found: readonly Liquidation[]
}

/**
 * What a read changes in what is known of its blocks. A node of a pool may lag, so that what it does not show counts as lost when
 * the read before did not show it either: `doubted` are the places that it did not show, and `doubts` those of this read.
 */
export function compareRead(
  held: HeldLiquidations,
  { markets, first, last, found }: ShownLiquidations,
  doubted: ReadonlySet<string>,
): LiquidationNews & { readonly doubts: ReadonlySet<string> } {
  const known = held
    .since(first)
    .filter((one) => markets.has(one.market) && (last === undefined || one.blockNumber <= last))
  const shown = new Set(found.map(placeText))
  const missing = known.filter((one) => !shown.has(placeText(one)))
  const isDoubted = (one: Liquidation): boolean => doubted.has(placeText(one))
  const lost = missing.filter(isDoubted)
  const knownTexts = new Set(known.map(placeText))
  return {
    takenBack: lost.map(({ market, blockHash, logIndex }) => ({ market, blockHash, logIndex })),
    added: found.filter((one) => !knownTexts.has(placeText(one))).toSorted(byPlace),
    doubts: new Set(missing.filter((one) => !isDoubted(one)).map(placeText)),
  }
}
