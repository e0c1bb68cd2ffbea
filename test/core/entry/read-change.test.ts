import { expect } from 'chai'
import { readReduction, readReplacement } from '../../../core/entry/read-change.js'
import { E18 } from '../../../core/money.js'
import { goodReduction, goodReplacement } from '../../refusals/changes.js'

describe('readReduction', () => {
  it('reads a cancel and what the order is to ask for, 0 included', () => {
    for (const [text, desired] of [
      ['2.5', (5n * E18) / 2n],
      ['0', 0n],
    ] as const) {
      const body = { ...goodReduction, desired_amount: text, reason: 'smaller', service: 'bot' }
      expect(readReduction(body)).to.deep.equal({
        owner: goodReduction.owner_address,
        nonce: 7n,
        desired,
        reason: 'smaller',
        serviceTagged: true,
      })
    }
  })
})

describe('readReplacement', () => {
  it('reads the order without the nonce that it replaces', () => {
    const { replaces_nonce, ...order } = goodReplacement
    expect(replaces_nonce).to.equal('7')
    const read = readReplacement(goodReplacement)
    expect(JSON.parse(JSON.stringify('order' in read && read.order))).to.deep.equal(order)
    expect(read).to.deep.include({ replaces: { nonce: 7n }, serviceTagged: false })
  })

  it('takes the id of the order in place of its nonce (CAN-047)', () => {
    const { replaces_nonce, ...order } = goodReplacement
    expect(replaces_nonce).to.equal('7')
    const read = readReplacement({ ...order, replaces_order_id: 'old' })
    expect(read).to.deep.include({ replaces: { orderId: 'old' } })
    expect(JSON.parse(JSON.stringify('order' in read && read.order))).to.deep.equal(order)
    const both = readReplacement({ ...goodReplacement, replaces_order_id: 'old' })
    expect(both).to.deep.include({ replaces: { nonce: 7n } })
  })

  it('notices the service tag, and takes an order of which nothing is filled', () => {
    for (const filled of ['0', '0.000']) {
      const read = readReplacement({ ...goodReplacement, filled_amount: filled, service: 'bot' })
      expect(read).to.deep.include({ replaces: { nonce: 7n }, serviceTagged: true })
    }
  })
})
