import { expect } from 'chai'
import type { Address } from '../../core/action.js'
import { settleGroup } from '../../executor/settle-group.js'
import type { QueuedSettlement, SubmitResult } from '../../executor/settlement.js'
import { groupRig, ownerOf, type GroupRig } from './group-rig.js'

const WALLET = ownerOf(901n)
const OTHER = ownerOf(902n)
const PLAIN = ownerOf(903n)
const HEAD = { blockHash: '0x01', count: 10 } as const

describe('a group with matches that code has signed', () => {
  let rig: GroupRig
  let trials: string[]
  let answers: Map<string, SubmitResult>

  beforeEach(() => {
    rig = groupRig()
    rig.code = new Set([WALLET, OTHER])
    trials = []
    answers = new Map()
    const { trial } = rig
    rig.trial = (matches) => {
      trials.push(matches.map(({ intentId }) => intentId).join(''))
      return trial(matches)
    }
  })

  const signed = (intentId: string, accountId: bigint, signer: Address): QueuedSettlement => ({
    settlement: {
      ...rig.paying(intentId, accountId, 1n),
      accountIds: [accountId, accountId + 50n],
      parties: [signer, PLAIN].map((by) => ({ owner: by, signer: by, desired: 1n })),
    },
    resolve: (submission) => void answers.set(intentId, submission),
    reject: (error) => {
      throw error
    },
    deferrals: 0,
  })
  const settle = async (group: readonly QueuedSettlement[], moreWait = false, ahead = 3) => {
    const again = await settleGroup(rig.deps(ahead), HEAD, group, moreWait)
    return again.map(({ settlement }) => settlement.intentId)
  }
  const sent = () => rig.sent.map((all) => all.map(({ match: { call } }) => call.slice(2)).join(''))

  it('sends them behind the others, each signer apart', async () => {
    const group = [
      ...[signed('x', 1n, WALLET), signed('a', 2n, PLAIN), signed('y', 3n, OTHER)],
      ...[signed('b', 4n, PLAIN), signed('z', 5n, WALLET)],
    ]
    expect(await settle(group)).to.deep.equal([])
    expect(sent()).to.deep.equal(['ab', 'xz', 'y'])
    expect(trials).to.deep.equal(['abxzy', 'xz', 'y'])
  })

  it('limits each by what it used where it is alone', async () => {
    rig.trial = (matches) => ({
      aheadPassed: true,
      verdicts: matches.map(({ intentId }) =>
        intentId === 'b' && matches.length === 1
          ? { kind: 'reverts', revert: 'WERC_CannotBeNegative' }
          : { kind: 'passes', gas: BigInt(7 + matches.length) },
      ),
    })
    await settle([signed('a', 1n, WALLET), signed('b', 2n, OTHER), signed('c', 3n, PLAIN)])
    const limits = rig.sent.flat().map(({ match: { call }, gas, code }) => [call, gas, code])
    expect(limits).to.deep.equal([
      ['0xc', 10n, undefined],
      ['0xa', 10n, { alone: 8n }],
      ['0xb', 10n, { alone: undefined }],
    ])
  })

  it('has at most eight of their transactions in flight (SET-067)', async () => {
    rig.code = new Set(Array.from({ length: 10 }, (_, n) => ownerOf(BigInt(n))))
    const { book } = rig.deps(3)
    const ofCode = { gasLimit: 1n, isOfCode: true }
    for (let n = 0; n < 3; n += 1) book.add(HEAD.count + n, [], ofCode)
    book.add(HEAD.count - 1, [], ofCode)
    const group = Array.from({ length: 10 }, (_, n) =>
      signed(`${n}`, BigInt(n), ownerOf(BigInt(n))),
    )
    expect(await settle([...group, signed('a', 20n, PLAIN)])).to.deep.equal([...'56789'])
    expect(sent()).to.deep.equal(['a', ...'01234'])
  })

  it('leaves the next groups to others while as many are in flight', async () => {
    const { book } = rig.deps(3)
    for (let n = 0; n < 8; n += 1) book.add(HEAD.count + n, [], { gasLimit: 1n, isOfCode: true })
    const group = [signed('x', 1n, WALLET), signed('a', 2n, PLAIN)]
    expect(await settle(group)).to.deep.equal(['x'])
    expect(sent()).to.deep.equal(['a'])
    expect(group.map(({ waitsFor }) => waitsFor)).to.deep.equal([HEAD.count, undefined])
  })

  it('has half a block of their gas in flight, with what is behind it on its accounts', async () => {
    // A block holds 1000, and each transaction takes 5.
    rig.deps(3).book.add(HEAD.count, [], { gasLimit: 493n, isOfCode: true })
    const group = [signed('x', 1n, WALLET), signed('y', 2n, OTHER), signed('b', 2n, PLAIN)]
    expect(await settle(group)).to.deep.equal(['y', 'b'])
    expect(sent()).to.deep.equal(['x'])
    expect(group.map(({ waitsFor }) => waitsFor)).to.deep.equal([undefined, HEAD.count, undefined])
  })

  it('sends a transaction of theirs that has more, when it is the only one', async () => {
    rig.blockGas = 8n
    expect(await settle([signed('x', 1n, WALLET), signed('y', 2n, OTHER)])).to.deep.equal(['y'])
  })

  /** The first match of a transaction pays for the first access to storage. */
  const payByPlace = () => {
    const { trial } = rig
    rig.trial = (matches) => ({
      ...trial(matches),
      verdicts: matches.map((_, i) => ({ kind: 'passes', gas: i === 0 ? 20n : 10n })),
    })
  }
  const firstsAlone = () => rig.sent.map(([first]) => first?.code?.alone)

  it('sends one transaction of a signer, and the rest with a later group, each first as simulated', async () => {
    payByPlace()
    rig.maxPacked = 35
    const ids = Array.from({ length: 40 }, (_, n) => n + 10)
    const group = ids.map((n) => signed(`${n}`, BigInt(n), WALLET))
    group.push(signed('behind', 49n, PLAIN), signed('other', 9n, OTHER))
    const rest = [...ids.slice(35).map(String), 'behind']
    expect(await settle(group)).to.deep.equal(rest)
    expect(sent()).to.deep.equal([ids.slice(0, 35).join(''), 'other'])
    expect(await settle(group.slice(35, 41))).to.deep.equal([])
    expect(sent().slice(2)).to.deep.equal([ids.slice(35).join(''), 'behind'])
    expect(firstsAlone()).to.deep.equal([20n, 20n, 20n, undefined])
  })

  it('sends what would be a second transaction of a signer with a later group', async () => {
    payByPlace()
    const shared = signed('s', 1n, WALLET)
    const parties = [WALLET, OTHER].map((by) => ({ owner: by, signer: by, desired: 1n }))
    const both = { ...shared, settlement: { ...shared.settlement, parties } }
    const group = [signed('x', 1n, WALLET), both, signed('z', 1n, WALLET), signed('b', 1n, PLAIN)]
    expect(await settle([...group, signed('o', 7n, OTHER)])).to.deep.equal(['z', 'b'])
    expect(sent()).to.deep.equal(['x', 's', 'o'])
    expect(await settle(group.slice(2))).to.deep.equal([])
    expect(sent().slice(3)).to.deep.equal(['z', 'b'])
    expect(firstsAlone()).to.deep.equal([20n, 20n, 20n, 20n, undefined])
  })

  it('sends all of a signer where each match is simulated by itself', async () => {
    rig.maxPacked = 1
    const group = [signed('x', 1n, WALLET), signed('y', 2n, WALLET), signed('b', 2n, PLAIN)]
    expect(await settle(group, false, 0)).to.deep.equal([])
    expect(sent()).to.deep.equal(['x', 'y', 'b'])
  })

  it('keeps nothing back for a fuller transaction', async () => {
    rig.maxPacked = 2
    const group = [
      ...[signed('a', 1n, PLAIN), signed('b', 2n, PLAIN), signed('c', 3n, PLAIN)],
      signed('x', 4n, WALLET),
    ]
    expect(await settle(group, true)).to.deep.equal([])
    expect(sent()).to.deep.equal(['ab', 'c', 'x'])
  })
})
