import { expect } from 'chai'
import fc from 'fast-check'
import {
  blockMessages,
  blockVersions,
  decodeBlock,
  encodeBlock,
  holdsBlock,
} from '../../bus-schemas/blocks.js'
import { message, since, storedText, type Versions } from '../../bus-schemas/envelope.js'
import { InvariantBroken } from '../../core/assert.js'
import type { Block } from '../../core/model/change.js'
import { MalformedMessage, oneOf, text, uint, whole } from '../../core/wire/codec.js'
import { mapped, struct } from '../../core/wire/compound.js'
import { anyBlock } from '../support/arbitrary-blocks.js'
import { runs } from '../support/property-runs.js'

/** A position in three releases: two amounts, then one with its sign, then also who counted it. */
interface Sided {
  readonly side: 'long' | 'short'
  readonly amount: bigint
}
interface Signed {
  readonly negative: boolean
  readonly amount: bigint
}
interface Counted extends Signed {
  readonly by: string
}

const sided = struct<Sided>({
  side: oneOf<Sided['side']>({ long: true, short: true }),
  amount: uint,
})
const signed = mapped<Signed, string>(
  text,
  ({ negative, amount }) => `${negative ? '-' : ''}${amount}`,
  (word) => ({ negative: word.startsWith('-'), amount: BigInt(word.replace('-', '')) }),
)
const counted = struct<{ readonly position: Signed; readonly by: string }>({
  position: signed,
  by: text,
})

const first = since(3, sided)
const second = first.next(signed, ({ side, amount }) => ({ negative: side === 'short', amount }))
const third: Versions<Counted> = second.next(
  mapped<Counted, { readonly position: Signed; readonly by: string }>(
    counted,
    ({ by, ...position }) => ({ by, position }),
    ({ by, position }) => ({ by, ...position }),
  ),
  (older) => ({ ...older, by: 'unknown' }),
)

const anySided = fc.record({
  side: fc.constantFrom('long' as const, 'short' as const),
  amount: fc.bigInt({ min: 0n, max: 2n ** 255n }),
})

/** The release after this one, whose blocks say who wrote them. */
const nextBlocks = blockMessages(
  blockVersions.next(
    mapped<Block, { readonly by: string; readonly block: Block }>(
      struct<{ readonly by: string; readonly block: Block }>({
        by: text,
        block: blockVersions.form,
      }),
      (block) => ({ by: 'next', block }),
      ({ block }) => block,
    ),
    (older) => older,
  ),
)

describe('versions of a declaration', () => {
  it('are read as what they mean in the newest, however old', () => {
    fc.assert(
      fc.property(anySided, ({ side, amount }) => {
        const written = storedText('position', first).write({ side, amount })
        const now = { negative: side === 'short', amount }
        expect(storedText('position', second).read(written)).to.deep.equal(now)
        const whole = { ...now, by: 'unknown' }
        expect(storedText('position', third).read(written)).to.deep.equal(whole)
        const between = storedText('position', second).write(now)
        expect(storedText('position', third).read(between)).to.deep.equal(whole)
      }),
    )
  })

  it('are written in the newest, and read the same when they are written again', () => {
    const { version, write, read } = storedText('position', third)
    expect(version).to.equal(5)
    fc.assert(
      fc.property(anySided, (value) => {
        const upcast = read(storedText('position', first).write(value))
        expect(write(upcast)).to.match(/^\[5,/)
        expect(read(write(upcast))).to.deep.equal(upcast)
      }),
    )
  })

  it('refuse a form of one version under the number of another', () => {
    const { read } = storedText('position', second)
    expect(() => read('[4,["long","1"]]')).to.throw(MalformedMessage)
    expect(() => read('[3,"-1"]')).to.throw(MalformedMessage)
  })

  it('that a build does not know are refused by name, with what to do', () => {
    const { read } = storedText('position', second)
    expect(() => read('[5,"1"]')).to.throw(
      InvariantBroken,
      'position is of version 5, this build reads versions 3 to 4: run the release that wrote it, or a newer one',
    )
    expect(() => read('[2,"1"]')).to.throw(InvariantBroken, 'written before release 0.3.0')
  })

  it('are never guessed from a number that is torn or not a number', () => {
    const written = message('position', third).encode({ negative: true, amount: 7n, by: 'x' })
    const { decode } = message('position', third)
    const anyVersion = fc.oneof(fc.double(), fc.string(), fc.integer(), fc.constant(null))
    fc.assert(
      fc.property(anyVersion, fc.nat(written.length), (version, length) => {
        const refused = (data: string | Uint8Array) => {
          try {
            decode(Buffer.from(data))
          } catch (error) {
            expect(error).to.satisfy(
              (it: unknown) => it instanceof MalformedMessage || it instanceof InvariantBroken,
            )
            return
          }
          expect.fail(`${String(data)} was read`)
        }
        if (length < written.length) refused(written.subarray(0, length))
        const form = Buffer.from(written).toString('utf8').slice('[5'.length)
        if (version !== 5) refused(`[${JSON.stringify(version)}${form}`)
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('stored blocks', () => {
  it('are compared as what they say, whatever version they were written in', () => {
    fc.assert(
      fc.property(anyBlock, (block) => {
        const stored = encodeBlock(block)
        expect(nextBlocks.decode(stored)).to.deep.equal(block)
        expect(nextBlocks.holds(stored, block)).to.equal(true)
        expect(nextBlocks.holds(nextBlocks.encode(block), block)).to.equal(true)
      }),
    )
  })

  it('differ when one change differs, in either version', () => {
    fc.assert(
      fc.property(anyBlock, fc.nat(), (block, place) => {
        fc.pre(block.changes.length > 0)
        const changes = block.changes.map((change, index) =>
          index === place % block.changes.length ? { ...change, atMs: change.atMs + 1 } : change,
        )
        const other = { ...block, changes }
        expect(holdsBlock(encodeBlock(block), other)).to.equal(false)
        expect(nextBlocks.holds(encodeBlock(block), other)).to.equal(false)
      }),
    )
  })

  it('of a newer version are refused, not compared', () => {
    const [block] = fc.sample(anyBlock, 1)
    const newer = nextBlocks.encode(block!)
    expect(() => decodeBlock(newer)).to.throw(InvariantBroken, 'run the release that wrote it')
    expect(() => holdsBlock(newer, block!)).to.throw(InvariantBroken)
  })
})

describe('a version of a codec that is not a list', () => {
  it('may be any JSON', () => {
    const counts = since(1, whole).next(
      struct<{ readonly count: number }>({ count: whole }),
      (count) => ({ count }),
    )
    expect(storedText('count', counts).read('[1,7]')).to.deep.equal({ count: 7 })
    expect(storedText('count', counts).read('[2,[7]]')).to.deep.equal({ count: 7 })
  })
})
