import { crc32 } from '../core/crc32.js'
import { parseDecimal } from '../core/decimal.js'
import type { Side } from '../core/model/order.js'
import type { LevelRecord, LevelsSnapshot, LevelsUpdate } from '../interface/market-data.js'

/** The best levels of a market, built from a snapshot of `levels` and its updates. */
export interface LocalLevels {
  /** Last applied sequence; undefined before a snapshot. */
  seq(): number | undefined
  /** Replaces all content. Returns whether the checksum fits. */
  reset(snapshot: LevelsSnapshot, seq: number): boolean
  /** Applies the next update. Returns whether the checksum fits; if not, the levels are not those of the venue. */
  apply(update: LevelsUpdate, seq: number): boolean
  /** Levels of an engine side, best first. */
  levels(side: Side): readonly LevelRecord[]
}

/** Levels of each side that the checksum covers. */
const CHECKSUM_LEVELS = 10

export function createLocalLevels(): LocalLevels {
  const sides: Record<Side, LevelRecord[]> = { buy: [], sell: [] }
  let seq: number | undefined

  const isAsSent = (checksum: number): boolean => {
    const texts = [sides.buy, sides.sell].flatMap((levels) =>
      levels.slice(0, CHECKSUM_LEVELS).map(({ price, size }) => `${price}:${size}`),
    )
    return crc32(texts.join()) === checksum
  }

  return {
    seq: () => seq,
    reset({ bids, asks, checksum }, at) {
      sides.buy = [...bids]
      sides.sell = [...asks]
      seq = at
      return isAsSent(checksum)
    },
    apply({ bids, asks, checksum }, at) {
      sides.buy = merged(sides.buy, bids, (a, b) => a > b)
      sides.sell = merged(sides.sell, asks, (a, b) => a < b)
      seq = at
      return isAsSent(checksum)
    },
    levels: (side) => sides[side],
  }
}

/** The levels with those that changed put in their place; a size of zero takes a level out. */
function merged(
  levels: readonly LevelRecord[],
  changed: readonly LevelRecord[],
  isBetter: (a: bigint, b: bigint) => boolean,
): LevelRecord[] {
  if (changed.length === 0) return [...levels]
  const isChanged = new Set(changed.map(({ price }) => price))
  return [
    ...levels.filter(({ price }) => !isChanged.has(price)),
    ...changed.filter(({ size }) => size !== '0'),
  ]
    .map((level) => ({ level, priceE18: readE18(level.price) }))
    .sort((a, b) => (isBetter(a.priceE18, b.priceE18) ? -1 : 1))
    .map(({ level }) => level)
}

function readE18(text: string): bigint {
  const value = parseDecimal(text, 18)
  if (value === undefined) throw new TypeError(`the venue sent ${JSON.stringify(text)} as a price`)
  return value
}
