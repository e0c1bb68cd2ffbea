import { expect } from 'chai'
import {
  FORGOTTEN,
  forgetAlike,
  heldReasonAfter,
  isNextSeq,
  orderAfter,
  type Change,
} from '../../../core/model/change.js'
import { createNumbering, termOf } from '../../../core/model/command.js'
import { RESTORED_SEQ_JUMP } from '../../../core/model/limits.js'
import { aFill, anOrder } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'

const order = anOrder()

describe('a change', () => {
  it('follows the one before, or stands behind the jump of a restored gap', () => {
    expect(isNextSeq(6, 5)).to.equal(true)
    expect(isNextSeq(6 + RESTORED_SEQ_JUMP, 5)).to.equal(true)
    for (const seq of [4, 5, 7, 5 + RESTORED_SEQ_JUMP, 7 + RESTORED_SEQ_JUMP]) {
      expect(isNextSeq(seq, 5), `${seq}`).to.equal(false)
    }
  })

  it('states why its order is held; a fill leaves that as it was, an end leaves none', () => {
    const held = aChange(1, order, { kind: 'OrderHeld', hold: 'expiring' })
    const filled = aChange(2, order, { kind: 'OrderFilled', fill: aFill() })
    expect(heldReasonAfter(held, undefined)).to.equal('expiring')
    expect(heldReasonAfter(filled, 'expiring')).to.equal('expiring')
    expect(heldReasonAfter({ ...filled, status: 'filled' }, 'expiring')).to.equal(undefined)
    expect(heldReasonAfter({ ...filled, status: 'matching' }, 'expiring')).to.equal('expiring')
    const released = aChange(3, order, { kind: 'OrderReleased' })
    expect(heldReasonAfter(released, 'expiring')).to.equal(undefined)
    const cancelled = aChange(4, order, { kind: 'OrderCancelled', cancelReason: 'user' })
    expect(heldReasonAfter({ ...cancelled, status: 'cancelled' }, 'expiring')).to.equal(undefined)
  })

  it('of a release tells that the order was checked, and no other change does', () => {
    const unchecked = anOrder({ signatureStatus: 'unchecked' })
    const released = aChange(1, unchecked, { kind: 'OrderReleased' })
    expect(orderAfter(released, unchecked)).to.deep.equal(order)
    expect(orderAfter(released, order)).to.equal(order)
    const held = aChange(1, unchecked, { kind: 'OrderHeld', hold: 'expiring' })
    expect(orderAfter(held, unchecked)).to.equal(unchecked)
  })

  it('is compared with an archive as the archive has kept it', () => {
    const placed = aChange(1, order, { kind: 'OrderPlaced', order, rank: 1 })
    const held = aChange(2, order, { kind: 'OrderHeld', hold: 'expiring' })
    const block = { market: 'm', commandSeq: 1, commandIndex: 0, firstSeq: 1 }
    const made = { ...block, changes: [placed, held] }
    const forgotten: Change = { ...FORGOTTEN, seq: 1, atMs: placed.atMs }
    expect(forgetAlike(made, { changes: [placed, held] })).to.equal(made)
    const kept = { ...block, changes: [forgotten, held] }
    expect(forgetAlike(made, kept)).to.deep.equal(kept)
    // Of another time it is not the same change, and a change that is only there is no part of the block.
    const later = { ...forgotten, atMs: placed.atMs + 1 }
    const known = [later, forgotten, forgotten]
    expect(forgetAlike(made, { changes: known }).changes).to.deep.equal([placed, held])
  })
})

describe('the numbers of a writer’s commands', () => {
  it('rise by one within a term, above all of any earlier term', () => {
    const first = createNumbering(1)
    const second = createNumbering(2)
    const numbers = [first.next(), first.next(), second.next()]
    expect(numbers).to.deep.equal([2 ** 32 + 1, 2 ** 32 + 2, 2 ** 33 + 1])
    expect(numbers.map(termOf)).to.deep.equal([1, 1, 2])
    expect([first.term, second.term]).to.deep.equal([1, 2])
    expect(termOf(2 ** 33 - 1)).to.equal(1)
  })

  it('are exact in the last term, and there is none beyond', () => {
    const last = createNumbering(2 ** 21 - 1)
    expect(Number.isSafeInteger(last.next())).to.equal(true)
    expect(() => createNumbering(2 ** 21)).to.throw('there is no term')
  })
})
