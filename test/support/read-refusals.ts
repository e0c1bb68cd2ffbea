const UNNAMED = 'symbol or asset_address is required'
/** Reads of one market. */
export const marketReads = ['/v1/book', '/v1/trades', '/v1/candles']
/** Queries that name no market, and the message beside `unknown_market`. */
export const wrongNames: readonly (readonly [query: string, message: string])[] = [
  ['', UNNAMED],
  ['symbol=', UNNAMED],
  ['symbol=NOPE', 'no such market: NOPE'],
  ['symbol=cngn-usdc', 'no such market: cngn-usdc'],
  ['symbol=usdccngn-spot', 'no such market: usdccngn-spot'],
  ['symbol=USDC-cNGN-30NOV26', 'no such market: USDC-cNGN-30NOV26'],
  ['asset_address=0x12', 'no such market: 0x12:0'],
  [
    `symbol=cNGN-USDC&sub_id=7&asset_address=0x${'c1'.repeat(20)}`,
    `no such market: cNGN-USDC at 0x${'c1'.repeat(20)}:7`,
  ],
]

const NO_TIMES = [
  'yesterday',
  '2026-13-01T00:00:00Z',
  '1795255200',
  '2026-11-21',
  '2026-02-30T00:00:00Z',
]

/** Values that a parameter of a read may not have, and the text that refuses them. */
export const wrongValues: readonly (readonly [
  path: string,
  name: string,
  values: readonly string[],
  error: string,
])[] = [
  [
    '/v1/book',
    'depth',
    ['0', '-1', '1.5', 'abc', '', '1&depth=2'],
    'depth must be a positive integer',
  ],
  [
    '/v1/trades',
    'limit',
    ['0', '101', '-1', 'abc', '1.5', '', '5&limit=5'],
    'limit must be between 1 and 100',
  ],
  [
    '/v1/trades',
    'before_trade_id',
    ['0', '-3', 'abc', '1180591620717411303424'],
    'before_trade_id must be a positive integer',
  ],
  [
    '/v1/candles',
    'interval',
    ['2m', '1M', '', '1h&interval=1h'],
    'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d',
  ],
  ['/v1/candles', 'limit', ['0', '1001', '-1', 'abc', ''], 'limit must be between 1 and 1000'],
  ['/v1/candles', 'start', NO_TIMES, 'start must be an RFC3339 timestamp'],
  ['/v1/candles', 'end', NO_TIMES, 'end must be an RFC3339 timestamp'],
  [
    '/v1/candles',
    'start=2026-11-21T10:00:00Z&end',
    ['2026-11-21T10:00:00Z', '2026-11-21T11:30:00%2B01:30', '2026-11-20T10:00:00Z'],
    'end must be after start',
  ],
]
