import { expect } from 'chai'
import { observeSender, type SenderObserver } from '../../../chain/sender/observe-sender.js'
import type { OpenTransaction } from '../../../core/transaction-journal.js'
import type { Hex } from '../../../core/action.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const RAW: Hex = '0x02f8decaf0'
const where = { hash: hashOf(1), blockNumber: 7n, blockHash: hashOf(2) }

const aTransaction = (...intentIds: string[]): OpenTransaction => ({
  from: `0x${'11'.repeat(20)}`,
  evmNonce: 4,
  intentIds,
  attempts: [{ hash: hashOf(1), raw: RAW, gasLimit: 1n, maxFeePerGas: 2n }],
})

describe('what a sender writes to the log', () => {
  type Line = readonly [level: string, fields: Record<string, unknown>, message: string]
  let lines: Line[]
  const at = (level: string) => (fields: Record<string, unknown>, message: string) =>
    void lines.push([level, fields, message])
  let facts: SenderObserver
  beforeEach(() => {
    lines = []
    const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
    facts = observeSender(log, 'deposit')
  })

  it('names one intent, all of several, and none where there is none', () => {
    for (const ids of [['a'], ['a', 'b'], []]) facts.broadcast(aTransaction(...ids))
    expect(lines.map(([, fields]) => [fields.deposit_id, fields.deposit_ids])).to.deep.equal([
      ['a', undefined],
      [undefined, ['a', 'b']],
      [undefined, undefined],
    ])
  })

  it('has a line for each intent that was mined, with its own outcome', () => {
    facts.mined(aTransaction('a', 'b'), [
      { intentId: 'a', result: { ...where, status: 'success' } },
      { intentId: 'b', result: { ...where, status: 'reverted', revert: 'TM_FeeTooHigh' } },
    ])
    const told = lines.map(([level, fields, message]) => [level, fields.deposit_id, message])
    expect(told).to.deep.equal([
      ['info', 'a', 'deposit confirmed'],
      ['warn', 'b', 'deposit reverted'],
    ])
    expect(lines[0]?.[1]).to.not.have.property('revert')
    expect(lines[1]?.[1]).to.include({ revert: 'TM_FeeTooHigh', block_number: '7' })
  })

  it('logs an error for a foreign transaction, for fees that are as high as they get, and for a reversal', () => {
    const transaction = aTransaction('a')
    facts.frozen({ evmNonce: 4, by: where })
    facts.feesExhausted(transaction)
    facts.displaced(transaction, where)
    facts.nonceUnexplained(4)
    facts.gasLow(1n, 2n)
    const before = { ...where, status: 'success' } as const
    facts.reversed({ no: 1, intentId: 'a', before, now: { status: 'displaced' } })
    expect(lines.map(([level]) => level)).to.deep.equal(Array(6).fill('error'))
  })

  it('has one line for each fact, with the transaction and the numbers that it is about', () => {
    const transaction = aTransaction('a')
    const its = { deposit_id: 'a', evm_nonce: 4, tx_hash: hashOf(1) }
    const attempt = { hash: hashOf(9), raw: RAW, gasLimit: 1n, maxFeePerGas: 3n }
    const newest = { ...transaction, attempts: [attempt, ...transaction.attempts] }
    const before = { ...where, status: 'success' } as const
    const silence = new Error('silence')
    facts.senderOpened({ address: transaction.from, minedNonces: 7, open: 2 })
    facts.waitingForChain(silence)
    facts.journaled(transaction)
    facts.broadcast(newest)
    facts.broadcastUnclear(transaction, silence)
    facts.reopened(3)
    facts.reversed({ no: 6, intentId: 'a', before, now: { status: 'displaced' } })
    facts.replaced(transaction, attempt)
    facts.feesExhausted(transaction)
    facts.gapFilled(aTransaction())
    facts.nonceUnexplained(4)
    facts.frozen({ evmNonce: 4, by: where })
    facts.displaced(transaction, where)
    facts.gasLow(1n, 2n)
    facts.gasBack()
    facts.chainLost(silence)
    facts.chainBack()
    expect(lines.map(([, fields]) => fields)).to.deep.equal([
      { sender: transaction.from, mined_nonces: 7, open: 2 },
      { err: silence },
      ...[its, its],
      { ...its, why: 'silence' },
      { count: 3 },
      { reversal_no: 6, deposit_id: 'a', before: 'success', now: 'displaced' },
      { ...its, max_fee_per_gas: '3' },
      its,
      { evm_nonce: 4, tx_hash: hashOf(1) },
      { evm_nonce: 4 },
      { evm_nonce: 4, tx_hash: hashOf(1), block_number: '7' },
      { ...its, by: hashOf(1) },
      { balance_wei: '1', reserve_wei: '2' },
      {},
      { err: silence },
      {},
    ])
  })

  it('never shows signed bytes', () => {
    const transaction = aTransaction('a')
    facts.journaled(transaction)
    facts.broadcastUnclear(transaction, new Error('refused'))
    facts.gapFilled(transaction)
    const attempt = { hash: hashOf(9), raw: RAW, gasLimit: 1n, maxFeePerGas: 3n }
    facts.replaced(transaction, attempt)
    expect(lines.at(-1)?.[1]).to.include({ max_fee_per_gas: '3' })
    expect(JSON.stringify(lines)).to.not.include('decaf0')
  })
})
