import { expect } from 'chai'
import type { Address } from '../../core/action.js'
import { refusals } from '../../core/entry/refusals.js'
import { cancelRules, goodCancel } from '../refusals/cancels.js'
import {
  batchRules,
  goodBatch,
  goodReduction,
  goodReplacement,
  ofReplacement,
  reductionRules,
  replacementRules,
} from '../refusals/changes.js'
import { engine, intent, tableMarkets } from '../refusals/good-orders.js'
import { fieldRules } from '../refusals/order-fields.js'
import { signedRules } from '../refusals/order-signed.js'
import { termRules } from '../refusals/order-terms.js'
import { requestRules } from '../refusals/reads.js'
import type { Rule } from '../refusals/rule.js'
import { depositRules, withdrawalRules } from '../refusals/transfers.js'
import { testPrivateKey, type OrderBody, type OrderTerms } from '../support/builders.js'
import { serviceAuth } from '../support/cancel-proofs.js'
import type { Answered } from '../support/gateway-stage.js'
import { signedBody } from '../support/intake-stage.js'
import { aDepositBody, aWithdrawalBody } from '../support/transfer-bodies.js'
import { badSignatures, harmless } from './signed-bodies.js'
import { anOrderStage, type OrderStage } from './stage/order-stage.js'

const LISTED = ['USDC-cNGN-30NOV26', 'cNGN-PERP', 'cNGN-USDC']

interface Expected {
  readonly status: number
  readonly code: string
  readonly error?: string
  readonly field?: string | undefined
}

describe('every refusal, on a gateway with its intake', () => {
  let stage: OrderStage
  before(async () => {
    stage = await anOrderStage({ markets: tableMarkets })
  })
  after(() => stage.close())

  const post = (body: unknown) => stage.send('POST', '/v1/orders', { body })
  const cancel = (body: unknown, headers: Record<string, string> = {}) =>
    stage.send('POST', '/v1/orders/cancel', { body, headers })
  const namesOf = ({ owner_address, nonce }: OrderBody) => ({ owner_address, nonce })

  /** The answer is as expected, and neither the registry nor the log has more than before. */
  async function expectRefused(ask: () => Promise<Answered>, expected: Expected, name = '') {
    const before = await stage.kept()
    const { status, json } = await ask()
    expect({ status, ...json }, name).to.include(expected)
    expect(json.field, name).to.equal(expected.field)
    expect(await stage.kept(), name).to.deep.equal(before)
    return json
  }

  function refuses<Good>(path: string, rules: readonly Rule<Good>[], good: Good): void {
    for (const { when, detail, ...expected } of rules) {
      it(`${expected.status} ${expected.error.slice(0, 100)}`, async () => {
        for (const [name, change] of Object.entries(when)) {
          const body = change(good)
          const json = await expectRefused(() => stage.send('POST', path, { body }), expected, name)
          if (detail !== undefined) expect(json.detail, name).to.deep.include(detail)
        }
      })
    }
  }

  describe('of an order', () => {
    refuses('/v1/orders', [...fieldRules, ...termRules, ...signedRules], engine)

    it('leaves no order and no prototype behind', async () => {
      for (const { order_id } of [engine, intent]) {
        expect((await stage.send('GET', `/v1/orders/${order_id}`)).status).to.equal(404)
      }
      expect(({} as Record<string, unknown>).order_id).to.equal(undefined)
    })

    for (const [what, change] of Object.entries(harmless)) {
      it(`but takes the order ${what}`, async () => {
        const before = await stage.kept()
        const answer = await post(change(await signedBody()))
        expect(answer.json.error).to.equal(undefined)
        expect(answer.json).to.have.nested.property('order.status', 'active')
        const { stored, published } = await stage.kept()
        expect([stored, published]).to.deep.equal([before.stored + 1, before.published + 1])
      })
    }
  })

  describe('of a cancel', () => refuses('/v1/orders/cancel', cancelRules, goodCancel))
  describe('of a replacement', () =>
    refuses(
      '/v1/orders/replace',
      [...replacementRules, ...[...fieldRules, ...signedRules].map(ofReplacement)],
      goodReplacement,
    ))
  describe('of a reduction', () =>
    refuses('/v1/orders/reduce', [...cancelRules, ...reductionRules], goodReduction))
  describe('of a batch', () => refuses('/v1/orders/batch', batchRules, goodBatch))
  describe('of a deposit', () => refuses('/v1/deposits', depositRules, aDepositBody()))
  describe('of a withdrawal', () => refuses('/v1/withdrawals', withdrawalRules, aWithdrawalBody()))

  describe('of reads and of requests as such', () => {
    for (const { requests, more = {}, ...expected } of requestRules(LISTED)) {
      const text = typeof more.message === 'string' ? more.message : expected.error
      it(`${expected.status} ${text.slice(0, 100)}`, async () => {
        for (const { method, path, ...options } of requests) {
          const name = `${method} ${path.slice(0, 100)}`
          const json = await expectRefused(() => stage.send(method, path, options), expected, name)
          expect(json, name).to.deep.include(more)
        }
      })
    }

    it('400 of a deprecated identifier from its cut-off on (REA-004)', async () => {
      const later = await anOrderStage({}, Date.parse('2027-01-06T00:00:00Z'))
      for (const path of ['/v1/book', '/v1/trades', '/v1/candles']) {
        const { status, json } = await later.send('GET', `${path}?symbol=USDCcNGN-SPOT`)
        expect(status).to.equal(400)
        expect(json).to.deep.include({
          error: 'unknown_market',
          message: 'no such market: USDCcNGN-SPOT',
          markets: ['cNGN-USDC'],
        })
      }
      await later.close()
    })
  })

  describe('of a signature', () => {
    const expected = {
      status: 400,
      code: 'invalid_signature',
      field: 'signature',
      error: 'signature does not authorize this action',
    }
    for (const [what, change] of Object.entries(badSignatures)) {
      it(what, async () => {
        const body = await signedBody()
        await expectRefused(() => post(change(body)), expected)
      })
    }

    const domain = { chainId: 8453, verifyingContract: `0x${'ab'.repeat(20)}` } as const
    const otherDomains: [string, OrderTerms['domain'] & { version?: string }][] = [
      ['for another chain', { ...domain, chainId: 1 }],
      ['for another contract', { ...domain, verifyingContract: `0x${'ac'.repeat(20)}` }],
      ['for version 1', { ...domain, version: '1' }],
    ]
    for (const [what, other] of otherDomains) {
      it(what, async () => {
        const body = await signedBody({ domain: other })
        const json = await expectRefused(() => post(body), expected)
        expect(json.detail).to.include.keys('digest', 'domain', 'recovered', 'expected')
      })
    }

    it('by another key', async () => {
      const theirs = await signedBody({ privateKey: `0x${'02'.repeat(32)}` })
      const body = { ...(await signedBody()), signature: theirs.signature }
      await expectRefused(() => post(body), expected)
    })

    it('by a key whose address has code that does not authorize it', async () => {
      const body = await signedBody({ privateKey: `0x${'03'.repeat(32)}` })
      const signer = body.signer_address.toLowerCase() as Address
      stage.contracts.add(signer)
      stage.chain.owner = signer
      await expectRefused(() => post(body), expected)
      stage.chain.owner = undefined
    })
  })

  describe('of what the chain says', () => {
    it('an account outside custody', async () => {
      stage.chain.inCustody = false
      const body = await signedBody()
      const code = 'subaccount_not_in_custody'
      await expectRefused(() => post(body), { status: 400, code, field: 'subaccount_id' })
      stage.chain.inCustody = true
    })

    it('an account of another owner', async () => {
      stage.chain.owner = `0x${'99'.repeat(20)}`
      const body = await signedBody()
      const code = 'subaccount_not_owned'
      await expectRefused(() => post(body), { status: 400, code, field: 'subaccount_id' })
      stage.chain.owner = undefined
    })

    it('a signer who is no session key of the owner', async () => {
      const owner = (await signedBody()).owner_address as Address
      const body = await signedBody({ privateKey: `0x${'04'.repeat(32)}`, owner })
      const { status, code, message: error, field } = refusals.sessionKey
      await expectRefused(() => post(body), { status, code, error, field })
    })
  })

  describe('of what is taken', () => {
    const takenId = { status: 409, code: 'duplicate_order_id', field: 'order_id' }

    it('an order_id, whatever else the body says', async () => {
      const body = await signedBody()
      expect((await post(body)).status).to.equal(200)
      const repeated = await expectRefused(() => post(body), takenId)
      expect(repeated).to.have.nested.property('order.order_id', body.order_id)
      const other = { ...(await signedBody()), order_id: body.order_id }
      const json = await expectRefused(() => post(other), takenId)
      expect(json).not.to.have.property('order')
    })

    it('a nonce of the owner, under a new id and after a cancel (ORD-018)', async () => {
      const body = await signedBody()
      await post(body)
      expect((await cancel(namesOf(body))).status).to.equal(200)
      const takenNonce = { status: 409, code: 'duplicate_nonce', field: 'nonce' }
      await expectRefused(() => post({ ...body, order_id: 'another' }), takenNonce)
      expect((await stage.send('GET', '/v1/orders/another')).status).to.equal(404)
    })
  })

  describe('of a cancel whose order is not there, or not the caller’s', () => {
    const notFound = { status: 404, code: 'active_order_not_found' }

    it('an unknown nonce, and an order that is cancelled already (CAN-005)', async () => {
      await expectRefused(() => cancel(goodCancel), notFound)
      const body = await signedBody()
      await post(body)
      const cancelled = await cancel(namesOf(body))
      expect(cancelled.json).to.have.nested.property('order.status', 'cancelled')
      const { status, json } = await cancel(namesOf(body))
      expect({ status, ...json }).to.include(notFound)
    })

    it('a service’s cancel in a protected namespace', async () => {
      const body = await signedBody({ orderId: 'smoke:1' })
      await post(body)
      const expected = { status: 403, code: 'protected_namespace' }
      await expectRefused(() => cancel({ ...namesOf(body), service: 'cleaner' }), expected)
      expect((await cancel(namesOf(body))).status).to.equal(200)
    })

    it('a proof of another owner, or one that proves nothing', async () => {
      const body = await signedBody()
      await post(body)
      const theirs = await serviceAuth(`0x${'05'.repeat(32)}`, stage.nowSec)
      const names = namesOf(body)
      const own = { ...names, signature: body.signature, signer_address: body.owner_address }
      const withFrame = (frame: string) => () => cancel(names, { 'x-service-auth': frame })
      const rows: [() => Promise<Answered>, code: string, field?: string][] = [
        [withFrame(theirs), 'cancel_not_owner'],
        [withFrame('garbage'), 'cancel_frame_invalid'],
        [
          () => cancel({ ...own, expiry: stage.nowSec + 60 }),
          ...(['cancel_proof_invalid', 'signature'] as const),
        ],
        [() => cancel({ ...own, expiry: stage.nowSec }), 'cancel_proof_expired'],
      ]
      for (const [ask, code, field] of rows) {
        await expectRefused(ask, { status: 403, code, ...(field !== undefined && { field }) })
      }
      const mine = await serviceAuth(testPrivateKey, stage.nowSec)
      expect((await withFrame(mine)()).status).to.equal(200)
    })

    it('a bare cancel where proof is required, before anything is looked up (CAN-010)', async () => {
      const strict = await anOrderStage({ cancelAuth: 'required' })
      const { status, json } = await strict.send('POST', '/v1/orders/cancel', { body: goodCancel })
      expect([status, json.code]).to.deep.equal([403, 'cancel_proof_required'])
      await strict.close()
    })
  })

  it('500 when the registry cannot be read, and nothing is placed', async () => {
    const broken = await anOrderStage()
    const body = await signedBody()
    broken.loseRegistry()
    const cancelled = await broken.send('POST', '/v1/orders/cancel', { body: namesOf(body) })
    expect([cancelled.status, cancelled.json.code]).to.deep.equal([500, 'cancel_target_unresolved'])
    const placed = await broken.send('POST', '/v1/orders', { body })
    expect([placed.status, placed.json.code]).to.deep.equal([500, 'outcome_unknown'])
    expect(broken.matcher.taken).to.deep.equal([])
    await broken.close()
  })
})
