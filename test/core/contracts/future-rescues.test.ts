import { expect } from 'chai'
import { mayBeBankrupt, rescueDuties } from '../../../core/contracts/future-rescues.js'
import type {
  FutureUpkeep,
  LossStep,
  Rescuer,
  UpkeepAccount,
} from '../../../core/contracts/future-work.js'
import { POSITION_STEP } from '../../../core/contracts/future-margin.js'
import { E18, priceE18 } from '../../../core/money.js'

const SUB_ID = 1_796_047_200n
const OTHER_SUB_ID = SUB_ID + 86_400n
const price = (whole: bigint) => priceE18(whole * E18)

const aSeries = (subId: bigint, isSettled = false) => ({
  subId,
  mark: price(1_500n),
  markAtSec: 0,
  sampleAtSec: 0,
  isSettled,
  holders: [],
})

/** Amounts in whole units, contracts too. */
function anAccount(
  id: bigint,
  whole: Partial<Record<'variation' | 'cngn' | 'usdc' | 'margin' | 'contracts', bigint>> = {},
): UpkeepAccount {
  const { variation = 0n, cngn = 0n, usdc = 0n, margin, contracts } = whole
  return {
    id,
    variation: variation * E18,
    cngn: cngn * E18,
    usdc: usdc * E18,
    margin: margin === undefined ? undefined : margin * E18,
    positions: contracts === undefined ? [] : [{ subId: SUB_ID, contracts: contracts * E18 }],
  }
}
const rescuer = (id: bigint, room: bigint, cngn = 0n): Rescuer => ({
  id,
  room: room * E18,
  cngn: cngn * E18,
})

function seen(accounts: readonly UpkeepAccount[], of: Partial<FutureUpkeep> = {}): FutureUpkeep {
  return {
    atSec: 0,
    index: { price: price(1_500n), atSec: 0, isFresh: true },
    series: [aSeries(SUB_ID), aSeries(OTHER_SUB_ID)],
    accounts,
    pool: 0n,
    initialRate: E18 / 10n,
    rescuers: [rescuer(90n, 10_000n, 1_000_000n)],
    mostUsd: 10_000n * E18,
    toOpen: [],
    losses: new Map(),
    ...of,
  }
}
const tasksOf = (facts: FutureUpkeep) => rescueDuties(facts).map(({ task }) => task)

describe('rescues of dated futures', () => {
  it('takes over the largest position of an account below maintenance margin, with an account of its own', () => {
    const failing: UpkeepAccount = {
      ...anAccount(7n, { margin: -1n }),
      positions: [
        { subId: SUB_ID, contracts: 2n * E18 },
        { subId: OTHER_SUB_ID, contracts: -3n * E18 },
      ],
    }
    expect(rescueDuties(seen([failing]))).to.deep.equal([
      {
        job: 'liquidation',
        subject: 'account-7',
        task: {
          call: 'liquidate',
          account: 7n,
          by: 90n,
          subId: OTHER_SUB_ID,
          portion: E18,
        },
      },
    ])
    const settled = [aSeries(SUB_ID), aSeries(OTHER_SUB_ID, true)]
    expect(tasksOf(seen([failing], { series: settled }))[0]).to.include({ subId: SUB_ID })
    for (const margin of [0n, undefined])
      expect(tasksOf(seen([{ ...failing, margin }]))).to.deep.equal([])
    expect(tasksOf(seen([failing], { rescuers: [] }))).to.deep.equal([])
    expect(tasksOf(seen([failing], { rescuers: [rescuer(7n, 10_000n)] }))).to.deep.equal([])
  })

  it('takes over as much as margin and bound reach, the one that lacks most first', () => {
    const failing = anAccount(7n, { margin: -1n, contracts: 4n })
    const portions = (of: Partial<FutureUpkeep>, accounts = [failing]) =>
      tasksOf(seen(accounts, of)).map((task) =>
        task.call === 'liquidate' ? [task.account, task.portion] : undefined,
      )
    // Four contracts need 400 USD.
    expect(portions({ rescuers: [rescuer(90n, 400n)] })).to.deep.equal([[7n, E18]])
    expect(portions({ rescuers: [rescuer(90n, 100n)] })).to.deep.equal([[7n, E18 / 4n]])
    expect(portions({ mostUsd: 100n * E18 })).to.deep.equal([[7n, E18 / 4n]])
    // The mark is 15 cNGN away, 40 USD for four contracts, which count with a quarter more.
    const index = { price: price(1_515n), atSec: 0, isFresh: true }
    const [[, portion = 0n] = []] = portions({ index, rescuers: [rescuer(90n, 400n)] }) as [
      [bigint, bigint],
    ]
    expect(portion < E18 && portion > (8n * E18) / 10n).to.equal(true)
    // The rest is for the next.
    const worse = anAccount(8n, { margin: -5n, contracts: 3n })
    expect(portions({ rescuers: [rescuer(90n, 400n)] }, [failing, worse])).to.deep.equal([
      [8n, E18],
      [7n, E18 / 4n],
    ])
    // The bound of one takeover is of each, not of all.
    const bounded = { mostUsd: 100n * E18, rescuers: [rescuer(90n, 300n)] }
    expect(portions(bounded, [failing, worse])).to.deep.equal([
      [8n, E18 / 3n],
      [7n, E18 / 4n],
    ])
    // Where nothing reaches one step is tried, so that the chain says why not.
    const tried = portions({ rescuers: [rescuer(90n, 0n)] }, [failing, worse])
    expect(tried).to.deep.equal([[8n, E18 / 3_000n + 1n]])
  })

  it('takes over no more than a step where the bound does not reach one, however large the position is', () => {
    const huge = anAccount(7n, { margin: -1n, contracts: 5_000_000n })
    const [task] = tasksOf(seen([huge], { mostUsd: 1n }))
    const moved = task?.call === 'liquidate' ? (5_000_000n * E18 * task.portion) / E18 : 0n
    expect(moved).to.equal(POSITION_STEP)
  })

  it('takes over nothing while there has never been an index', () => {
    const index = { price: price(0n), atSec: 0, isFresh: false }
    const failing = anAccount(7n, { margin: -1n, contracts: 4n })
    expect(tasksOf(seen([failing], { index }))).to.deep.equal([])
  })

  it('pays for USDC what an account below maintenance margin owes, and any while claims wait', () => {
    const owing = anAccount(7n, { variation: -30_000n, cngn: 3_000n, usdc: 100n, margin: -1n })
    expect(tasksOf(seen([owing]))).to.deep.equal([
      { call: 'cure', account: 7n, by: 90n, cngn: 27_000n * E18 },
    ])
    expect(tasksOf(seen([owing], { mostUsd: 10n * E18 }))[0]).to.include({ cngn: 15_000n * E18 })
    expect(tasksOf(seen([owing], { rescuers: [rescuer(90n, 0n, 6_000n)] }))[0]).to.include({
      cngn: 6_000n * E18,
    })
    const well = { ...owing, margin: 5n * E18 }
    expect(tasksOf(seen([well]))).to.deep.equal([])
    const claim = anAccount(8n, { variation: 1_000n, margin: 5n })
    expect(tasksOf(seen([well, claim]))).to.have.length(1)
    expect(tasksOf(seen([well, claim], { pool: 1_000n * E18 }))).to.deep.equal([])
    const stale = { price: price(1_500n), atSec: 0, isFresh: false }
    for (const of of [{ rescuers: [] }, { index: stale }])
      expect(tasksOf(seen([owing], of))).to.deep.equal([])
    // Less than a USDC is worth, or no USDC to be paid with.
    for (const other of [{ variation: -4_499n }, { usdc: 0n }])
      expect(
        tasksOf(
          seen([
            anAccount(7n, { variation: -30_000n, cngn: 3_000n, usdc: 9n, margin: -1n, ...other }),
          ]),
        ),
      ).to.deep.equal([])
    // The long gains 45,000 at the index.
    const gaining = { ...owing, positions: [{ subId: SUB_ID, contracts: E18 }], margin: 5n }
    const index = { price: price(1_545n), atSec: 0, isFresh: true }
    expect(tasksOf(seen([gaining, claim], { index }))).to.deep.equal([])
  })

  it('takes positions over before it pays debts', () => {
    const both = anAccount(7n, { variation: -30_000n, usdc: 9n, margin: -1n, contracts: 1n })
    expect(rescueDuties(seen([both])).map(({ job }) => job)).to.deep.equal(['liquidation'])
  })

  it('ends a debt that nothing is left to pay, once all positions are accrued at the index', () => {
    const lost = anAccount(7n, { variation: -30_000n, usdc: 0n, margin: -20n })
    const holders = Array.from({ length: 25 }, (_, i) =>
      anAccount(BigInt(100 + i), { contracts: 1n, margin: 1n }),
    )
    const at = (step: LossStep) => seen([lost, ...holders], { losses: new Map([[7n, step]]) })
    expect(rescueDuties(at('cover'))).to.deep.equal([
      { job: 'loss', subject: 'account-7', task: { call: 'cover_loss', account: 7n } },
    ])
    expect(tasksOf(at('accrue_at_index'))).to.deep.equal([{ call: 'accrue_at_index' }])
    const lists = rescueDuties(at('accrue'))
    expect(lists.map(({ subject }) => subject)).to.deep.equal(['accrual-0', 'accrual-1'])
    const ids = lists.flatMap(({ task }) => (task.call === 'settle_variation' ? task.accounts : []))
    expect(ids).to.deep.equal(holders.map(({ id }) => id))
    // Its USDC goes first, for the cNGN of a rescuer.
    const cured = { ...lost, usdc: 5n * E18 }
    const tasks = tasksOf(seen([cured], { losses: new Map([[7n, 'cover' as const]]) }))
    expect(tasks.map(({ call }) => call)).to.deep.equal(['cure'])
  })

  it('asks the contract about accounts without a position whose USDC is worth less than their debt', () => {
    const index = { price: price(1_500n), atSec: 0, isFresh: false }
    const lost = anAccount(7n, { variation: -30_000n, cngn: 3_000n, usdc: 17n })
    expect(mayBeBankrupt(lost, { index })).to.equal(true)
    expect(mayBeBankrupt({ ...lost, usdc: 18n * E18 }, { index })).to.equal(false)
    const held = { ...lost, positions: [{ subId: SUB_ID, contracts: E18 }] }
    expect(mayBeBankrupt(held, { index })).to.equal(false)
    expect(mayBeBankrupt(anAccount(7n, { variation: -1_499n }), { index })).to.equal(false)
    expect(mayBeBankrupt(anAccount(7n, { variation: -1_500n }), { index })).to.equal(true)
  })
})
