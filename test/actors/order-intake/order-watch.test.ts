import { expect } from 'chai'
import { createOrderWatch, type WatchedOrder } from '../../../actors/order-intake/order-watch.js'
import type { Address, Hex } from '../../../core/action.js'
import type { Block, Change } from '../../../core/model/change.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18 } from '../../../core/money.js'
import { anOrder } from '../../support/builders.js'

const NONE = amountE18(0n)

function placementOf(orderId: string, overrides: Partial<Order> = {}): Block {
  const order = anOrder({ orderId, ...overrides })
  const { market, owner, side, limitPrice, desiredAmount: desired } = order
  const change: Change = {
    kind: 'OrderPlaced',
    seq: 1,
    atMs: 1,
    rank: 1,
    order,
    orderId,
    owner,
    side,
    limitPrice,
    desired,
    filled: NONE,
    pending: NONE,
    open: desired,
    openDelta: desired,
    status: 'active',
  }
  return { market, commandSeq: 1, commandIndex: 0, firstSeq: 1, changes: [change] }
}

describe('the watch over live orders', () => {
  let hashed: string[]
  const watchOf = () => {
    hashed = []
    return createOrderWatch(({ orderId }): Hex => {
      hashed.push(orderId)
      return '0xd1'
    })
  }

  it('hashes an action only when asked, and once', () => {
    const watch = watchOf()
    watch.apply(1, placementOf('a'))
    expect(hashed).to.deep.equal([])
    const [order] = watch.next(1) as [WatchedOrder]
    expect([order.proof?.digest(), order.proof?.digest()]).to.deep.equal(['0xd1', '0xd1'])
    expect(hashed).to.deep.equal(['a'])
  })

  it('knows what was recovered on the way in, of that order alone', () => {
    const watch = watchOf()
    watch.recovered('cNGN-USDC', 'a')
    watch.apply(1, placementOf('a'))
    watch.apply(2, placementOf('b'))
    const kept = watch.next(1)
    const known = kept.map(({ orderId, recovered }) => [orderId, recovered])
    expect(known).to.deep.equal([
      ['a', true],
      ['b', false],
    ])
    const proofs = kept.map(({ proof }) => proof?.digest())
    expect(proofs, 'only what is verified again is kept').to.deep.equal([undefined, '0xd1'])
  })

  it('takes next all orders of signers whose code may have changed', () => {
    const watch = watchOf()
    const [own, other]: [Address, Address] = [`0x${'1a'.repeat(20)}`, `0x${'2b'.repeat(20)}`]
    for (const [n, signer] of [own, other, other, own].entries()) {
      watch.apply(n + 1, placementOf(`${n}`, { owner: signer, signer }))
    }
    const next = () => watch.next(1).map(({ orderId }) => orderId)
    expect(next()).to.deep.equal(['0'])
    watch.prioritiseSigners([])
    watch.prioritiseSigners([own])
    // Those with priority, then one plain signer.
    expect(next()).to.deep.equal(['0', '3', '1', '2'])
  })

  it('learns that an order was recovered also after its placement, in its own market', () => {
    const watch = watchOf()
    watch.apply(1, placementOf('a'))
    watch.recovered('cNGN-PERP', 'a')
    const [order] = watch.next(1) as [WatchedOrder]
    expect([order.recovered, order.proof?.digest()]).to.deep.equal([false, '0xd1'])
    watch.recovered('cNGN-USDC', 'a')
    const { goodUntilSec } = order
    expect(order).to.include({ recovered: true, proof: undefined, keyEndsSec: goodUntilSec })
  })
})
