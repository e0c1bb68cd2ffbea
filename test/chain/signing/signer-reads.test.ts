import { expect } from 'chai'
import { RpcRequestError } from 'viem'
import { createCircuitBreaker, type ChainClient } from '../../../chain/reads/client.js'
import { createSignatureReads } from '../../../chain/signing/verify-signature.js'
import type { Hex } from '../../../core/action.js'

const SIGNER = `0x${'aa'.repeat(20)}` as const
const DIGEST: Hex = `0x${'d1'.repeat(32)}`
const MAGIC = `0x1626ba7e${'0'.repeat(56)}`

interface Asked {
  readonly method: string
  readonly params: readonly [
    { readonly to: string; readonly data: string; readonly gas: string },
    string,
  ]
}

/** Reads from a node that answers so; an error is how it fails. */
function readsOf(answer: unknown) {
  const asked: unknown[] = []
  const give = (question: unknown) => {
    asked.push(question)
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const reads = createSignatureReads({
    judge: { request: give } as unknown as ChainClient,
    probe: { request: give } as unknown as ChainClient,
    breaker: createCircuitBreaker(),
  })
  return { asked, reads, accepted: () => reads.callIsValidSignature(SIGNER, DIGEST, '0x5a') }
}

const rpcError = (message: string, data?: Hex) =>
  new RpcRequestError({ body: {}, url: 'http://node', error: { code: 3, message, data } })

describe('what a node says of a signer', () => {
  it('is code or none, or nothing at all', async () => {
    const { asked, reads } = readsOf('0x60')
    expect(await reads.readCode(SIGNER)).to.deep.equal({ hasCode: true })
    expect(asked).to.deep.equal([{ method: 'eth_getCode', params: [SIGNER, 'latest'] }])
    expect(await readsOf('0x').reads.readCode(SIGNER)).to.deep.equal({ hasCode: false })
    expect(await readsOf(new Error('silence')).reads.readCode(SIGNER)).to.equal(undefined)
  })

  it('is a call of its contract at the newest block, with bounded gas', async () => {
    const { asked, accepted } = readsOf(MAGIC)
    expect(await accepted()).to.equal(true)
    const [{ method, params }] = asked as [Asked]
    const [call, block] = params
    expect([method, block, call.to, call.gas]).to.deep.equal([
      'eth_call',
      'latest',
      SIGNER,
      '0x7a120',
    ])
    expect(call.data)
      .to.match(/^0x1626ba7e/)
      .and.to.include(DIGEST.slice(2))
  })

  it('is an acceptance only with the whole magic word, in any case', async () => {
    expect(await readsOf(MAGIC.toUpperCase().replace('X', 'x')).accepted()).to.equal(true)
    expect(await readsOf(`${MAGIC}00`).accepted()).to.equal(true)
    for (const other of ['0x', '0x1626ba7e', MAGIC.slice(0, -1), MAGIC.replace(/0$/, '1')]) {
      expect(await readsOf(other).accepted(), other).to.equal(false)
    }
  })

  it('is a refusal when the contract reverts, and unknown without an answer', async () => {
    expect(await readsOf(rpcError('execution reverted', '0x')).accepted()).to.equal(false)
    expect(await readsOf(rpcError('out of gas')).accepted()).to.equal(false)
    expect(await readsOf(rpcError('too many requests')).accepted()).to.equal(undefined)
    expect(await readsOf(new Error('silence')).accepted()).to.equal(undefined)
  })
})
