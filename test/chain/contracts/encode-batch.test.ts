import { expect } from 'chai'
import { encodeAbiParameters, encodeFunctionResult, parseTransaction, toEventSelector } from 'viem'
import { batchExecutorAbi } from '../../../chain/abi/contracts.js'
import {
  decodeBatch,
  decodeMatch,
  encodeBatch,
  encodeMatch,
  isBatch,
  matchCallsOf,
  maySettle,
  type MatchCall,
} from '../../../chain/contracts/calldata.js'
import { decodeBatchAnswer, outcomesOfBatch } from '../../../chain/contracts/simulate.js'
import { createTransactionSigner } from '../../../chain/signing/keys.js'
import type { Action, Hex } from '../../../core/action.js'
import { encodeTradeData } from '../../../core/entry/read-action.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'

const BATCH = `0x${'bb'.repeat(20)}` as const
const ASSET = `0x${'c1'.repeat(20)}` as const
const MODULE = `0x${'c2'.repeat(20)}` as const
const E18 = 10n ** 18n
const FEE_TOO_HIGH: Hex = '0x02c7ec25'

function action(subaccountId: bigint, isBid: boolean): Action {
  const terms = { asset: ASSET, subId: 0n, limitPrice: 3n * E18, desiredAmount: E18, worstFee: 1n }
  const data = encodeTradeData({ ...terms, recipientId: subaccountId, isBid })
  const owner = `0x${'aa'.repeat(20)}` as const
  return { subaccountId, nonce: 1n, module: MODULE, data, expiry: 9n, owner, signer: owner }
}

function aMatch(takerBuys: boolean): MatchCall {
  const fill = (filledAccount: bigint) => ({
    filledAccount,
    amountFilled: amountE18(5n * E18),
    price: priceE18(3n * E18),
    fee: quoteE18(2n),
  })
  return {
    actions: [action(7n, takerBuys), action(8n, !takerBuys), action(9n, !takerBuys)],
    signatures: ['0x01', '0x02', '0x03'],
    orderData: {
      takerAccount: 7n,
      takerFee: quoteE18(4n),
      fillDetails: [fill(8n), fill(9n)],
      managerData: '0x',
    },
  }
}

describe('a transaction that may settle matches', () => {
  const deployment = { matching: ASSET, batchExecutor: BATCH }
  const match = encodeMatch(aMatch(true))
  const through = `0x12345678${BATCH.slice(2).padStart(64, '0')}` as const

  it('goes to a contract through which they are settled, directly or by its data, or is a match', () => {
    for (const [to, data] of [
      [ASSET, '0x'],
      [BATCH, '0x'],
      [MODULE, through],
      [MODULE, match],
      [null, encodeBatch([{ call: match, gasLimit: 1n }])],
    ] as const)
      expect(maySettle({ to, data }, deployment), `${to} ${data}`).to.equal(true)
  })

  it('is no other one', () => {
    expect(maySettle({ to: MODULE, data: '0x12345678' }, deployment)).to.equal(false)
    expect(maySettle({ to: null, data: '0x' }, deployment)).to.equal(false)
    expect(maySettle({ to: BATCH, data: through }, { matching: ASSET })).to.equal(false)
  })
})

describe('a batch of matches', () => {
  const calls = [encodeMatch(aMatch(true)), encodeMatch(aMatch(false))]
  const items = calls.map((call, i) => ({ call, gasLimit: BigInt(i + 1) }))

  it('is read as it was written, from calldata and from signed bytes', () => {
    const data = encodeBatch(items)
    expect(decodeBatch(data)).to.deep.equal(items)
    expect(calls.map(decodeMatch)).to.deep.equal([aMatch(true), aMatch(false)])
    expect([isBatch(data), isBatch(calls[0] ?? '0x')]).to.deep.equal([true, false])

    const signer = createTransactionSigner(`0x${'01'.repeat(32)}`, 1)
    const rest = {
      evmNonce: 0,
      gasLimit: 1n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      value: 0n,
    }
    const rawOf = (call: Hex) => signer.sign({ to: BATCH, data: call, ...rest }).raw
    expect(matchCallsOf(rawOf(data))).to.deep.equal(calls)
    expect(matchCallsOf(rawOf(calls[0] ?? '0x'))).to.deep.equal([calls[0]])
    expect(matchCallsOf(rawOf('0x'))).to.deep.equal([])
    expect(parseTransaction(rawOf(data)).to).to.equal(BATCH)
  })

  const told = [
    { outcome: 0, gasUsed: 5n, revertData: '0x' },
    { outcome: 1, gasUsed: 6n, revertData: FEE_TOO_HIGH },
    { outcome: 2, gasUsed: 7n, revertData: '0x' },
    { outcome: 3, gasUsed: 0n, revertData: '0x' },
  ] as const

  it('has an outcome for each, by name', () => {
    const answer = encodeFunctionResult({
      abi: batchExecutorAbi,
      functionName: 'tryAll',
      result: told,
    })
    expect(decodeBatchAnswer(answer)).to.deep.equal([
      { kind: 'success', gasUsed: 5n },
      { kind: 'reverted', revert: 'TM_FeeTooHigh' },
      { kind: 'reverted', revert: 'out of gas' },
      { kind: 'untried' },
    ])
  })

  it('tells the journal what became of each intent, by the events of the contract alone', () => {
    const selector = toEventSelector('MatchTried(bytes32,uint8,uint256,bytes)')
    const types = [{ type: 'uint8' }, { type: 'uint256' }, { type: 'bytes' }] as const
    const key: Hex = `0x${'00'.repeat(32)}`
    const logs = told.map(({ outcome, gasUsed, revertData }) => ({
      address: BATCH,
      topics: [selector, key],
      data: encodeAbiParameters(types, [outcome, gasUsed, revertData]),
    }))
    const foreign = logs.map((log) => ({ ...log, address: ASSET }))
    const place = { hash: key, blockNumber: 1n, blockHash: key, status: 'success' as const }
    const outcomesOf = outcomesOfBatch(BATCH)
    const receipt = { ...place, to: BATCH, logs: [...foreign, ...logs] }
    expect(outcomesOf(receipt, ['a', 'b', 'c', 'd'])).to.deep.equal([
      { status: 'success' },
      { status: 'reverted', revert: 'TM_FeeTooHigh' },
      { status: 'reverted', revert: 'out of gas' },
      { status: 'reverted', revert: 'not tried' },
    ])
    const single = { ...place, to: ASSET, logs: [] }
    expect(outcomesOf(single, ['a'])).to.deep.equal([{ status: 'success' }])
  })
})
