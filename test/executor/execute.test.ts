import { expect } from 'chai'
import type { GasUse } from '../../chain/contracts/read-gas-use.js'
import type { TransactionSender } from '../../chain/sender/transaction-sender.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import { encodeTradeData } from '../../core/entry/read-action.js'
import type { Blame } from '../../core/model/match.js'
import { amountE18, E18, priceE18, quoteE18, type PriceE18 } from '../../core/money.js'
import type { MinedTransaction, OpenTransaction } from '../../core/transaction-journal.js'
import {
  createExecute,
  findAttempt,
  MAX_ATTEMPTS,
  settlementOf,
  type ExecuteAnswer,
  type Executions,
} from '../../executor/execute.js'
import { createLostGas, type LostGas } from '../../executor/lost-gas.js'
import type { ExecutePayload } from '../../executor/payload.js'
import { observeExecutor } from '../../executor/observe.js'
import type { Settlement, SubmitResult } from '../../executor/settlement.js'
import { createLog } from '../../runtime/process/log.js'
import { aMarket } from '../support/builders.js'
import { openMemoryJournal, type MemoryJournal } from '../support/memory-journal.js'

const FROM = createTransactionSigner(`0x${'07'.padStart(64, '0')}`, 8453).address
const MATCHING = `0x${'ee'.repeat(20)}` as const
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const market = aMarket()

function anAction(subaccountId: bigint, isBid: boolean) {
  const { assetAddress: asset, tradeModuleAddress: module } = market
  const amounts = { limitPrice: 3n, desiredAmount: 5n, worstFee: 0n }
  const data = encodeTradeData({ asset, subId: 0n, ...amounts, recipientId: subaccountId, isBid })
  return { subaccountId, nonce: 1n, module, data, expiry: 4n, owner: FROM, signer: FROM }
}

/** A match of one taker and one maker; another fee makes it another match. */
const aPayload = (takerFee = 1n): ExecutePayload => ({
  market: market.market,
  assetAddress: market.assetAddress,
  moduleAddress: market.tradeModuleAddress,
  takerOrderId: 'taker',
  makerOrderIds: ['maker'],
  match: {
    actions: [anAction(7n, true), anAction(8n, false)],
    signatures: ['0x5a', '0x5b'],
    orderData: {
      takerAccount: 7n,
      takerFee: quoteE18(takerFee),
      managerData: '0x',
      fillDetails: [
        {
          filledAccount: 8n,
          amountFilled: amountE18(5n),
          price: priceE18(3n),
          fee: quoteE18(0n),
        },
      ],
    },
  },
})

const success = (n: number): MinedTransaction => ({
  status: 'success',
  hash: hashOf(n),
  blockNumber: BigInt(n),
  blockHash: hashOf(100 + n),
})
const reverted = (n: number, revert: string): MinedTransaction => ({
  ...success(n),
  status: 'reverted',
  revert,
})

/** What a request is answered, by what the journal, the queue and the sender say. */
describe('a request to settle', () => {
  let journal: MemoryJournal
  let executions: Executions
  let submitted: Settlement[]
  let submission: (settlement: Settlement) => Promise<SubmitResult>
  let result: MinedTransaction | undefined
  let taken: boolean
  let guilty: Blame | undefined
  let codeSigners: Hex[]
  let nowMs = 0
  let mark: PriceE18 | undefined | 'unreadable'
  let use: GasUse | undefined | 'unreadable'
  let asked: {
    readonly guilty: string[]
    readonly at: unknown[]
    marks: number
    readonly gas: [hash: Hex, fingerprint: Hex][]
    readonly venue: unknown[]
    waited: [string, number][]
  }
  let timeoutMs: number
  let lostGas: LostGas
  let evmNonce: number

  beforeEach(() => {
    journal = openMemoryJournal()
    submitted = []
    submission = (settlement) => Promise.resolve({ kind: 'sent', transaction: record(settlement) })
    result = success(1)
    taken = true
    guilty = undefined
    mark = undefined
    use = undefined
    asked = { guilty: [], at: [], marks: 0, gas: [], venue: [], waited: [] }
    timeoutMs = 60_000
    codeSigners = []
    lostGas = createLostGas({
      budget: 100n,
      facts: observeExecutor(createLog('test', 'silent')),
      nowMs: () => nowMs,
    })
    evmNonce = 0
    open()
  })
  afterEach(() => journal.close())

  function open() {
    const txSender: Partial<TransactionSender> = {
      address: FROM,
      waitFor: (intentId, ms) => {
        asked.waited.push([intentId, ms])
        return Promise.resolve(result)
      },
      wasTaken: () => taken,
    }
    executions = createExecute({
      matching: MATCHING,
      markets: [market],
      journal,
      timeoutMs,
      txSender: txSender as TransactionSender,
      queue: {
        submit: (settlement) => {
          submitted.push(settlement)
          return submission(settlement)
        },
      },
      findGuilty: (_, revert, at) => {
        asked.guilty.push(revert)
        asked.at.push(at)
        const found = codeSigners.length > 0 && { codeSigners }
        return Promise.resolve({ ...(guilty && { guilty }), ...found })
      },
      readMark: () => {
        asked.marks += 1
        return Promise.resolve(mark)
      },
      readGasUse: ({ hash }, fingerprint) => {
        asked.gas.push([hash, fingerprint])
        return Promise.resolve(use)
      },
      gasTokenPrice: quoteE18(3_000n * E18),
      lostGas,
      onVenueFault: (name, { accountIds }, revert) =>
        asked.venue.push([name, [...accountIds], revert]),
      facts: observeExecutor(createLog('test', 'silent')),
    })
  }

  /** Journals a transaction for the settlement, as the queue does. */
  function record({ intentId, fingerprint }: Pick<Settlement, 'intentId' | 'fingerprint'>) {
    const attempts = [1, 2].map((n) => {
      const hash = hashOf(10 * (evmNonce + 1) + n)
      return { hash, raw: '0x01', gasLimit: 1n, maxFeePerGas: 1n } as const
    })
    const transaction: OpenTransaction = { from: FROM, evmNonce, intentIds: [intentId], attempts }
    const [first, second] = attempts
    if (first === undefined || second === undefined) throw new Error('no attempts')
    journal.recordSigned({ ...transaction, attempts: [first] }, [fingerprint])
    journal.recordAttempt(FROM, evmNonce, second)
    evmNonce += 1
    return transaction
  }
  const execute = (key: string | undefined = 'm:1', payload = aPayload()): Promise<ExecuteAnswer> =>
    executions.execute(payload, key)
  /** The newest transaction is mined without having tried its match. */
  const mineInVain = () => {
    const outcomes = [{ status: 'reverted', revert: 'not tried' } as const]
    const newest = { hash: hashOf(10 * evmNonce + 2), blockNumber: 1n, blockHash: hashOf(1) }
    journal.recordMined(FROM, evmNonce - 1, { ...newest, outcomes })
  }

  it('is said to be spent elsewhere for each guilty account, and for any if none can be named', async () => {
    const revert = 'WERC_CannotBeNegative'
    const toldFor = async (blame: Blame | undefined, spentElsewhere: readonly bigint[]) => {
      open()
      guilty = blame
      const elsewhere = spentElsewhere.length > 0 && { spentElsewhere }
      submission = () => Promise.resolve({ kind: 'refused', revert, ...elsewhere })
      return (await execute()) as { readonly isSpentElsewhere?: true }
    }
    const told = { isSpentElsewhere: true }
    expect(await toldFor('taker', [7n])).to.include({ guilty: 'taker', ...told })
    expect(await toldFor('taker', [8n])).not.to.have.property('isSpentElsewhere')
    expect(await toldFor('both', [8n])).not.to.have.property('isSpentElsewhere')
    const unclear = await toldFor(undefined, [8n])
    expect(unclear).to.include(told)
    expect(unclear).not.to.have.property('guilty')
    expect(await toldFor(undefined, [])).not.to.have.property('isSpentElsewhere')
  })

  it('is submitted under its key, and answered when it is mined', async () => {
    expect(await execute()).to.deep.equal({ kind: 'mined', transaction: success(1) })
    expect(submitted).to.have.length(1)
    const [{ intentId, accountIds, match }] = submitted as [Settlement]
    expect([intentId, accountIds, match?.market]).to.deep.equal(['m:1', [7n, 8n], market])
    expect(asked.waited).to.deep.equal([['m:1', 60_000]])
  })

  it('without a key has the fingerprint of its call for one', async () => {
    await executions.execute(aPayload(), undefined)
    const [first] = submitted
    expect(first?.intentId).to.equal(first?.fingerprint)
    await executions.execute(aPayload(2n), undefined)
    expect(submitted[1]?.intentId).to.not.equal(first?.intentId)
  })

  it('is submitted once for simultaneous requests, which are answered alike (SET-010)', async () => {
    let send: ((submission: SubmitResult) => void) | undefined
    submission = () => new Promise((resolve) => (send = resolve))
    const both = [execute(), execute()]
    expect([executions.isKnown('m:1'), executions.isRunning('m:1')]).to.deep.equal([true, true])
    expect([executions.isKnown('m:2'), executions.isRunning('m:2')]).to.deep.equal([false, false])
    const other = await execute('m:1', aPayload(2n))
    expect(other).to.deep.equal({ kind: 'mismatch' })
    const [only] = submitted as [Settlement]
    send?.({ kind: 'sent', transaction: record(only) })
    const answers = await Promise.all(both)
    expect(answers.map(({ kind }) => kind)).to.deep.equal(['mined', 'mined'])
    expect(submitted).to.have.length(1)
    expect([executions.isKnown('m:1'), executions.isRunning('m:1')]).to.deep.equal([true, false])
  })

  it('is answered from the journal when it comes again, and refused with another match', async () => {
    await execute()
    result = reverted(2, 'TM_FeeTooHigh')
    expect(await execute()).to.deep.equal({ kind: 'mined', transaction: result })
    expect(await execute('m:1', aPayload(2n))).to.deep.equal({ kind: 'mismatch' })
    expect(submitted).to.have.length(1)
  })

  it('has no outcome while its transaction is not mined: it was taken by a node, or not (SET-008)', async () => {
    result = undefined
    expect(await execute()).to.deep.equal({ kind: 'timeout', hash: hashOf(12) })
    taken = false
    expect(await execute()).to.deep.equal({ kind: 'unknown', hash: hashOf(12) })
  })

  it('is unavailable while it waits for others, or for what the queue waits for', async () => {
    timeoutMs = 1
    open()
    submission = () => new Promise(() => undefined)
    expect(await execute('m:1')).to.deep.equal({
      kind: 'unavailable',
      why: 'waits for other settlements',
    })
    submission = () => Promise.resolve({ kind: 'unavailable', why: 'frozen' })
    expect(await execute('m:2')).to.deep.equal({ kind: 'unavailable', why: 'frozen' })
    expect(executions.isKnown('m:2')).to.equal(false)
  })

  it('is refused with the side that is guilty, as far as it shows', async () => {
    submission = ({ intentId, fingerprint }) => {
      journal.recordRefusal(intentId, fingerprint, 'TM_FeeTooHigh')
      return Promise.resolve({ kind: 'refused', revert: 'TM_FeeTooHigh' })
    }
    const refused = { kind: 'refused', revert: 'TM_FeeTooHigh' }
    expect(await execute()).to.deep.equal(refused)
    guilty = 'taker'
    expect(await execute()).to.deep.equal({ ...refused, guilty: 'taker' })
    expect(submitted).to.have.length(1)
    expect(asked).to.deep.include({ guilty: ['TM_FeeTooHigh', 'TM_FeeTooHigh'], venue: [] })
  })

  it('is judged again in the state in which it was refused, also where no request waited for that (SET-021)', async () => {
    timeoutMs = 1
    open()
    let refuse: (() => void) | undefined
    const refusal = { revert: 'WERC_CannotBeNegative', onBlock: hashOf(9), spentElsewhere: [7n] }
    submission = ({ intentId, fingerprint }) =>
      new Promise((resolve) => {
        refuse = () => {
          journal.recordRefusal(intentId, fingerprint, refusal.revert)
          resolve({ kind: 'refused', ...refusal })
        }
      })
    expect(await execute()).to.have.property('kind', 'unavailable')
    refuse?.()
    const answers = [await execute(), await execute()]
    for (const answer of answers)
      expect(answer).to.deep.equal({ kind: 'refused', ...refusal, isSpentElsewhere: true })
    const state = { kind: 'simulated', blockHash: hashOf(9) }
    expect(asked.at).to.deep.equal([state, state])
    // Another process has the name alone.
    open()
    expect(await execute()).to.deep.equal({ kind: 'refused', revert: refusal.revert })
    expect(submitted).to.have.length(1)
  })

  it('says of a revert who is guilty, and tells the watch of faults when it is the venue', async () => {
    result = reverted(1, 'BM_AdjustmentsPaused')
    guilty = 'venue'
    expect(await execute()).to.deep.equal({ kind: 'mined', transaction: result, guilty: 'venue' })
    const accounts = [7n, 8n]
    expect(asked.venue).to.deep.equal([[market.market, accounts, 'BM_AdjustmentsPaused']])
    const { revert, ...unnamed } = result
    result = unnamed
    await execute()
    expect(asked.guilty).to.deep.equal([revert, 'unknown'])
    expect(asked.marks).to.equal(0)
  })

  it('has the mark of a success where its contract has one, and none of anything else', async () => {
    mark = priceE18(9n)
    expect(await execute()).to.deep.include({ kind: 'mined', markPrice: 9n })
    expect(asked.guilty).to.deep.equal([])
    mark = 'unreadable'
    expect(await execute()).to.deep.equal({ kind: 'timeout', hash: hashOf(1) })
    result = undefined
    await execute()
    expect(asked.marks).to.equal(2)
  })

  it('has what its share of the gas cost, rounded up, whatever became of it', async () => {
    use = { gas: 5n, wei: 2n * 10n ** 14n }
    expect(await execute()).to.deep.include({ kind: 'mined', gasCost: (6n * E18) / 10n })
    const [first] = submitted
    expect(asked.gas).to.deep.equal([[hashOf(1), first?.fingerprint]])
    result = reverted(1, 'TM_FeeTooHigh')
    use = { gas: 5n, wei: 1n }
    expect(await execute()).to.deep.include({ kind: 'mined', gasCost: 3_000n })
    use = 'unreadable'
    expect(await execute()).to.deep.equal({ kind: 'timeout', hash: hashOf(1) })
    use = undefined
    expect(await execute()).not.to.have.property('gasCost')
  })

  it('is refused once code that signs it has lost its gas of the hour (COD-017)', async () => {
    codeSigners = [FROM]
    guilty = 'taker'
    result = reverted(1, 'OV_InvalidSignature')
    use = { gas: 100n, wei: 1n }
    await Promise.all([execute('m:1'), execute('m:1')])
    expect(lostGas.total()).to.equal(100n)
    guilty = undefined
    const lost = { kind: 'refused', revert: 'CodeGasLost', guilty: 'both' }
    expect(await execute('m:3')).to.include(lost)
    expect(submitted).to.have.length(1)
    nowMs += 3_600_000
    expect(await execute('m:3'), 'for good').to.include(lost)
    expect((await execute('m:4')).kind).to.equal('mined')
  })

  it('goes again under a nonce of its own once the batch that did not try it is final', async () => {
    result = reverted(1, 'not tried')
    submission = (settlement) => {
      const transaction = record(settlement)
      if (settlement.intentId === 'm:1') mineInVain()
      return Promise.resolve({ kind: 'sent', transaction })
    }
    // Mined in vain, and not final: ask again.
    expect(await execute()).to.deep.equal({ kind: 'timeout', hash: hashOf(1) })
    expect(await execute()).to.deep.equal({ kind: 'timeout', hash: hashOf(12) })
    journal.recordFinal(FROM, [0])
    result = success(2)
    expect(await execute()).to.deep.equal({ kind: 'mined', transaction: success(2) })
    expect(submitted.map(({ intentId }) => intentId)).to.deep.equal(['m:1', 'm:1 life 2'])
    expect(submitted.map(({ intentId }) => settlementOf(intentId))).to.deep.equal(['m:1', 'm:1'])
  })

  it(`is given up after ${MAX_ATTEMPTS} batches that did not try it (SET-016)`, async () => {
    result = reverted(1, 'not tried')
    submission = (settlement) => {
      const transaction = record(settlement)
      mineInVain()
      journal.recordFinal(FROM, [evmNonce - 1])
      return Promise.resolve({ kind: 'sent', transaction })
    }
    const kinds: string[] = []
    for (let n = 0; n < MAX_ATTEMPTS; n += 1) kinds.push((await execute()).kind)
    expect(kinds).to.deep.equal([...Array<string>(MAX_ATTEMPTS - 1).fill('timeout'), 'mined'])
    const last = findAttempt(journal, 'm:1')
    expect([last.intentId, last.isLast]).to.deep.equal([`m:1 life ${MAX_ATTEMPTS}`, true])
    expect(await execute()).to.deep.nested.include({
      kind: 'mined',
      'transaction.revert': 'not tried',
    })
    expect(submitted).to.have.length(MAX_ATTEMPTS)
  })

  it('goes again when a foreign transaction has finally taken its nonce', async () => {
    await execute()
    journal.recordDisplaced(FROM, 0, { hash: hashOf(9), blockNumber: 9n, blockHash: hashOf(99) })
    expect(await execute()).to.include({ kind: 'mined' })
    expect(submitted.map(({ intentId }) => intentId)).to.deep.equal(['m:1', 'm:1'])
  })

  it('is that of a mined transaction without asking the sender', async () => {
    await execute()
    const outcomes = [{ status: 'success' } as const]
    const newest = { hash: hashOf(12), blockNumber: 5n, blockHash: hashOf(105) }
    journal.recordMined(FROM, 0, { ...newest, outcomes })
    asked.waited = []
    expect(await execute()).to.deep.equal({
      kind: 'mined',
      transaction: { ...newest, status: 'success' },
    })
    expect(asked.waited).to.deep.equal([])
  })
})
