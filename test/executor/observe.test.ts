import { expect } from 'chai'
import type { OpenTransaction } from '../../core/transaction-journal.js'
import { measureExecutor, sampleExecutor } from '../../executor/measure.js'
import { observeExecutor, type ExecutorObserver } from '../../executor/observe.js'
import { alongside, createMetrics } from '../../runtime/metrics/metrics.js'
import { createLog, type Logger } from '../../runtime/process/log.js'

describe('what the executor writes to its log', () => {
  it('is a line for each fact, with the settlement or the market that it is about', () => {
    const lines: unknown[] = []
    const at = (level: string) => (fields: object) => void lines.push([level, fields])
    const log: Partial<Record<string, unknown>> = {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
    }
    const facts = observeExecutor(log as Partial<Logger> as Logger)
    const settlementId = 'm:1'
    const cause = new Error('silence')
    facts.settlementReceived({ settlementId, market: 'm', takerOrderId: 't', makerOrderIds: ['o'] })
    facts.simulated(settlementId, 5n)
    facts.deferred(settlementId, 4)
    facts.refused(settlementId, 'TM_FeeTooHigh')
    facts.faultFound('m', 'BM_AdjustmentsPaused', 'paused')
    facts.faultGone('m')
    facts.unavailable(settlementId, 'silence', cause)
    facts.gasBack()
    const attempts = [{ hash: '0xaa', raw: '0x', gasLimit: 1n, maxFeePerGas: 1n }] as const
    facts.broadcast({ from: `0x${'aa'.repeat(20)}`, evmNonce: 4, intentIds: ['m:1'], attempts })
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
      ['info', { settlement_id, evm_nonce: 4, tx_hash: '0xaa' }],
    ])
  })
})

describe('metrics of the executor', () => {
  const linesOf = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
    (await metrics.text()).body.split('\n').filter((line) => line.startsWith(name))

  it('count each step of a settlement, and those of a transaction for each that it carries out', async () => {
    const metrics = createMetrics()
    const facts: ExecutorObserver = alongside(
      observeExecutor(createLog('test', 'silent')),
      measureExecutor(metrics),
    )
    const names = { settlementId: 'm:1', market: 'm', takerOrderId: 't', makerOrderIds: ['o'] }
    const counted = async () => {
      const lines = await linesOf(metrics, 'venue_settlement_steps_total')
      return lines.map((line) => line.replace(/^.*step="(.*)"} /, '$1 '))
    }
    expect(await counted()).to.deep.equal(['reversed 0', 'displaced 0'])
    facts.settlementReceived(names)
    facts.settlementReceived(names)
    facts.simulated('m:1', 5n)
    facts.deferred('m:1', 4)
    facts.refused('m:1', 'TM_X')
    facts.unavailable('m:1', 'silence')
    const inclusion = { hash: '0xaa', blockNumber: 7n, blockHash: '0xbb' } as const
    const result = { ...inclusion, status: 'success' } as const
    const attempt = { hash: '0xaa', raw: '0x', gasLimit: 1n, maxFeePerGas: 1n } as const
    const transaction: OpenTransaction = {
      from: `0x${'aa'.repeat(20)}`,
      evmNonce: 4,
      intentIds: ['m:1', 'm:2'],
      attempts: [attempt],
    }
    facts.broadcast(transaction)
    facts.mined(
      transaction,
      transaction.intentIds.map((intentId) => ({ intentId, result })),
    )
    facts.replaced(transaction, attempt)
    facts.displaced(transaction, inclusion)
    facts.reversed({ no: 1, intentId: 'm:1', before: result, now: { status: 'displaced' } })
    expect(await counted()).to.deep.equal([
      ...['reversed 1', 'displaced 1'],
      ...['received 2', 'simulated 1', 'deferred 1', 'refused 1', 'unavailable 1'],
      ...['sent 1', 'mined 2', 'replaced 1'],
    ])
  })

  it('show whether matches can be settled, how many wait, and the money for gas', async () => {
    const metrics = createMetrics()
    const troubles: string[] = []
    const executor = {
      trouble: () => troubles[0],
      waiting: () => 3,
      address: '0x11' as const,
      readBalance: () => Promise.resolve(5n * 10n ** 18n),
      lostGas: {
        total: () => 7n,
        sinceMs: 5_000,
        top: (most: number) =>
          [{ signer: '0x22' as const, owner: '0x33' as const, gas: 7n }].slice(0, most),
      },
    }
    sampleExecutor(metrics, executor, 10n ** 16n)
    const shown = async () =>
      (
        await Promise.all(
          ['venue_executor', 'venue_gas', 'venue_lost'].map((name) => linesOf(metrics, name)),
        )
      ).flat()
    const rest = [
      'venue_executor_queue 3',
      'venue_gas_balance_wei{wallet="executor",address="0x11"} 5000000000000000000',
      'venue_gas_reserve_wei{wallet="executor",address="0x11"} 10000000000000000',
      'venue_lost_gas 7',
      'venue_lost_gas_since_timestamp_seconds 5',
      'venue_lost_gas_top{signer="0x22",owner="0x33"} 7',
    ]
    expect(await shown()).to.deep.equal(['venue_executor_ready 1', ...rest])
    troubles.push('the chain does not answer')
    expect(await shown()).to.deep.equal(['venue_executor_ready 0', ...rest])
  })
})
