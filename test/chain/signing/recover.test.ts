import { expect } from 'chai'
import { keccak256 as viemKeccak256 } from 'viem'
import { fingerprintOf, hexToBytes, recoverStrict } from '../../../chain/signing/keys.js'
import type { Hex } from '../../../core/action.js'
import { InvariantBroken } from '../../../core/assert.js'

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const DIGEST = Buffer.alloc(32, 7)
const word = (value: bigint): string => value.toString(16).padStart(64, '0')
/** Whether an address is recovered from a signature of any key; r is on the curve. */
const recovers = (s: bigint, v = 27, r = 1n): boolean =>
  recoverStrict(
    DIGEST,
    Buffer.from(`${word(r)}${word(s)}${v.toString(16).padStart(2, '0')}`, 'hex'),
  ) !== undefined

describe('strict recovery', () => {
  it('takes s up to half of the order, and no more', () => {
    expect(recovers(1n)).to.equal(true)
    expect(recovers(HALF_ORDER - 1n)).to.equal(true)
    expect(recovers(HALF_ORDER)).to.equal(true)
    expect(recovers(HALF_ORDER + 1n)).to.equal(false)
    expect(recovers(0x7fn << 248n)).to.equal(true)
    expect(recovers((0x80n << 248n) - 1n)).to.equal(false)
    expect(recovers(0x80n << 248n)).to.equal(false)
  })

  it('takes v of 27 and 28, not the two that name an r beyond the order (AUT-003)', () => {
    for (const v of [27, 28]) expect(recovers(1n, v), String(v)).to.equal(true)
    for (let r = 1n; r < 20n; r += 1n) {
      for (const v of [0, 1, 26, 29, 30, 31, 255]) expect(recovers(1n, v, r)).to.equal(false)
    }
  })
})

describe('the fingerprint of a call', () => {
  it('is the digest of its address and its data', () => {
    const to = `0x${'bb'.repeat(20)}` as const
    expect(fingerprintOf(to, '0x0102')).to.equal(viemKeccak256(`${to}0102`))
    expect(fingerprintOf(to, '0x')).to.equal(viemKeccak256(to))
  })
})

describe('hex text', () => {
  it('is read whole or not at all', () => {
    expect(hexToBytes('0x00ff')).to.deep.equal(Buffer.from([0, 255]))
    expect(hexToBytes('0x')).to.deep.equal(Buffer.alloc(0))
    for (const bad of ['0x0', '0x00f', '0xzz', '0x00zz'] as Hex[]) {
      expect(() => hexToBytes(bad), bad).to.throw(InvariantBroken)
    }
  })
})
