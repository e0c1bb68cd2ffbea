import {
  MAX_BALANCE_ACCOUNTS,
  MAX_CANDLES_LIMIT,
  MAX_CHART_SYMBOLS,
  MAX_LISTED_LEVELS,
  MAX_LISTED_TRADES,
} from '../limits.js'
import { CANDLE_INTERVALS_SEC } from '../records/candle-intervals.js'
import { CHART_RESOLUTIONS } from '../records/chart-record.js'
import { KEY_ENDED, KEY_UNREADABLE } from './auth-frame.js'
import { badRequest, refuse, type Refusal } from './refusals.js'

/** Refusals of reads alone, whose text is fixed; those of trades and of the book stand with the others. */
export const readRefusals = {
  candleInterval: badRequest(
    'invalid_interval',
    `interval must be one of ${Object.keys(CANDLE_INTERVALS_SEC).join(', ')}`,
    { field: 'interval' },
  ),
  candlesLimit: badRequest(
    'invalid_candles_limit',
    `limit must be between 1 and ${MAX_CANDLES_LIMIT}`,
    { field: 'limit' },
  ),
  candlesStart: badRequest('invalid_start', 'start must be an RFC3339 timestamp', {
    field: 'start',
  }),
  candlesEnd: badRequest('invalid_end', 'end must be an RFC3339 timestamp', { field: 'end' }),
  candlesEndAfterStart: badRequest('end_not_after_start', 'end must be after start', {
    field: 'end',
  }),
  ordersStatus: badRequest('invalid_status', 'status must be open', { field: 'status' }),
  openOnly: badRequest(
    'filter_needs_status_open',
    'market and subaccount_id are filters of open orders: send status=open too',
    { field: 'status' },
  ),
  historyBefore: badRequest(
    'invalid_before',
    'before must be a next_before value returned by this endpoint',
    { field: 'before' },
  ),
  subaccountRequired: badRequest('subaccount_id_required', 'subaccount_id is required', {
    field: 'subaccount_id',
  }),
  subaccountForm: badRequest(
    'invalid_subaccount_id',
    'subaccount_id must be a non-negative integer',
    { field: 'subaccount_id' },
  ),
  tooManyReads: refuse(503)(
    'too_many_reads',
    'too many large reads of this address are in flight: retry after one second, one at a time is always admitted',
  ),
  minSeq: badRequest(
    'invalid_min_seq',
    'min_seq must be <market>=<seq>, for one or more listed markets, separated by commas',
    { field: 'min_seq' },
  ),
  minSeqAhead: refuse(503)(
    'min_seq_ahead',
    'min_seq is ahead of the newest change that is known here: retry shortly',
    { field: 'min_seq' },
  ),
  tooManyWaits: refuse(503)(
    'too_many_waiting_reads',
    'too many reads of this address wait for min_seq: retry after one second, one at a time is always admitted',
  ),
  levelsDepth: badRequest('invalid_levels_depth', 'depth must be 10, 25, 100 or 500', {
    field: 'depth',
  }),
  listedDepth: badRequest(
    'invalid_listed_depth',
    `depth must be between 0 and ${MAX_LISTED_LEVELS}`,
    {
      field: 'depth',
    },
  ),
  listedLimit: badRequest(
    'invalid_listed_limit',
    `limit must be between 0 and ${MAX_LISTED_TRADES}`,
    {
      field: 'limit',
    },
  ),
  listedType: badRequest('invalid_type', 'type must be buy or sell', { field: 'type' }),
  listedStart: badRequest(
    'invalid_start_time',
    'start_time must be a unix time in milliseconds or seconds',
    { field: 'start_time' },
  ),
  listedEnd: badRequest(
    'invalid_end_time',
    'end_time must be a unix time in milliseconds or seconds, after start_time',
    { field: 'end_time' },
  ),
  chartResolution: badRequest(
    'invalid_resolution',
    `resolution must be one of ${Object.keys(CHART_RESOLUTIONS).join(', ')}`,
    { field: 'resolution' },
  ),
  chartFrom: badRequest('invalid_from', 'from must be a unix time in seconds', { field: 'from' }),
  chartTo: badRequest('invalid_to', 'to must be a unix time in seconds', { field: 'to' }),
  chartCountback: badRequest('invalid_countback', 'countback must be a positive integer', {
    field: 'countback',
  }),
  chartSearch: badRequest('invalid_search', 'query, type and exchange must be one text each'),
  chartSearchLimit: badRequest(
    'invalid_search_limit',
    `limit must be between 1 and ${MAX_CHART_SYMBOLS}`,
    { field: 'limit' },
  ),
  balancesAccounts: badRequest(
    'invalid_subaccount_ids',
    `subaccount_id must be 1 to ${MAX_BALANCE_ACCOUNTS} non-negative integers, separated by commas`,
    { field: 'subaccount_id' },
  ),
  balancesNotOwned: refuse(403)(
    'subaccount_not_owned',
    'subaccount_id names an account that is not in custody for this address',
    { field: 'subaccount_id' },
  ),
  balancesUnreadable: refuse(502)('balances_unreadable', 'could not read balances from chain'),
  balancesUnserved: refuse(503)(
    'balances_unavailable',
    'balances are not served at this moment: retry shortly',
  ),
  accountsBehind: refuse(503)(
    'accounts_behind',
    'the index of accounts has not reached the newest block yet: retry shortly',
  ),
  accountsUnserved: refuse(503)(
    'accounts_unavailable',
    'accounts are not served at this moment: retry shortly',
  ),
  positionsUnreadable: refuse(502)('positions_unreadable', 'could not read positions from chain'),
  permitNonceUnreadable: refuse(502)(
    'permit_nonce_unreadable',
    'could not read the nonce of permits from chain',
  ),
} as const satisfies Record<string, Refusal>

/** A history of prices that the contract of the market does not have. */
export const noMarks = (market: string): Refusal =>
  badRequest('no_marks', `${market} has no mark price`)

export const noFunding = (market: string): Refusal =>
  badRequest('no_funding', `${market} has no funding`)

/** A private read without a frame; `header` is what carries one. */
export const authRequired = (header: string): Refusal =>
  refuse(401)('auth_required', `${header} header is required`)

export const authMalformed = (header: string): Refusal =>
  refuse(401)('auth_malformed', `${header} must be base64url-encoded JSON`)

/** The session key of a frame has ended, or is another owner's. */
export const authKeyEnded: Refusal = refuse(401)('session_key_ended', `auth failed: ${KEY_ENDED}`)

export const authKeyUnreadable: Refusal = refuse(503)('session_key_unreadable', KEY_UNREADABLE)

/** A frame that proves no owner, and why. */
export const authFailed = (reason: string): Refusal =>
  refuse(401)('auth_failed', `auth failed: ${reason}`)
