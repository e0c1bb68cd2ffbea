import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ClaimBatch } from '../../data/claim-writer.js'
import {
  MAX_RECENT_CLAIMS,
  MAX_WAITING_CLAIMS,
  openIntakeRegistry,
} from '../../data/intake-registry.js'
import { numberedClaims } from './numbered-claims.js'

const market = 'cNGN-USDC'

describe('the registry of order intake with a thread that stores', () => {
  let path: string
  beforeEach(() => (path = join(mkdtempSync(join(tmpdir(), 'registry-')), 'intake.db')))
  afterEach(() => rmSync(dirname(path), { recursive: true }))

  const position = (streamSeq: number) => ({ streamSeq, lastNo: streamSeq })

  it('throws once why a batch was not stored, tries again, and is full before memory is', async () => {
    let fails = true
    let written = 0
    const thread = {
      write: (batch: ClaimBatch) => {
        if (fails) return Promise.reject(new Error('disk full'))
        written += batch.claims.length
        return Promise.resolve()
      },
      stop: () => Promise.resolve(),
    }
    const registry = openIntakeRegistry(path, thread)
    registry.fold(market, numberedClaims(0, MAX_RECENT_CLAIMS), position(1))
    await new Promise(setImmediate)
    expect(() => registry.fold(market, [], position(2))).to.throw('disk full')
    expect(registry.isFull()).to.equal(false)
    registry.fold(market, numberedClaims(MAX_RECENT_CLAIMS, MAX_WAITING_CLAIMS), position(3))
    expect(registry.isFull()).to.equal(true)
    await new Promise(setImmediate)
    fails = false
    expect(() => registry.fold(market, [], position(4))).to.throw('disk full')
    registry.fold(market, [], position(4))
    await new Promise(setImmediate)
    expect(written).to.equal(MAX_RECENT_CLAIMS + MAX_WAITING_CLAIMS)
    expect(registry.isFull()).to.equal(false)
    expect(registry.stored(market)).to.deep.equal(position(4))
    await registry.close()
  })
})
