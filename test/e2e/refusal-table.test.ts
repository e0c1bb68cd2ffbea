import { expect } from 'chai'
import { refusals } from '../../core/refusals.js'
import type { Address } from '../../core/action.js'
import {
  type OrderBody,
  type OrderTerms,
  signedOrderBody,
  testPrivateKey,
} from '../support/builders.js'
import { serviceAuth } from '../support/cancel-proofs.js'
import type { Answered, SendOptions } from '../support/gateway-stage.js'
import { WRONG_SIGNATURE } from '../support/signed-refusals.js'
import { harmless, orderRefusals } from '../support/order-refusals.js'
import { type OrderStage, anOrderStage } from '../support/order-stage.js'
import { marketReads, wrongNames, wrongValues } from '../support/read-refusals.js'

let signed = 0

/** The order that the table spoils: buy 10 cNGN at 0.0001. */
function valid(terms: OrderTerms = {}) {
  signed += 1
  const own = { orderId: `row-${signed}`, nonce: BigInt(signed) }
  return signedOrderBody({ ...own, price: '0.0001', amount: '10', ...terms })
}

describe('every refusal, on a gateway with its intake', () => {
  let stage: OrderStage
  before(async () => {
    stage = await anOrderStage()
  })
  after(() => stage.close())

  const post = (body: unknown) => stage.send('POST', '/v1/orders', { body })
  const cancel = (body: unknown, headers: Record<string, string> = {}) =>
    stage.send('POST', '/v1/orders/cancel', { body, headers })
  const namesOf = ({ owner_address, nonce }: OrderBody) => ({ owner_address, nonce })

  interface Expected {
    readonly status?: number
    readonly error: string | RegExp
  }
  /** The answer is as expected, and neither the registry nor the log nor a read knows of it. */
  async function expectRefused(ask: () => Promise<Answered>, expected: Expected) {
    const before = await stage.kept()
    const { status, json } = await ask()
    if (typeof expected.error === 'string') expect(json.error).to.equal(expected.error)
    else expect(json.error).to.match(expected.error)
    expect(status).to.equal(expected.status ?? 400)
    expect(await stage.kept()).to.deep.equal(before)
    return json
  }
  async function expectAbsent(orderId: string) {
    const { status } = await stage.send('GET', `/v1/orders/${encodeURIComponent(orderId)}`)
    expect(status).to.equal(404)
  }

  describe('of an order’s body', () => {
    for (const { what, change, error } of orderRefusals) {
      it(`${what}: ${error.toString().slice(0, 80)}`, async () => {
        const body = await valid()
        await expectRefused(() => post(change(body, stage.nowSec)), { error })
        await expectAbsent(body.order_id)
      })
    }

    it('leaves the prototype of objects alone', () => {
      expect(({} as Record<string, unknown>).order_id).to.equal(undefined)
    })

    it('the instrument of a market that is not listed: unknown market', async () => {
      const [, market] = stage.markets
      await expectRefused(async () => post(await valid({ ...(market && { market }) })), {
        error: 'unknown market',
      })
    })

    for (const { what, change } of harmless) {
      it(`but takes the order ${what}`, async () => {
        const before = await stage.kept()
        const answer = await post(change(await valid()))
        expect(answer.json.error).to.equal(undefined)
        expect(answer.json).to.have.nested.property('order.status', 'active')
        const { stored, published } = await stage.kept()
        expect([stored, published]).to.deep.equal([before.stored + 1, before.published + 1])
      })
    }
  })

  describe('of a signature', () => {
    const domain = { chainId: 8453, verifyingContract: `0x${'ab'.repeat(20)}` } as const
    const otherDomains: [string, OrderTerms['domain'] & { version?: string }][] = [
      ['for another chain', { ...domain, chainId: 1 }],
      ['for another contract', { ...domain, verifyingContract: `0x${'ac'.repeat(20)}` }],
      ['for version 1', { ...domain, version: '1' }],
    ]
    for (const [what, other] of otherDomains) {
      it(what, async () => {
        const json = await expectRefused(async () => post(await valid({ domain: other })), {
          error: WRONG_SIGNATURE,
        })
        expect(json.detail).to.include.keys('digest', 'domain', 'recovered', 'expected')
      })
    }

    it('by another key', async () => {
      const theirs = await valid({ privateKey: `0x${'02'.repeat(32)}` })
      const body = await valid()
      await expectRefused(() => post({ ...body, signature: theirs.signature }), {
        error: WRONG_SIGNATURE,
      })
    })

    it('by a key whose address has code that does not authorize it', async () => {
      const privateKey = `0x${'03'.repeat(32)}` as const
      const body = await valid({ privateKey })
      const signer = body.signer_address.toLowerCase() as Address
      stage.contracts.add(signer)
      stage.chain.owner = signer
      await expectRefused(() => post(body), { error: WRONG_SIGNATURE })
      stage.chain.owner = undefined
    })
  })

  describe('of what the chain says', () => {
    it('an account outside custody', async () => {
      stage.chain.inCustody = false
      await expectRefused(async () => post(await valid()), {
        error: 'subaccount_id 7 is not deposited in matching custody',
      })
      stage.chain.inCustody = true
    })

    it('an account of somebody else', async () => {
      stage.chain.owner = `0x${'99'.repeat(20)}`
      await expectRefused(async () => post(await valid()), {
        error: 'subaccount_id 7 is not owned by owner_address',
      })
      stage.chain.owner = undefined
    })

    it('a signer who is no session key of the owner', async () => {
      const owner = (await valid()).owner_address as Address
      const body = await valid({ privateKey: `0x${'04'.repeat(32)}`, owner })
      await expectRefused(() => post(body), { error: refusals.sessionKey.message })
    })
  })

  describe('of what is taken', () => {
    it('an order_id, whatever else the body says', async () => {
      const body = await valid()
      expect((await post(body)).status).to.equal(200)
      const error = 'duplicate order: order_id already used'
      const repeated = await expectRefused(() => post(body), { status: 409, error })
      expect(repeated).to.have.nested.property('order.order_id', body.order_id)
      const other = { ...(await valid()), order_id: body.order_id }
      const json = await expectRefused(() => post(other), { status: 409, error })
      expect(json).not.to.have.property('order')
    })

    it('a nonce of the owner, under a new id and after a cancel', async () => {
      const body = await valid()
      await post(body)
      expect((await cancel(namesOf(body))).status).to.equal(200)
      await expectRefused(() => post({ ...body, order_id: 'another' }), {
        status: 409,
        error: 'duplicate order: nonce already used',
      })
      await expectAbsent('another')
    })
  })

  describe('of a cancel', () => {
    const owner_address = `0x${'ad'.repeat(20)}`
    const rows: [string, unknown, number, string | RegExp][] = [
      ['an unknown nonce', { owner_address, nonce: '1' }, 404, 'active order not found'],
      ['no owner_address', { nonce: '1' }, 400, 'owner_address is required'],
      ['no nonce', { owner_address }, 400, 'nonce is required'],
      [
        'garbage for an owner',
        { owner_address: '0x1', nonce: '1' },
        400,
        /^owner_address must be 0x/,
      ],
      ['a hex nonce', { owner_address, nonce: '0x1' }, 400, /^invalid integer value for nonce/],
      [
        'a nonce that is a number',
        { owner_address, nonce: 1 },
        400,
        /^invalid integer value for nonce/,
      ],
      [
        'a reason too long',
        { owner_address, nonce: '1', reason: 'x'.repeat(129) },
        400,
        /^reason must be/,
      ],
      ['no object', [], 400, 'invalid JSON body'],
      ['torn JSON', '{"nonce":', 400, 'invalid JSON body'],
    ]
    for (const [what, body, status, error] of rows) {
      it(what, () => expectRefused(() => cancel(body), { status, error }))
    }

    it('an order that is cancelled already', async () => {
      const body = await valid()
      await post(body)
      expect((await cancel(namesOf(body))).json).to.have.nested.property(
        'order.status',
        'cancelled',
      )
      const { status, json } = await cancel(namesOf(body))
      expect([status, json.error]).to.deep.equal([404, 'active order not found'])
    })

    it('a service’s cancel in a protected namespace', async () => {
      const body = await valid({ orderId: 'smoke:1' })
      await post(body)
      await expectRefused(() => cancel({ ...namesOf(body), service: 'cleaner' }), {
        status: 403,
        error: 'service-tagged cancels are not allowed for protected namespace "smoke:"',
      })
      expect((await cancel(namesOf(body))).status).to.equal(200)
    })

    it('a proof of another owner, or one that proves nothing', async () => {
      const body = await valid()
      await post(body)
      const stranger = `0x${'05'.repeat(32)}` as const
      const theirFrame = await serviceAuth(stranger, stage.nowSec)
      const refusedBy = (text: string | RegExp) => ({ status: 403, error: text })
      await expectRefused(
        () => cancel(namesOf(body), { 'x-service-auth': theirFrame }),
        refusedBy('the proof does not authorize owner_address'),
      )
      await expectRefused(
        () => cancel(namesOf(body), { 'x-service-auth': 'garbage' }),
        refusedBy(/^X-Service-Auth: \w/),
      )
      const { owner_address, signature } = body
      const ownSignature = { ...namesOf(body), signature, signer_address: owner_address }
      await expectRefused(
        () => cancel({ ...ownSignature, expiry: stage.nowSec + 60 }),
        refusedBy('signature does not authorize this cancel'),
      )
      await expectRefused(
        () => cancel({ ...ownSignature, expiry: stage.nowSec }),
        refusedBy('the signed cancel has expired'),
      )
      const mine = await serviceAuth(testPrivateKey, stage.nowSec)
      expect((await cancel(namesOf(body), { 'x-service-auth': mine })).status).to.equal(200)
    })
  })

  describe('of a read', () => {
    const markets = ['cNGN-USDC']
    for (const path of marketReads) {
      for (const [query, message] of wrongNames) {
        it(`${path}?${query.slice(0, 30)}: ${message.slice(0, 40)}`, async () => {
          const json = await expectRefused(() => stage.send('GET', `${path}?${query}`), {
            error: 'unknown_market',
          })
          expect(json).to.deep.include({ message, markets })
        })
      }

      it(`${path} by a deprecated identifier from its cut-off on`, async () => {
        const later = await anOrderStage({}, Date.parse('2027-01-06T00:00:00Z'))
        const { status, json } = await later.send('GET', `${path}?symbol=USDCcNGN-SPOT`)
        expect(status).to.equal(400)
        expect(json).to.deep.include({
          ...{ error: 'unknown_market', message: 'no such market: USDCcNGN-SPOT', markets },
        })
        await later.close()
      })
    }

    for (const [path, name, wrong, error] of wrongValues) {
      for (const value of wrong) {
        it(`${path} with ${name}=${value}`, () =>
          expectRefused(() => stage.send('GET', `${path}?symbol=cNGN-USDC&${name}=${value}`), {
            error,
          }))
      }
    }

    for (const id of [
      'unknown',
      'x'.repeat(10_000),
      '%00',
      '..%2f..%2fetc%2fpasswd',
      "'%20OR%201=1",
    ]) {
      it(`an order called ${id.slice(0, 24)}`, () =>
        expectRefused(() => stage.send('GET', `/v1/orders/${id}`), {
          ...{ status: 404, error: 'order not found' },
        }))
    }
  })

  describe('of a request as such', () => {
    const rows: [string, string, SendOptions, number, string][] = [
      ['GET', '/v2/orders', {}, 404, 'no such path'],
      ['DELETE', '/v1/orders', {}, 405, 'method not allowed'],
      ['TRACE', '/v1/markets', {}, 405, 'method not allowed'],
      ['POST', '/v1/orders', { body: ' '.repeat(70_000) }, 413, 'request body too large'],
      ['POST', '/v1/orders/cancel', { body: ' '.repeat(70_000) }, 413, 'request body too large'],
      [
        ...([
          'POST',
          '/v1/orders',
          { body: '{}', headers: { 'content-encoding': 'gzip' } },
        ] as const),
        ...([415, 'content-encoding is not supported: send the body uncompressed'] as const),
      ],
    ]
    for (const [method, path, options, status, error] of rows) {
      it(`${method} ${path}: ${status} ${error}`, () =>
        expectRefused(() => stage.send(method, path, options), { status, error }))
    }
  })

  it('a bare cancel where proof is required, before anything is looked up', async () => {
    const strict = await anOrderStage({ cancelAuth: 'required' })
    const body = namesOf(await valid())
    const { status, json } = await strict.send('POST', '/v1/orders/cancel', { body })
    expect([status, json.code]).to.deep.equal([403, 'cancel_proof_required'])
    await strict.close()
  })

  it('500 when the registry cannot be read, and nothing is placed', async () => {
    const broken = await anOrderStage()
    const body = await valid()
    broken.loseRegistry()
    const cancelled = await broken.send('POST', '/v1/orders/cancel', { body: namesOf(body) })
    expect([cancelled.status, cancelled.json.error]).to.deep.equal([
      500,
      'failed to resolve cancel target',
    ])
    const placed = await broken.send('POST', '/v1/orders', { body })
    expect([placed.status, placed.json.code]).to.deep.equal([500, 'outcome_unknown'])
    expect(broken.matcher.taken).to.deep.equal([])
    await broken.close()
  })
})
