import type { SendOptions } from '../support/gateway-stage.js'
import type { Json } from './rule.js'

/** One refusal of a request that is judged by its line and headers alone. */
export interface RequestRule {
  readonly status: number
  readonly code: string
  readonly error: string
  readonly field?: string
  /** What else the answer has. */
  readonly more?: Json
  readonly requests: readonly (SendOptions & { readonly method: string; readonly path: string })[]
}

const get = (path: string) => ({ method: 'GET', path })
const MARKET_READS = [
  '/v1/book',
  '/v1/levels',
  '/v1/trades',
  '/v1/candles',
  '/v1/marks',
  '/v1/funding',
]

/** Those with a range of time. */
const RANGES = ['/v1/candles', '/v1/trades', '/v1/liquidations']

const refusedReads = (
  [code, error, field]: readonly [code: string, error: string, field: string],
  paths: readonly string[],
): RequestRule => ({ status: 400, code, error, field, requests: paths.map(get) })

/** One path for each value that a parameter may not have. */
const wrong = (path: string, name: string, values: readonly string[]): string[] =>
  values.map((value) => `${path}?symbol=cNGN-USDC&${name}=${value}`)

const listed = (path: string, name: string, values: readonly string[]): string[] =>
  values.map((value) => `/v1/integrations/${path}?ticker_id=cNGN-USDC&${name}=${value}`)

const NO_TIMES = [
  ...['yesterday', '2026-13-01T00:00:00Z', '1795255200', '2026-11-21'],
  '2026-02-30T00:00:00Z',
]

const NO_SEQS = [
  ...['', '7', 'cNGN-USDC', 'cNGN-USDC=', 'cNGN-USDC=-1', 'cNGN-USDC=1.5', 'NOPE=1'],
  ...['cNGN-USDC=1,', 'cNGN-USDC=9007199254740993', 'cNGN-USDC=1&min_seq=cNGN-USDC=2'],
]

const parameters: readonly RequestRule[] = [
  refusedReads(
    [
      'invalid_min_seq',
      'min_seq must be <market>=<seq>, for one or more listed markets, separated by commas',
      'min_seq',
    ],
    [
      ...['/v1/book', '/v1/levels', '/v1/trades', '/v1/candles'].flatMap((path) =>
        wrong(path, 'min_seq', NO_SEQS),
      ),
      ...['tickers', 'orderbook', 'historical_trades'].flatMap((path) =>
        listed(path, 'min_seq', NO_SEQS),
      ),
      ...['/v1/markets', '/v1/tickers', '/v1/orders/a', '/v1/orders/a/explain'].flatMap((path) =>
        NO_SEQS.map((value) => `${path}?min_seq=${value}`),
      ),
    ],
  ),
  refusedReads(
    ['invalid_depth', 'depth must be a positive integer', 'depth'],
    wrong('/v1/book', 'depth', ['0', '-1', '1.5', 'abc', '', '1&depth=2']),
  ),
  refusedReads(
    ['invalid_limit', 'limit must be between 1 and 100', 'limit'],
    ['/v1/trades', '/v1/liquidations'].flatMap((path) =>
      wrong(path, 'limit', ['0', '101', '-1', 'abc', '1.5', '', '5&limit=5']),
    ),
  ),
  refusedReads(
    ['invalid_levels_depth', 'depth must be 10, 25, 100 or 500', 'depth'],
    wrong('/v1/levels', 'depth', ['0', '1', '11', '501', 'abc', '', '10&depth=10']),
  ),
  refusedReads(
    ['invalid_listed_depth', 'depth must be between 0 and 1000', 'depth'],
    [
      ...listed('orderbook', 'depth', ['-1', '1001', '1.5', 'abc', '', '1&depth=2']),
      '/v1/integrations/orderbook/USDC_cNGN?depth=1001',
    ],
  ),
  refusedReads(
    ['invalid_listed_limit', 'limit must be between 0 and 500', 'limit'],
    listed('historical_trades', 'limit', ['-1', '501', 'abc', '']),
  ),
  refusedReads(
    ['invalid_type', 'type must be buy or sell', 'type'],
    listed('historical_trades', 'type', ['', 'BUY', 'both', 'buy&type=sell']),
  ),
  refusedReads(
    [
      'invalid_start_time',
      'start_time must be a unix time in milliseconds or seconds',
      'start_time',
    ],
    listed('historical_trades', 'start_time', ['', '-1', '1.5', '2026-11-21T10:00:00Z']),
  ),
  refusedReads(
    [
      'invalid_end_time',
      'end_time must be a unix time in milliseconds or seconds, after start_time',
      'end_time',
    ],
    listed('historical_trades', 'start_time=1795255200&end_time', [
      ...['', 'now', '1795255200', '1795255200000', '1795255199'],
    ]),
  ),
  refusedReads(
    ['invalid_before_trade_id', 'before_trade_id must be a positive integer', 'before_trade_id'],
    wrong('/v1/trades', 'before_trade_id', ['0', '-3', 'abc', '1180591620717411303424']),
  ),
  refusedReads(
    ['invalid_interval', 'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d', 'interval'],
    wrong('/v1/candles', 'interval', ['2m', '1M', '', '1h&interval=1h']),
  ),
  refusedReads(
    ['invalid_candles_limit', 'limit must be between 1 and 1000', 'limit'],
    wrong('/v1/candles', 'limit', ['0', '1001', '-1', 'abc', '']),
  ),
  refusedReads(
    ['invalid_start', 'start must be an RFC3339 timestamp', 'start'],
    RANGES.flatMap((path) => wrong(path, 'start', NO_TIMES)),
  ),
  refusedReads(
    ['invalid_end', 'end must be an RFC3339 timestamp', 'end'],
    RANGES.flatMap((path) => wrong(path, 'end', NO_TIMES)),
  ),
  refusedReads(
    ['end_not_after_start', 'end must be after start', 'end'],
    wrong('/v1/candles', 'start=2026-11-21T10:00:00Z&end', [
      ...['2026-11-21T10:00:00Z', '2026-11-21T11:30:00%2B01:30', '2026-11-20T10:00:00Z'],
    ]),
  ),
  {
    status: 400,
    code: 'no_marks',
    error: 'cNGN-USDC has no mark price',
    requests: [get('/v1/marks?symbol=cNGN-USDC')],
  },
  {
    status: 400,
    code: 'no_funding',
    error: 'cNGN-USDC has no funding',
    requests: [get('/v1/funding?symbol=cNGN-USDC')],
  },
  {
    status: 404,
    code: 'order_not_found',
    error: 'order not found',
    requests: [
      'unknown',
      'cancel',
      'x'.repeat(10_000),
      '%00',
      '..%2f..%2fetc%2fpasswd',
      "'%20OR%201=1",
    ].map((id) => get(`/v1/orders/${id}`)),
  },
]

/** Names of no listed market; `markets` are the identifiers that the answer offers. */
const names = (markets: readonly string[]): RequestRule[] => {
  const unknown = (message: string, queries: readonly string[]): RequestRule => ({
    status: 400,
    code: 'unknown_market',
    error: 'unknown_market',
    more: { message, markets },
    requests: MARKET_READS.flatMap((path) => queries.map((query) => get(`${path}?${query}`))),
  })
  const noSuch = (name: string, query: string) => unknown(`no such market: ${name}`, [query])
  return [
    unknown('symbol or asset_address is required', ['', 'symbol=']),
    noSuch('NOPE', 'symbol=NOPE'),
    noSuch('cngn-usdc', 'symbol=cngn-usdc'),
    noSuch('usdccngn-spot', 'symbol=usdccngn-spot'),
    noSuch('OFF', 'symbol=OFF'),
    noSuch('0x12:0', 'asset_address=0x12'),
    noSuch(
      `cNGN-USDC at 0x${'c1'.repeat(20)}:7`,
      `symbol=cNGN-USDC&sub_id=7&asset_address=0x${'c1'.repeat(20)}`,
    ),
  ]
}

/** Reads of a market that the query names: spot alone has a ticker. */
const TICKER_READS = ['tickers', 'orderbook', 'historical_trades']

/** Names of no market with a ticker, or of none at all in a path; the answer offers those that are served. */
const tickers = (markets: readonly string[]): RequestRule[] => {
  const unknown = (
    message: string,
    paths: readonly string[],
    offered: readonly string[] = ['cNGN-USDC'],
  ): RequestRule => ({
    status: 400,
    code: 'unknown_market',
    error: 'unknown_market',
    more: { message, markets: offered },
    requests: paths.map((path) => get(`/v1/integrations/${path}`)),
  })
  const named = (id: string) => TICKER_READS.map((path) => `${path}?ticker_id=${id}`)
  return [
    unknown('ticker_id is required', [...named(''), 'orderbook', 'historical_trades']),
    unknown('no such market: NOPE', named('NOPE')),
    unknown('no such market: cNGN-PERP (it has no ticker)', [
      ...named('cNGN-PERP'),
      ...named('USDCcNGN-PERP'),
    ]),
    unknown('no such market: USDC-cNGN-30NOV26 (it has no ticker)', named('USDC-cNGN-30NOV26')),
    unknown('no such market: NOPE', ['orderbook/NOPE', 'trades/NOPE'], markets),
    unknown('no such market: USDC_NOPE', ['orderbook/USDC_NOPE', 'trades/USDC_NOPE'], markets),
  ]
}

/** Of the datafeed of charts, which says the words once more in its own way. */
const chartReads = (
  [code, error, field]: readonly [code: string, error: string, field?: string],
  paths: readonly string[],
): RequestRule => ({
  status: 400,
  code,
  error,
  ...(field !== undefined && { field }),
  more: { s: 'error', errmsg: error },
  requests: paths.map((path) => get(`/udf/${path}`)),
})

const history = (name: string, values: readonly string[]): string[] =>
  values.map((value) => `history?symbol=cNGN-USDC&resolution=1&${name}=${value}`)

const charts: readonly RequestRule[] = [
  chartReads(
    ['invalid_resolution', 'resolution must be one of 1, 5, 15, 60, 240, 1D', 'resolution'],
    [
      'history?symbol=cNGN-USDC',
      ...['', '2', '1d', '1W', '1&resolution=5'].map(
        (value) => `history?symbol=cNGN-USDC&resolution=${value}`,
      ),
    ],
  ),
  chartReads(
    ['invalid_from', 'from must be a unix time in seconds', 'from'],
    history('from', ['', 'x', '1.5', '--1', '9999999999999999', '1&from=2']),
  ),
  chartReads(
    ['invalid_to', 'to must be a unix time in seconds', 'to'],
    history('to', ['', 'x', '2026-11-21', '1&to=2']),
  ),
  chartReads(
    ['invalid_countback', 'countback must be a positive integer', 'countback'],
    history('countback', ['', '0', '-1', '1.5', '1&countback=2']),
  ),
  chartReads(
    ['invalid_search', 'query, type and exchange must be one text each'],
    ['search?query=a&query=b', 'search?type=a&type=b', 'search?exchange=a&exchange=b'],
  ),
  chartReads(
    ['invalid_search_limit', 'limit must be between 1 and 100', 'limit'],
    ['0', '101', '-1', 'x', ''].map((value) => `search?limit=${value}`),
  ),
]

const asSuch: readonly RequestRule[] = [
  {
    status: 404,
    code: 'not_found',
    error: 'no such path',
    requests: ['/nowhere', '/v2/orders', '/V1/MARKETS', '/v1/orders/a/b'].map(get),
  },
  {
    status: 405,
    code: 'method_not_allowed',
    error: 'method not allowed',
    requests: [
      { method: 'POST', path: '/v1/markets' },
      { method: 'DELETE', path: '/v1/orders' },
      { method: 'PUT', path: '/v1/orders/abc' },
      { method: 'TRACE', path: '/v1/markets' },
      { method: 'PUT', path: '/v1/orders/cancel' },
    ],
  },
  {
    status: 403,
    code: 'origin_not_allowed',
    error: 'origin is not allowed',
    requests: ['/v1/orders', '/v1/orders/cancel', '/v1/deposits', '/v1/withdrawals'].map(
      (path) => ({ method: 'POST', path, headers: { origin: 'https://elsewhere.example' } }),
    ),
  },
  {
    status: 413,
    code: 'body_too_large',
    error: 'request body too large',
    requests: ['/v1/orders', '/v1/orders/cancel', '/v1/deposits', '/v1/withdrawals'].map(
      (path) => ({ method: 'POST', path, body: ' '.repeat(70_000) }),
    ),
  },
  {
    status: 415,
    code: 'unsupported_content_encoding',
    error: 'content-encoding is not supported: send the body uncompressed',
    requests: ['/v1/orders', '/v1/orders/cancel', '/v1/deposits', '/v1/withdrawals'].map(
      (path) => ({ method: 'POST', path, body: '{}', headers: { 'content-encoding': 'gzip' } }),
    ),
  },
  ...['deposits', 'withdrawals'].map((path) => ({
    status: 400,
    code: 'invalid_action_hash',
    field: 'action_hash',
    error: 'action_hash must be 0x followed by 64 hex digits',
    requests: [
      '0x12',
      'ac'.repeat(32),
      `0x${'ac'.repeat(32)}00`,
      `0x${'a'.repeat(63)}g`,
      'x%00',
    ].map((hash) => get(`/v1/${path}/${hash}`)),
  })),
]

/** Every refusal of reads, and of requests as such. */
export const requestRules = (markets: readonly string[]): readonly RequestRule[] => [
  ...parameters,
  ...names(markets),
  ...tickers(markets),
  ...charts,
  ...asSuch,
]
