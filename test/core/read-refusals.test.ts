import { expect } from 'chai'
import { authFailed, authMalformed, authRequired, readRefusals } from '../../core/read-refusals.js'
import { refusals } from '../../core/refusals.js'
import type { Refusal } from '../../core/refusals.js'

/** Every refusal of reads once: status, code, text on the wire. */
const table: [Refusal, number, string, string][] = [
  [
    readRefusals.candleInterval,
    400,
    'invalid_interval',
    'interval must be one of 1m, 5m, 15m, 1h, 4h, 1d',
  ],
  [readRefusals.candlesLimit, 400, 'invalid_candles_limit', 'limit must be between 1 and 1000'],
  [readRefusals.candlesStart, 400, 'invalid_start', 'start must be an RFC3339 timestamp'],
  [readRefusals.candlesEnd, 400, 'invalid_end', 'end must be an RFC3339 timestamp'],
  [readRefusals.candlesEndAfterStart, 400, 'end_not_after_start', 'end must be after start'],
  [
    readRefusals.historyBefore,
    400,
    'invalid_before',
    'before must be a next_before value returned by this endpoint',
  ],
  [authRequired('X-Service-Auth'), 401, 'auth_required', 'X-Service-Auth header is required'],
  [
    authMalformed('X-Service-Auth'),
    401,
    'auth_malformed',
    'X-Service-Auth must be base64url-encoded JSON',
  ],
  [authFailed('so'), 401, 'auth_failed', 'auth failed: so'],
]

describe('refusals of reads', () => {
  for (const [refusal, status, code, message] of table) {
    it(`${status} ${message}`, () => expect(refusal).to.include({ status, code, message }))
  }

  it('are all listed here, under codes of their own', () => {
    const codes = table.map(([{ code }]) => code)
    const all = [...Object.values(readRefusals), ...Object.values(refusals)].map(({ code }) => code)
    expect(new Set(all).size).to.equal(all.length)
    for (const { code } of Object.values(readRefusals)) expect(codes).to.include(code)
  })
})
