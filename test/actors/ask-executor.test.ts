import { expect } from 'chai'
import { readAnswer } from '../../actors/matcher/ask-executor.js'

const hash = `0x${'a'.repeat(64)}`
const field = (name: string) => ({ details: [{ field: name, message: 'bad' }] })

describe('answers of the executor', () => {
  const cases: [name: string, status: number, body: unknown, answer: Record<string, unknown>][] = [
    [
      'a receipt that succeeded',
      200,
      { tx_hash: hash, receipt_status: 'success', block_number: '7' },
      { kind: 'success', txHash: hash, blockNumber: 7n },
    ],
    [
      'a receipt that reverted',
      200,
      { tx_hash: hash, receipt_status: 'reverted', block_number: '7', revert: 'TM_FeeTooHigh' },
      { kind: 'reverted', revert: 'TM_FeeTooHigh', guilty: 'taker', txHash: hash },
    ],
    ['no receipt yet', 200, { tx_hash: hash, receipt_status: 'timeout' }, { kind: 'undecided' }],
    [
      'a refused simulation',
      422,
      { error: 'would revert', revert: 'WERC_CannotBeNegative' },
      { kind: 'reverted', revert: 'WERC_CannotBeNegative', guilty: 'both' },
    ],
    [
      'a payload that breaks a rule',
      400,
      { error: 'invalid payload', ...field('actions') },
      { kind: 'malformed', why: 'invalid payload' },
    ],
    [
      'a key that belongs to another call',
      400,
      { error: 'used', ...field('Idempotency-Key') },
      { kind: 'conflict', why: 'used' },
    ],
    ['a request that broke off', 400, { error: 'invalid JSON body' }, { kind: 'undecided' }],
    ['a missing secret', 401, { error: 'secret' }, { kind: 'undecided' }],
    ['an unknown outcome', 502, { error: 'unknown', tx_hash: hash }, { kind: 'undecided' }],
    ['an executor that cannot', 503, { error: 'no gas' }, { kind: 'undecided' }],
    ['a fault of the executor', 500, { error: 'internal error' }, { kind: 'undecided' }],
  ]
  for (const [name, status, body, answer] of cases) {
    it(`${name} (${status}) is ${String(answer.kind)}`, () => {
      expect(readAnswer(status, body)).to.deep.include(answer)
    })
  }

  it('a block number that is no number is never read', () => {
    const body = { tx_hash: hash, receipt_status: 'success', block_number: '-1' }
    expect(() => readAnswer(200, body)).to.throw()
  })
})
