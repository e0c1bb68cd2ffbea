import { expect } from 'chai'
import type { IntendedCall } from '../../chain/sender/key-nonces.js'
import type { OpenTransaction, TransactionJournal } from '../../core/transaction-journal.js'
import type { Shortage, TransactionSender } from '../../chain/sender/transaction-sender.js'
import { balanceClaim } from '../../core/contracts/claims.js'
import type { Market } from '../../core/model/market.js'
import { createInFlightBook } from '../../executor/in-flight.js'
import { observeExecutor } from '../../executor/observe.js'
import { settleGroup, type GroupDeps } from '../../executor/settle-group.js'
import type {
  MatchPacker,
  QueuedSettlement,
  Settlement,
  SimulationResult,
  SubmitResult,
  ChainVerdict,
} from '../../executor/settlement.js'
import { createLog } from '../../runtime/process/log.js'
import { aMarket } from '../support/builders.js'
import { matchClaiming, readsWith } from '../support/claims.js'

const MANAGER = `0x${'a1'.repeat(20)}` as const
const ASSET = `0x${'c1'.repeat(20)}` as const
const PASSES: ChainVerdict = { kind: 'passes', gas: 1n }
const REVERTS = { kind: 'reverts', revert: 'WERC_CannotBeNegative' } as const
const UNTRIED: ChainVerdict = { kind: 'untried' }
const HEAD = { blockHash: '0x01', count: 10 } as const
const MAX_AHEAD = 3

/** A settlement in which an account pays so much to account 99. */
function paying(intentId: string, accountId: bigint, amount: bigint): Settlement {
  return {
    intentId,
    fingerprint: '0x02',
    call: `0x${intentId}`,
    parties: [],
    accountIds: [accountId, 99n],
    match: matchClaiming({ key: balanceClaim(accountId, ASSET, 0n), debit: amount }),
  }
}

/** What is decided about a group, where the trial says what the test says. */
describe('a group of settlements', () => {
  let book: ReturnType<typeof createInFlightBook>
  let answers: Map<string, SubmitResult>
  let deferred: string[]
  let refused: string[]
  let ahead: string[]
  let trial: (matches: readonly Settlement[]) => SimulationResult
  let shortage: Shortage | undefined
  let balance: bigint
  let unchanged: boolean
  let maxPacked: number
  let packed: unknown[]
  let taken: IntendedCall[]
  let gasMoneyAsked: bigint[]

  beforeEach(() => {
    book = createInFlightBook()
    answers = new Map()
    deferred = []
    refused = []
    ahead = []
    trial = (matches) => ({ aheadPassed: true, verdicts: matches.map(() => PASSES) })
    shortage = undefined
    balance = 100n
    unchanged = true
    maxPacked = 64
    packed = []
    taken = []
    gasMoneyAsked = []
  })

  function waitingFor(settlement: Settlement, deferrals = 0): QueuedSettlement {
    const resolve = (submission: SubmitResult) => void answers.set(settlement.intentId, submission)
    const reject = (error: Error) => {
      throw error
    }
    return { settlement, resolve, reject, deferrals }
  }

  function deps(maxAhead: number): GroupDeps {
    const packer: MatchPacker = {
      maxGroup: 64,
      maxAhead,
      simulate: (_, matches, before) => {
        ahead = before.map(({ call }) => call.slice(2))
        return Promise.resolve(trial(matches as readonly Settlement[]))
      },
      pack: (matches) => {
        packed.push(matches.map(({ match, gas }) => [match.call, gas]))
        const count = Math.min(matches.length, maxPacked)
        return { count, to: ASSET, data: '0xda', gasLimit: 5n, isFull: count < matches.length }
      },
    }
    const gas = { balance: 1n, maxFeePerGas: 3n, maxPriorityFeePerGas: 2n, blockGasLimit: 100n }
    const transaction = { from: ASSET, evmNonce: 20, intentIds: [], attempts: [] }
    const txSender: Partial<TransactionSender> = {
      readGas: (() => Promise.resolve(gas)) as TransactionSender['readGas'],
      address: MANAGER,
      shortage: (_, wei) => {
        gasMoneyAsked.push(wei)
        return shortage
      },
      take: (call): OpenTransaction => {
        taken.push(call)
        return transaction
      },
    }
    const journal: Partial<TransactionJournal> = {
      recordRefusal: (intentId: string) => void refused.push(intentId),
    }
    const facts = {
      ...observeExecutor(createLog('test', 'silent')),
      deferred: (intentId: string) => void deferred.push(intentId),
    }
    const readClaims = () => readsWith((keys) => Promise.resolve(keys.map(() => balance)))
    const isUnchanged = () => Promise.resolve(unchanged)
    const readCode = () => Promise.resolve(new Set<never>())
    return {
      packer,
      book,
      facts,
      readClaims,
      readCode,
      isUnchanged,
      txSender: txSender as TransactionSender,
      journal: journal as TransactionJournal,
    }
  }

  const settle = async (group: readonly QueuedSettlement[], maxAhead = MAX_AHEAD) => {
    const again = await settleGroup(deps(maxAhead), HEAD, group)
    return again.map(({ settlement }) => settlement.intentId)
  }

  const inFlight = (n: number, accountId = 1n) => {
    for (let i = 0; i < n; i += 1) book.add(HEAD.count + i, [paying(`f${i}`, accountId, 30n)])
  }

  it('ignores what the block shows already', async () => {
    book.add(HEAD.count - 1, [paying('mined', 1n, 90n)])
    expect(await settle([waitingFor(paying('a', 1n, 90n))])).to.deep.equal([])
    expect(answers.get('a')?.kind).to.equal('sent')
    expect(ahead).to.deep.equal([])
  })

  it('sends the call of the packer, for the intents of its matches and at the fees of the moment', async () => {
    trial = (matches) => ({
      aheadPassed: true,
      verdicts: matches.map((_, i) => ({ kind: 'passes', gas: BigInt(7 + i) })),
    })
    maxPacked = 1
    await settle([waitingFor(paying('a', 1n, 1n)), waitingFor(paying('b', 2n, 1n))])
    expect(packed).to.deep.equal([
      [
        ['0xa', 7n],
        ['0xb', 8n],
      ],
      [['0xb', 8n]],
    ])
    const fees = { gasLimit: 5n, maxFeePerGas: 3n, maxPriorityFeePerGas: 2n }
    const callFor = (intentId: string): IntendedCall => ({
      intents: [{ intentId, fingerprint: '0x02' }],
      to: ASSET,
      data: '0xda',
      fees,
    })
    expect(taken).to.deep.equal([callFor('a'), callFor('b')])
    expect(gasMoneyAsked).to.deep.equal([15n, 15n])
  })

  it('names the signer whose gas money is short', async () => {
    shortage = { kind: 'gas_money', why: 'too little gas money' }
    expect(await settle([waitingFor(paying('a', 1n, 1n))])).to.deep.equal([])
    const why = `too little gas money: ${MANAGER}`
    expect(answers.get('a')).to.deep.equal({ kind: 'unavailable', why })
    expect(taken).to.deep.equal([])
  })

  it('puts as many matches ahead as a trial holds, and no more', async () => {
    inFlight(MAX_AHEAD)
    expect(await settle([waitingFor(paying('a', 1n, 90n))])).to.deep.equal([])
    expect(ahead).to.deep.equal(['f0', 'f1', 'f2'])
    book = createInFlightBook()
    inFlight(MAX_AHEAD + 1)
    expect(await settle([waitingFor(paying('b', 1n, 90n))])).to.deep.equal(['b'])
  })

  it('puts matches in flight ahead only where they may leave too little', async () => {
    inFlight(2)
    await settle([waitingFor(paying('a', 1n, 40n))])
    expect([ahead, answers.get('a')?.kind]).to.deep.equal([[], 'sent'])
    book = createInFlightBook()
    inFlight(2)
    await settle([waitingFor(paying('b', 1n, 41n))])
    expect([ahead, answers.get('b')?.kind]).to.deep.equal([['f0', 'f1'], 'sent'])
  })

  it('puts them ahead too where only all matches of the group together leave too little', async () => {
    inFlight(2)
    await settle([waitingFor(paying('a', 1n, 30n)), waitingFor(paying('b', 1n, 11n))])
    expect(ahead).to.deep.equal(['f0', 'f1'])
    book = createInFlightBook()
    inFlight(2)
    await settle([waitingFor(paying('c', 1n, 30n)), waitingFor(paying('d', 1n, 10n))])
    expect(ahead).to.deep.equal([])
  })

  it('keeps what does not fill another transaction while more wait behind the group', async () => {
    maxPacked = 2
    const names = ['a', 'bad', 'b', 'c', 'worse']
    trial = (matches) => ({
      aheadPassed: true,
      verdicts: matches.map(({ accountIds: [id] }) => (id === 2n || id === 5n ? REVERTS : PASSES)),
    })
    const group = names.map((name, i) => waitingFor(paying(name, BigInt(i + 1), 1n)))
    const kept = await settleGroup(deps(MAX_AHEAD), HEAD, group, true)
    // What is refused behind the one that is kept was tried out on what that would have left.
    expect(kept.map(({ settlement }) => settlement.intentId)).to.include.members(['c', 'worse'])
    expect([...answers].filter(([, { kind }]) => kind === 'sent').map(([id]) => id)).to.deep.equal([
      'a',
      'b',
    ])
    await settleGroup(deps(MAX_AHEAD), HEAD, kept, true)
    expect(answers.get('c')?.kind).to.equal('sent')
  })

  it('keeps a refusal open behind one that is kept, however many were refused before', async () => {
    maxPacked = 2
    const names = ['bad', 'worse', 'a', 'b', 'c', 'last']
    const group = names.map((name, i) => {
      const accountIds = [BigInt(i + 1), BigInt(i + 101)]
      return waitingFor({ ...paying(name, BigInt(i + 1), 1n), accountIds })
    })
    const failing = ['bad', 'worse', 'last']
    trial = (matches) => ({
      aheadPassed: true,
      verdicts: matches.map(({ intentId }) => (failing.includes(intentId) ? REVERTS : PASSES)),
    })
    const kept = await settleGroup(deps(MAX_AHEAD), HEAD, group, true)
    expect(kept.map(({ settlement }) => settlement.intentId)).to.deep.equal(['c', 'last'])
    expect(refused).to.deep.equal(['bad', 'worse'])
  })

  it('lets a match wait that depends on more than a trial can hold', async () => {
    inFlight(MAX_AHEAD + 1)
    const poor = waitingFor(paying('a', 1n, 41n))
    const other = waitingFor(paying('b', 2n, 100n))
    expect(await settle([poor, other])).to.deep.equal(['a'])
    expect(poor).to.include({ waitsFor: HEAD.count + MAX_AHEAD, deferrals: 1 })
    expect(answers.get('b')?.kind).to.equal('sent')
  })

  it('lets the chain judge what lacks something that nothing of ours takes', async () => {
    trial = (matches) => ({ aheadPassed: true, verdicts: matches.map(() => REVERTS) })
    const group = [waitingFor(paying('a', 1n, 101n)), waitingFor(paying('b', 1n, 102n))]
    expect(await settle(group, 0)).to.deep.equal(['b'])
    expect(refused).to.deep.equal(['a'])
    expect(await settle(group.slice(1), 0)).to.deep.equal([])
    expect(refused).to.deep.equal(['a', 'b'])
  })

  it('believes nothing when a match in flight does not go through', async () => {
    inFlight(2)
    trial = (matches) => ({ aheadPassed: false, verdicts: matches.map(() => PASSES) })
    const poor = waitingFor(paying('a', 1n, 41n))
    const other = waitingFor(paying('b', 2n, 100n))
    expect(await settle([poor, other])).to.deep.equal(['a', 'b'])
    expect(answers.size).to.equal(0)
    expect(deferred).to.deep.equal(['a'])
  })

  it('refuses for good after three waits, whatever is in flight', async () => {
    inFlight(1)
    trial = (matches) => ({ aheadPassed: true, verdicts: matches.map(() => REVERTS) })
    const queued = waitingFor(paying('a', 1n, 90n), 2)
    expect(await settle([queued])).to.deep.equal(['a'])
    expect(await settle([queued])).to.deep.equal([])
    expect(ahead).to.deep.equal(['f0'])
    expect(refused).to.deep.equal(['a'])
    expect(answers.get('a')).to.deep.equal({
      kind: 'refused',
      revert: 'WERC_CannotBeNegative',
      onBlock: HEAD.blockHash,
    })
  })

  it('goes by the newest block after three waits where what is in flight is too much for a trial', async () => {
    inFlight(MAX_AHEAD + 1)
    expect(await settle([waitingFor(paying('a', 1n, 90n), 2)])).to.deep.equal(['a'])
    expect(await settle([waitingFor(paying('a', 1n, 90n), 3)])).to.deep.equal([])
    expect([ahead, answers.get('a')?.kind]).to.deep.equal([[], 'sent'])
  })

  it('goes by the newest block in the end where what is in flight does not go through', async () => {
    inFlight(1)
    trial = (matches) => ({ aheadPassed: ahead.length === 0, verdicts: matches.map(() => PASSES) })
    const queued = waitingFor(paying('a', 1n, 90n), 3)
    expect(await settle([queued])).to.deep.equal(['a'])
    expect(await settle([queued])).to.deep.equal([])
    expect(answers.get('a')?.kind).to.equal('sent')
  })

  it('concludes nothing from a block of which the chain says something else afterwards', async () => {
    unchanged = false
    trial = () => ({ aheadPassed: true, verdicts: [PASSES, REVERTS] })
    const group = [waitingFor(paying('a', 1n, 90n)), waitingFor(paying('b', 2n, 90n))]
    expect(await settle(group)).to.deep.equal(['a', 'b'])
    expect([answers.size, refused.length, deferred.length]).to.deep.equal([0, 0, 0])
  })

  it('keeps a refusal open that another one of the group may have caused', async () => {
    trial = () => ({ aheadPassed: true, verdicts: [PASSES, REVERTS] })
    const first = waitingFor(paying('a', 1n, 90n))
    const second = waitingFor(paying('b', 1n, 90n))
    expect(await settle([first, second])).to.deep.equal(['b'])
    expect(second.waitsFor).to.equal(20)
    expect(refused).to.deep.equal([])
  })

  it('names the accounts that another market may have drained lately, mined matches included', async () => {
    trial = () => ({ aheadPassed: true, verdicts: [REVERTS] })
    const elsewhere = (evmNonce: number, accountId: bigint) => {
      const other = paying('e', accountId, 1n)
      const market = { ...aMarket(), market: 'other' } as Market
      book.add(evmNonce, [{ ...other, match: other.match && { ...other.match, market } }])
    }
    const refusedOf = async (id: string, accountId: bigint) => {
      await settle([waitingFor(paying(id, accountId, 90n))])
      return answers.get(id)
    }
    book.add(HEAD.count - 1, [paying('own', 1n, 90n)])
    expect(await refusedOf('a', 1n)).to.deep.equal({
      kind: 'refused',
      revert: REVERTS.revert,
      onBlock: HEAD.blockHash,
    })
    elsewhere(HEAD.count - 1, 2n)
    expect(await refusedOf('b', 2n)).to.deep.equal({
      kind: 'refused',
      revert: REVERTS.revert,
      spentElsewhere: [2n, 99n],
      onBlock: HEAD.blockHash,
    })
    // For another reason than a shortage the other market does not matter.
    const revert = 'TM_FillLimitCrossed'
    trial = () => ({ aheadPassed: true, verdicts: [{ kind: 'reverts', revert }] })
    expect(await refusedOf('c', 2n)).to.deep.equal({
      kind: 'refused',
      revert,
      onBlock: HEAD.blockHash,
    })
  })

  it('refuses for good what shares no account with anything that is sent', async () => {
    trial = () => ({ aheadPassed: true, verdicts: [PASSES, REVERTS] })
    const other = { ...paying('b', 2n, 90n), accountIds: [2n, 98n] }
    expect(await settle([waitingFor(paying('a', 1n, 9n)), waitingFor(other)])).to.deep.equal([])
    expect(refused).to.deep.equal(['b'])
  })

  it('takes back what it learnt when the sender takes nothing more', async () => {
    trial = () => ({ aheadPassed: true, verdicts: [PASSES, REVERTS] })
    shortage = { kind: 'too_many_open', why: 'too many' }
    const group = [waitingFor(paying('a', 1n, 90n)), waitingFor(paying('b', 2n, 90n))]
    expect(await settle(group)).to.deep.equal(['b'])
    expect(answers.get('a')).to.deep.equal({ kind: 'unavailable', why: 'too many' })
    expect(refused).to.deep.equal([])
  })

  it('tries again what the trial had no gas for, unless it was the first', async () => {
    trial = () => ({ aheadPassed: true, verdicts: [PASSES, UNTRIED] })
    const group = [waitingFor(paying('a', 1n, 1n)), waitingFor(paying('b', 2n, 1n))]
    expect(await settle(group)).to.deep.equal(['b'])
    trial = () => ({ aheadPassed: true, verdicts: [UNTRIED] })
    expect(await settle([waitingFor(paying('c', 3n, 1n))])).to.deep.equal([])
    expect(answers.get('c')?.kind).to.equal('unavailable')
  })

  it('where each is tried by itself, lets the second wait for what the first takes', async () => {
    const first = waitingFor(paying('a', 1n, 60n))
    const second = waitingFor(paying('b', 1n, 60n))
    expect(await settle([first, second], 0)).to.deep.equal(['b'])
    expect(second).to.include({ deferrals: 0 })
    expect(await settle([second], 0)).to.deep.equal(['b'])
    expect(second).to.include({ waitsFor: 20, deferrals: 1 })
  })

  it('tries a match that cannot pay by itself, however many others come behind it', async () => {
    trial = (matches) => ({ aheadPassed: true, verdicts: matches.map(() => REVERTS) })
    const poor = waitingFor(paying('a', 1n, 101n))
    const next = waitingFor(paying('b', 1n, 60n))
    await settle([poor, next], 0)
    expect(refused).to.include('a')
  })

  it('keeps what fills no transaction for those that the trial had no gas for', async () => {
    trial = () => ({ aheadPassed: true, verdicts: [PASSES, PASSES, UNTRIED] })
    maxPacked = 1
    const group = ['a', 'b', 'c'].map((id, i) => waitingFor(paying(id, BigInt(i), 1n)))
    expect(await settle(group)).to.deep.equal(['b', 'c'])
    expect(answers.get('a')?.kind).to.equal('sent')
  })

  it('serialises a match whose claims are unknown', async () => {
    inFlight(1)
    const margin = { ...paying('a', 1n, 0n), match: undefined }
    await settle([waitingFor(margin)])
    expect(ahead).to.deep.equal(['f0'])
  })
})
