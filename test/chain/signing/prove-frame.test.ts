import { expect } from 'chai'
import { proveFrame } from '../../../chain/signing/prove-frame.js'
import type { Address } from '../../../core/action.js'

const owner: Address = '0xaa'
const key: Address = '0xbb'
const NOW_MS = 1_795_000_000_000
const END_SEC = 1_795_000_001n

describe('the session key of a frame', () => {
  it('is not looked up where the owner has signed', () => {
    const never = (): never => expect.fail('asked for a key')
    expect(proveFrame({ owner }, never, NOW_MS)).to.deep.equal({ owner })
  })

  it('proves its owner until its end, to the second, and nothing while it is unknown (AUT-041)', async () => {
    const given = (end: bigint | undefined, nowMs = NOW_MS) =>
      proveFrame({ keyOf: owner, key }, () => end, nowMs)
    expect(given(END_SEC)).to.deep.equal({ owner, key })
    expect(given(END_SEC, NOW_MS + 999)).to.deep.equal({ owner, key })
    expect(given(END_SEC, NOW_MS + 1_000)).to.equal('ended')
    expect(given(0n)).to.equal('ended')
    expect(given(undefined)).to.equal('unreadable')
    const later = proveFrame({ keyOf: owner, key }, () => Promise.resolve(END_SEC), NOW_MS)
    expect(await later).to.deep.equal({ owner, key })
  })

  it('is looked up as the key of that owner, each time (AUT-041)', () => {
    const asked: string[] = []
    const read = (of: Address, it: Address): bigint => {
      asked.push(`${of} ${it}`)
      return END_SEC
    }
    for (let use = 0; use < 2; use += 1) void proveFrame({ keyOf: owner, key }, read, NOW_MS)
    expect(asked).to.deep.equal(['0xaa 0xbb', '0xaa 0xbb'])
  })
})
