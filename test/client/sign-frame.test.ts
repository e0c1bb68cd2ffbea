import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { decodeFrameHeader, verifyFrame } from '../../chain/signing/verify-frame.js'
import { frameHeader, signFrame, type FrameOptions } from '../../client/index.js'
import { readAuthFrame } from '../../core/entry/auth-frame.js'
import { testPrivateKey } from '../support/builders.js'

const NOW_SEC = 1_790_000_000
const signer = privateKeyToAccount(testPrivateKey)

/** What the venue makes of a frame that a client signs for it. */
async function verdict(options: Partial<FrameOptions>, purpose: FrameOptions['purpose']) {
  const given = { purpose, domain: 'venue.test', issuedAtSec: NOW_SEC, ...options }
  const read = readAuthFrame(decodeFrameHeader(frameHeader(await signFrame(signer, given))))
  if ('reason' in read) return read
  const words = { domain: 'venue.test', product: 'service' }
  return verifyFrame(read.frame, { purpose, words, nowSec: NOW_SEC })
}

describe('sign frame', () => {
  const owner = signer.address.toLowerCase()

  it('makes frames for both purposes that the venue takes', async () => {
    expect(await verdict({}, 'history')).to.deep.equal({ owner })
    expect(await verdict({}, 'socket')).to.deep.equal({ owner })
    expect(await verdict({ validSec: 86_400 }, 'history')).to.deep.equal({ owner })
  })

  it('signs purpose, domain and product: a frame is good for nothing else', async () => {
    const reason = 'signature does not match address'
    expect(await verdict({ purpose: 'socket' }, 'history')).to.deep.equal({ reason })
    expect(await verdict({ domain: 'other.test' }, 'history')).to.deep.equal({ reason })
    expect(await verdict({ product: 'other' }, 'history')).to.deep.equal({ reason })
  })

  it("signs as an owner's session key, in the owner's text (AUT-040)", async () => {
    const owned = `0x${'AB'.repeat(20)}` as const
    const keyOf = owned.toLowerCase()
    for (const purpose of ['history', 'socket'] as const) {
      expect(await verdict({ owner: owned }, purpose)).to.deep.equal({ keyOf, key: owner })
    }
    expect(await verdict({ owner: signer.address }, 'history')).to.deep.equal({ owner })
  })

  it('never uses a nonce twice', async () => {
    const options = { purpose: 'socket', domain: 'venue.test' } as const
    const frames = await Promise.all([signFrame(signer, options), signFrame(signer, options)])
    expect(frames[0].nonce).not.to.equal(frames[1].nonce)
  })
})
