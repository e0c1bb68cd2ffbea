import { expect } from 'chai'
import { nkeys } from 'nats'
import { isSignedBy, newSeed, NotAKey, signingKeyOf } from '../../../runtime/bus/nkeys.js'

interface KeyPair {
  getPublicKey(): string
  sign(data: Uint8Array): Uint8Array
}
const library = nkeys as {
  fromSeed(seed: Uint8Array): KeyPair
  createAccount(): { getSeed(): Uint8Array; getPublicKey(): string }
}
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const base64 = (data: Uint8Array): string => Buffer.from(data).toString('base64')

describe('runtime/bus/nkeys', () => {
  it('gives the keys and signatures of the library', () => {
    for (let round = 0; round < 20; round += 1) {
      const seed = bytes(newSeed())
      const own = signingKeyOf(seed)
      const theirs = library.fromSeed(seed)
      const text = bytes(`challenge ${round}`)
      expect(own.publicKey).to.equal(theirs.getPublicKey())
      expect(base64(own.sign(text))).to.equal(base64(theirs.sign(text)))
      expect(isSignedBy(own.publicKey, text, base64(theirs.sign(text)))).to.equal(true)
    }
  })

  it('takes nothing else for a seed', () => {
    const seed = newSeed()
    const changed = `${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`
    const account = new TextDecoder().decode(library.createAccount().getSeed())
    for (const text of ['', 'SU', seed.slice(1), `${seed}A`, seed.toLowerCase(), changed, account])
      expect(() => signingKeyOf(bytes(text)), text.slice(0, 2)).to.throw(NotAKey)
  })

  it('takes nothing else for a signature', () => {
    const { publicKey, sign } = signingKeyOf(bytes(newSeed()))
    const other = signingKeyOf(bytes(newSeed()))
    const text = bytes('pause cNGN-USDC')
    const signature = base64(sign(text))
    expect(isSignedBy(publicKey, text, signature)).to.equal(true)
    expect(isSignedBy(publicKey, bytes('resume cNGN-USDC'), signature)).to.equal(false)
    expect(isSignedBy(publicKey, text, base64(other.sign(text)))).to.equal(false)
    expect(isSignedBy(publicKey, text, '')).to.equal(false)
    expect(isSignedBy(publicKey, text, signature.slice(4))).to.equal(false)
    for (const key of ['', 'U', publicKey.slice(1), library.createAccount().getPublicKey()])
      expect(isSignedBy(key, text, signature), key).to.equal(false)
  })
})
