import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { formatDecimal, parseStored } from '../../core/decimal.js'
import { readAuthFrame } from '../../core/entry/auth-frame.js'
import { decodeTradeData, encodeTradeData } from '../../core/entry/read-action.js'
import { isLeaseSec } from '../../core/entry/read-cancels.js'
import { readIndexStatus } from '../../core/entry/read-index-status.js'
import { readRules } from '../../core/entry/read-rules.js'
import { validateOrder } from '../../core/entry/validate-order.js'
import { openingOf } from '../../core/model/market-terms.js'
import { INT256_MAX, SUB_ID_MAX, UINT256_MAX } from '../../core/limits.js'
import { blockTimeSec, LAST_DATE_SEC } from '../../core/time.js'
import { engine as goodOrder, NOW_MS, tableMarkets } from '../refusals/good-orders.js'
import { aMarket } from '../support/builders.js'

const document = readFileSync(new URL('../../../docs/rules/bounds.md', import.meta.url), 'utf8')
const nowSec = NOW_MS / 1_000
const { action_json: action } = goodOrder
const decoded = decodeTradeData(action.data ?? '')
if ('refusal' in decoded) throw new Error(decoded.refusal.message)
const { data } = decoded

/** The code with which a body is refused; undefined when it is an order. */
function codeOf(body: object): string | undefined {
  const sent: unknown = JSON.parse(JSON.stringify({ ...goodOrder, ...body }))
  const judged = validateOrder(sent, { markets: tableMarkets, nowMs: NOW_MS })
  return 'refusal' in judged ? judged.refusal.code : undefined
}

const account = (id: bigint): object => ({
  subaccount_id: String(id),
  recipient_id: String(id),
  action_json: {
    ...action,
    subaccount_id: String(id),
    data: encodeTradeData({ ...data, recipientId: id % 2n ** 256n }),
  },
})
const worth = (limitPrice: bigint, desiredAmount: bigint): object => ({
  limit_price: formatDecimal(limitPrice, 18),
  desired_amount: formatDecimal(desiredAmount, 18),
  action_json: { ...action, data: encodeTradeData({ ...data, limitPrice, desiredAmount }) },
})
/** A step of amounts. */
const STEP = 10n ** 12n

interface Bound {
  /** As docs/rules/bounds.md names it. */
  readonly field: string
  readonly code: string
  readonly taken: readonly object[]
  readonly refused: readonly object[]
}

const bounds: readonly Bound[] = [
  {
    field: '`expiry` of an order',
    code: 'invalid_expiry',
    taken: [{ expiry: nowSec + 1 }, { expiry: Number.MAX_SAFE_INTEGER }],
    refused: [{ expiry: 2 ** 53 }],
  },
  {
    field: '`action_json.expiry` of an order',
    code: 'invalid_integer',
    taken: [nowSec + 1, UINT256_MAX].map((expiry) => ({
      action_json: { ...action, expiry: String(expiry) },
    })),
    refused: [{ action_json: { ...action, expiry: String(UINT256_MAX + 1n) } }],
  },
  {
    field: '`nonce`',
    code: 'invalid_integer',
    taken: [0n, UINT256_MAX].map((nonce) => ({
      nonce: String(nonce),
      action_json: { ...action, nonce: String(nonce) },
    })),
    refused: [{ nonce: String(UINT256_MAX + 1n) }],
  },
  {
    field: '`subaccount_id`',
    code: 'invalid_integer',
    taken: [account(0n), account(UINT256_MAX)],
    refused: [account(UINT256_MAX + 1n)],
  },
  {
    field: '`worst_fee`',
    code: 'invalid_integer',
    taken: [0n, UINT256_MAX].map((worstFee) => ({
      worst_fee: String(worstFee),
      action_json: { ...action, data: encodeTradeData({ ...data, worstFee }) },
    })),
    refused: [{ worst_fee: String(UINT256_MAX + 1n) }],
  },
  {
    field: '`sub_id`',
    code: 'invalid_integer',
    taken: [],
    refused: [{ sub_id: String(SUB_ID_MAX + 1n) }],
  },
  {
    field: '`limit_price`, `desired_amount`',
    code: 'notional_out_of_range',
    taken: [worth(INT256_MAX / STEP, STEP), worth(1n, (INT256_MAX / STEP) * STEP)],
    refused: [worth(INT256_MAX / STEP + 1n, STEP), worth(2n, (INT256_MAX / STEP) * STEP)],
  },
  {
    field: '`filled_amount`',
    code: 'filled_amount_exceeds',
    taken: [{ filled_amount: '0' }, { filled_amount: goodOrder.desired_amount }],
    refused: [{ filled_amount: '9'.repeat(70) }],
  },
  {
    field: '`order_id`',
    code: 'invalid_order_id',
    taken: [{ order_id: 'x' }, { order_id: '\u{1f600}'.repeat(64) }],
    refused: [{ order_id: 'x'.repeat(129) }],
  },
  {
    field: '`signature`',
    code: 'invalid_signature_form',
    taken: [{ signature: `0x${'5a'.repeat(4_096)}` }],
    refused: [{ signature: `0x${'5a'.repeat(4_097)}` }],
  },
]

describe('docs/rules/bounds.md', () => {
  for (const { field, code, taken, refused } of bounds) {
    it(`names ${field}, which is taken up to its bound and refused beyond (MON-008, MON-009, MON-010)`, () => {
      expect(document).to.include(field)
      for (const body of taken) expect(codeOf(body), JSON.stringify(body)).to.equal(undefined)
      for (const body of refused) expect(codeOf(body), JSON.stringify(body)).to.equal(code)
    })
  }

  it('is right about what is not an order', () => {
    expect([9, 10, 86_400, 86_401].map(isLeaseSec)).to.deep.equal([false, true, true, false])
    const frame = { address: `0x${'a'.repeat(40)}`, signature: '0x', nonce: 'n', issued_at: 0 }
    const times = [Number.MAX_SAFE_INTEGER, 2 ** 53, -1]
    const read = times.map((expiry) => 'frame' in readAuthFrame({ ...frame, expiry }))
    expect(read).to.deep.equal([true, false, false])
    const sample = { at_ms: NOW_MS, usdc_per_cngn: '1', sample_ok: true }
    const samples: [fields: object, isTaken: boolean][] = [
      [{ at_ms: NOW_MS + 60_000 }, true],
      [{ at_ms: NOW_MS + 60_001 }, false],
      [{ usdc_per_cngn: formatDecimal(INT256_MAX, 18) }, true],
      [{ usdc_per_cngn: formatDecimal(INT256_MAX + 1n, 18) }, false],
    ]
    for (const [fields, isTaken] of samples)
      expect('sample' in readIndexStatus({ ...sample, ...fields }, NOW_MS)).to.equal(isTaken)
    const opened = openingOf(aMarket())
    const rule = (fields: Readonly<Record<string, string>>) => 'rules' in readRules(opened, fields)
    for (const name of ['tick_size', 'min_notional']) {
      expect(rule({ [name]: formatDecimal(INT256_MAX, 18) })).to.equal(true)
      expect(rule({ [name]: formatDecimal(INT256_MAX + 1n, 18) })).to.equal(false)
    }
    expect(rule({ tick_size: '0' })).to.equal(false)
    expect(parseStored('9'.repeat(78), 18)).to.equal(undefined)
    const last = BigInt(LAST_DATE_SEC)
    expect([last, last + 1n, 2n ** 64n - 1n].map(blockTimeSec)).to.deep.equal(
      Array(3).fill(LAST_DATE_SEC),
    )
  })
})
