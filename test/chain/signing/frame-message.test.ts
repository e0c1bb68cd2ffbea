import { expect } from 'chai'
import { hashMessage, serializeErc6492Signature, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { bytesToHex } from '../../../chain/signing/keys.js'
import {
  decodeFrameHeader,
  personalDigest,
  verifyFrame,
  type FrameCheck,
} from '../../../chain/signing/verify-frame.js'
import { frameMessage, readAuthFrame, type AuthFrame } from '../../../core/entry/auth-frame.js'
import { testPrivateKey } from '../../support/builders.js'

const account = privateKeyToAccount(testPrivateKey)
const NOW = 1_795_000_000
const check: FrameCheck = {
  purpose: 'history',
  words: { domain: 'venue.test', product: 'service' },
  nowSec: NOW,
}

/** A frame of the test key; `text` changes what its signature covers. */
async function aFrame(
  fields: Partial<AuthFrame> = {},
  text: (frame: Omit<AuthFrame, 'signature'>) => string = (frame) =>
    frameMessage('history', check.words, frame),
): Promise<AuthFrame> {
  const frame = {
    address: account.address as string,
    nonce: 'n-1',
    issuedAt: NOW - 10,
    expiry: NOW + 3600,
    ...fields,
  }
  return { signature: await account.signMessage({ message: text(frame) }), ...frame }
}

const wireOf = ({ issuedAt, ...frame }: AuthFrame) => ({ ...frame, issued_at: issuedAt })

describe('message-signed frames', () => {
  it('say what is signed, to the letter (AUT-024)', () => {
    const frame = { address: '0xAb', nonce: 'n', issuedAt: 1, expiry: 2 }
    const lines = 'Address: 0xAb\nNonce: n\nIssued At: 1\nExpiration Time: 2'
    expect(frameMessage('history', check.words, frame)).to.equal(
      `venue.test wants you to view your service order history.\n${lines}`,
    )
    expect(frameMessage('socket', { domain: 'd', product: 'acme' }, frame)).to.equal(
      `d wants you to authenticate for the acme markets WebSocket.\n${lines}`,
    )
  })

  it('are hashed as personal_sign does, whatever the text (AUT-024)', () => {
    for (const text of ['', 'a', 'ä€😀', 'x'.repeat(1000)]) {
      expect(bytesToHex(personalDigest(text))).to.equal(hashMessage(text))
    }
  })

  it('speak for the address they name, as sent or lower-cased in the text (AUT-026)', async () => {
    const owner = account.address.toLowerCase()
    const lowered = (frame: Omit<AuthFrame, 'signature'>) =>
      frameMessage('history', check.words, { ...frame, address: owner })
    for (const frame of [
      await aFrame(),
      await aFrame({ address: owner }),
      await aFrame({}, lowered),
      await aFrame({ issuedAt: NOW + 60, expiry: NOW + 60 + 86_400 }),
    ]) {
      expect(verifyFrame(frame, check)).to.deep.equal({ owner })
    }
  })

  it('are refused outside their time (AUT-028)', async () => {
    const times: [Partial<AuthFrame>, string][] = [
      [{ issuedAt: NOW + 61 }, 'issued_at is in the future'],
      [{ expiry: NOW }, 'the frame has expired'],
      [{ issuedAt: NOW + 30, expiry: NOW + 30 }, 'expiry must be after issued_at'],
      [{ issuedAt: NOW, expiry: NOW + 86_401 }, 'the frame may be valid for at most 86400 seconds'],
    ]
    for (const [fields, reason] of times) {
      expect(verifyFrame(await aFrame(fields), check)).to.deep.equal({ reason })
    }
    const socket = await aFrame({ issuedAt: NOW, expiry: NOW + 301 })
    expect(verifyFrame(socket, { ...check, purpose: 'socket' })).to.deep.equal({
      reason: 'the frame may be valid for at most 300 seconds',
    })
  })

  it('are refused when anything else was signed, or by another key', async () => {
    const words = check.words
    const other = privateKeyToAccount(`0x${'02'.repeat(32)}`).address
    const good = await aFrame()
    const upper = `0x${account.address.slice(2).toUpperCase()}`
    const cases: AuthFrame[] = [
      await aFrame({ expiry: NOW + 100 }, (frame) => frameMessage('socket', words, frame)),
      await aFrame({}, (f) => frameMessage('history', { ...words, domain: 'evil.test' }, f)),
      await aFrame({}, (f) => frameMessage('history', { ...words, product: 'other' }, f)),
      await aFrame({}, (f) => `${frameMessage('history', words, f)}\n`),
      await aFrame({}, (f) => frameMessage('history', words, { ...f, address: upper })),
      { ...good, nonce: 'n-2' },
      { ...good, expiry: good.expiry + 1 },
      { ...good, address: other },
    ]
    for (const frame of cases) {
      expect(verifyFrame(frame, check)).to.deep.equal({
        reason: 'signature does not match address',
      })
    }
  })

  describe('of a session key', () => {
    const owned = privateKeyToAccount(`0x${'02'.repeat(32)}`).address
    const keyOf = owned.toLowerCase() as Hex
    const signer = account.address.toLowerCase() as Hex
    const keyed = (text?: Parameters<typeof aFrame>[1]) => aFrame({ address: owned, signer }, text)

    it('say which key of which owner has signed the text of the owner (AUT-040)', async () => {
      const proof = { keyOf, key: signer }
      expect(verifyFrame(await keyed(), check)).to.deep.equal(proof)
      const lowered = await keyed((frame) =>
        frameMessage('history', check.words, { ...frame, address: keyOf }),
      )
      expect(verifyFrame(lowered, check)).to.deep.equal(proof)
    })

    it('are read with the signer in any spelling, and as the owner’s own where it is the owner', async () => {
      const sent = wireOf(await aFrame({ address: owned }))
      const read = readAuthFrame({ ...sent, signer_address: account.address })
      expect('frame' in read && read.frame.signer).to.equal(signer)
      for (const signer_address of [owned, keyOf, '', null]) {
        const own = readAuthFrame({ ...sent, signer_address })
        expect('frame' in own && 'signer' in own.frame, String(signer_address)).to.equal(false)
      }
      for (const signer_address of ['0x12', 7, {}]) {
        expect(readAuthFrame({ ...sent, signer_address })).to.deep.equal({
          reason: 'signer_address must be 0x followed by 40 hex digits',
        })
      }
    })

    it('are refused with the mistake, where the wrong key or the wrong text was signed', async () => {
      const unmatched = 'signature does not match signer_address'
      const good = await keyed()
      const third: Hex = `0x${'ab'.repeat(20)}`
      const cases: [AuthFrame, string][] = [
        [{ ...good, address: third }, unmatched],
        [{ ...good, signer: third }, unmatched],
        [{ ...good, nonce: 'n-2' }, unmatched],
        [await keyed((f) => frameMessage('socket', check.words, f)), unmatched],
        [
          await keyed((f) => frameMessage('history', check.words, { ...f, address: signer })),
          `${unmatched}: the signed text names the key, where it must name address`,
        ],
        [
          { ...(await aFrame()), signer: third },
          `${unmatched}: address itself has signed, so leave signer_address out`,
        ],
        [
          {
            ...good,
            signature: good.signature.slice(0, 130) + (good.signature.endsWith('1b') ? '00' : '01'),
          },
          `${unmatched}: it ends in v = ${good.signature.endsWith('1b') ? 0 : 1}: send ${good.signature.endsWith('1b') ? 27 : 28}`,
        ],
      ]
      for (const [frame, reason] of cases) {
        expect(verifyFrame(frame, check)).to.deep.equal({ reason })
      }
    })
  })

  it('come as base64url of JSON, with or without padding (AUT-033)', () => {
    const frame = { address: '0x1', nonce: 'é?>' }
    const text = Buffer.from(JSON.stringify(frame)).toString('base64url')
    const padded = text.padEnd(Math.ceil(text.length / 4) * 4, '=')
    expect(decodeFrameHeader(text)).to.deep.equal(frame)
    expect(decodeFrameHeader(padded)).to.deep.equal(frame)
    const junk = ['', '{}', 'a b', '+/+/', '====', 'bm9wZQ', '_w', 'a'.repeat(3000)]
    for (const header of junk) expect(decodeFrameHeader(header), header).to.equal(undefined)
  })

  it('are refused with the mistake in the bytes of a right signature, for both purposes', async () => {
    const socket = await aFrame({ expiry: NOW + 100 }, (f) =>
      frameMessage('socket', check.words, f),
    )
    for (const [good, purpose] of [
      [await aFrame(), 'history'],
      [socket, 'socket'],
    ] as const) {
      const rs = good.signature.slice(2, 130)
      const v = Number(`0x${good.signature.slice(130)}`)
      const mistakes: Record<string, string> = {
        [`0x${rs}0${v - 27}`]: `it ends in v = ${v - 27}: send ${v}`,
        [`0x${rs}${(v + 10).toString(16)}`]: `it ends in v = ${v + 10}, as EIP-155 has it: send ${v}`,
        [`0x${v.toString(16)}${rs}`]: 'it has v in front: send r, s and v, in this order',
        [serializeErc6492Signature({
          address: `0x${'fa'.repeat(20)}`,
          data: '0x',
          signature: good.signature as Hex,
        })]: 'it is wrapped as ERC-6492: deploy the wallet and send the signature inside',
      }
      for (const [signature, fault] of Object.entries(mistakes)) {
        const read = readAuthFrame({ ...wireOf(good), signature })
        if ('reason' in read) throw new Error(read.reason)
        expect(verifyFrame(read.frame, { ...check, purpose })).to.deep.equal({
          reason: `signature does not match address: ${fault}`,
        })
      }
    }
  })

  it('are refused with a signature that the chain would not take (AUT-027)', async () => {
    const good = await aFrame()
    for (const signature of ['', '0x', 'zz', good.signature.slice(0, 128)]) {
      expect(verifyFrame({ ...good, signature }, check)).to.deep.equal({
        reason: 'signature must be 0x followed by 130 hex digits',
      })
    }
  })
})
