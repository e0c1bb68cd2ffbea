import { expect } from 'chai'
import fc from 'fast-check'
import { MAX_MESSAGE_BYTES } from '../../../bus-schemas/envelope.js'
import { decodeGroup, encodeGroup, inGroups } from '../../../runtime/bus/nats-ask.js'

const anyItem = fc.record({
  token: fc.nat().map((number) => number.toString(36)),
  data: fc.uint8Array({ maxLength: 300 }),
})

describe('groups of questions and answers', () => {
  it('give back what went in', () => {
    fc.assert(
      fc.property(fc.array(anyItem), (items) => {
        const read = decodeGroup(encodeGroup(items))
        expect(read.map(({ token, data }) => [token, [...data]])).to.deep.equal(
          items.map(({ token, data }) => [token, [...data]]),
        )
      }),
    )
  })

  it('keep the order and stay below what a message may have', () => {
    const items = Array.from({ length: 500 }, (_, index) => ({
      token: index.toString(36),
      data: new Uint8Array((index * 7_919) % 60_000),
    }))
    const groups = inGroups(items)
    expect(groups.flat()).to.deep.equal(items)
    for (const group of groups) {
      expect(encodeGroup(group).length).to.be.at.most(MAX_MESSAGE_BYTES)
    }
    expect(groups.length).to.be.below(items.length)
  })

  it('are refused when they end in the middle', () => {
    const whole = encodeGroup([{ token: 'a', data: new Uint8Array(9) }])
    for (let length = 1; length < whole.length; length += 1) {
      expect(() => decodeGroup(whole.subarray(0, length))).to.throw(RangeError)
    }
  })
})
