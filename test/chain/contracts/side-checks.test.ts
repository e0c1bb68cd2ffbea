import { expect } from 'chai'
import { RpcRequestError } from 'viem'
import {
  isWithinLimit,
  keepsSignature,
  maySign,
  type MatchSideChecks,
  type SideReads,
} from '../../../chain/contracts/side-checks.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { ASKED_WORD } from '../../../chain/signing/ask-wallet.js'
import type { Action, Address } from '../../../core/action.js'
import { encodeTradeData } from '../../../core/entry/read-action.js'

const OWNER: Address = `0x${'aa'.repeat(20)}`
const KEY: Address = `0x${'bb'.repeat(20)}`
const NOW = 1_000n

/** Whether an action may still be signed, where the key is registered until `keyExpiry`. */
function judged(action: Partial<Action>, keyExpiry = 0n): Promise<boolean> {
  const client = {
    getBlock: () => Promise.resolve({ timestamp: NOW }),
    readContract: ({ args }: { readonly args: readonly unknown[] }) => {
      expect(args).to.deep.equal([KEY, OWNER])
      return Promise.resolve(keyExpiry)
    },
  }
  const reads = { client, deployment: { matching: OWNER } } as unknown as SideReads
  const leg = { action: { owner: OWNER, signer: OWNER, expiry: NOW, ...action } } as MatchSideChecks
  return maySign(reads, leg)
}

describe('the signer of one side of a match', () => {
  it('is the owner, until the action expires', async () => {
    expect(await judged({})).to.equal(true)
    expect(await judged({ expiry: NOW - 1n })).to.equal(false)
    const sameOwner = OWNER.toUpperCase().replace('X', 'x') as Address
    expect(await judged({ signer: sameOwner })).to.equal(true)
  })

  it('is a session key of the owner, until it lapses', async () => {
    expect(await judged({ signer: KEY }, NOW)).to.equal(true)
    expect(await judged({ signer: KEY }, NOW - 1n)).to.equal(false)
    expect(await judged({ signer: KEY })).to.equal(false)
    expect(await judged({ signer: KEY, expiry: NOW - 1n }, NOW)).to.equal(false)
  })
})

describe('the amount of one side of a match', () => {
  /** Whether so much more fits a signed amount of 10, of which the chain has filled 4 through any executor. */
  async function fits(amount: bigint): Promise<boolean> {
    const client = { readContract: () => Promise.resolve(4n) }
    const reads = { client, deployment: {} } as unknown as SideReads
    const data = encodeTradeData({
      asset: OWNER,
      subId: 0n,
      limitPrice: 1n,
      desiredAmount: 10n,
      worstFee: 0n,
      recipientId: 1n,
      isBid: true,
    })
    return isWithinLimit(reads, { action: { data }, amount } as unknown as MatchSideChecks)
  }

  it('may take the last unit of what was signed, and no more', async () => {
    expect(await fits(6n)).to.equal(true)
    expect(await fits(7n)).to.equal(false)
  })
})

describe('the signature of one side of a match', () => {
  const MAGIC = `1626ba7e${'0'.repeat(56)}`

  /** Whether it holds, where the node answers so to the question to a wallet. */
  function held(answer: unknown, code = '0x60') {
    const questions: unknown[] = []
    const client = {
      getCode: () => Promise.resolve(code),
      request: (question: unknown) => {
        questions.push(question)
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
      },
    }
    const deployment = { matching: `0x${'cc'.repeat(20)}` }
    const reads = { client, sender: KEY, deployment } as unknown as SideReads
    const leg = { action: { signer: OWNER }, digest: `0x${'d1'.repeat(32)}`, signature: '0x' }
    return { questions, holds: () => keepsSignature(reads, leg as MatchSideChecks) }
  }

  it('stays valid of a plain key, without a question', async () => {
    const { questions, holds } = held(new Error('not asked'), '0x')
    expect(await holds()).to.equal(true)
    expect(questions).to.deep.equal([])
  })

  it('is what code says when it is asked as in a match', async () => {
    expect(await held(`0x${ASKED_WORD}${MAGIC}`).holds()).to.equal(true)
    expect(await held(`0x${ASKED_WORD}${'0'.repeat(64)}`).holds()).to.equal(false)
  })

  it('is not known from a node that has not asked, which blames no side', async () => {
    const error = { code: 3, message: 'execution reverted', data: '0x' }
    const unasked = new RpcRequestError({ body: {}, url: 'http://node', error })
    for (const answer of [unasked, '0x', `0x${MAGIC}`]) {
      const failed = await held(answer)
        .holds()
        .catch((cause: unknown) => cause)
      expect(failed).to.be.instanceOf(ChainUnreachable)
    }
  })
})
