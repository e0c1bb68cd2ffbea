import { expect } from 'chai'
import {
  checkOperator,
  SIGNED_WITHIN_MS,
  type CheckOperator,
  type TextOf,
} from '../../../runtime/bus/check-operator.js'
import { operatorText, type MarketRequest } from '../../../bus-schemas/markets.js'
import { operatorNonces } from '../../../bus-schemas/subjects.js'
import { AppendRefused, BusUnavailable, type ClaimsSpec } from '../../../runtime/bus/bus.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { newSeed } from '../../../runtime/bus/nkeys.js'
import { operatorKeyOf } from '../../../runtime/bus/operator-key.js'
import { rejectionOf } from './probes.js'

const NOW = 1_700_000_000_000
const newKey = () => operatorKeyOf(new TextEncoder().encode(newSeed()))
const ada = newKey()
const foreign = newKey()
const pause: MarketRequest = {
  request_id: 'r',
  by: 'root',
  reason: 'tariff',
  change: { kind: 'set', fields: { taker_fee_bps: '30', tick_size: '1' } },
}

describe('the signature of an operator', () => {
  let bus: ReturnType<typeof createMemoryBus>
  let check: CheckOperator
  let nonces = 0
  beforeEach(async () => {
    bus = createMemoryBus()
    check = checkOperator({ keys: new Map([[ada.publicKey, 'ada']]), nowMs: () => NOW })
    await check.open(bus)
  })
  const signed = (issuedAtMs = NOW, key = ada, market = 'M', request = pause) => {
    nonces += 1
    const nonce = nonces.toString(16).padStart(32, '0')
    return key.sign(market, request, { issuedAtMs, nonce })
  }
  const textOf =
    (request: MarketRequest): TextOf =>
    (proof) =>
      operatorText('M', request, proof)
  const verdictOn = async (request: MarketRequest): Promise<string> => {
    const verdict = await check.verdict(bus, request, textOf(request))
    return 'problem' in verdict ? verdict.problem : `by ${verdict.by}`
  }

  it('says who gives the command', async () => {
    expect(await verdictOn(signed())).to.equal('by ada (root)')
    expect(await verdictOn({ ...signed(), request_id: 'another' })).to.equal('by ada (root)')
    const own = signed(NOW, ada, 'M', { ...pause, by: 'ada' })
    expect(await verdictOn(own)).to.equal('by ada')
  })

  it('is of a known key, of this command for this market, and fresh (OPE-003)', async () => {
    expect(await verdictOn(pause)).to.contain('not signed')
    expect(await verdictOn(signed(NOW, foreign))).to.contain('not one of OPERATOR_KEYS')
    expect(await verdictOn(signed(NOW, ada, 'OTHER'))).to.contain('does not fit')
    const fits = signed()
    for (const changed of [
      { ...fits, reason: 'another' },
      { ...fits, by: 'eve' },
      { ...fits, change: { kind: 'pause' as const } },
      {
        ...fits,
        change: { kind: 'set' as const, fields: { taker_fee_bps: '31', tick_size: '1' } },
      },
      { ...fits, proof: { ...fits.proof!, issued_at_ms: NOW - 1 } },
      { ...fits, proof: { ...fits.proof!, nonce: 'f'.repeat(32) } },
      { ...fits, proof: { ...fits.proof!, signature: 'nonsense' } },
    ])
      expect(await verdictOn(changed)).to.contain('does not fit')
    expect(await verdictOn(fits)).to.equal('by ada (root)')
    for (const issuedAtMs of [NOW - SIGNED_WITHIN_MS, NOW + SIGNED_WITHIN_MS]) {
      expect(await verdictOn(signed(issuedAtMs))).to.equal('by ada (root)')
    }
    expect(await verdictOn(signed(NOW - SIGNED_WITHIN_MS - 1))).to.contain(' 60 s ago')
    expect(await verdictOn(signed(NOW + SIGNED_WITHIN_MS + 1))).to.contain('-60 s ago')
  })

  it('has a nonce of 32 hex digits', async () => {
    for (const nonce of ['f'.repeat(31), 'f'.repeat(33), 'F'.repeat(32), `${'f'.repeat(31)}.`]) {
      const request = ada.sign('M', pause, { issuedAtMs: NOW, nonce })
      expect(await verdictOn(request), nonce).to.contain('does not fit')
    }
  })

  it('is remembered for longer than it counts', async () => {
    const declared: ClaimsSpec[] = []
    await check.open({
      declareClaims: (spec) => {
        declared.push(spec)
        return Promise.resolve()
      },
    })
    expect(declared.map(({ bucket }) => bucket)).to.deep.equal([operatorNonces])
    expect(declared[0]?.keepMs).to.be.greaterThan(2 * SIGNED_WITHIN_MS)
  })

  it('carries a command out once, whichever matcher is asked (OPE-003)', async () => {
    const request = signed()
    expect(await verdictOn(request)).to.equal('by ada (root)')
    expect(await verdictOn(request)).to.equal('this command was given before')
    const next = checkOperator({ keys: new Map([[ada.publicKey, 'ada']]), nowMs: () => NOW })
    expect(await next.verdict(bus.connect(), request, textOf(request))).to.deep.equal({
      problem: 'this command was given before',
    })
  })

  it('is not taken while the bus cannot say whether it was used', async () => {
    bus.setConnected(false)
    expect(await verdictOn(signed())).to.contain('try again')
    const verdictAfter = (error: Error) =>
      check.verdict({ claimOnce: () => Promise.reject(error) }, signed(), textOf(pause))
    const full = await verdictAfter(new AppendRefused('no room'))
    expect(full).to.deep.equal({ problem: 'the bus does not answer: try again' })
    const closed = new BusUnavailable('closed')
    expect(await rejectionOf(verdictAfter(closed))).to.equal(closed)
  })

  it('is needed: a matcher without keys takes no command', async () => {
    const none = checkOperator({ keys: new Map(), nowMs: () => NOW })
    expect(await none.verdict(bus, signed(), textOf(pause))).to.deep.equal({
      problem: 'OPERATOR_KEYS names no operator',
    })
  })
})
