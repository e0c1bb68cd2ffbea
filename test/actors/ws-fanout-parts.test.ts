import { expect } from 'chai'
import fc from 'fast-check'
import { InvariantBroken } from '../../core/assert.js'
import { createChangeRing } from '../../actors/ws-fanout/change-ring.js'
import { createFeedMarks } from '../../actors/ws-fanout/feed-marks.js'
import { createGate } from '../../actors/ws-fanout/gate.js'

describe('feed marks', () => {
  it('always know a place at or before a sequence, no further back than the stream is long by marks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(2, 4, 8),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 300 }),
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
  const frame = (seq: number) => ({
    seq,
    book: Buffer.from(`b${seq} `),
    trades: seq % 3 === 0 ? Buffer.from(`t${seq} `) : undefined,
  })
  const text = (page: { frames: Buffer[] } | undefined): string | undefined =>
    page && Buffer.concat(page.frames).toString().trim()

  it('holds the newest changes and says what it does not hold', () => {
    const ring = createChangeRing(4)
    expect(ring.after('book', 0, 100)).to.equal(undefined)
    for (let seq = 1; seq <= 9; seq++) ring.push(frame(seq))
    expect(ring.after('book', 4, 100)).to.equal(undefined)
    expect(text(ring.after('book', 5, 100))).to.equal('b6 b7 b8 b9')
    expect(text(ring.after('trades', 5, 100))).to.equal('t6 t9')
    expect(ring.after('book', 9, 100)).to.deep.equal({ frames: [], upTo: 9 })
  })

  it('cuts pages by size', () => {
    const ring = createChangeRing(16)
    for (let seq = 1; seq <= 9; seq++) ring.push(frame(seq))
    const page = ring.after('book', 2, 5)
    expect([text(page), page?.upTo]).to.deep.equal(['b3 b4', 4])
  })

  it('refuses a gap', () => {
    const ring = createChangeRing(4)
    ring.push(frame(1))
    expect(() => ring.push(frame(3))).to.throw(InvariantBroken)
  })
})

describe('gate', () => {
  it('lets so many tasks run at a time, the others in order of arrival, also after a failure', async () => {
    const gate = createGate(2)
    const started: number[] = []
    const finish: (() => void)[] = []
    const results = [0, 1, 2, 3].map((n) =>
      gate(
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
