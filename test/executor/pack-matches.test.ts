import { expect } from 'chai'
import { encodeErrorResult, encodeFunctionResult, parseAbi } from 'viem'
import { batchExecutorAbi } from '../../chain/abi/contracts.js'
import { decodeBatch } from '../../chain/contracts/calldata.js'
import { TRANSACTION_GAS_CAP } from '../../chain/contracts/simulate.js'
import type { ChainClient } from '../../chain/reads/client.js'
import { PAID, PAYER } from '../../chain/reads/paid-call.js'
import type { Hex } from '../../core/action.js'
import { packBatches, packSingly } from '../../executor/pack-matches.js'
import type { SettlementTerms, SimulatedMatch } from '../../executor/settlement.js'

const TO = `0x${'b1'.repeat(20)}` as const
const SENDER = `0x${'5e'.repeat(20)}` as const
const CAP = TRANSACTION_GAS_CAP

const termsOf = (call: Hex): SettlementTerms => ({ call, accountIds: [], match: undefined })
const using = (gas: bigint, call: Hex = '0x01'): SimulatedMatch => ({ match: termsOf(call), gas })
/** What the first transaction, a match and its call of one byte other than zero cost beside the match's own gas. */
const BASE = 21_000n
const BESIDE = 45_000n + 3_000n + 16n

const noClient = {} as ChainClient

describe('matches in one transaction', () => {
  const packer = packBatches({ client: noClient, batchExecutor: TO, sender: SENDER })
  const limitsOf = (data: Hex) => decodeBatch(data).map(({ gasLimit }) => gasLimit)

  it('are in the calldata in their order, each with twice its gas and some more', () => {
    const packed = packer.pack([using(100_000n, '0x01'), using(200_000n, '0x0203')])
    expect(packed).to.include({ count: 2, to: TO, isFull: false })
    expect(decodeBatch(packed.data)).to.deep.equal([
      { gasLimit: 300_000n, call: '0x01' },
      { gasLimit: 500_000n, call: '0x0203' },
    ])
  })

  it('have gas for a quarter more of each, and for the whole limit of the largest', () => {
    const spent = BASE + BESIDE + 125_000n + BESIDE + 250_000n
    const both = [using(100_000n), using(200_000n)]
    expect(packer.pack(both).gasLimit).to.equal(spent + 500_000n)
    expect(packer.pack(both.toReversed()).gasLimit).to.equal(spent + 500_000n)
  })

  it('cost four gas for a byte of zeros, and sixteen for another one', () => {
    const gasOf = (call: Hex) => packer.pack([using(100_000n, call)]).gasLimit
    const one = BASE + BESIDE + 125_000n + 300_000n
    expect(gasOf('0x01')).to.equal(one)
    expect(gasOf('0x00')).to.equal(one - 12n)
    expect(gasOf('0x0100')).to.equal(one + 4n)
    expect(gasOf('0x0010')).to.equal(one + 4n)
    expect(gasOf('0x1001')).to.equal(one + 16n)
  })

  it('have at most 15 million gas each, and the limit of a transaction together (SET-065)', () => {
    const packed = packer.pack([using(9_000_000n)])
    expect(limitsOf(packed.data)).to.deep.equal([15_000_000n])
    expect(packed).to.include({ count: 1, gasLimit: CAP, isFull: true })
  })

  it('are as many as fit, and a full transaction has the limit of a transaction', () => {
    const each = BESIDE + 1_250_000n
    const limit = 2_100_000n
    const fitting = Number((CAP - BASE - limit) / each)
    const all = Array.from({ length: fitting + 1 }, () => using(1_000_000n))
    expect(packer.pack(all)).to.include({ count: fitting, gasLimit: CAP, isFull: true })
    const some = packer.pack(all.slice(1))
    expect(some).to.include({ count: fitting, isFull: false })
    expect(some.gasLimit).to.equal(BASE + BigInt(fitting) * each + limit)
  })

  it('fit to the last unit of gas', () => {
    // Spent and limit: 5/4 and 2 of its gas, and what is beside them.
    const rest = CAP - BASE - BESIDE - 100_000n
    const most = (rest * 4n) / 13n
    const fits = packer.pack([using(most)])
    expect(fits.isFull).to.equal(false)
    expect(packer.pack([using(most + 1n)]).isFull).to.equal(true)
  })

  it('are no more than a node accepts in bytes', () => {
    const call: Hex = `0x${'00'.repeat(54_999)}`
    const one = packer.pack([using(1n, call)])
    const two = packer.pack([using(1n, call), using(1n, call)])
    expect([one.count, two.count, two.isFull]).to.deep.equal([1, 2, false])
    const long: Hex = `0x${'00'.repeat(55_000)}`
    expect(packer.pack([using(1n, call), using(1n, long)])).to.include({ count: 1, isFull: true })
  })

  describe('that code has signed', () => {
    const ofCode = (gas: bigint, alone: bigint | undefined): SimulatedMatch => ({
      ...using(gas),
      code: { alone },
    })

    it('have a limit close above what they used by themselves, or twice their gas where they do not pass so', () => {
      const packed = packer.pack([ofCode(100_000n, 160_000n), ofCode(100_000n, undefined)])
      expect(limitsOf(packed.data)).to.deep.equal([260_000n, 300_000n])
    })

    it('have gas for the whole limit of each, so that all are tried (COD-018)', () => {
      const packed = packer.pack([ofCode(100_000n, 160_000n), ofCode(100_000n, 400_000n)])
      const limits = 260_000n + 560_000n
      expect(packed.gasLimit).to.equal(BASE + 2n * BESIDE + limits + 560_000n / 63n + 1n)
      expect(packed).to.include({ count: 2, isFull: false })
      const many = Array.from({ length: 40 }, () => ofCode(100_000n, 752_000n))
      const each = BESIDE + 1_000_000n
      const fitting = Number((CAP - BASE - 1_000_000n / 63n - 1n) / each)
      expect(packer.pack(many)).to.include({ count: fitting, isFull: true })
    })

    it('have at most 15 million gas each', () => {
      const packed = packer.pack([ofCode(1n, 14_000_000n)])
      expect(limitsOf(packed.data)).to.deep.equal([15_000_000n])
      expect(packed.isFull).to.equal(false)
    })
  })

  it('are at least one, however large it is', () => {
    const packed = packer.pack([using(1n, `0x${'00'.repeat(120_000)}`), using(1n)])
    expect(packed).to.include({ count: 1, isFull: true })
    expect(() => packer.pack([])).to.throw('no match to pack')
  })
})

describe('the simulation of matches in one transaction', () => {
  const SUCCESS = 0
  const REVERTED = 1
  const RAN_OUT = 2
  const UNTRIED = 3
  const TOO_HIGH = encodeErrorResult({
    abi: parseAbi(['error TM_FeeTooHigh()']),
    errorName: 'TM_FeeTooHigh',
  })
  type Outcome = readonly [outcome: number, gasUsed: bigint]

  /** The result for so many matches behind others, when the contract answers so. */
  async function simulate(ahead: number, outcomes: readonly Outcome[]) {
    const asked: unknown[] = []
    const result = outcomes.map(([outcome, gasUsed]) => {
      return { outcome, gasUsed, revertData: outcome === REVERTED ? TOO_HIGH : '0x' } as const
    })
    const client = {
      request: (question: unknown) => {
        asked.push(question)
        const answer = { abi: batchExecutorAbi, functionName: 'tryAll', result } as const
        return Promise.resolve(encodeFunctionResult(answer))
      },
    } as unknown as ChainClient
    const packer = packBatches({ client, batchExecutor: TO, sender: SENDER })
    const terms = outcomes.map((_, i) => termsOf(`0x0${i}`))
    const head = { blockHash: '0xb1', count: 0 } as const
    const said = await packer.simulate(head, terms.slice(ahead), terms.slice(0, ahead))
    return { asked, said }
  }

  it('runs those ahead first, on the state of the block', async () => {
    const { asked, said } = await simulate(1, [
      [SUCCESS, 5n],
      [SUCCESS, 7n],
    ])
    expect(said).to.deep.equal({ aheadPassed: true, verdicts: [{ kind: 'passes', gas: 7n }] })
    const [{ params }] = asked as [{ params: [{ from: Hex; to: Hex; data: Hex }, unknown] }]
    expect(params[0]).to.include({ from: SENDER, to: TO })
    expect(decodeBatch(params[0].data).map(({ call }) => call)).to.deep.equal(['0x00', '0x01'])
    expect(params[1]).to.deep.equal({ blockHash: '0xb1' })
  })

  it('says of each that it passes, how it reverts, or that it was not tried', async () => {
    const { said } = await simulate(0, [
      [SUCCESS, 15_000_000n],
      [SUCCESS, 15_000_001n],
      [REVERTED, 1n],
      [RAN_OUT, 1n],
      [UNTRIED, 0n],
    ])
    expect(said).to.deep.equal({
      aheadPassed: true,
      verdicts: [
        { kind: 'passes', gas: 15_000_000n },
        { kind: 'reverts', revert: 'out of gas' },
        { kind: 'reverts', revert: 'TM_FeeTooHigh' },
        { kind: 'reverts', revert: 'out of gas' },
        { kind: 'untried' },
      ],
    })
  })

  it('says nothing where one ahead does not pass, or leaves no gas for the first behind them', async () => {
    const passes: Outcome = [SUCCESS, 1n]
    const untried: Outcome = [UNTRIED, 0n]
    const passed = async (ahead: number, outcomes: readonly Outcome[]) =>
      (await simulate(ahead, outcomes)).said.aheadPassed
    expect(await passed(2, [passes, [REVERTED, 1n], passes])).to.equal(false)
    expect(await passed(1, [passes, untried])).to.equal(false)
    expect(await passed(1, [passes, passes, untried])).to.equal(true)
    expect(await passed(0, [untried])).to.equal(true)
  })
})

describe('each match in a transaction of its own', () => {
  const asked: unknown[] = []
  const client = {
    request: (question: unknown) => {
      asked.push(question)
      return Promise.resolve('0x64')
    },
  } as unknown as ChainClient
  const packer = packSingly({ client, matching: TO, sender: SENDER })

  it('is its call, with three tenths more gas', () => {
    expect(packer.pack([using(1_000n, '0x05'), using(9n)])).to.deep.equal({
      count: 1,
      to: TO,
      data: '0x05',
      gasLimit: 1_300n,
      isFull: true,
    })
    expect(() => packer.pack([])).to.throw('no match to pack')
  })

  it('is simulated by itself, on the state of the block', async () => {
    const matches = [termsOf('0x05'), termsOf('0x06')]
    const result = await packer.simulate({ blockHash: '0xb1', count: 0 }, matches, [])
    const passes = { kind: 'passes', gas: 100n }
    expect(result).to.deep.equal({ aheadPassed: true, verdicts: [passes, passes] })
    expect(asked).to.deep.equal(
      matches.map(({ call }) => ({
        method: 'eth_estimateGas',
        params: [
          { from: SENDER, to: TO, data: call, ...PAID },
          { blockHash: '0xb1' },
          { [SENDER]: PAYER },
        ],
      })),
    )
    expect([packer.maxAhead, packer.maxGroup]).to.deep.equal([0, 32])
  })
})
