import type { MarkRefusal } from '../../core/contracts/future-prices.js'

/**
 * Band, mark, fixing and fallback worked out by hand, in cNGN per USDC. The contracts and core/contracts/future-prices.ts
 * are held to the same rows.
 */

const DAY = 86_400
const HOUR = 3_600

/** A decimal as units of 1e-18. */
export function wei(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(18, '0'))
}

export interface BandRow {
  readonly leftSec: number
  readonly index: string
  readonly width: string
  readonly low: string
  readonly high: string
}

const bandRow = (
  ...[leftSec, index, width, low, high]: readonly [number, string, string, string, string]
): BandRow => ({ leftSec, index, width, low, high })

/** 0.01 + 0.09 × left / 1,209,600, rounded down; low rounded up, high down. */
export const BAND_ROWS: readonly BandRow[] = [
  bandRow(29 * DAY, '1500', '0.1', '1350', '1650'),
  bandRow(14 * DAY, '1500', '0.1', '1350', '1650'),
  bandRow(
    14 * DAY - 1,
    '1500',
    '0.099999925595238095',
    '1350.0001116071428575',
    '1649.9998883928571425',
  ),
  bandRow(7 * DAY, '1500', '0.055', '1417.5', '1582.5'),
  bandRow(
    7 * DAY,
    '1500.000000000000000001',
    '0.055',
    '1417.500000000000000001',
    '1582.500000000000000001',
  ),
  bandRow(HOUR, '1500', '0.010267857142857142', '1484.598214285714287', '1515.401785714285713'),
  bandRow(1, '1500', '0.010000074404761904', '1484.999888392857144', '1515.000111607142856'),
  bandRow(0, '1500', '0.01', '1485', '1515'),
  bandRow(-5, '1500', '0.01', '1485', '1515'),
]

export interface MarkRow {
  readonly name: string
  /** Since the last mark, which is 1500; absent: so long before expiry. */
  readonly sinceSec?: number
  readonly leftSec?: number
  readonly index: string
  readonly next: string
  readonly refusal?: MarkRefusal
}

const WEEK_LEFT = { leftSec: 7 * DAY }

export const MARK_ROWS: readonly MarkRow[] = [
  {
    name: 'within the hour',
    sinceSec: 3_599,
    index: '1500',
    next: '1500',
    refusal: 'FA_MarkTooSoon',
  },
  { name: 'after the hour', sinceSec: 3_600, index: '1500', next: '1500' },
  { name: 'by 5 % up', sinceSec: 3_600, index: '1500', next: '1575' },
  { name: 'by 5 % down', sinceSec: 3_600, index: '1500', next: '1425' },
  {
    name: 'by more than 5 % up',
    sinceSec: 3_600,
    index: '1500',
    next: '1575.000000000000000001',
    refusal: 'FA_MarkMoveTooLarge',
  },
  {
    name: 'by more than 5 % down',
    sinceSec: 3_600,
    index: '1500',
    next: '1424.999999999999999999',
    refusal: 'FA_MarkMoveTooLarge',
  },
  // 5.5 % of 1580 is 86.9.
  { name: 'to the low end of the band', ...WEEK_LEFT, index: '1580', next: '1493.1' },
  {
    name: 'below the band',
    ...WEEK_LEFT,
    index: '1580',
    next: '1493.099999999999999999',
    refusal: 'FA_MarkOutsideBand',
  },
  // From 1701 to 1899: one move ends at 1575.
  {
    name: 'towards a band beyond one move',
    ...WEEK_LEFT,
    index: '1800',
    next: '1575',
    refusal: 'FA_MarkOutsideBand',
  },
  {
    name: 'into a band beyond one move',
    ...WEEK_LEFT,
    index: '1800',
    next: '1701',
    refusal: 'FA_MarkMoveTooLarge',
  },
  { name: 'at expiry', leftSec: 0, index: '1500', next: '1500', refusal: 'FA_SeriesExpired' },
]

export interface FixingRow {
  readonly name: string
  /** Seconds before expiry and price, the earliest first. */
  readonly samples: readonly (readonly [leftSec: number, price: string])[]
  /** Sum of price × seconds. */
  readonly priceSeconds: string
  readonly coveredSec: number
  readonly largestGapSec: number
  /** Rounded down; absent without a sample in or right before the hour. */
  readonly average?: string
  /** Present where the fixing is incomplete: the lowest and the highest fallback price, with a last mark of 1500. */
  readonly fallback?: readonly [lowest: string, highest: string]
}

/** A sample every 300 seconds from one to another time before expiry. */
const every300 = (fromLeft: number, toLeft: number, price: string) =>
  Array.from(
    { length: (fromLeft - toLeft) / 300 + 1 },
    (_, i) => [fromLeft - i * 300, price] as const,
  )

export const FIXING_ROWS: readonly FixingRow[] = [
  {
    name: 'a sample every 300 seconds',
    samples: every300(HOUR, 300, '1500'),
    priceSeconds: '5400000',
    coveredSec: 3_600,
    largestGapSec: 300,
    average: '1500',
  },
  {
    // 1500 for 200 s, 1510 for 300 s, five times 1490 and 1520 for 300 s each, 1490 for 100 s.
    name: 'changing prices, opened by a sample 100 seconds before the hour',
    samples: [
      [3_700, '1500'],
      [3_400, '1510'],
      ...every300(3_100, 100, '').map(
        ([left], i) => [left, i % 2 === 0 ? '1490' : '1520'] as const,
      ),
    ],
    priceSeconds: '5417000',
    coveredSec: 3_600,
    largestGapSec: 300,
    average: '1504.722222222222222222',
  },
  {
    // 1400 for 300 s, 1500 for 3,300 s.
    name: 'a sample exactly 300 seconds before the hour, which opens it',
    samples: [[3_900, '1400'], ...every300(3_300, 300, '1500')],
    priceSeconds: '5370000',
    coveredSec: 3_600,
    largestGapSec: 300,
    average: '1491.666666666666666666',
  },
  {
    name: 'a sample at expiry, which stands for no time',
    samples: [...every300(HOUR, 300, '1500'), [0, '9000']],
    priceSeconds: '5400000',
    coveredSec: 3_600,
    largestGapSec: 300,
    average: '1500',
  },
  {
    // 1500 for 300 s, 1600 for 3,000 s; 2 % of the average is 31.818181818181818181.
    name: 'a sample 301 seconds before the hour, which does not open it',
    samples: [
      [3_901, '9000'],
      [3_300, '1500'],
      [3_000, '1600'],
    ],
    priceSeconds: '5250000',
    coveredSec: 3_300,
    largestGapSec: 3_000,
    average: '1590.90909090909090909',
    fallback: ['1559.090909090909090909', '1622.727272727272727271'],
  },
  {
    name: 'a gap of 301 seconds at the beginning',
    samples: every300(3_299, 299, '1500'),
    priceSeconds: '4948500',
    coveredSec: 3_299,
    largestGapSec: 301,
    average: '1500',
    fallback: ['1470', '1530'],
  },
  {
    name: 'a gap of 301 seconds at the end',
    samples: [[HOUR, '1500'], ...every300(3_301, 301, '1500')],
    priceSeconds: '5400000',
    coveredSec: 3_600,
    largestGapSec: 301,
    average: '1500',
    fallback: ['1470', '1530'],
  },
  {
    name: 'two late samples',
    samples: [
      [1_000, '1500'],
      [500, '1600'],
    ],
    priceSeconds: '1550000',
    coveredSec: 1_000,
    largestGapSec: 2_600,
    average: '1550',
    fallback: ['1519', '1581'],
  },
  {
    name: 'no sample',
    samples: [],
    priceSeconds: '0',
    coveredSec: 0,
    largestGapSec: 3_600,
    fallback: ['1470', '1530'],
  },
]
