import { expect } from 'chai'
import {
  createUncheckedCount,
  MAX_UNCHECKED_PER_MARKET,
  MAX_UNCHECKED_PER_OWNER,
} from '../../../actors/order-intake/check-queues.js'
import { refusals } from '../../../core/entry/refusals.js'
import type { Address } from '../../../core/action.js'

const ownerNo = (no: number): Address => `0x${no.toString(16).padStart(40, '0')}`
const anOrder = (orderId: string, owner = ownerNo(1), market = 'm', signer = owner) => {
  return { orderId, owner, market, signer }
}

describe('places of unchecked orders', () => {
  it('are three of an owner and signer in all markets (AUT-014)', () => {
    const count = createUncheckedCount()
    for (const [i, market] of ['m', 'n', 'o'].entries())
      expect(count.reserve(anOrder(`u${i}`, ownerNo(1), market))).to.be.a('function')
    expect(count.reserve(anOrder('u9', ownerNo(1), 'p'))).to.equal(refusals.ownerUnchecked)
    expect(count.reserve(anOrder('u9', ownerNo(2), 'p'))).to.be.a('function')
  })

  it('are a tenth of one market for an owner, of whom others cannot take those of its own signers', () => {
    const count = createUncheckedCount()
    for (let i = 0; i < MAX_UNCHECKED_PER_OWNER - 1; i += 1)
      count.reserve(anOrder(`u${i}`, ownerNo(1), 'm', ownerNo(1_000 + Math.floor(i / 3))))
    expect(count.reserve(anOrder('own', ownerNo(1), 'm', ownerNo(7)))).to.be.a('function')
    expect(count.reserve(anOrder('one', ownerNo(1), 'm', ownerNo(8)))).to.equal(
      refusals.ownerUnchecked,
    )
    expect(count.reserve(anOrder('one', ownerNo(2)))).to.be.a('function')
  })

  it('are free again when an order is checked, ends, or never enters its market', () => {
    const count = createUncheckedCount()
    count.add(anOrder('u1'))
    count.add(anOrder('u2'))
    const release = count.reserve(anOrder('u3'))
    expect(count.reserve(anOrder('u4'))).to.equal(refusals.ownerUnchecked)
    if (typeof release === 'function') release()
    expect(count.reserve(anOrder('u4'))).to.be.a('function')
    expect(count.reserve(anOrder('u5'))).to.equal(refusals.ownerUnchecked)
    count.remove('m', 'u1')
    expect(count.reserve(anOrder('u5'))).to.be.a('function')
  })

  it('are taken once by an order, however often it is counted', () => {
    const count = createUncheckedCount()
    count.reserve(anOrder('u1'))
    for (let times = 0; times < 5; times += 1) count.add(anOrder('u1'))
    const repeat = count.reserve(anOrder('u1'))
    if (typeof repeat === 'function') repeat()
    count.reserve(anOrder('u2'))
    count.reserve(anOrder('u3'))
    expect(count.reserve(anOrder('u4'))).to.equal(refusals.ownerUnchecked)
    count.remove('m', 'u1')
    count.remove('m', 'u1')
    expect(count.reserve(anOrder('u4'))).to.be.a('function')
    expect(count.reserve(anOrder('u5'))).to.equal(refusals.ownerUnchecked)
  })

  it('are a thousand of a market (AUT-013)', () => {
    const count = createUncheckedCount()
    for (let i = 0; i < MAX_UNCHECKED_PER_MARKET; i += 1)
      expect(count.reserve(anOrder(`u${i}`, ownerNo(i)))).to.be.a('function')
    expect(count.reserve(anOrder('one', ownerNo(5_000)))).to.equal(refusals.tooManyUnchecked)
    expect(count.reserve(anOrder('one', ownerNo(5_000), 'n'))).to.be.a('function')
  })
})
