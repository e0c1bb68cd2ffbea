import { expect } from 'chai'
import { executePayload } from '../../executor/payload.js'
import { aBody, type Body } from './execute-body.js'

describe('the payload of a settlement', () => {
  it('takes every integer that a word of the chain holds, and no larger one (SET-052)', () => {
    const unsigned = 2n ** 256n - 1n
    const signed = 2n ** 255n - 1n
    const isTooLarge = (change: (body: Body) => void): boolean => {
      const body = aBody()
      change(body)
      const { error } = executePayload.safeParse(body)
      return error?.issues.some(({ message }) => message.includes('must fit a word')) === true
    }
    for (const name of ['nonce', 'expiry']) {
      expect(isTooLarge((b) => (b.actions[1]![name] = `${unsigned}`))).to.equal(false)
      expect(isTooLarge((b) => (b.actions[1]![name] = `${unsigned + 1n}`))).to.equal(true)
    }
    for (const [name, most] of [
      ['fee', unsigned],
      ['filled_account', unsigned],
      ['price', signed],
      ['amount_filled', signed],
    ] as const) {
      const set = (value: bigint) => (b: Body) =>
        void (b.order_data.fill_details[0]![name] = `${value}`)
      expect(isTooLarge(set(most)), name).to.equal(false)
      expect(isTooLarge(set(most + 1n)), name).to.equal(true)
    }
    expect(isTooLarge((b) => (b.order_data.taker_fee = `${unsigned}`))).to.equal(false)
    expect(isTooLarge((b) => (b.order_data.taker_account = `${unsigned + 1n}`))).to.equal(true)
  })
})
