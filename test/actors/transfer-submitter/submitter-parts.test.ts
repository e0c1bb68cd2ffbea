import { expect } from 'chai'
import { createJobs, type JobsDeps } from '../../../actors/transfer-submitter/carry-out.js'
import {
  createBackOff,
  dueHashes,
  type UnsettledDeps,
} from '../../../actors/transfer-submitter/follow.js'
import {
  createLimits,
  type TransferJudgement,
  type JudgedRequest,
} from '../../../actors/transfer-submitter/judge.js'
import type { SignedTransfer } from '../../../actors/transfer-submitter/rules.js'
import {
  createSubmitter,
  type SubmitterDeps,
} from '../../../actors/transfer-submitter/submitter.js'
import { createGasWallet } from '../../../actors/sending/gas-wallet.js'
import type { Hex } from '../../../core/action.js'
import { transferRefusals } from '../../../core/entry/transfer-refusals.js'
import type { Decline } from '../../../core/transaction-journal.js'
import { aDepositBody, anUnsentTransfer, places } from '../../support/transfer-bodies.js'
import { refusalIn } from './stage.js'

const hash = (digits: string): Hex => `0x${digits.repeat(32)}`

describe('a submitter that gives a request up', () => {
  const lateness: boolean[] = []
  beforeEach(() => void lateness.splice(0))

  /** The answer to a request that is given up while it is judged, and the rest of the judging. */
  async function givenUp(before: (request: JudgedRequest) => void) {
    let goOn = (): void => undefined
    const judge = async (request: JudgedRequest): Promise<TransferJudgement<object>> => {
      before(request)
      await new Promise<void>((resolve) => (goOn = resolve))
      lateness.push(request.isLate())
      return { kind: 'refused', refusal: transferRefusals.actionExpired }
    }
    const deps = { kind: 'deposit', judge } as SubmitterDeps<object>
    const asked = { body: '{}', clientAddress: '192.0.2.1', isLate: () => false }
    return { answer: await createSubmitter(deps).submit(asked, 1), goOn }
  }

  it('does not let it be claimed afterwards, even by a clock that says there is time', async () => {
    const { answer, goOn } = await givenUp(() => undefined)
    expect(refusalIn(answer).code).to.equal('chain_unreadable')
    goOn()
    await Promise.resolve()
    expect(lateness).to.deep.equal([true])
  })

  it('does not say that nothing was submitted once it is being claimed', async () => {
    const { answer } = await givenUp(({ onClaim }) => onClaim())
    expect(refusalIn(answer)).to.include({ status: 502, code: 'deposit_unknown' })
  })
})

describe('a pending transfer after a crash, whose action has expired meanwhile', () => {
  function resumed(signed: 'open' | 'mined' | 'displaced' | undefined, times = 1) {
    const declined: string[] = []
    const record = anUnsentTransfer()
    const deps = {
      rules: { kind: 'deposit', validate: () => ({ refusal: transferRefusals.actionExpired }) },
      records: {
        decline: (_: Hex, { error }: Decline) => Promise.resolve(declined.push(error) > 0),
      },
      store: { find: () => ({ record, request: JSON.stringify(aDepositBody()) }) },
      transactions: { stateOf: () => signed && { kind: signed } },
      nowMs: () => 0,
    }
    const jobs = createJobs(deps as unknown as JobsDeps<SignedTransfer>)
    for (let resumes = 0; resumes < times; resumes += 1) jobs.resume(record.actionHash)
    return declined
  }

  it('is rejected when nothing was signed for it', () => {
    const { message } = transferRefusals.actionExpired
    expect(resumed(undefined)).to.deep.equal([message])
    expect(resumed('displaced')).to.deep.equal([message])
  })

  it('is rejected once, however often it is looked at before the journal lasts with that', () => {
    expect(resumed('displaced', 2)).to.have.length(1)
  })

  it('is not called rejected when its transaction is signed, which the chain may still take', () => {
    expect(resumed('open')).to.deep.equal([])
    expect(resumed('mined')).to.deep.equal([])
  })
})

describe('the limits of requests by a clock that was set back', () => {
  const OWNER = `0x${'aa'.repeat(20)}` as const
  const SET_BACK_MS = 3_600_000
  const nowMs = 1_760_000_000_000

  function refusalWith(moments: { readonly requests: number[]; readonly submitted: number[] }) {
    const counts = { within: () => moments.requests, count: () => undefined }
    const limits = createLimits({
      kind: 'deposit',
      perMinute: 1,
      perHour: 1,
      nowMs: () => nowMs,
      store: { othersInProgress: () => false, submittedAfter: () => moments.submitted },
      owners: counts,
      clients: counts,
    })
    return limits.refuse(OWNER, hash('00'))?.status
  }

  it('do not count what was counted by the clock of before', () => {
    expect(refusalWith({ requests: [nowMs], submitted: [] })).to.equal(429)
    expect(refusalWith({ requests: [], submitted: [nowMs] })).to.equal(429)
    const later = [nowMs + SET_BACK_MS]
    expect(refusalWith({ requests: later, submitted: later })).to.equal(undefined)
    expect(refusalWith({ requests: [nowMs - 1, ...later], submitted: [] })).to.equal(429)
  })
})

describe('what another account carried out', () => {
  it('is asked about ever more rarely, and everything else each time', () => {
    let nowMs = 0
    const states = { [hash('aa')]: 'displaced', [hash('bb')]: 'open' } as const
    const recordOf = (actionHash: Hex) => anUnsentTransfer({ actionHash, status: 'unknown' })
    const deps = {
      kind: 'deposit',
      store: {
        unsettled: () => [hash('aa'), hash('bb')].map((each) => ({ record: recordOf(each) })),
        find: (actionHash: Hex) => ({ record: recordOf(actionHash) }),
      },
      transactions: {
        unsettledIntents: () => ['permit:0x01'],
        stateOf: (intentId: string) => ({
          kind: states[intentId.slice('deposit:'.length) as keyof typeof states],
        }),
      },
    } as UnsettledDeps
    const backOff = createBackOff({ firstMs: 1_000, longestMs: 10_000, nowMs: () => nowMs })
    const asked: number[] = []
    for (nowMs = 0; nowMs < 40_000; nowMs += 1_000) {
      const due = dueHashes(deps, backOff)
      expect(due).to.include(hash('bb'))
      if (due.includes(hash('aa'))) asked.push(nowMs / 1_000)
    }
    expect(asked).to.deep.equal([0, 1, 3, 7, 15, 25, 35])
  })
})

describe('how a gas wallet stands', () => {
  const limits = {
    address: places.owner,
    spent: { record: () => undefined, withinHour: () => 3n },
    reservedWei: () => 1n,
    // Of the key and of one that is retiring.
    inFlightWei: () => 4n,
    reserveWei: 10n,
    hourBudgetWei: 20n,
    nowMs: () => 0,
  }

  it('is told without its balance, and soon, while the chain hangs', async () => {
    const wallet = createGasWallet({ ...limits, readGas: () => new Promise(() => undefined) })
    expect(await wallet.standing()).to.deep.equal({
      signer: places.owner,
      reserveWei: 10n,
      hourBudgetWei: 20n,
      hourSpentWei: 7n,
    })
  })

  it('leaves of its budget, and not of its balance, what it is told to', () => {
    const facts = {
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 0n,
      baseFeePerGas: 1n,
      blockGasLimit: 100n,
      balance: 24n,
    }
    const wallet = createGasWallet({ ...limits, readGas: () => Promise.resolve(facts) })
    expect(wallet.pauseFor(13n, facts)).to.equal(undefined)
    expect(wallet.pauseFor(8n, facts, 5n)).to.equal(undefined)
    expect(wallet.pauseFor(9n, facts, 5n)).to.equal('gas_budget')
    expect(wallet.pauseFor(14n, facts)).to.equal('gas_reserve')
  })
})
