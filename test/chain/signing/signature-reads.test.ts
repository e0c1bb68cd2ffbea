import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createChainClient, createCircuitBreaker } from '../../../chain/reads/client.js'
import { createSignatureReads } from '../../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../../core/action.js'
import { startAnvil, type Anvil } from '../../support/anvil.js'

const WALLET: Address = `0x${'aa'.repeat(20)}`
const DIGEST: Hex = `0x${'11'.repeat(32)}`
const MAGIC = '1626ba7e'

/** Bytecode that answers the word whose first bytes are given. */
const answering = (head: string): Hex => `0x7f${head.padEnd(64, '0')}60005260206000f3`

describe('signature reads on a chain', () => {
  let anvil: Anvil

  before(async () => {
    anvil = await startAnvil()
  })
  after(() => anvil.stop())

  const reads = (rpcUrl = anvil.rpcUrl) =>
    createSignatureReads({
      judge: createChainClient(rpcUrl, 'judge'),
      probe: createChainClient(rpcUrl, 'probe'),
      breaker: createCircuitBreaker(),
      asker: { matching: `0x${'dd'.repeat(20)}`, sender: `0x${'ee'.repeat(20)}` },
    })

  async function verdictOf(code: Hex): Promise<boolean | undefined> {
    await anvil.client.setCode({ address: WALLET, bytecode: code })
    return reads().callIsValidSignature(WALLET, DIGEST, '0x1234')
  }

  it('tells code from none, a delegated key included', async () => {
    const plain: Address = `0x${'bb'.repeat(20)}`
    expect(await reads().readCode(plain)).to.deep.equal({ hasCode: false })
    await anvil.client.setCode({ address: plain, bytecode: `0xef0100${'cc'.repeat(20)}` })
    expect(await reads().readCode(plain)).to.deep.equal({ hasCode: true })
  })

  it('believes only the whole magic word (AUT-005)', async () => {
    expect(await verdictOf(answering(MAGIC))).to.equal(true)
    expect(await verdictOf(answering('1626ba7f'))).to.equal(false)
    expect(await verdictOf(answering(`${MAGIC}01`))).to.equal(false)
    const onlyFourBytes: Hex = `0x7f${MAGIC.padEnd(64, '0')}60005260046000f3`
    expect(await verdictOf(onlyFourBytes)).to.equal(false)
  })

  it('takes a revert, an endless loop and silence for a refusal (AUT-006)', async () => {
    const revert: Hex = '0x60006000fd'
    const loop: Hex = '0x5b600056'
    const nothing: Hex = '0x00'
    for (const code of [revert, loop, nothing]) expect(await verdictOf(code)).to.equal(false)
  })

  it('answers undefined when the chain cannot be asked', async () => {
    const { readCode, callIsValidSignature } = reads('http://127.0.0.1:1')
    expect(await readCode(WALLET)).to.equal(undefined)
    expect(await callIsValidSignature(WALLET, DIGEST, '0x')).to.equal(undefined)
  })

  it('answers undefined in time when the chain takes the question and is silent', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const rpcUrl = `http://127.0.0.1:${port}`
    expect(await reads(rpcUrl).readCode(WALLET)).to.equal(undefined)
    const inTime = { timeout: 1_000, retryCount: 0 }
    for (const purpose of ['judge', 'probe'] as const)
      expect(createChainClient(rpcUrl, purpose).transport).to.include(inTime)
    silent.close()
  })
})
