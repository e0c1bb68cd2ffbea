import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { inProject } from '../../devnet/launcher/binaries.js'
import { MarketFileError, parseRow } from '../../data/market-row.js'
import { rowOfNextSeries } from '../../data/series-row.js'
import { createSeries, NoNextSeries } from '../../devnet/series/next-series.js'
import { testPrivateKey } from '../support/builders.js'
import { seriesRow } from '../support/series-rows.js'
import { tempDir } from '../support/temp-dir.js'
import { ENDS_AT_LAST } from '../support/ends-at-last.js'

describe('the row of the next series', () => {
  const NOV = 1_796_047_200n
  const DEC_SEC = Date.UTC(2026, 11, 31, 14) / 1_000
  const rows = [
    { market: 'cNGN-USDC', ordinal: 7, asset: 'wrapped_cngn', sub_id: '0' },
    seriesRow('USDC-cNGN-30NOV26', 2, NOV),
  ]

  it('is the last one with its own date, and without an ordinal', () => {
    const next = rowOfNextSeries(rows, DEC_SEC)
    expect(next).to.deep.equal({
      ...seriesRow('USDC-cNGN-31DEC26', 8, BigInt(DEC_SEC)),
      ordinal: undefined,
    })
    const march = Date.UTC(2027, 2, 31, 13) / 1_000
    expect(rowOfNextSeries([...rows, { ...next, enabled: false }], march)).to.include({
      market: 'USDC-cNGN-31MAR27',
      ordinal: undefined,
      sub_id: `${march}`,
      enabled: true,
    })
  })

  it('is asked for with an expiry, on a devnet that was started', () => {
    const dir = tempDir()
    const run = (...args: readonly string[]) =>
      spawnSync('./venue', ['series', ...args], {
        cwd: inProject('.'),
        encoding: 'utf8' as const,
        ...ENDS_AT_LAST,
        env: { PATH: process.env.PATH, DATA_DIR: dir.path },
      })
    try {
      for (const args of [[], ['tomorrow'], ['2026-13-01T00:00Z'], ['2026-12-31T14:00']])
        expect(run(...args).stderr).to.match(
          /^venue: usage: .\/venue series \[settle\] <expiry>[^\n]+\n$/,
        )
      const { status, stdout, stderr } = run('2026-12-31T14:00Z')
      expect([status, stdout]).to.deep.equal([1, ''])
      expect(stderr).to.match(/^venue: \S+ has no devnet: run \.\/venue up first\n$/)
    } finally {
      dir.remove()
    }
  })

  it('is not made while the chain does not answer', async () => {
    const sender = { rpcUrl: 'http://127.0.0.1:1', privateKey: testPrivateKey }
    const error: unknown = await createSeries(sender, '0x11', DEC_SEC).catch((it: unknown) => it)
    expect(error).to.be.instanceOf(NoNextSeries)
    expect((error as Error).message).to.equal(
      'the chain at http://127.0.0.1:1 does not answer: is the venue running?',
    )
  })

  it('is like the one that ships without a series before it, and none without a date', () => {
    const first = rowOfNextSeries(rows.slice(0, 1), DEC_SEC)
    expect({ ...first, ordinal: 8 }).to.deep.equal(
      seriesRow('USDC-cNGN-31DEC26', 8, BigInt(DEC_SEC)),
    )
    expect(JSON.stringify(first)).to.not.include('DATE')
    expect(parseRow({ ...first, ordinal: 8 })).to.include({
      market: 'USDC-cNGN-31DEC26',
      enabled: true,
    })
    expect(() => rowOfNextSeries(rows, 0)).to.throw(MarketFileError, '0 is not an expiry')
  })
})
