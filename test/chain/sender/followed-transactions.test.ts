import { expect } from 'chai'
import {
  createFollowedTransactions,
  highestCost,
  type FollowedTransactions,
} from '../../../chain/sender/key-nonces.js'
import type { OpenTransaction } from '../../../core/transaction-journal.js'
import type { Hex } from '../../../core/action.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

const attempt = (gasLimit: bigint, maxFeePerGas: bigint) =>
  ({ hash: hashOf(Number(maxFeePerGas)), raw: '0x', gasLimit, maxFeePerGas }) as const

const aTransaction = (evmNonce: number, ...intentIds: string[]): OpenTransaction => ({
  from: `0x${'11'.repeat(20)}`,
  evmNonce,
  intentIds,
  attempts: [attempt(10n, 3n)],
})
const mined = { hash: hashOf(1), blockNumber: 7n, blockHash: hashOf(2) }

describe('the transactions that a sender follows', () => {
  const follow = (...transactions: OpenTransaction[]) => {
    const followed = createFollowedTransactions()
    for (const transaction of transactions) followed.add({ transaction })
    return followed
  }
  const noncesOf = (followed: FollowedTransactions) =>
    followed.all().map(({ transaction }) => transaction.evmNonce)

  it('are in the order of their nonces, however they were added', () => {
    expect(noncesOf(follow(aTransaction(5), aTransaction(12), aTransaction(3)))).to.deep.equal([
      3, 5, 12,
    ])
  })

  it('begin unsent, with nothing reported', () => {
    const [one] = follow(aTransaction(3)).all()
    expect(one).to.include({ sentAtMs: undefined, outSince: undefined, taken: false })
    expect(one).to.include({ exhausted: false, unexplained: false })
  })

  it('are found by each of their intents until they are removed', () => {
    const followed = follow(aTransaction(3, 'a', 'b'), aTransaction(4, 'c'))
    expect(['a', 'b', 'c', 'd'].map((id) => followed.find(id)?.transaction.evmNonce)).to.deep.equal(
      [3, 3, 4, undefined],
    )
    followed.remove(3)
    followed.remove(9)
    expect(['a', 'b', 'c'].map((id) => followed.find(id)?.transaction.evmNonce)).to.deep.equal([
      ...[undefined, undefined, 4],
    ])
    expect([followed.has(3), followed.has(4)]).to.deep.equal([false, true])
  })

  it('are found at the newer nonce of an intent when the older one is removed', () => {
    const followed = follow(aTransaction(3, 'a'), aTransaction(4, 'a'))
    followed.remove(3)
    expect(followed.find('a')?.transaction.evmNonce).to.equal(4)
  })

  it('are unsent again with an attempt more, which another nonce does not get', () => {
    const followed = follow(aTransaction(3))
    const [one] = followed.all()
    Object.assign(one ?? {}, { sentAtMs: 5, outSince: { ms: 5, head: 1n }, taken: true })
    followed.addAttempt(3, attempt(10n, 4n))
    followed.addAttempt(8, attempt(10n, 4n))
    expect(noncesOf(followed)).to.deep.equal([3])
    expect(one?.transaction.attempts.map(({ hash }) => hash)).to.deep.equal([hashOf(3), hashOf(4)])
    expect(one).to.include({ sentAtMs: undefined, outSince: undefined, taken: false })
  })

  it('are exactly those of the journal after it changed, with what is known of them', () => {
    const followed = follow(aTransaction(3, 'a'), aTransaction(4, 'b'), aTransaction(5, 'c'))
    for (const one of followed.all()) one.sentAtMs = one.transaction.evmNonce
    const replaced = [aTransaction(4, 'b'), aTransaction(6, 'd')]
    followed.replace([
      { transaction: replaced[0] ?? aTransaction(0), mined },
      { transaction: replaced[1] ?? aTransaction(0) },
    ])
    const known = followed.all().map((it) => [it.transaction.evmNonce, it.mined, it.sentAtMs])
    expect(known).to.deep.equal([
      [4, mined, 4],
      [6, undefined, undefined],
    ])
    expect(['a', 'b', 'd'].map((id) => followed.find(id)?.transaction.evmNonce)).to.deep.equal([
      ...[undefined, 4, 6],
    ])
    followed.markUnsent(4)
    followed.markUnsent(7)
    expect(followed.all().map(({ sentAtMs }) => sentAtMs)).to.deep.equal([undefined, undefined])
  })

  it('reserve the cost of their most expensive attempt while they are open', () => {
    const attempts = [attempt(10n, 3n), attempt(10n, 7n), attempt(10n, 5n)]
    const dear = { ...aTransaction(4), attempts }
    expect(highestCost(dear)).to.equal(70n)
    expect(highestCost({ ...dear, attempts: [] })).to.equal(0n)
    const followed = follow(aTransaction(3), dear)
    followed.add({ transaction: aTransaction(2), mined })
    expect([followed.openCount(), followed.reservedWei()]).to.deep.equal([2, 100n])
  })
})
