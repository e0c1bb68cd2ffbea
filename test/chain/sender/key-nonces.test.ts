import { expect } from 'chai'
import { openKeyNonces } from '../../../chain/sender/key-nonces.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import { openMemoryJournal, type MemoryJournal } from '../../support/memory-journal.js'
import { FINGERPRINT } from './scripted-sender.js'

const signer = createTransactionSigner(`0x${'07'.padStart(64, '0')}`, 8453)

describe('the nonces of a key', () => {
  let journal: MemoryJournal
  beforeEach(() => (journal = openMemoryJournal()))
  afterEach(() => journal.close())

  const open = (minedNonces = 0) => openKeyNonces({ signer, journal, minedNonces })
  const callFor = (...intentIds: string[]) => ({
    intents: intentIds.map((intentId) => ({ intentId, fingerprint: FINGERPRINT })),
    to: signer.address,
    data: '0x01' as const,
    fees: { gasLimit: 100_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
  })

  it('stay free when the journal takes nothing', () => {
    const nonces = open()
    expect(nonces.take(callFor('a')).evmNonce).to.equal(0)
    // The journal refuses an intent that has a transaction already.
    expect(() => nonces.take(callFor('a'))).to.throw()
    expect(nonces.next()).to.equal(1)
    expect(nonces.take(callFor('b')).evmNonce).to.equal(1)
  })

  it('go on above what is journalled and what is mined', () => {
    open().take(callFor('a'))
    expect(open().next()).to.equal(1)
    expect(open(7).next()).to.equal(7)
    expect(open(7).take(callFor('b')).evmNonce).to.equal(7)
    expect(open(3).next()).to.equal(8)
  })

  it('below the next one only are filled, with an empty transaction', () => {
    const nonces = open(2)
    const caps = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
    expect(nonces.fill(1, caps)).to.deep.include({ evmNonce: 1, intentIds: [] })
    expect(() => nonces.fill(2, caps)).to.throw('nonce 2 is not below 2')
    expect(nonces.next()).to.equal(2)
  })
})
