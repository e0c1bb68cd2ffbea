import { expect } from 'chai'
import { observeExecutor } from '../../executor/observe.js'
import type { Logger } from '../../runtime/process/log.js'

describe('what the executor writes to its log', () => {
  it('is a line for each fact, with the settlement or the market that it is about', () => {
    const lines: unknown[] = []
    const at = (level: string) => (fields: object) => void lines.push([level, fields])
    const log: Partial<Record<string, unknown>> = {
      ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    }
    const facts = observeExecutor(log as Partial<Logger> as Logger)
    const [settlementId, cause] = ['m:1', new Error('silence')]
    facts.settlementReceived({ settlementId, market: 'm', takerOrderId: 't', makerOrderIds: ['o'] })
    facts.simulated(settlementId, 5n)
    facts.deferred(settlementId, 4)
    facts.refused(settlementId, 'TM_FeeTooHigh')
    facts.faultFound('m', 'BM_AdjustmentsPaused', 'paused')
    facts.faultGone('m')
    facts.unavailable(settlementId, 'silence', cause)
    facts.gasBack()
    const settlement_id = settlementId
    expect(lines).to.deep.equal([
      ['info', { settlement_id, market: 'm', taker_order_id: 't', maker_order_ids: ['o'] }],
      ['debug', { settlement_id, gas: '5' }],
      ['info', { settlement_id, evm_nonce: 4 }],
      ['warn', { settlement_id, revert: 'TM_FeeTooHigh' }],
      ['error', { market: 'm', revert: 'BM_AdjustmentsPaused', why: 'paused' }],
      ['info', { market: 'm' }],
      ['warn', { settlement_id, why: 'silence', err: cause }],
      ['info', {}],
    ])
  })
})
