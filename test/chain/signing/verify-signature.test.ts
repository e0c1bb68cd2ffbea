import { expect } from 'chai'
import fc from 'fast-check'
import { recoverAddress } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { bytesToHex, hexToBytes } from '../../../chain/signing/keys.js'
import {
  createSignatureVerifier,
  SignerUnreadable,
  type SignatureReads,
  type SignatureVerifierOptions,
  type SignatureVerdict,
} from '../../../chain/signing/verify-signature.js'
import type { Action, Address, Hex } from '../../../core/action.js'
import { arbitraryAction, arbitraryKey } from '../../support/actions.js'
import { testDomain, testPrivateKey } from '../../support/builders.js'
import { runs } from '../../support/property-runs.js'

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const addressOf = (key: Hex): Address => privateKeyToAccount(key).address.toLowerCase() as Address

const word = (value: bigint): string => value.toString(16).padStart(64, '0')

/** A verifier of the test domain on a chain that answers as told, and a record of what it was asked. */
function verifierOn(chain: {
  code?: boolean
  blockNumber?: bigint
  accepts?: boolean
  codeCacheMs?: number
  touched?: SignatureVerifierOptions['touched']
}) {
  const asked: string[] = []
  const reads: SignatureReads = {
    readCode: (address) => {
      asked.push(`code ${address}`)
      const { code: hasCode, blockNumber } = chain
      return Promise.resolve(
        hasCode === undefined ? undefined : { hasCode, ...(blockNumber && { blockNumber }) },
      )
    },
    callIsValidSignature: (signer) => {
      asked.push(`1271 ${signer}`)
      return Promise.resolve(chain.accepts)
    },
  }
  const { codeCacheMs = 60_000, touched } = chain
  const kept = { codeCacheMs, ...(touched && { touched }) }
  return { asked, ...createSignatureVerifier({ domain: testDomain, ...kept, ...reads }) }
}

function anAction(signer: Address = addressOf(testPrivateKey)): Action {
  const at = (pair: string): Address => `0x${pair.repeat(20)}`
  const head = { subaccountId: 7n, nonce: 1n, module: at('e1'), data: '0x1234' as Hex }
  return { ...head, expiry: 4_102_444_800n, owner: signer, signer }
}

async function signed(action: Action, privateKey: Hex = testPrivateKey): Promise<Hex> {
  return sign({ hash: verifierOn({}).digest(action), privateKey, to: 'hex' })
}

/** The forms of one signature that libraries take for the same. */
function twins(signature: Hex): Record<string, Hex> {
  const r = signature.slice(2, 66)
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const v = Number.parseInt(signature.slice(130), 16)
  const compact = word(s + (v === 28 ? 2n ** 255n : 0n))
  return {
    'high s': `0x${r}${word(CURVE_ORDER - s)}${(55 - v).toString(16)}`,
    'v of 0 or 1': `0x${r}${word(s)}${v === 28 ? '01' : '00'}`,
    'compact form': `0x${r}${compact}`,
    'a byte too many': `${signature}00`,
    's of zero': `0x${r}${word(0n)}1b`,
    'r of zero': `0x${word(0n)}${word(s)}1b`,
    'r beyond the curve': `0x${word(CURVE_ORDER)}${word(s)}1b`,
    nothing: '0x',
    'not hex': '0xzz',
    'half a byte': `${signature}0`,
  }
}

describe('signature verifier', () => {
  it('accepts what viem recovers to the signer, wherever the chain does not refuse the form', async () => {
    const damage = fc.option(fc.record({ at: fc.nat(64), bit: fc.nat(7) }), { freq: 2 })
    const property = fc.asyncProperty(
      arbitraryAction,
      arbitraryKey,
      damage,
      async (a, key, hit) => {
        const action = { ...a, signer: addressOf(key) }
        const bytes = hexToBytes(await signed(action, key))
        if (hit !== null) bytes[hit.at] = (bytes[hit.at] ?? 0) ^ (1 << hit.bit)
        const { digest, verify } = verifierOn({ code: false })
        const expected = await viemAccepts(digest(action), bytesToHex(bytes), action.signer)
        const verdict = await verify(action, bytesToHex(bytes))
        expect(verdict.kind).to.equal(expected ? 'valid' : 'invalid')
      },
    )
    await fc.assert(property, { numRuns: runs(150) })
  })

  for (const [form, make] of Object.entries(twins(`0x${'11'.repeat(64)}1b`)).map(
    ([name]) => [name, (signature: Hex) => twins(signature)[name]] as const,
  )) {
    it(`refuses ${form}, as the chain does (AUT-003)`, async () => {
      const action = anAction()
      const twin = make(await signed(action)) ?? '0x'
      const verdict = await verifierOn({ code: false }).verify(action, twin)
      expect(verdict).to.include({ kind: 'invalid', path: 'ecdsa' })
    })
  }

  it('names the digest and who signed instead', async () => {
    const action = anAction()
    const otherKey: Hex = `0x${'02'.repeat(32)}`
    const { digest, verify } = verifierOn({ code: false })
    const verdict = await verify(action, await signed(action, otherKey))
    expect(verdict).to.deep.equal({
      kind: 'invalid',
      path: 'ecdsa',
      digest: digest(action),
      recovered: addressOf(otherKey),
    })
  })

  it('asks only the contract when there is code at the signer, even about a correct key (AUT-004)', async () => {
    const action = anAction()
    const signature = await signed(action)
    const verdictOf = async (accepts: boolean): Promise<SignatureVerdict> =>
      verifierOn({ code: true, accepts }).verify(action, signature)
    expect(await verdictOf(true)).to.deep.equal({ kind: 'valid', byCode: true })
    expect(await verdictOf(false)).to.include({ kind: 'invalid', path: 'erc1271' })
  })

  it('asks the contract about long signatures, but about none that is longer than a request', async () => {
    const { asked, verify } = verifierOn({ code: true, accepts: true })
    const longest: Hex = `0x${'5a'.repeat(65_535)}`
    expect((await verify(anAction(), longest)).kind).to.equal('valid')
    const before = asked.length
    expect((await verify(anAction(), `${longest}5a`)).kind).to.equal('invalid')
    expect(asked).to.have.length(before)
  })

  it('does not know when the contract gave no answer', async () => {
    const verdict = await verifierOn({ code: true }).verify(anAction(), '0x1234')
    expect(verdict.kind === 'unknown' && verdict.cause).to.be.instanceOf(SignerUnreadable)
  })

  it('takes a correct key at its word while code is unreadable, and nothing else (AUT-010)', async () => {
    const action = anAction()
    const { verify } = verifierOn({})
    expect(await verify(action, await signed(action))).to.deep.equal({
      kind: 'valid',
      byCode: false,
    })
    expect((await verify(action, `0x${'5a'.repeat(65)}`)).kind).to.equal('unknown')
  })

  it('asks about code once per block and address', async () => {
    const kept = verifierOn({ code: false })
    await Promise.all([kept.verify(anAction(), '0x'), kept.verify(anAction(), '0x')])
    await kept.verify(anAction(), '0x')
    expect(kept.asked).to.have.length(1)
    const forgetful = verifierOn({ code: false, codeCacheMs: 0 })
    await forgetful.verify(anAction(), '0x')
    await forgetful.verify(anAction(), '0x')
    expect(forgetful.asked).to.have.length(2)
  })

  it('keeps that a key which has signed has no code until a block may have given it some', async () => {
    const action = anAction()
    const signature = await signed(action)
    const { signer } = action
    const reads: unknown[] = []
    let isUntouched = true
    const touched = {
      isUntouched: (read: object) => {
        reads.push(read)
        return isUntouched
      },
    }
    const chain = { code: false, blockNumber: 7n, codeCacheMs: 0, touched }
    const { asked, verify, hasCode } = verifierOn(chain)
    // An address that has not signed may be that of a contract to come.
    expect((await verify(action, '0x')).kind).to.equal('invalid')
    expect((await verify(action, signature)).kind).to.equal('valid')
    expect(asked).to.have.length(2)
    expect((await verify(action, signature)).kind).to.equal('valid')
    expect((await verify(action, '0x')).kind).to.equal('invalid')
    expect(await hasCode(signer)).to.equal(false)
    expect(asked).to.have.length(2)
    expect(reads.at(-1)).to.include({ id: signer, blockNumber: 7n })
    isUntouched = false
    chain.code = true
    expect(await hasCode(signer)).to.equal(true)
    isUntouched = true
    chain.code = false
    expect(await hasCode(signer)).to.equal(false)
    expect(asked).to.have.length(4)
  })

  it('does not keep code of an unknown block', async () => {
    const action = anAction()
    const touched = { isUntouched: () => true }
    const { asked, verify } = verifierOn({ code: false, codeCacheMs: 0, touched })
    const signature = await signed(action)
    await verify(action, signature)
    await verify(action, signature)
    expect(asked).to.have.length(2)
  })

  it('asks about code again after a question without answer', async () => {
    const { asked, verify } = verifierOn({})
    await verify(anAction(), '0x')
    await verify(anAction(), '0x')
    expect(asked).to.have.length(2)
  })
})

async function viemAccepts(hash: Hex, signature: Hex, signer: Address): Promise<boolean> {
  const v = signature.slice(130)
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const chainRefusesForm = (v !== '1b' && v !== '1c') || s > CURVE_ORDER / 2n
  if (chainRefusesForm) return false
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() === signer
  } catch {
    return false
  }
}
