import { expect } from 'chai'
import {
  batchRefusals,
  cancelsRefusals,
  changeRefusals,
  controlRefusals,
  optionRefusals,
} from '../../core/entry/order-refusals.js'
import {
  readCancel,
  readCancelAll,
  readCancelAllAfter,
  readCancelOrders,
} from '../../core/entry/read-cancels.js'
import { readReduction, readReplacement } from '../../core/entry/read-change.js'
import { marketRefusals } from '../../core/entry/market-refusals.js'
import { demoRefusals } from '../../core/entry/demo-refusals.js'
import { indexRefusals } from '../../core/entry/read-index-status.js'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { mayBeSentAgain } from '../../core/entry/sent-again.js'
import { errorCodes, socketCodes } from '../../interface/error-codes.js'
import {
  belowMinSize,
  quoted,
  refusalBody,
  refusals,
  unknownMarket,
  type Refusal,
} from '../../core/entry/refusals.js'
import { transferRefusals } from '../../core/entry/transfer-refusals.js'
import { validateOrder } from '../../core/entry/validate-order.js'
import {
  readTransferBody,
  validateDeposit,
  validateWithdrawal,
} from '../../core/entry/validate-transfer.js'
import * as transferBodies from '../support/transfer-bodies.js'
import {
  cancelAllAfterRules,
  cancelAllRules,
  cancelListRules,
  cancelRules,
  goodCancel,
  goodCancelAll,
  goodCancelAllAfter,
  goodCancelList,
  statedOfMany,
} from './cancels.js'
import {
  batchRules,
  goodReduction,
  goodReplacement,
  reductionRules,
  replacementRules,
  statedOfChanges,
} from './changes.js'
import { engine, NOW_MS, tableMarkets } from './good-orders.js'
import { fieldRules } from './order-fields.js'
import { signedRules } from './order-signed.js'
import { termRules } from './order-terms.js'
import { requestRules } from './reads.js'
import type { Rule } from './rule.js'
import { statedOfCancels, statedOfOrders, statedOfReads } from './stated.js'
import { statedOfTransfers } from './stated-transfers.js'
import { depositRules, withdrawalRules } from './transfers.js'

const { aDepositBody, aWithdrawalBody, places } = transferBodies

type Check = (body: unknown) => object

/** What a check refuses, for a request as it comes over the wire. */
function refusalOf(check: Check, sent: unknown): Refusal {
  const checked = check(parsed(typeof sent === 'string' ? sent : JSON.stringify(sent)))
  if (!('refusal' in checked)) throw new Error('it is accepted')
  return checked.refusal as Refusal
}

/** A text that is not JSON reaches no check; what the gateway answers then, each check says of what is not an object. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function refuses<Good>(rules: readonly Rule<Good>[], good: Good, check: Check): void {
  it('takes the good request', () => expect(check(good)).not.to.have.property('refusal'))
  for (const { when, error, ...rest } of rules) {
    it(`${rest.status} ${error.slice(0, 100)}`, () => {
      for (const [name, change] of Object.entries(when)) {
        const { status, code, message, field, detail } = refusalOf(check, change(good))
        expect({ status, code, error: message, field }, name).to.deep.equal({
          status: rest.status,
          code: rest.code,
          error,
          field: rest.field,
        })
        if (rest.detail !== undefined) expect(detail, name).to.deep.include(rest.detail)
      }
    })
  }
}

const orders = { markets: tableMarkets, nowMs: NOW_MS }

describe('the check of an order refuses', () => {
  const check: Check = (body) => validateOrder(body, orders)
  describe('its fields', () => refuses(fieldRules, engine, check))
  describe('its terms', () => refuses(termRules, engine, check))
  describe('what was signed', () => refuses(signedRules, engine, check))

  it('with the signed and the expected word', () => {
    const { detail } = refusalOf(check, { ...engine, limit_price: '0.00066' })
    expect(detail).to.include({ expected: '660000000000000', signed: '650000000000000' })
  })

  it('with the ticks next to a price that has too many decimals (ORD-045)', () => {
    const { detail } = refusalOf(check, { ...engine, limit_price: '0.0006500000000000001' })
    expect(detail).to.deep.equal({
      tick_size: '0.000000000000000001',
      nearest: { below: '0.00065', above: '0.000650000000000001' },
    })
  })
})

describe('the check of a cancel refuses', () => {
  refuses(cancelRules, goodCancel, readCancel)
})

describe('the check of a reduction refuses', () => {
  refuses([...cancelRules, ...reductionRules], goodReduction, readReduction)
})

describe('the check of a replacement refuses', () => {
  refuses(replacementRules, goodReplacement, readReplacement)
})

describe('the check of a cancel of many orders refuses', () => {
  const place = { market: 'cNGN-USDC' }
  describe('all', () =>
    refuses(cancelAllRules, goodCancelAll, (body) => readCancelAll(body, place)))
  describe('a list', () => refuses(cancelListRules, goodCancelList, readCancelOrders))
  describe('a lease', () =>
    refuses(cancelAllAfterRules, goodCancelAllAfter, (body) => readCancelAllAfter(body, place)))
})

describe('the check of a deposit refuses', () => {
  refuses(depositRules, aDepositBody(), (sent) => {
    const body = readTransferBody('deposit', sent)
    return 'refusal' in body
      ? body
      : validateDeposit(body, { ...places, nowMs: transferBodies.NOW_MS })
  })
})

describe('the check of a withdrawal refuses', () => {
  const withdrawable = [places.wrappedUsdc, places.wrappedCngn]
  refuses(withdrawalRules, aWithdrawalBody(), (sent) => {
    const body = readTransferBody('withdrawal', sent)
    const rules = { ...places, withdrawable, nowMs: transferBodies.NOW_MS }
    return 'refusal' in body ? body : validateWithdrawal(body, rules)
  })
})

const stated = [
  statedOfMany,
  ...[statedOfOrders, statedOfChanges, statedOfCancels],
  ...[statedOfReads, statedOfTransfers],
].flat()

describe('refusals that the state of the venue decides (CAN-036)', () => {
  for (const [refusal, status, code, message] of stated) {
    it(`${status} ${message.slice(0, 100)}`, () =>
      expect(refusal).to.include({ status, code, message }))
  }

  it('advise when to ask again, except those that a second does not change', () => {
    const kept = stated.filter(([refusal]) => refusal.status >= 500 && !mayBeSentAgain(refusal))
    expect(kept.map(([{ code }]) => code)).to.deep.equal([
      ...['too_many_leases', 'internal', 'too_many_orders', 'deposit_rejected'],
      ...['deposits_paused_gas_reserve', 'deposits_paused_gas_budget', 'deposits_off'],
    ])
    const others = stated.filter(([refusal]) => refusal.status < 500 && mayBeSentAgain(refusal))
    expect(others).to.deep.equal([])
  })

  it('name the revert and the time to wait where there is one', () => {
    const extras = statedOfTransfers.flatMap(([{ code, revert, retryAfterSec }]) =>
      revert === undefined && retryAfterSec === undefined ? [] : [[code, revert ?? retryAfterSec]],
    )
    expect(extras).to.deep.equal([
      ['too_many_withdrawal_requests', 12],
      ['too_many_deposits', 900],
      ['permit_refused', 'ERC2612ExpiredSignature'],
      ['withdrawal_would_revert', 'WERC_CannotBeNegative'],
      ['deposit_rejected', 'BM_AdjustmentsPaused'],
    ])
  })
})

describe('the table of refusals', () => {
  const ofOrders = [...fieldRules, ...termRules, ...signedRules]
  const table = [
    ...ofOrders,
    ...[cancelAllRules, cancelListRules, cancelAllAfterRules].flat(),
    ...[cancelRules, depositRules, withdrawalRules, requestRules([])].flat(),
    ...[reductionRules, replacementRules, batchRules].flat(),
    ...stated.map(([, , code, error]) => ({ code, error })),
  ]

  it('has every fixed text of core/entry', () => {
    const fixed = [
      ...[refusals, controlRefusals, marketRefusals, readRefusals, transferRefusals, indexRefusals],
      ...[changeRefusals, batchRefusals],
      ...[cancelsRefusals, demoRefusals, optionRefusals],
    ].flatMap((of) => Object.values(of))
    const known = new Set(table.map(({ code, error }) => `${code}: ${error}`))
    const missing = fixed.filter(({ code, message }) => !known.has(`${code}: ${message}`))
    expect(missing.map(({ code }) => code)).to.deep.equal([])
  })

  it('has a cause and a cure for each code, and no other, with its statuses (ORD-032)', () => {
    const rows = [...errorCodes.values()].flat()
    const rowOf = (code: string) =>
      rows.find((row) => row.code === code) ?? rows.find((row) => familyOf(row.code).test(code))
    const made = new Map<string, Set<number>>()
    const rules = [
      ...[...ofOrders, ...cancelRules, ...depositRules, ...withdrawalRules, ...requestRules([])],
      ...[reductionRules, replacementRules, batchRules].flat(),
      ...[...cancelAllRules, ...cancelListRules, ...cancelAllAfterRules],
      ...stated.map(([, status, code]) => ({ code, status })),
    ]
    for (const { code, status } of rules) {
      made.set(code, (made.get(code) ?? new Set()).add(status))
    }
    const used = new Set<string>()
    for (const [code, statuses] of made) {
      const row = rowOf(code)
      expect(row, `${code} has a row in interface/error-codes.ts`).to.not.equal(undefined)
      used.add(row?.code ?? '')
      for (const status of statuses) expect(row?.status, code).to.include(`${status}`)
    }
    const unused = rows.map(({ code }) => code).filter((code) => !used.has(code))
    expect(unused).to.deep.equal(BY_OTHER_TESTS)
    for (const row of [...rows, ...socketCodes]) {
      expect(row.cause, row.code).to.match(/\.$/)
      expect(row.cure, row.code).to.match(/\.$/)
    }
  })

  it('has each text once for each kind of request', () => {
    const stateOfOrders = statedOfOrders.map(([, , , error]) => ({ error }))
    for (const rules of [[...ofOrders, ...stateOfOrders], cancelRules]) {
      const errors = rules.map(({ error }) => error)
      expect(errors.filter((error, at) => errors.indexOf(error) !== at)).to.deep.equal([])
    }
  })

  it('gives no code to two fixed texts (ORD-032)', () => {
    const ofOrderEntry = [refusals, controlRefusals, changeRefusals, batchRefusals]
    const codes = [
      ...ofOrderEntry,
      optionRefusals,
      marketRefusals,
      readRefusals,
      indexRefusals,
      demoRefusals,
    ]
      .flatMap((of) => Object.values(of))
      .map((it) => it.code)
    expect(new Set(codes).size).to.equal(codes.length)
  })

  it('repeats the text of a client quoted, escaped and cut (ORD-033)', () => {
    expect(quoted('a\nb\ud800')).to.equal('"a\\nb\\ud800"')
    expect(quoted('x'.repeat(100_000))).to.have.length(83)
    expect(quoted(null)).to.equal('null')
    expect(quoted([])).to.equal('a JSON object')
  })
})

/** A row for several codes: `<field>_required`. */
const familyOf = (code: string): RegExp => new RegExp(`^${code.replace(/<\w+>/g, '[a-z_]+')}$`)

/** Codes of the server, of `GET /readyz` and of futures, which other tests make. */
const BY_OTHER_TESTS = [
  ...['bad_request', 'too_many_connections', 'not_ready'],
  ...['band_unreadable', 'trading_ended', 'index_stale', 'outside_fill_band'],
]

describe('the body of a refusal', () => {
  it('has the error first and leaves out what the refusal does not have (ORD-031)', () => {
    const body = refusalBody(refusals.orderNotFound, 'req-1')
    expect(Object.entries(body)).to.deep.equal([
      ['error', 'order not found'],
      ['code', 'order_not_found'],
      ['request_id', 'req-1'],
    ])
  })

  it('carries field and detail', () => {
    expect(refusalBody(belowMinSize('1'), 'req-1')).to.deep.equal({
      error: 'normalized atomic size is 0',
      code: 'size_below_minimum',
      field: 'desired_amount',
      detail: { min_size: '1' },
      request_id: 'req-1',
    })
  })

  it('spreads the further fields of an unknown market', () => {
    const refusal = unknownMarket('symbol or asset_address is required', ['cNGN-USDC'])
    expect(refusalBody(refusal, 'req-1')).to.deep.equal({
      error: 'unknown_market',
      code: 'unknown_market',
      message: 'symbol or asset_address is required',
      markets: ['cNGN-USDC'],
      request_id: 'req-1',
    })
  })
})
