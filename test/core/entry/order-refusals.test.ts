import { expect } from 'chai'
import {
  belowMinNotional,
  reductionNotSmaller,
  reductionTooSmall,
} from '../../../core/entry/order-refusals.js'
import { amountE18, E18 } from '../../../core/money.js'

describe('a refusal with numbers', () => {
  const half = amountE18(E18 / 2n)

  it('says how far an order can be reduced', () => {
    expect(reductionTooSmall(half)).to.deep.include({
      status: 422,
      code: 'reduction_too_small',
      field: 'desired_amount',
      message: 'desired_amount must be 0 or at least 0.5, which is filled or pending',
    })
    expect(reductionNotSmaller(half)).to.deep.include({
      status: 422,
      code: 'reduction_not_smaller',
      field: 'desired_amount',
      message: 'desired_amount must be at most 0.5, which the order asks for now',
    })
  })

  it('says what an order is worth, and the least', () => {
    expect(belowMinNotional('0.9', '1', 'USDC')).to.deep.include({
      status: 400,
      code: 'notional_below_minimum',
      field: 'desired_amount',
      message: 'order notional 0.9 USDC is below the minimum 1 USDC',
      detail: { notional: '0.9', min_notional: '1' },
    })
  })
})
