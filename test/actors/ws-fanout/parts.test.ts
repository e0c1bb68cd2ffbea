import { expect } from 'chai'
import fc from 'fast-check'
import { createChangeRing, createFeedMarks } from '../../../actors/ws-fanout/market-feed.js'
import { createOwnerLinks } from '../../../actors/ws-fanout/own-stream.js'
import { createReadLimiter } from '../../../actors/ws-fanout/replay.js'
import { InvariantBroken } from '../../../core/assert.js'
import { priceE18 } from '../../../core/money.js'

const [alice, bob] = [`0x${'a1'.repeat(20)}`, `0x${'b0'.repeat(20)}`] as const

describe('feed marks', () => {
  it('always know a place at or before a sequence, no further back than the stream is long by marks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(2, 4, 8),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 300, size: 'max' }),
        (capacity, sizes) => {
          const marks = createFeedMarks(capacity)
          const starts: number[] = []
          let seq = 0
          for (const [i, size] of sizes.entries()) {
            marks.note({ streamSeq: i + 1, seq, lastTradeSeq: 0 })
            starts.push(seq)
            seq += size
          }
          for (let wanted = 0; wanted <= seq; wanted++) {
            const mark = marks.before(wanted)
            if (mark === undefined) throw new Error(`no mark before ${wanted}`)
            expect(mark.seq).to.equal(starts[mark.streamSeq - 1])
            expect(mark.seq).to.be.at.most(wanted)
            const block = starts.filter((start) => start <= wanted).length
            expect(block - mark.streamSeq).to.be.below(Math.max(1, (4 * sizes.length) / capacity))
          }
        },
      ),
    )
  })

  it('know nothing before the first block', () => {
    expect(createFeedMarks(4).before(0)).to.equal(undefined)
  })
})

describe('change ring', () => {
  const [book, trades] = [{ channel: 'book' }, { channel: 'trades' }] as const
  const frame = (seq: number) => ({
    seq,
    owner: seq % 2 === 0 ? alice : bob,
    level: { side: 'buy' as const, limitPrice: priceE18(1n), openDelta: BigInt(seq) },
    orders: Buffer.from(`o${seq} `),
    book: Buffer.from(`b${seq} `),
    trades: seq % 3 === 0 ? Buffer.from(`t${seq} `) : undefined,
  })
  const text = (page: { frames: Buffer[] } | undefined): string | undefined =>
    page && Buffer.concat(page.frames).toString().trim()

  it('holds the newest changes and says what it does not hold', () => {
    const ring = createChangeRing(4)
    expect(ring.after(book, 0, 100)).to.equal(undefined)
    for (let seq = 1; seq <= 9; seq++) ring.push(frame(seq))
    expect(ring.after(book, 4, 100)).to.equal(undefined)
    expect(text(ring.after(book, 5, 100))).to.equal('b6 b7 b8 b9')
    expect(text(ring.after(trades, 5, 100))).to.equal('t6 t9')
    expect(text(ring.after({ channel: 'orders', owner: bob }, 5, 100))).to.equal('o7 o9')
    expect(ring.after(book, 9, 100)).to.deep.equal({ frames: [], upTo: 9 })
  })

  it('tells what its changes did to their levels', () => {
    const ring = createChangeRing(4)
    expect(ring.levelsAfter(0)).to.deep.equal([])
    for (let seq = 1; seq <= 9; seq++) ring.push(frame(seq))
    const deltas = (seq: number) => ring.levelsAfter(seq)?.map(({ openDelta }) => openDelta)
    expect(deltas(5)).to.deep.equal([6n, 7n, 8n, 9n])
    expect(deltas(9)).to.deep.equal([])
    expect(deltas(4)).to.equal(undefined)
  })

  it('cuts pages by size', () => {
    const ring = createChangeRing(16)
    for (let seq = 1; seq <= 9; seq++) ring.push(frame(seq))
    const page = ring.after(book, 2, 5)
    expect([text(page), page?.upTo]).to.deep.equal(['b3 b4', 4])
  })

  it('refuses a gap', () => {
    const ring = createChangeRing(4)
    ring.push(frame(1))
    expect(() => ring.push(frame(3))).to.throw(InvariantBroken)
  })
})

describe('owner links', () => {
  it('lead from each change to the same owner’s before it, as far back as they reach (STR-036)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 3, 8, 64),
        fc.array(fc.constantFrom(alice, bob, `0x${'c0'.repeat(20)}` as const), {
          maxLength: 200,
          size: 'max',
        }),
        (reach, owners) => {
          const links = createOwnerLinks(reach)
          const expected = owners.map((owner, i) => {
            const before = owners.lastIndexOf(owner, i - 1)
            const isReached = i > 0 && before >= 0 && i - before < reach
            return isReached ? before + 1 : 0
          })
          const noted = owners.map((owner, i) => links.note(i + 1, owner))
          expect(noted).to.deep.equal(expected)
          const held = expected.map((seq, i) => (i >= owners.length - reach ? seq : undefined))
          expect(owners.map((_, i) => links.previousOf(i + 1))).to.deep.equal(held)
          expect(links.previousOf(owners.length + 1)).to.equal(undefined)
        },
      ),
    )
  })

  it('refuse a gap', () => {
    const links = createOwnerLinks(4)
    links.note(1, alice)
    expect(() => links.note(3, alice)).to.throw(InvariantBroken)
  })
})

describe('a limiter of reads', () => {
  it('lets so many tasks run at a time, the others in order of arrival, also after a failure', async () => {
    const limiter = createReadLimiter(2)
    const started: number[] = []
    const finish: (() => void)[] = []
    const results = [0, 1, 2, 3].map((n) =>
      limiter(
        () =>
          new Promise<number>((resolve, reject) => {
            started.push(n)
            finish[n] = () => (n === 0 ? reject(new Error('failed')) : resolve(n))
          }),
      ),
    )
    expect(started).to.deep.equal([0, 1])
    finish[0]?.()
    expect(await results[0]?.catch(() => 'failed')).to.equal('failed')
    await Promise.resolve()
    expect(started).to.deep.equal([0, 1, 2])
    finish[2]?.()
    finish[1]?.()
    expect(await Promise.all(results.slice(1, 3))).to.deep.equal([1, 2])
    await Promise.resolve()
    expect(started).to.deep.equal([0, 1, 2, 3])
    finish[3]?.()
    expect(await results[3]).to.equal(3)
  })
})
