import { expect } from 'chai'
import { chmodSync, existsSync, linkSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { openKeyFile, retiringFileOf } from '../../../chain/signing/key-file.js'
import {
  createTransactionSigner,
  requireNativeCurve,
  type TransactionRequest,
} from '../../../chain/signing/keys.js'
import { openSigners } from '../../../chain/signing/open-signers.js'
import type { Hex } from '../../../core/action.js'
import { CannotStart } from '../../../core/cannot-start.js'
import { SignerUnavailable } from '../../../core/transaction-journal.js'
import { eventually, onThisMachine } from '../../support/eventually.js'
import { serveSigner, type SignerMood, type StandInSigner } from '../../support/stand-in-signer.js'
import { tempDir } from '../../support/temp-dir.js'

const KEY: Hex = `0x${'11'.repeat(32)}`
const OTHER: Hex = `0x${'22'.repeat(32)}`
const CHAIN = 8453
const local = createTransactionSigner(KEY, CHAIN)
const REQUEST: TransactionRequest = {
  to: `0x${'ab'.repeat(20)}`,
  data: '0x010203',
  evmNonce: 7,
  gasLimit: 100_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
}
const unwanted = {
  onWarning: (message: string): void => expect.fail(message),
  onChange: (): void => undefined,
}

describe('keys of executor and submitters', () => {
  const dir = tempDir()
  const path = join(dir.path, 'key')
  after(() => dir.remove())

  function write(text: string, mode = 0o600, to = path): void {
    if (existsSync(to)) chmodSync(to, 0o600)
    writeFileSync(to, text, { mode: 0o600 })
    chmodSync(to, mode)
  }

  describe('in a file', () => {
    for (const mode of [0o600, 0o400]) {
      it(`is opened from mode ${mode.toString(8)}`, () => {
        write(`${KEY}\n`, mode)
        const { current } = openSigners({ file: path }, CHAIN, unwanted)
        expect(current.sign(REQUEST)).to.deep.equal(local.sign(REQUEST))
      })
    }
    for (const mode of [0o640, 0o604, 0o660, 0o700, 0o644]) {
      it(`is refused in mode ${mode.toString(8)}, in one sentence (OPE-038)`, () => {
        write(KEY, mode)
        expect(() => openKeyFile(path, CHAIN)).to.throw(
          CannotStart,
          new RegExp(`^the key file \\S+ has mode ${mode.toString(8)}: set it to 600 or 400$`),
        )
      })
    }
    it('is refused when another user owns it', () => {
      write(KEY)
      const uid = process.getuid?.() ?? 0
      expect(() => openKeyFile(path, CHAIN, { ownerUid: uid + 1 })).to.throw(
        CannotStart,
        `belongs to user ${uid} and not to ${uid + 1}`,
      )
    })
    it('is refused when it is missing, and when it holds no key, without a word of what it holds', () => {
      expect(() => openKeyFile(join(dir.path, 'none'), CHAIN)).to.throw(CannotStart, 'ENOENT')
      const canary = 'ca'.repeat(31)
      for (const text of [
        '',
        `0x${canary}`,
        `{"signer_url":"${canary}"}`,
        `0x${'00'.repeat(32)}`,
        'x'.repeat(5_000),
      ]) {
        write(text)
        expect(() => openKeyFile(path, CHAIN))
          .to.throw(CannotStart)
          .with.property('message')
          .that.does.not.include(canary)
      }
    })
    it('is noticed when another takes its place, once', async () => {
      write(KEY)
      let changes = 0
      openSigners({ file: path }, CHAIN, { ...unwanted, onChange: () => (changes += 1) })
      linkSync(path, retiringFileOf(path))
      write(OTHER, 0o600, join(dir.path, 'new'))
      renameSync(join(dir.path, 'new'), path)
      await eventually(() => changes === 1)
      const { current, retiring } = openSigners({ file: path }, CHAIN, unwanted)
      expect(current.address).to.equal(createTransactionSigner(OTHER, CHAIN).address)
      expect(retiring?.address).to.equal(local.address)
    })
  })

  it('uses the compiled curve, and refuses another', () => {
    requireNativeCurve()
    const fallback: unknown = createRequire(import.meta.url)('secp256k1/elliptic.js')
    expect(() => requireNativeCurve(fallback)).to.throw(CannotStart, 'secp256k1')
  })

  it('is warned of in the environment, except on a local chain', () => {
    const warnings: string[] = []
    openSigners({ privateKey: KEY, isWorthless: true }, CHAIN, unwanted)
    const source = { privateKey: KEY, isWorthless: false }
    openSigners(source, CHAIN, { ...unwanted, onWarning: (message) => warnings.push(message) })
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('environment').and.not.include(KEY)
  })

  describe('in an external signer', () => {
    let server: StandInSigner
    const refer = (address: string, timeout_ms = 2_000): void =>
      write(JSON.stringify({ signer_url: server.url, address, timeout_ms }))
    before(async () => {
      server = await serveSigner(OTHER, KEY)
    })
    after(() => server.stop())
    beforeEach(() => server.set('signs'))

    it('signs the same transaction as the key itself', () => {
      refer(local.address)
      const signer = openKeyFile(path, CHAIN)
      expect(signer.address).to.equal(local.address)
      for (let evmNonce = 0; evmNonce < 8; evmNonce += 1)
        expect(signer.sign({ ...REQUEST, evmNonce })).to.deep.equal(
          local.sign({ ...REQUEST, evmNonce }),
        )
    })
    const faults: readonly (readonly [SignerMood, string])[] = [
      ['other key', 'is not one of'],
      ['high s', 'is not one of'],
      ['refuses', 'status 500'],
      ['babbles', 'not a signature of 65 bytes'],
      ['silent', 'no answer in time'],
    ]
    for (const [mood, why] of faults) {
      it(`gives nothing when the server is in the mood “${mood}”, and signs again afterwards`, async () => {
        refer(local.address, 1_000)
        const signer = openKeyFile(path, CHAIN)
        server.set(mood)
        const sinceMs = performance.now()
        expect(() => signer.sign(REQUEST)).to.throw(SignerUnavailable, why)
        expect(performance.now() - sinceMs).to.be.below(onThisMachine(5_000))
        server.set('signs')
        const asked = server.asked()
        const expected = local.sign(REQUEST)
        if (mood === 'silent') {
          // It is not asked again at once: its caller stands still meanwhile.
          expect(() => signer.sign(REQUEST)).to.throw(SignerUnavailable, 'silent just now')
          expect(server.asked()).to.equal(asked)
        }
        await eventually(() => expect(signer.sign(REQUEST)).to.deep.equal(expected))
      })
    }
    it('is refused at start when the server does not hold it, and not opened when it is down', async () => {
      refer(`0x${'77'.repeat(20)}`)
      expect(() => openKeyFile(path, CHAIN)).to.throw(CannotStart, 'has no key of 0x7777')
      const gone = await serveSigner(KEY)
      await gone.stop()
      write(JSON.stringify({ signer_url: gone.url, address: local.address }))
      expect(() => openKeyFile(path, CHAIN)).to.throw(SignerUnavailable, 'ECONNREFUSED')
    })
  })
})
