import { expect } from 'chai'
import { createMarketRefresh, createOwnWrites } from '../../api-gateway/reads.js'
import { openingOf, type MarketTerms } from '../../core/model/market-terms.js'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { refusals } from '../../core/entry/refusals.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { OPEN } from '../../core/model/market.js'
import { aMarket } from '../support/builders.js'
import { eventually } from '../support/eventually.js'

/** What the gateway has answered, against what the projection shows. */
describe('read your own writes', () => {
  let projected: Record<string, number>
  const ownWrites = () =>
    createOwnWrites({
      readModel: { projectedSeq: (market) => projected[market] ?? 0 },
      maxWaitMs: 20,
      readHead,
    })
  let heads: Record<string, number>
  /** How often the head of a feed was read. */
  let read: number
  const readHead = (market: string) => {
    read += 1
    return Promise.resolve(heads[market] ?? 0)
  }
  beforeEach(() => ([projected, heads, read] = [{}, {}, 0]))

  it('wait for the highest seq that was answered, whatever was answered later (REA-032)', async () => {
    const writes = ownWrites()
    writes.answered('spot', 5)
    writes.answered('spot', 3)
    projected = { spot: 4 }
    expect(await writes.shown('spot')).to.equal(refusals.readBehind)
    projected = { spot: 5 }
    expect(await writes.shown('spot')).to.equal(undefined)
  })

  it('of one market do not wait for another, of all wait for each', async () => {
    const writes = ownWrites()
    writes.answered('spot', 5)
    writes.answered('perp', 2)
    projected = { perp: 2 }
    expect(await writes.shown('perp')).to.equal(undefined)
    expect(await writes.shown()).to.equal(refusals.readBehind)
    projected = { spot: 5, perp: 2 }
    expect(await writes.shown()).to.equal(undefined)
  })

  it('end as soon as the projection has caught up', async () => {
    const writes = createOwnWrites({
      readModel: { projectedSeq: () => ((looks += 1) < 3 ? 4 : 5) },
      readHead,
    })
    let looks = 0
    writes.answered('spot', 5)
    expect(await writes.shown()).to.equal(undefined)
    expect(looks).to.equal(3)
  })

  it('wait for what is asked of the same markets, while the feed is known to have it (REA-049)', async () => {
    const writes = ownWrites()
    const asked = (seqs: Record<string, number>, client = 'a') => ({
      client,
      seqs: new Map(Object.entries(seqs)),
    })
    projected = { spot: 4 }
    expect(await writes.shown('spot', asked({ spot: 4, perp: 9 }))).to.equal(undefined)
    expect(read, 'of what is shown already').to.equal(0)
    heads = { spot: 5 }
    expect(await writes.shown('spot', asked({ spot: 5 }))).to.equal(refusals.readBehind)
    const waiting = writes.shown('spot', asked({ spot: 5 }))
    projected = { spot: 5 }
    expect(await waiting).to.equal(undefined)
    expect(await writes.shown(undefined, asked({ spot: 5, perp: 9 }))).to.equal(
      readRefusals.minSeqAhead,
    )
    expect(await writes.known(asked({ spot: 5 }))).to.equal(undefined)
    expect(await writes.known(asked({ spot: 6 }))).to.equal(readRefusals.minSeqAhead)
    heads = { spot: 6 }
    expect(await writes.known(asked({ spot: 6 })), 'read again').to.equal(undefined)
  })

  it('do not count among those that wait for others, nor read a head, for what was answered here', async () => {
    const writes = ownWrites()
    writes.answered('spot', 5)
    projected = { spot: 4 }
    const seqs = new Map([['spot', 5]])
    const asked = Array.from({ length: 40 }, () => writes.shown('spot', { client: 'a', seqs }))
    projected = { spot: 5 }
    expect(new Set(await Promise.all(asked))).to.deep.equal(new Set([undefined]))
    expect(read).to.equal(0)
  })

  it('do not say that no feed has it while the bus does not tell, or is slow (REA-049)', async () => {
    const silent = (readHead: () => Promise<number | undefined>) =>
      createOwnWrites({ readModel: { projectedSeq: () => 4 }, readHead, maxWaitMs: 20 })
    const asked = { client: 'a', seqs: new Map([['spot', 5]]) }
    const away = silent(() => Promise.resolve(undefined))
    const slow = silent(() => new Promise(() => undefined))
    for (const writes of [away, slow]) {
      expect(await writes.shown('spot', asked)).to.equal(refusals.readBehind)
      expect(await writes.known(asked)).to.equal(refusals.readBehind)
    }
  })

  it('refuse at once what no feed is known to have, and read a head for all who ask meanwhile', async () => {
    let letGo = (): void => undefined
    const slow = createOwnWrites({
      readModel: { projectedSeq: () => 0 },
      readHead: () => {
        read += 1
        return new Promise((resolve) => (letGo = () => resolve(3)))
      },
      limits: { maxPerAddress: 100, max: 100 },
      maxWaitMs: 60_000,
    })
    const seqs = new Map([['spot', 4]])
    const ask = () => slow.shown('spot', { client: 'a', seqs })
    const askers = Array.from({ length: 25 }, ask)
    await eventually(() => read === 1)
    // Those that come while it is read may mean a change that it does not see.
    const later = Array.from({ length: 25 }, ask)
    letGo()
    await eventually(() => read === 2)
    letGo()
    expect(new Set(await Promise.all([...askers, ...later]))).to.deep.equal(
      new Set([readRefusals.minSeqAhead]),
    )
    expect(read).to.equal(2)
  })

  it('are bounded for each client address, and altogether but for the first of an address (REA-050)', async () => {
    heads = { spot: 1 }
    const writes = createOwnWrites({
      readModel: { projectedSeq: (market) => projected[market] ?? 0 },
      readHead,
      maxWaitMs: 60_000,
      limits: { maxPerAddress: 2, max: 3 },
    })
    const seqs = new Map([['spot', 1]])
    const ask = (client: string) => writes.shown('spot', { client, seqs })
    const admitted = [ask('a'), ask('a'), ask('b'), ask('c')]
    expect(await ask('a'), 'a third one').to.equal(readRefusals.tooManyWaits)
    expect(await ask('b'), 'of too many in all').to.equal(readRefusals.tooManyWaits)
    projected = { spot: 1 }
    expect(new Set(await Promise.all(admitted))).to.deep.equal(new Set([undefined]))
    projected = {}
    const again = ask('b')
    projected = { spot: 1 }
    expect(await again).to.equal(undefined)
  })

  it('look at the projection once in a while, however many wait', async () => {
    let looks = 0
    const writes = createOwnWrites({
      readModel: { projectedSeq: () => ((looks += 1) < 103 ? 0 : 1) },
      readHead,
      maxWaitMs: 60_000,
    })
    writes.answered('spot', 1)
    // Each looks when it comes, and then all of them together.
    expect(
      new Set(await Promise.all(Array.from({ length: 100 }, () => writes.shown()))),
    ).to.deep.equal(new Set([undefined]))
    expect(looks).to.equal(103)
  })
})

describe('the terms that the gateway shows', () => {
  const shownStatus = (everyMs: number) => {
    const list = createMarketList([aMarket()])
    let terms: MarketTerms = { ...openingOf(aMarket()), standing: OPEN }
    const refresh = createMarketRefresh(list, { terms: () => terms }, everyMs)
    refresh()
    terms = { ...terms, standing: { status: 'paused' } }
    refresh()
    return list.markets[0]?.standing?.status
  }

  it('are those of the read model', () => {
    expect(shownStatus(0)).to.equal('paused')
  })

  it('are read from it once in a while, however many requests come', () => {
    expect(shownStatus(60_000)).to.equal('open')
  })
})
