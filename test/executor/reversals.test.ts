import { expect } from 'chai'
import type { Inclusion, IntentOutcome } from '../../core/transaction-journal.js'
import type { Address, Hex } from '../../core/action.js'
import { NOT_CARRIED_OUT, NOT_TRIED } from '../../core/revert.js'
import { createReadReversals } from '../../executor/reversals.js'
import { openMemoryJournal, type MemoryJournal } from '../support/memory-journal.js'

const SENDER: Address = `0x${'e7'.repeat(20)}`
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const block = (n: number, blockHash = n): Inclusion => ({
  hash: hash(100),
  blockNumber: BigInt(n),
  blockHash: hash(blockHash),
})
const SUCCESS: IntentOutcome = { status: 'success' }
const REVERTED: IntentOutcome = { status: 'reverted', revert: 'OV_InvalidSignature' }
const UNTRIED: IntentOutcome = { status: 'reverted', revert: NOT_TRIED }

describe('reversals as the executor tells them', () => {
  let journal: MemoryJournal
  let running: Set<string>

  beforeEach(() => {
    journal = openMemoryJournal()
    running = new Set()
  })

  const read = (after = 0, limit = 100) =>
    createReadReversals({
      journal,
      isRunning: (key) => running.has(key),
    })(after, limit)
  const told = (after = 0) =>
    read(after).map(({ no, settlementId, now }) => [no, settlementId, now.status])

  function sign(evmNonce: number, intentId: string): void {
    const attempt = { hash: hash(evmNonce + 1), raw: hash(evmNonce + 1) }
    const cost = { gasLimit: 1n, maxFeePerGas: 1n }
    const transaction = { from: SENDER, evmNonce, intentIds: [intentId] }
    journal.recordSigned({ ...transaction, attempts: [{ ...attempt, ...cost }] }, [hash(7)])
  }
  function mine(evmNonce: number, outcome: IntentOutcome, at = block(10 + evmNonce)): void {
    journal.recordMined(SENDER, evmNonce, { ...at, outcomes: [outcome] })
  }
  /** Signed, mined, lost and mined again with another outcome. */
  function turn(evmNonce: number, intentId: string, [first, then]: [IntentOutcome, IntentOutcome]) {
    sign(evmNonce, intentId)
    mine(evmNonce, first)
    journal.reopen(SENDER, [evmNonce])
    mine(evmNonce, then, block(50 + evmNonce))
  }

  it('tells one when the chain can no longer change it, with what became of it', () => {
    turn(0, 'm:1', [SUCCESS, REVERTED])
    expect(read()).to.deep.equal([])
    journal.recordFinal(SENDER, [0])
    const [reversal, ...more] = read()
    expect(more).to.deep.equal([])
    expect(reversal).to.deep.include({ no: 1, settlementId: 'm:1' })
    expect(reversal?.before).to.include({ status: 'success', blockNumber: 10n })
    expect(reversal?.now).to.deep.equal({
      status: 'reverted',
      revert: 'OV_InvalidSignature',
      txHash: hash(100),
      blockNumber: 50n,
    })
    expect(read(1)).to.deep.equal([])
  })

  it('ends before the first that is not final, whatever comes after it', () => {
    turn(0, 'm:1', [SUCCESS, REVERTED])
    turn(1, 'm:2', [REVERTED, SUCCESS])
    journal.recordFinal(SENDER, [1])
    expect(told()).to.deep.equal([])
    expect(told(1)).to.deep.equal([[2, 'm:2', 'success']])
    journal.recordFinal(SENDER, [0])
    expect(told()).to.deep.equal([
      [1, 'm:1', 'reverted'],
      [2, 'm:2', 'success'],
    ])
    expect(read(0, 1)).to.have.length(1)
  })

  it('tells of each turn what came out in the end', () => {
    turn(0, 'm:1', [SUCCESS, REVERTED])
    journal.reopen(SENDER, [0])
    mine(0, SUCCESS, block(60))
    journal.recordFinal(SENDER, [0])
    expect(told()).to.deep.equal([
      [1, 'm:1', 'success'],
      [2, 'm:1', 'success'],
    ])
  })

  it('closes for good what a foreign transaction displaced', () => {
    sign(0, 'm:1')
    mine(0, SUCCESS)
    journal.reopen(SENDER, [0])
    journal.recordDisplaced(SENDER, 0, block(20))
    running.add('m:1')
    expect(read()).to.deep.equal([])
    expect(journal.find('m:1')?.state.kind).to.equal('displaced')
    running.clear()
    const closed = [{ status: 'reverted', revert: NOT_CARRIED_OUT }]
    expect(read().map(({ now }) => now)).to.deep.equal(closed)
    expect(journal.find('m:1')?.state).to.deep.equal({ kind: 'refused', revert: NOT_CARRIED_OUT })
    expect(read().map(({ now }) => now)).to.deep.equal(closed)
  })

  it('closes the attempt that a batch left open, and reports the settlement', () => {
    turn(0, 'm:1', [SUCCESS, UNTRIED])
    expect(read()).to.deep.equal([])
    journal.recordFinal(SENDER, [0])
    expect(read().map(({ settlementId, now }) => [settlementId, now])).to.deep.equal([
      ['m:1', { status: 'reverted', revert: NOT_CARRIED_OUT }],
    ])
    expect(journal.find('m:1 life 2')?.state.kind).to.equal('refused')
  })

  it('reports a later attempt under its settlement', () => {
    sign(0, 'm:1')
    mine(0, UNTRIED)
    journal.recordFinal(SENDER, [0])
    turn(1, 'm:1 life 2', [SUCCESS, REVERTED])
    journal.recordFinal(SENDER, [1])
    expect(told()).to.deep.equal([[1, 'm:1', 'reverted']])
  })
})
