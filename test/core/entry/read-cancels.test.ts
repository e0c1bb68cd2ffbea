import { expect } from 'chai'
import fc from 'fast-check'
import {
  proofTimeFault,
  readCancel,
  readCancelAll,
  readCancelAllAfter,
  readCancelOrders,
  readSocketLease,
  type CancelAllProof,
} from '../../../core/entry/read-cancels.js'
import type { OrRefusal } from '../../../core/entry/refusals.js'
import { goodCancelAll, goodCancelAllAfter, goodCancelList } from '../../refusals/cancels.js'

const owner = `0x${'aB'.repeat(20)}`
const place = { market: 'cNGN-USDC' }

/** What was read; a refusal fails the test. */
function read<T extends object>(checked: OrRefusal<T>): T {
  if ('refusal' in checked) throw new Error(checked.refusal.message)
  return checked
}

describe('readCancel', () => {
  it('reads owner and nonce, and fills in the reason (CAN-001, CAN-006)', () => {
    expect(readCancel({ owner_address: owner, nonce: '007', other: 1 })).to.deep.equal({
      owner: owner.toLowerCase(),
      nonce: 7n,
      reason: 'unspecified',
      serviceTagged: false,
    })
  })

  it('keeps a reason and notices the service tag', () => {
    const body = { owner_address: owner, nonce: '7', reason: 'requote', service: 'bot' }
    expect(readCancel(body)).to.include({ reason: 'requote', serviceTagged: true })
    const longest = 'x'.repeat(128)
    expect(readCancel({ ...body, reason: longest })).to.include({ reason: longest })
  })

  it('reads a proof, its expiry as a number or as digits, and ignores its fields without a signature', () => {
    const bare = { owner_address: owner, nonce: '7', signer_address: owner, expiry: 'x' }
    expect(readCancel(bare)).not.to.have.property('proof')
    for (const expiry of [1_900_000_000, '1900000000']) {
      expect(readCancel({ ...bare, expiry, signature: '0xAb' })).to.deep.include({
        proof: { signer: owner.toLowerCase(), expirySec: 1_900_000_000n, signature: '0xAb' },
      })
    }
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (address, nonce, reason) => {
        const read = readCancel({ owner_address: address, nonce, reason })
        expect('refusal' in read || ('nonce' in read && read.nonce >= 0n)).to.equal(true)
      }),
    )
  })
})

describe('readCancelAll', () => {
  const usual = { reason: 'unspecified' }
  const bodies: readonly [name: string, fields: object, terms: object, scope: string][] = [
    ['all orders', {}, usual, 'all'],
    ['those of a market', { market: 'an alias' }, usual, 'market=cNGN-USDC'],
    ['those of the buy side', { side: 'buy' }, { ...usual, side: 'buy' }, 'side=buy'],
    ['those of the sell side', { side: 'sell' }, { ...usual, side: 'sell' }, 'side=sell'],
    [
      'those of a subaccount',
      { subaccount_id: '007' },
      { ...usual, subaccountId: 7n },
      'subaccount_id=7',
    ],
    [
      'those that fit all three, for a reason',
      { subaccount_id: '0', side: 'buy', reason: 'requote', market: 'cNGN-USDC' },
      { side: 'buy', subaccountId: 0n, reason: 'requote' },
      'market=cNGN-USDC;side=buy;subaccount_id=0',
    ],
  ]
  for (const [name, fields, terms, scope] of bodies) {
    it(`reads a cancel of ${name}, and what a signature names (CAN-015)`, () => {
      const body = { ...goodCancelAll, ...fields }
      const expected = { owner: goodCancelAll.owner_address, terms, scope }
      expect(readCancelAll(body, place)).to.deep.equal(expected)
    })
  }

  const proven = { ...goodCancelAll, signer_address: owner, issued_at: 100, expiry: '160' }

  it('reads a proof of a minute, its times as numbers or as digits', () => {
    const proof = {
      signer: owner.toLowerCase(),
      issuedAtSec: 100n,
      expirySec: 160n,
      signature: '0xAb',
    }
    for (const times of [{}, { issued_at: '100', expiry: 160 }]) {
      const body = { ...proven, ...times, signature: '0xAb' }
      expect(read(readCancelAll(body, place)).proof).to.deep.equal(proof)
    }
  })

  it('ignores the other fields of a proof without a signature', () => {
    expect(read(readCancelAll({ ...proven, expiry: 'x' }, place))).not.to.have.property('proof')
  })
})

describe('readCancelOrders', () => {
  it('reads up to 200 ids in their order, and what a signature names (CAN-016)', () => {
    const body = { ...goodCancelList, order_ids: ['b', 'a"'], reason: 'requote' }
    expect(readCancelOrders(body)).to.deep.equal({
      owner: goodCancelList.owner_address,
      terms: { orderIds: ['b', 'a"'], reason: 'requote' },
      scope: 'order_ids=["b","a\\""]',
    })
    const most = Array.from({ length: 200 }, (_, n) => `${n}`)
    const { terms } = read(readCancelOrders({ ...goodCancelList, order_ids: most }))
    expect(terms).to.deep.equal({ orderIds: most, reason: 'unspecified' })
  })
})

describe('readCancelAllAfter', () => {
  it('reads 0 and 10 to 86,400 seconds, and what a signature names (CAN-026)', () => {
    for (const seconds of [0, 10, 86_400]) {
      const body = { ...goodCancelAllAfter, seconds }
      const expected = { owner: goodCancelAllAfter.owner_address, terms: { seconds } }
      const scope = `cancel_all_after=${seconds}`
      expect(readCancelAllAfter(body, place)).to.deep.equal({ ...expected, scope })
      const ofMarket = readCancelAllAfter({ ...body, market: 'an alias' }, place)
      expect(ofMarket).to.deep.equal({ ...expected, scope: `${scope};market=cNGN-USDC` })
    }
  })
})

describe('the time of a proof of a cancel of many orders', () => {
  const proof: CancelAllProof = {
    signer: `0x${'ab'.repeat(20)}`,
    signature: '0x',
    issuedAtSec: 1_000n,
    expirySec: 1_060n,
  }
  const times: readonly [name: string, nowMs: number, code: string | undefined][] = [
    ['more than a minute ahead of the clock', 939_999, 'cancel_proof_early'],
    ['a minute ahead of the clock', 940_000, undefined],
    ['in its last millisecond', 1_059_999, undefined],
    ['at its expiry', 1_060_000, 'cancel_proof_expired'],
    ['after its expiry', 1_060_001, 'cancel_proof_expired'],
  ]
  for (const [name, nowMs, code] of times) {
    it(`${code === undefined ? 'counts' : 'does not count'} ${name} (CAN-018)`, () =>
      expect(proofTimeFault(proof, nowMs)?.code).to.equal(code))
  }
})

describe('readSocketLease', () => {
  const good = { lease_id: '0a'.repeat(16), seconds: 10 }

  it('reads an id of 32 hex digits and the seconds of a lease', () => {
    const expected = { leaseId: good.lease_id, seconds: 10 }
    expect(readSocketLease({ ...good, more: 1 })).to.deep.equal(expected)
  })

  it('takes nothing else', () => {
    const wrong: unknown[] = [
      ...[undefined, null, [], 'x'],
      ...['0A'.repeat(16), '0a'.repeat(15), `${'0a'.repeat(16)}b`, 7, [good.lease_id]].map(
        (leaseId) => ({ ...good, lease_id: leaseId }),
      ),
      ...[0, 9, 86_401, 10.5, '60'].map((seconds) => ({ ...good, seconds })),
    ]
    for (const body of wrong) {
      expect(readSocketLease(body), JSON.stringify(body)).to.equal(undefined)
    }
  })
})
