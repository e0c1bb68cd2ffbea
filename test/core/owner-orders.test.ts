import { expect } from 'chai'
import fc from 'fast-check'
import { newAccount } from '../../core/accounts.js'
import { newLiveOrder, type LiveOrder } from '../../core/live-order.js'
import {
  findByNonce,
  joinOwner,
  leaveOwner,
  ordersOfOwner,
  type Owners,
} from '../../core/owner-orders.js'
import { matcherOrder } from '../support/matching.js'

const OWNERS = ['0xa', '0xb'] as const
const NONCES = 40

/** Which order comes, or goes if it is there: one owner often has more of them than are walked along. */
const acts = fc.array(
  fc.record({ owner: fc.constantFrom(...OWNERS), nonce: fc.bigInt({ min: 0n, max: 39n }) }),
  { minLength: 150, maxLength: 300 },
)

let rank = 0
function arrival(owner: `0x${string}`, nonce: bigint): LiveOrder {
  rank += 1
  const order = matcherOrder({ orderId: `o${rank}`, side: 'buy', owner, nonce })
  return newLiveOrder(order, { account: newAccount(1n), rank, nowMs: 0 })
}

describe('owner-orders', () => {
  it('are found by nonce as in one map by owner and nonce, newest first, and nothing stays of those that go', () => {
    fc.assert(
      fc.property(acts, (script) => {
        const owners: Owners = new Map()
        const model = new Map<string, LiveOrder>()
        for (const { owner, nonce } of script) {
          const key = `${owner}:${nonce}`
          const known = model.get(key)
          expect(findByNonce(owners.get(owner), nonce)).to.equal(known)
          if (known === undefined) {
            const live = arrival(owner, nonce)
            joinOwner(owners, live)
            model.set(key, live)
          } else {
            leaveOwner(owners, known)
            model.delete(key)
          }
        }
        for (const owner of OWNERS) {
          const own = owners.get(owner)
          const his = [...model.values()].filter((live) => live.order.owner === owner)
          expect([...(own === undefined ? [] : ordersOfOwner(own))]).to.deep.equal(his.reverse())
          for (let nonce = 0n; nonce < NONCES; nonce++) {
            expect(findByNonce(own, nonce)).to.equal(model.get(`${owner}:${nonce}`))
          }
          expect(owners.has(owner)).to.equal(his.length > 0)
        }
      }),
    )
  })
})
