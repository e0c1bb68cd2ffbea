import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  MAX_FOLDS,
  MAX_RECENT_CLAIMS,
  openIntakeRegistry,
  type OrderClaim,
  type IntakeRegistry,
} from '../../data/intake-registry.js'
import { UnknownSchemaVersion } from '../../data/open.js'
import { numberedClaim as claimOf, owner } from './numbered-claims.js'

const market = 'cNGN-USDC'
const other = 'other-market'

describe('the registry of order intake', () => {
  let directory: string
  let registry: IntakeRegistry
  const open = (folder = directory) => openIntakeRegistry(join(folder, 'intake.db'))

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'registry-'))
    registry = open()
    seq = 0
  })
  afterEach(() => {
    void registry.close()
    rmSync(directory, { recursive: true })
  })

  let seq = 0
  /** Folds the next message of a log. */
  const fold = (claims: readonly OrderClaim[], into = market) => {
    seq += 1
    return registry.fold(into, claims, { streamSeq: seq, lastNo: 10 * seq })
  }
  const take = (claim: OrderClaim, into = market) => registry.take(into, claim)?.by ?? 'free'
  /** What a process finds that starts after this one was killed at this moment. */
  const afterKill = <T>(look: (successor: IntakeRegistry) => T): T => {
    const copy = mkdtempSync(join(tmpdir(), 'registry-'))
    cpSync(directory, copy, { recursive: true })
    const successor = open(copy)
    try {
      return look(successor)
    } finally {
      void successor.close()
      rmSync(copy, { recursive: true })
    }
  }
  const reopen = (): void => {
    void registry.close()
    registry = open()
  }
  const rows = (): number => {
    void registry.close()
    const db = new Sqlite(join(directory, 'intake.db'), { readonly: true })
    const count = db.prepare<[], number>('SELECT count(*) FROM taken_order').pluck().get()
    db.close()
    registry = open()
    return count ?? -1
  }

  it('tells who holds an id or a nonce, from the moment of the claim and for ever', () => {
    const claim = claimOf(1)
    const expectTaken = (): void => {
      const holder = { ...claim, market, fingerprint: Buffer.alloc(32, 1) }
      expect(registry.findOrder('order-1')).to.deep.equal(holder)
      expect(registry.findNonce(owner, claim.nonce)).to.deep.equal(holder)
      expect(registry.hasOrderOf(owner)).to.equal(true)
      expect(registry.hasOrderOf(`0x${'0f'.repeat(20)}`)).to.equal(false)
    }
    expect(registry.hasOrderOf(owner)).to.equal(false)
    expect(registry.findOrder('order-1')).to.equal(undefined)
    expect(registry.findNonce(owner, claim.nonce)).to.equal(undefined)
    expect(take(claim)).to.equal('free')
    expectTaken()
    fold([claim])
    expectTaken()
    expect(rows()).to.equal(1)
    expectTaken()
  })

  it('gives nothing away twice, in any market, wherever the first claim is kept', () => {
    const again = [claimOf(1), claimOf(1, 'another'), claimOf(2), claimOf(2)]
    const taken = ['order_id', 'nonce', 'order_id', 'order_id']
    expect(again.map((claim) => take(claim))).to.deep.equal(['free', 'nonce', 'free', 'order_id'])
    expect(again.map((claim) => take(claim, other))).to.deep.equal(taken)
    fold([claimOf(1), claimOf(2)])
    expect(again.map((claim) => take(claim, other))).to.deep.equal(taken)
    expect(rows()).to.equal(2)
    expect(again.map((claim) => take(claim, other))).to.deep.equal(taken)
  })

  it('gives nothing away twice that was found free before it was claimed and stored', () => {
    const claim = claimOf(1)
    expect(registry.findOrder('order-1')).to.equal(undefined)
    expect(registry.findNonce(owner, claim.nonce)).to.equal(undefined)
    expect(take(claim)).to.equal('free')
    fold([claim])
    for (let at = 0; at < MAX_FOLDS; at += 1) fold([])
    expect(registry.stored(market).streamSeq).to.be.greaterThan(0)
    expect(take(claim, other)).to.equal('order_id')
    expect(take(claimOf(1, 'another'), other)).to.equal('nonce')
  })

  it('stores no claim of an order that no log is known to hold', () => {
    expect(take(claimOf(1))).to.equal('free')
    fold([claimOf(2)])
    expect(take(claimOf(1))).to.equal('order_id')
    reopen()
    expect(take(claimOf(1))).to.equal('free')
    expect(take(claimOf(2))).to.equal('order_id')
    registry.giveBack(claimOf(1))
    expect(take(claimOf(1))).to.equal('free')
  })

  it('stores claims as they gather, never a position ahead of them', () => {
    const perMessage = 100
    const messages = Math.ceil((2.5 * MAX_RECENT_CLAIMS) / perMessage)
    for (let at = 0; at < messages; at += 1) {
      fold(Array.from({ length: perMessage }, (_, index) => claimOf(at * perMessage + index)))
    }
    const count = messages * perMessage
    afterKill((successor) => {
      const { streamSeq, lastNo } = successor.folded(market)
      expect(successor.folded(market)).to.deep.equal(registry.stored(market))
      expect(streamSeq).to.be.within(1, messages - 1)
      expect(lastNo).to.equal(10 * streamSeq)
      const held = (number: number) => successor.findOrder(`order-${number}`) !== undefined
      expect([0, streamSeq * perMessage - 1].map(held)).to.deep.equal([true, true])
      expect(held(streamSeq * perMessage)).to.equal(false)
    })
    expect(rows()).to.equal(count)
    expect(registry.lastNo()).to.equal(10 * messages)
    expect(registry.folded(market)).to.deep.equal({ streamSeq: messages, lastNo: 10 * messages })
  })

  it('stores positions from time to time where nothing is claimed', () => {
    for (let at = 0; at < 300; at += 1) fold([])
    const { streamSeq } = afterKill((successor) => successor.folded(market))
    expect(streamSeq).to.be.greaterThan(300 - MAX_FOLDS)
  })

  it('knows the greatest number of all logs, and where each was folded to', () => {
    fold([claimOf(1)])
    fold([claimOf(2)], other)
    reopen()
    expect(registry.lastNo()).to.equal(20)
    expect(registry.folded(market)).to.deep.equal({ streamSeq: 1, lastNo: 10 })
    expect(registry.folded(other)).to.deep.equal({ streamSeq: 2, lastNo: 20 })
    expect(registry.folded('a third')).to.deep.equal({ streamSeq: 0, lastNo: 0 })
  })

  it('folds the same message again without a change, and names the holder of what another claims', () => {
    const position = { streamSeq: 1, lastNo: 1 }
    expect(registry.fold(market, [claimOf(1)], position)).to.deep.equal([])
    expect(registry.fold(market, [claimOf(1)], position)).to.deep.equal([])
    expect(rows()).to.equal(1)
    expect(registry.fold(market, [claimOf(1)], position)).to.deep.equal([])
    const clashes = registry.fold(other, [claimOf(1), claimOf(1, 'another'), claimOf(3)], position)
    expect(clashes.map(({ orderId }) => orderId)).to.deep.equal(['order-1', 'order-1'])
    expect(rows()).to.equal(2)
  })
})

describe('a registry of a release before 0.3.0', () => {
  it('is refused in one sentence, and left as it is', () => {
    const directory = mkdtempSync(join(tmpdir(), 'registry-'))
    const path = join(directory, 'intake.db')
    const old = new Sqlite(path)
    old.exec('CREATE TABLE outbox (last_no INTEGER)')
    old.pragma('user_version = 4')
    old.close()
    expect(() => openIntakeRegistry(path)).to.throw(
      UnknownSchemaVersion,
      /intake\.db has schema version 4, this build knows version \d+: it was written before release 0\.3\.0/,
    )
    const after = new Sqlite(path, { readonly: true })
    expect(after.pragma('user_version', { simple: true })).to.equal(4)
    after.close()
    rmSync(directory, { recursive: true })
  })
})
