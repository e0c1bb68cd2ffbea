import { expect } from 'chai'
import { RpcRequestError, TimeoutError } from 'viem'
import { createCircuitBreaker, type ChainClient } from '../../../chain/reads/client.js'
import { ASKED_WORD } from '../../../chain/signing/ask-wallet.js'
import { createSignatureReads } from '../../../chain/signing/verify-signature.js'
import type { Hex } from '../../../core/action.js'
import { noAnswer } from '../../support/silent-node.js'

const SIGNER = `0x${'aa'.repeat(20)}` as const
const MATCHING = `0x${'bb'.repeat(20)}` as const
const SENDER = `0x${'cc'.repeat(20)}` as const
const DIGEST: Hex = `0x${'d1'.repeat(32)}`
const MAGIC = `1626ba7e${'0'.repeat(56)}`
const YES = `0x${ASKED_WORD}${MAGIC}`

interface Asked {
  readonly method: string
  readonly params: readonly [
    Readonly<Record<'from' | 'to' | 'data' | 'gas' | 'maxFeePerGas' | 'maxPriorityFeePerGas', Hex>>,
    string,
    Readonly<Record<string, { readonly code?: Hex; readonly balance?: Hex }>>,
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
    asker: { matching: MATCHING, sender: SENDER },
  })
  const accepted = (signature: Hex = '0x5a') =>
    reads.callIsValidSignature(SIGNER, DIGEST, signature)
  return { asked, reads, accepted }
}

const rpcError = (code: number, message: string, data?: Hex) =>
  new RpcRequestError({ body: {}, url: 'http://node', error: { code, message, data } })

describe('what a node says of a signer', () => {
  it('is code or none, or nothing at all', async () => {
    const { asked, reads } = readsOf('0x60')
    expect(await reads.readCode(SIGNER)).to.deep.equal({ hasCode: true })
    expect(asked).to.deep.equal([{ method: 'eth_getCode', params: [SIGNER, 'latest'] }])
    expect(await readsOf('0x').reads.readCode(SIGNER)).to.deep.equal({ hasCode: false })
    expect(await readsOf(noAnswer()).reads.readCode(SIGNER)).to.equal(undefined)
  })

  it('is one call in the place of the matching contract, of its sender, who pays (AUT-007)', async () => {
    const { asked, accepted } = readsOf(YES)
    expect(await accepted()).to.equal(true)
    expect(asked).to.have.length(1)
    const [{ method, params }] = asked as [Asked]
    const [call, block, overrides] = params
    expect([method, block, call.from, call.to]).to.deep.equal([
      'eth_call',
      'latest',
      SENDER,
      MATCHING,
    ])
    expect(BigInt(call.maxPriorityFeePerGas) > 0n).to.equal(true)
    expect(BigInt(call.maxFeePerGas) > BigInt(call.maxPriorityFeePerGas)).to.equal(true)
    expect(overrides[MATCHING]?.code).to.match(/^0x(?:[0-9a-f]{2})+$/)
    const balance = BigInt(overrides[SENDER]?.balance ?? '0x0')
    expect(balance >= BigInt(call.gas) * BigInt(call.maxFeePerGas)).to.equal(true)
    expect(call.data)
      .to.match(new RegExp(`^0x0{24}${'aa'.repeat(20)}1626ba7e`))
      .and.to.include(DIGEST.slice(2))
  })

  it('is asked for with gas for the longest signature as for a short one', async () => {
    const { asked, accepted } = readsOf(YES)
    await accepted()
    await accepted(`0x${'5a'.repeat(65_535)}`)
    const spare = (asked as Asked[]).map(({ params: [{ gas, data }] }) => {
      const bytes = data.length / 2 - 1
      return Number(gas) - 21_000 - 40 * bytes
    })
    for (const left of spare) expect(left).to.be.within(570_000, 1_200_000)
    // Nodes refuse a call with more than the chain lets a transaction have (EIP-7825), and cap it at 50 million.
    for (const { params } of asked as Asked[]) expect(Number(params[0].gas)).to.be.below(2 ** 24)
  })

  it('is an acceptance only with the whole magic word behind that of the stub, in any case (AUT-005)', async () => {
    expect(await readsOf(YES.toUpperCase().replace('X', 'x')).accepted()).to.equal(true)
    for (const word of ['0'.repeat(64), MAGIC.replace(/0$/, '1'), `${'0'.repeat(56)}1626ba7e`]) {
      expect(await readsOf(`0x${ASKED_WORD}${word}`).accepted(), word).to.equal(false)
    }
  })

  /** Answers of nodes that have not asked the wallet; none of them is a wallet's doing. */
  const unasked: readonly (readonly [string, unknown])[] = [
    ['no answer', noAnswer()],
    ['a time-out', new TimeoutError({ body: {}, url: 'http://node' })],
    ['too many requests', rpcError(429, 'too many requests')],
    ['no state overrides', rpcError(-32_602, 'too many arguments, want at most 2')],
    [
      'no state overrides, by a parser',
      rpcError(-32_602, 'Invalid params: expected a tuple of size 2'),
    ],
    [
      'overrides that it ignores, so that the matching contract reverts',
      rpcError(3, 'execution reverted', '0x'),
    ],
    ['the same of another node', rpcError(-32_015, 'VM execution error.', '0x')],
    ['the same without data', rpcError(-32_000, 'execution reverted')],
    ['overrides that it ignores where there is no contract', '0x'],
    ['overrides that it ignores where a contract answers', `0x${MAGIC}`],
    ['gas capped below what the question needs', rpcError(-32_000, 'out of gas')],
    ['gas that it refuses', rpcError(-32_003, 'intrinsic gas too high')],
    [
      'a base fee above all we offer',
      rpcError(-32_000, 'max fee per gas less than block base fee: address 0xcc, maxFeePerGas: 1'),
    ],
    ['its own limit of time', rpcError(-32_000, 'execution aborted (timeout = 5s)')],
    ['a halt outside of the wallet', rpcError(-32_603, 'EVM error InvalidFEOpcode')],
    ['a block that it lacks', rpcError(-32_000, 'header not found')],
    ['null', null],
    ['a number', 1],
    ['an object', { answer: YES }],
    ['a word too few', YES.slice(0, -1)],
    ['a word too many', `${YES}00`],
  ]
  for (const [what, answer] of unasked) {
    it(`is unknown after ${what}`, async () => {
      expect(await readsOf(answer).accepted()).to.equal(undefined)
    })
  }
})
