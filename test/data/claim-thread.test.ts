import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openClaimThread } from '../../data/claim-thread.js'
import { MAX_RECENT_CLAIMS, openIntakeRegistry } from '../../data/intake-registry.js'
import { eventually } from '../support/eventually.js'
import { numberedClaim, numberedClaims } from './numbered-claims.js'

const market = 'cNGN-USDC'
const other = 'other-market'

describe('claims that a thread stores', () => {
  let path: string
  beforeEach(() => (path = join(mkdtempSync(join(tmpdir(), 'registry-')), 'intake.db')))
  afterEach(() => rmSync(dirname(path), { recursive: true }))

  const position = (streamSeq: number) => ({ streamSeq, lastNo: streamSeq })

  it('has every claim before, while and after the thread stores it', async function () {
    const registry = openIntakeRegistry(path, openClaimThread(path))
    const expectTaken = (count: number): void => {
      for (const number of [0, count >> 1, count - 1]) {
        expect(registry.findOrder(`order-${number}`)?.market, `order-${number}`).to.equal(market)
        expect(registry.take(other, numberedClaim(number, 'another'))?.by).to.equal('nonce')
      }
    }
    registry.fold(market, numberedClaims(0, MAX_RECENT_CLAIMS), position(1))
    expect(registry.stored(market).streamSeq).to.equal(0)
    expectTaken(MAX_RECENT_CLAIMS)
    // These come while the first are being stored, and the resume position with them.
    registry.fold(market, numberedClaims(MAX_RECENT_CLAIMS, 100), position(2))
    registry.markWatchedFrom(market, 7)
    expectTaken(MAX_RECENT_CLAIMS + 100)
    await eventually(() => registry.stored(market).streamSeq === 1, 50_000)
    expectTaken(MAX_RECENT_CLAIMS + 100)
    await registry.close()
    const again = openIntakeRegistry(path)
    expect(again.stored(market)).to.deep.equal(position(2))
    expect(again.watchedFrom(market)).to.equal(7)
    expect(again.findOrder(`order-${MAX_RECENT_CLAIMS + 99}`)?.market).to.equal(market)
    await again.close()
  })

  it('closes once the batch that is on its way is stored', async function () {
    const registry = openIntakeRegistry(path, openClaimThread(path))
    registry.fold(market, numberedClaims(0, MAX_RECENT_CLAIMS), position(1))
    registry.fold(market, numberedClaims(MAX_RECENT_CLAIMS, 1), position(2))
    await registry.close()
    const again = openIntakeRegistry(path)
    expect(again.stored(market)).to.deep.equal(position(2))
    expect(again.findOrder(`order-${MAX_RECENT_CLAIMS}`)?.market).to.equal(market)
    await again.close()
  })
})
