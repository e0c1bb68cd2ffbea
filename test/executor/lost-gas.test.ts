import { expect } from 'chai'
import type { Address } from '../../core/action.js'
import {
  createLostGas,
  lossesOf,
  MAX_SIGNERS,
  type Loss,
  type LostGas,
} from '../../executor/lost-gas.js'

const OWNER: Address = `0x${'00'.repeat(20)}`
const of = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const HOUR_MS = 3_600_000

describe('the gas that signers have lost', () => {
  let lost: LostGas
  let nowMs: number
  let told: [string, Loss][]
  let settlements: number

  beforeEach(() => {
    nowMs = 10 * HOUR_MS
    told = []
    settlements = 0
    const facts = { gasLost: (id: string, loss: Loss) => void told.push([id, loss]) }
    lost = createLostGas({ budget: 100n, facts, nowMs: () => nowMs })
  })
  const lose = (n: number, gas: bigint, owner = OWNER) =>
    lost.note(`m:${(settlements += 1)}`, [{ gas, by: { signer: of(n), owner } }])

  it('is counted by signer and owner, and over once it is the budget (COD-017)', () => {
    lose(1, 60n)
    lose(1, 39n)
    expect(lost.over({ signer: of(1), owner: OWNER })).to.equal(false)
    lose(1, 1n)
    expect(lost.over({ signer: of(1), owner: OWNER })).to.equal(true)
    expect(lost.over({ signer: of(1), owner: of(9) })).to.equal(false)
    expect(lost.over({ signer: of(2), owner: OWNER })).to.equal(false)
    expect(lost.sinceMs).to.equal(10 * HOUR_MS)
  })

  it('is counted and told once for a settlement', () => {
    const loss = { gas: 60n, by: { signer: of(1), owner: OWNER } }
    lost.note('m:1', [loss])
    lost.note('m:1', [loss])
    lost.note('m:2', [])
    expect(told).to.deep.equal([['m:1', loss]])
    expect(lost.total()).to.equal(60n)
  })

  it('is counted in all where no signer is charged with it', () => {
    lost.note('m:1', [{ gas: 500n }])
    expect([lost.total(), lost.top(5)]).to.deep.equal([500n, []])
  })

  it('is that of an hour, by the minute', () => {
    lose(1, 60n)
    nowMs += HOUR_MS / 2
    lose(1, 40n)
    expect(lost.over({ signer: of(1), owner: OWNER })).to.equal(true)
    nowMs += HOUR_MS / 2
    expect(lost.over({ signer: of(1), owner: OWNER })).to.equal(false)
    expect([lost.total(), lost.top(5).map(({ gas }) => gas)]).to.deep.equal([40n, [40n]])
    nowMs += HOUR_MS / 2
    expect([lost.total(), lost.top(5)]).to.deep.equal([0n, []])
  })

  it('is shown of those that have lost most', () => {
    for (const n of [3, 1, 5, 2, 4]) lose(n, BigInt(n))
    expect(lost.top(2).map(({ signer }) => signer)).to.deep.equal([of(5), of(4)])
  })

  it('is kept of so many signers, and not forgotten of one that has lost more than a newcomer', () => {
    lose(1, 100n)
    for (let n = 2; n <= MAX_SIGNERS + 10; n += 1) lose(n, 1n)
    expect(lost.over({ signer: of(1), owner: OWNER })).to.equal(true)
    expect(lost.top(2 * MAX_SIGNERS)).to.have.length(MAX_SIGNERS)
    expect(lost.total()).to.equal(100n + BigInt(MAX_SIGNERS) + 9n)
  })
})

describe('the gas that a failed match has cost its signers', () => {
  const TAKER = of(1)
  const MAKER = of(2)
  const actions = [TAKER, MAKER].map((signer) => ({ signer, owner: OWNER })) as never
  const both = [TAKER, MAKER]
  const lossesBy = (
    revert: string,
    guilty?: 'maker' | 'taker' | 'both' | 'venue',
    codeSigners: readonly Address[] = both,
  ) =>
    lossesOf({ actions }, { revert, gas: 101n, codeSigners, ...(guilty && { guilty }) }).map(
      ({ by, gas }) => [by?.signer, gas] as const,
    )

  it('is that of each side that is to blame, if its signer is code', () => {
    expect(lossesBy('TM_FeeTooHigh', 'taker')).to.deep.equal([[TAKER, 101n]])
    expect(lossesBy('TM_FeeTooHigh', 'maker')).to.deep.equal([[MAKER, 101n]])
    expect(lossesBy('TM_FeeTooHigh', 'both')).to.deep.equal([
      [TAKER, 51n],
      [MAKER, 51n],
    ])
    expect(lossesBy('TM_FeeTooHigh', 'maker', [TAKER])).to.deep.equal([])
    expect(lossesBy('TM_FeeTooHigh', 'venue')).to.deep.equal([])
  })

  it('is that of the only code where a signature can be the cause and no side is proven to be it', () => {
    for (const revert of ['OV_InvalidSignature', 'out of gas', 'unknown']) {
      expect(lossesBy(revert), revert).to.deep.equal([[undefined, 101n]])
      expect(lossesBy(revert, undefined, [MAKER])).to.deep.equal([[MAKER, 101n]])
      const own = [TAKER, TAKER].map((signer) => ({ signer, owner: OWNER })) as never
      const failed = { revert, gas: 101n, codeSigners: [TAKER] }
      expect(lossesOf({ actions: own }, failed)).to.deep.equal([
        { gas: 101n, by: { signer: TAKER, owner: OWNER } },
      ])
    }
    expect(lossesBy('TM_FeeTooHigh')).to.deep.equal([])
    expect(lossesBy('not tried', 'both')).to.deep.equal([])
  })
})
