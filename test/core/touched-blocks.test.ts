import { expect } from 'chai'
import fc from 'fast-check'
import {
  ANNOUNCED_WITHIN_MS,
  createTouchedBlocks,
  createTouchedIds,
  type BlockTouches,
} from '../../core/touched-blocks.js'

function blocks() {
  let now = 0
  const touched = createTouchedBlocks<bigint>(() => now)
  return {
    take: touched.take.bind(touched),
    advance: (ms: number) => (now += ms),
    /** Of a read of account 7 that begins now. */
    isUntouchedSince: (blockNumber: bigint, readAtMs = now) =>
      touched.isUntouched({ id: 7n, blockNumber, readAtMs }),
  }
}

describe('what blocks touched', () => {
  it('knows nothing before the first announcement', () => {
    expect(blocks().isUntouchedSince(10n)).to.equal(false)
  })

  it('tells whether a later block touched the account', () => {
    const { take, isUntouchedSince } = blocks()
    take({ first: 10n, head: 10n, ids: [] })
    expect(isUntouchedSince(10n)).to.equal(true)
    take({ first: 11n, head: 12n, ids: [3n, 7n] })
    expect(isUntouchedSince(11n)).to.equal(false)
    expect(isUntouchedSince(12n)).to.equal(true)
    take({ first: 13n, head: 12n, ids: [] })
    expect(isUntouchedSince(12n)).to.equal(true)
  })

  it('knows nothing of reads before the first block that it knows', () => {
    const { take, isUntouchedSince } = blocks()
    take({ first: 10n, head: 10n, ids: [] })
    expect(isUntouchedSince(9n)).to.equal(false)
    // Blocks 11 to 14 were not announced.
    take({ first: 15n, head: 15n, ids: [] })
    expect(isUntouchedSince(14n)).to.equal(false)
    expect(isUntouchedSince(15n)).to.equal(true)
  })

  it('knows nothing while the announcements stop', () => {
    const { take, advance, isUntouchedSince } = blocks()
    take({ first: 10n, head: 10n, ids: [] })
    advance(ANNOUNCED_WITHIN_MS - 1)
    expect(isUntouchedSince(10n)).to.equal(true)
    advance(1)
    expect(isUntouchedSince(10n)).to.equal(false)
    take({ first: 11n, head: 11n, ids: [] })
    expect(isUntouchedSince(10n)).to.equal(true)
  })

  it('trusts no read from before a reorganisation, nor from shortly after', () => {
    const { take, advance, isUntouchedSince } = blocks()
    take({ first: 10n, head: 10n, ids: [] })
    take({ first: 11n, head: 11n })
    expect(isUntouchedSince(11n)).to.equal(false)
    advance(5_000)
    take({ first: 12n, head: 12n, ids: [] })
    expect(isUntouchedSince(12n, 4_999)).to.equal(false)
    expect(isUntouchedSince(12n)).to.equal(true)
  })

  it('knows nothing of earlier reads once an announcement goes back', () => {
    const { take, isUntouchedSince } = blocks()
    take({ first: 10n, head: 12n, ids: [7n] })
    take({ first: 11n, head: 11n, ids: [] })
    expect(isUntouchedSince(10n)).to.equal(false)
    expect(isUntouchedSince(11n)).to.equal(true)
  })

  it('keeps so many touched accounts, and counts all reads before as touched beyond them', () => {
    const { take, isUntouchedSince } = blocks()
    const accounts = Array.from({ length: 100_000 }, (_, n) => 1_000n + BigInt(n))
    take({ first: 10n, head: 10n, ids: accounts })
    take({ first: 11n, head: 11n, ids: [] })
    expect(isUntouchedSince(10n)).to.equal(true)
    take({ first: 12n, head: 12n, ids: [8n] })
    expect(isUntouchedSince(10n)).to.equal(true)
    take({ first: 13n, head: 13n, ids: [] })
    expect(isUntouchedSince(12n)).to.equal(false)
    expect(isUntouchedSince(13n)).to.equal(true)
  })

  it('never keeps a read that a later block touched', () => {
    const step = fc.record({
      skipped: fc.nat({ max: 1 }),
      count: fc.nat({ max: 3 }),
      touches: fc.boolean(),
    })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 30, size: 'max' }),
        fc.bigInt(0n, 60n),
        (steps, readAt) => {
          const { take, isUntouchedSince } = blocks()
          let head = 10n
          let lastTouch = 0n
          for (const { skipped, count, touches } of steps) {
            const first = head + 1n + BigInt(skipped)
            // An unannounced block may have touched any account.
            if (skipped > 0) lastTouch = head + 1n
            head = first - 1n + BigInt(count)
            const announced: BlockTouches<bigint> = { first, head, ids: touches ? [7n] : [] }
            if (touches) lastTouch = head
            take(announced)
          }
          if (isUntouchedSince(readAt)) expect(readAt >= lastTouch).to.equal(true)
        },
      ),
    )
  })

  it('is known of accounts and of keys apart', () => {
    const key = `0x${'ab'.repeat(20)}` as const
    const touched = createTouchedIds(() => 0)
    const { accounts, keys } = touched
    const read = { blockNumber: 10n, readAtMs: 0 }
    const untouched = () => [
      accounts.isUntouched({ id: 7n, ...read }),
      keys.isUntouched({ id: key, ...read }),
    ]
    touched.take({ first: 10n, head: 10n, accounts: [], keys: [] })
    expect(untouched()).to.deep.equal([true, true])
    touched.take({ first: 11n, head: 11n, accounts: [7n], keys: [] })
    expect(untouched()).to.deep.equal([false, true])
    touched.take({ first: 12n, head: 12n, accounts: [], keys: [key] })
    expect(untouched()).to.deep.equal([false, false])
    expect(keys.isUntouched({ id: key, blockNumber: 12n, readAtMs: 0 })).to.equal(true)
    touched.take({ first: 13n, head: 13n, accounts: [] })
    expect(accounts.isUntouched({ id: 7n, blockNumber: 11n, readAtMs: 0 })).to.equal(true)
    expect(keys.isUntouched({ id: key, blockNumber: 12n, readAtMs: 0 })).to.equal(false)
  })
})
