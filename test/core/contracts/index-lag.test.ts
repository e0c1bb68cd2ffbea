import { expect } from 'chai'
import {
  indexLagAt,
  indexLagEntry,
  lagBps,
  refuseIndexLag,
  type IndexSample,
  type IndexWatch,
} from '../../../core/contracts/index-lag.js'
import { readIndexStatus } from '../../../core/entry/read-index-status.js'
import { priceE18 } from '../../../core/money.js'
import { e18 } from '../../support/perpetual.js'

const NOW_MS = 1_000_000
const price = (text: string) => priceE18(e18(text))
const index = price('0.0006')

function lagOf(sample: Partial<IndexSample> = {}, gate: Partial<IndexWatch['gate']> = {}) {
  return indexLagAt(
    {
      gate: { enforced: true, maxBps: 100, maxAgeMs: 300_000, ...gate },
      sample: { atMs: NOW_MS - 1_500, usdcPerCngn: index, isOk: true, ...sample },
    },
    NOW_MS,
  )
}
const at = (text: string) => lagOf({ usdcPerCngn: price(text) })
const refusalOf = (lag: Parameters<typeof refuseIndexLag>[0], of = index) => {
  const refusal = refuseIndexLag(lag, of)
  return refusal && { code: refusal.code, ...refusal.extra, ...refusal.detail }
}

describe("the lag of a perpetual's index", () => {
  it('is truncated toward zero, with its sign (PER-016)', () => {
    expect(lagBps(at('0.0006060599'), index)).to.equal(100n)
    expect(lagBps(at('0.0005939401'), index)).to.equal(-100n)
    expect(lagBps(at('0.00060006'), index)).to.equal(1n)
    expect(lagBps(at('0.000600059'), index)).to.equal(0n)
  })

  it('refuses beyond the bound on both sides, and not at it (PER-017, PER-018)', () => {
    for (const text of ['0.0006060599', '0.0005939401', '0.0006']) {
      expect(refusalOf(at(text)), text).to.equal(undefined)
    }
    expect(refusalOf(at('0.00060606'))).to.deep.equal({
      code: 'index_lag',
      message: 'no new orders are taken: the index is 101 bps from its sample, more than 100',
      lag_bps: 101,
      max_bps: 100,
    })
    expect(refusalOf(at('0.00059394'))).to.include({ lag_bps: -101 })
  })

  it('refuses without a fresh sample (PER-017)', () => {
    const none = {
      code: 'index_lag',
      message: 'no new orders are taken: there is no fresh sample of the index',
      max_bps: 100,
    }
    expect(refusalOf({ enforced: true, maxBps: 100 })).to.deep.equal(none)
    expect(refusalOf(lagOf({ isOk: false }))).to.deep.include({ ...none, sample_ok: false })
    expect(refusalOf(lagOf({ atMs: NOW_MS - 300_001 }))).to.deep.equal({
      ...none,
      sample_ok: true,
      sample_age_sec: 300,
    })
    expect(refusalOf(lagOf({ atMs: NOW_MS - 300_000 }))).to.equal(undefined)
    expect(refusalOf(lagOf({ atMs: NOW_MS + 5_000 }))).to.equal(undefined)
  })

  it('refuses nothing without a limit, while it is not enforced, and without an index', () => {
    expect(refusalOf(undefined)).to.equal(undefined)
    expect(refusalOf(lagOf({ isOk: false }, { enforced: false }))).to.equal(undefined)
    expect(refusalOf(at('1'), priceE18(0n))).to.equal(undefined)
  })

  it('is shown with its sample, the lag only while that is fresh', () => {
    expect(indexLagEntry(at('0.00060606'), index)).to.deep.equal({
      enforced: true,
      max_bps: 100,
      lag_bps: 101,
      spot_sample_at: 998,
      spot_usdc_per_cngn: '0.00060606',
      sample_age_sec: 1,
    })
    expect(indexLagEntry(lagOf({ isOk: false }), index)).not.to.have.property('lag_bps')
    expect(indexLagEntry({ enforced: false, maxBps: 50 }, index)).to.deep.equal({
      enforced: false,
      max_bps: 50,
    })
  })
})

describe('the body of a report on the index', () => {
  const good = { at_ms: NOW_MS, usdc_per_cngn: '0.0006', sample_ok: true }
  const read = (body: object | undefined) =>
    readIndexStatus(body as Record<string, unknown> | undefined, NOW_MS)
  const codeOf = (body: object | undefined) => {
    const checked = read(body)
    return 'refusal' in checked ? checked.refusal.code : 'read'
  }

  it('is a time, a price and whether it counts', () => {
    expect(read({ ...good, further: 1 })).to.deep.equal({
      sample: { atMs: NOW_MS, usdcPerCngn: index, isOk: true },
    })
  })

  it('is refused when a field is missing or of another form', () => {
    const bad: readonly object[] = [
      { at_ms: '1' },
      { at_ms: -1 },
      { at_ms: 1.5 },
      { usdc_per_cngn: 0.0006 },
      { usdc_per_cngn: '0' },
      { usdc_per_cngn: '1e-4' },
      { usdc_per_cngn: '-0.1' },
      { sample_ok: 1 },
      { sample_ok: undefined },
    ]
    for (const change of bad) {
      expect(codeOf({ ...good, ...change }), JSON.stringify(change)).to.equal(
        'invalid_index_status',
      )
    }
    expect(codeOf(undefined)).to.equal('invalid_index_status')
    expect(codeOf({ ...good, at_ms: NOW_MS + 60_001 })).to.equal('index_status_ahead')
    for (const atMs of [0, NOW_MS + 60_000]) {
      expect(codeOf({ ...good, at_ms: atMs })).to.equal('read')
    }
  })
})
