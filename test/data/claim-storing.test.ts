import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openingOf, type MarketTerms } from '../../core/model/market-terms.js'
import { OPEN } from '../../core/model/market.js'
import {
  CHECKPOINT_PAGES,
  prepareClaimWriter,
  type ClaimBatch,
  type ClaimThread,
} from '../../data/claim-writer.js'
import { DiskTrouble } from '../../data/disk-trouble.js'
import {
  MAX_FOLDS,
  MAX_RECENT_CLAIMS,
  MAX_WAITING_CLAIMS,
  openIntakeDatabase,
  openIntakeRegistry,
} from '../../data/intake-registry.js'
import { AlreadyLocked } from '../../data/open.js'
import { aMarket } from '../support/builders.js'
import { numberedClaim, numberedClaims } from './numbered-claims.js'

const market = 'cNGN-USDC'
const other = 'other-market'

const position = (streamSeq: number) => ({ streamSeq, lastNo: 10 * streamSeq })
const turn = () => new Promise(setImmediate)
const terms = (takerFeeBps: number): MarketTerms => ({
  ...openingOf(aMarket({ takerFeeBps })),
  standing: OPEN,
})

/** Stores a batch as the thread does, but when it is told to, and in this process. */
interface StandIn extends ClaimThread {
  /** Sizes of the batches that it got. */
  readonly batches: number[]
  /** Stores the batch that it was given last, or refuses it. */
  finish(failure?: DiskTrouble): Promise<void>
  isStopped: boolean
}

function standIn(path: string): StandIn {
  let finish: (failure?: DiskTrouble) => void = () => undefined
  const store = (batch: ClaimBatch): void => {
    const db = openIntakeDatabase(path, CHECKPOINT_PAGES)
    prepareClaimWriter(db)(batch)
    db.close()
  }
  return {
    batches: [],
    isStopped: false,
    write(batch) {
      this.batches.push(batch.claims.length)
      return new Promise((resolve, reject) => {
        finish = (failure) => {
          if (failure !== undefined) return reject(failure)
          store(batch)
          resolve()
        }
      })
    },
    async finish(failure) {
      finish(failure)
      await turn()
    },
    stop() {
      this.isStopped = true
      return Promise.resolve()
    },
  }
}

describe('the registry of order intake with a thread that stores', () => {
  let path: string
  let thread: StandIn
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), 'registry-')), 'intake.db')
    thread = standIn(path)
  })
  afterEach(() => rmSync(dirname(path), { recursive: true }))

  const open = () => openIntakeRegistry(path, thread)
  type Registry = ReturnType<typeof open>
  /** Gives the thread the first batch. */
  const begin = (registry: Registry) =>
    registry.fold(market, numberedClaims(0, MAX_RECENT_CLAIMS), position(1))
  /** What the file holds, as the process finds it that starts next. */
  const afterClose = async <T>(registry: Registry, look: (next: Registry) => T): Promise<T> => {
    await registry.close()
    const next = openIntakeRegistry(path)
    const found = look(next)
    await next.close()
    return found
  }

  it('has a claim while it gathers, while the thread stores it, and once it is stored', async () => {
    const registry = open()
    const expectTaken = (number: number): void => {
      const holder = { ...numberedClaim(number), market }
      expect(registry.findOrder(`order-${number}`)).to.deep.equal(holder)
      const taken = registry.take(other, numberedClaim(number, 'another'))
      expect(taken).to.deep.equal({ kind: 'taken', by: 'nonce', holder })
    }
    begin(registry)
    expect(registry.folded(market)).to.deep.equal(position(1))
    expect(registry.stored(market)).to.deep.equal({ streamSeq: 0, lastNo: 0 })
    expectTaken(MAX_RECENT_CLAIMS - 1)
    registry.fold(market, [numberedClaim(MAX_RECENT_CLAIMS)], position(2))
    await thread.finish()
    expect(registry.stored(market)).to.deep.equal(position(1))
    expectTaken(0)
    expectTaken(MAX_RECENT_CLAIMS - 1)
    expectTaken(MAX_RECENT_CLAIMS)
    await registry.close()
  })

  it('gives the thread one batch at a time; what was folded meanwhile goes with the next', async () => {
    const registry = open()
    registry.fold(market, numberedClaims(0, MAX_RECENT_CLAIMS - 1), position(1))
    expect(thread.batches).to.deep.equal([])
    registry.fold(market, [numberedClaim(MAX_RECENT_CLAIMS)], position(2))
    registry.fold(market, numberedClaims(3 * MAX_RECENT_CLAIMS, MAX_RECENT_CLAIMS), position(3))
    registry.fold(other, numberedClaims(5 * MAX_RECENT_CLAIMS, 10), position(4))
    expect(thread.batches).to.deep.equal([MAX_RECENT_CLAIMS])
    await thread.finish()
    registry.fold(market, [], position(5))
    expect(thread.batches).to.deep.equal([MAX_RECENT_CLAIMS, MAX_RECENT_CLAIMS + 10])
    await thread.finish()
    expect(registry.stored(market)).to.deep.equal(position(5))
    expect(registry.stored(other)).to.deep.equal(position(4))
    await registry.close()
  })

  it('stores few claims itself, and 64 and more in the thread', async () => {
    const registry = open()
    const folds = (): void => {
      for (let at = 0; at < MAX_FOLDS - 1; at += 1) registry.fold(market, [], position(at + 2))
    }
    registry.fold(market, numberedClaims(0, 63), position(1))
    folds()
    expect(thread.batches).to.deep.equal([])
    expect(registry.stored(market)).to.deep.equal(position(MAX_FOLDS))
    registry.fold(market, numberedClaims(100, 64), position(1))
    folds()
    expect(thread.batches).to.deep.equal([64])
    await thread.finish()
    await registry.close()
  })

  it('writes marks at once while nothing is being stored, else after it, and the newest of a market', async () => {
    const registry = open()
    registry.markWatchedFrom(market, 5)
    registry.markTerms(market, 4, terms(10))
    expect(registry.watchedFrom(market)).to.equal(5)
    expect(registry.terms(market)).to.deep.equal({ streamSeq: 4, terms: terms(10) })
    begin(registry)
    registry.markWatchedFrom(market, 7)
    registry.markWatchedFrom(market, 8)
    registry.markWatchedFrom(other, 3)
    registry.markTerms(market, 6, terms(20))
    registry.markTerms(other, 2, terms(30))
    expect(registry.watchedFrom(market)).to.equal(5)
    expect(registry.terms(market)?.streamSeq).to.equal(4)
    await thread.finish()
    expect(registry.watchedFrom(market)).to.equal(8)
    expect(registry.watchedFrom(other)).to.equal(3)
    expect(registry.terms(market)).to.deep.equal({ streamSeq: 6, terms: terms(20) })
    expect(registry.terms(other)).to.deep.equal({ streamSeq: 2, terms: terms(30) })
    await registry.close()
  })

  it('closes once the batch that is on its way is stored, with what was folded since, and ends the thread', async () => {
    const registry = open()
    begin(registry)
    registry.fold(market, [numberedClaim(MAX_RECENT_CLAIMS)], position(2))
    registry.markWatchedFrom(market, 7)
    const closing = registry.close()
    expect(() => openIntakeRegistry(path)).to.throw(AlreadyLocked)
    expect(thread.isStopped).to.equal(false)
    await thread.finish()
    await closing
    expect(thread.isStopped).to.equal(true)
    await afterClose(registry, (next) => {
      expect(next.stored(market)).to.deep.equal(position(2))
      expect(next.findOrder(`order-${MAX_RECENT_CLAIMS}`)?.market).to.equal(market)
      expect(next.watchedFrom(market)).to.equal(7)
    })
  })

  it('throws once why a batch was not stored, tries again, and is full before memory is', async () => {
    const registry = open()
    const failure = new DiskTrouble('disk full')
    begin(registry)
    await thread.finish(failure)
    expect(() => registry.fold(market, [], position(2))).to.throw('disk full')
    expect(registry.isFull()).to.equal(false)
    registry.fold(market, numberedClaims(MAX_RECENT_CLAIMS, MAX_WAITING_CLAIMS), position(3))
    expect(registry.isFull()).to.equal(true)
    await thread.finish(failure)
    expect(() => registry.fold(market, [], position(4))).to.throw('disk full')
    registry.fold(market, [], position(4))
    await thread.finish()
    const all = MAX_RECENT_CLAIMS + MAX_WAITING_CLAIMS
    expect(thread.batches).to.deep.equal([MAX_RECENT_CLAIMS, all, all])
    expect(registry.isFull()).to.equal(false)
    expect(registry.stored(market)).to.deep.equal(position(4))
    await registry.close()
  })

  it('is full as soon as so many claims wait', async () => {
    const registry = open()
    begin(registry)
    const more = MAX_WAITING_CLAIMS - MAX_RECENT_CLAIMS
    registry.fold(market, numberedClaims(MAX_RECENT_CLAIMS, more - 1), position(2))
    expect(registry.isFull()).to.equal(false)
    registry.fold(market, [numberedClaim(MAX_WAITING_CLAIMS)], position(3))
    expect(registry.isFull()).to.equal(true)
    await thread.finish()
    await registry.close()
  })

  describe('after a batch that was not stored', () => {
    it('keeps the newest mark, also of those made while it was on its way', async () => {
      const registry = open()
      begin(registry)
      registry.markTerms(market, 6, terms(20))
      await thread.finish(new DiskTrouble('disk full'))
      registry.markTerms(market, 9, terms(30))
      expect(() => registry.fold(market, [], position(2))).to.throw('disk full')
      registry.fold(market, [], position(2))
      await thread.finish()
      const found = await afterClose(registry, (next) => next.terms(market))
      expect(found).to.deep.equal({ streamSeq: 9, terms: terms(30) })
    })

    it('writes what was marked meanwhile when it closes, with the claims', async () => {
      const registry = open()
      begin(registry)
      registry.markTerms(market, 6, terms(20))
      await thread.finish(new DiskTrouble('disk full'))
      await afterClose(registry, (next) => {
        expect(next.terms(market)).to.deep.equal({ streamSeq: 6, terms: terms(20) })
        expect(next.stored(market)).to.deep.equal(position(1))
        expect(next.findOrder('order-0')?.market).to.equal(market)
      })
    })
  })
})
