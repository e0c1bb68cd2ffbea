import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  MAX_FOLDS,
  MAX_RECENT_CLAIMS,
  openIntakeRegistry,
  type Claim,
  type IntakeRegistry,
} from '../../data/intake-registry.js'
import { writeOldRegistry } from '../support/old-registry.js'
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
  const fold = (claims: readonly Claim[], into = market) => {
    seq += 1
    return registry.fold(into, claims, { streamSeq: seq, lastNo: 10 * seq })
  }
  const take = (claim: Claim, into = market) => registry.take(into, claim)?.by ?? 'free'
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
      const holder = { orderId: 'order-1', market, fingerprint: Buffer.alloc(32, 1) }
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

describe('a registry of release 0.2.0', () => {
  let directory: string
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'registry-'))))
  afterEach(() => rmSync(directory, { recursive: true }))

  it('keeps its claims, also those of its outbox, whose messages are still to be published', () => {
    const path = join(directory, 'intake.db')
    const waiting = { orderId: 'waiting', owner, nonce: 2n, fingerprint: Buffer.from([7, 8]) }
    writeOldRegistry(path, [
      { lastNo: 5, market: other, payload: Buffer.from('five'), claims: [waiting] },
      { lastNo: 6, market: other, payload: Buffer.from('six'), claims: [] },
    ])
    const db = new Sqlite(path)
    db.prepare('INSERT INTO taken_order VALUES (?, ?, ?, ?, ?)').run(
      ...['stored', owner, '1', market, Buffer.from([1])],
    )
    db.prepare('INSERT INTO published VALUES (?, ?, ?)').run(market, 9, 4)
    db.close()

    const registry = openIntakeRegistry(path)
    const holder = { orderId: 'waiting', market: other, fingerprint: waiting.fingerprint }
    expect(registry.findOrder('stored')?.market).to.equal(market)
    expect(registry.findOrder('waiting')).to.deep.equal(holder)
    expect(registry.findNonce(owner, 2n)).to.deep.equal(holder)
    expect(registry.folded(market)).to.deep.equal({ streamSeq: 9, lastNo: 4 })
    expect(registry.unsent(market)).to.deep.equal([])
    expect(registry.unsent(other)).to.deep.equal([
      { lastNo: 5, payload: Buffer.from('five') },
      { lastNo: 6, payload: Buffer.from('six') },
    ])
    registry.dropUnsent(other)
    void registry.close()
    const again = openIntakeRegistry(path)
    expect(again.unsent(other)).to.deep.equal([])
    expect(again.findOrder('waiting')).to.deep.equal(holder)
    void again.close()
  })
})
