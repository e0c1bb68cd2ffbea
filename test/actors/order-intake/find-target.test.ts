import { expect } from 'chai'
import { findTarget, type TargetDeps } from '../../../actors/order-intake/cancel-order.js'
import { refusals } from '../../../core/entry/refusals.js'

describe('the order that a cancel names', () => {
  it('is not looked for by an id that no order can have: what is not found is kept', () => {
    const none = (): never => {
      throw new Error('looked for')
    }
    const deps: TargetDeps = {
      registry: { findOrder: none, findNonce: none },
      underWay: { waitForId: none, waitForNonce: none },
    }
    const owner = `0x${'a'.repeat(40)}` as const
    for (const orderId of ['x'.repeat(60_000), 'x'.repeat(129), '', 'a\u0000b'])
      expect(findTarget(deps, { owner, orderId })).to.deep.equal({
        refusal: refusals.activeOrderNotFound,
      })
  })
})
