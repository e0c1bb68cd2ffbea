import { E18, mulDivCeil, mulDivFloor } from '../money.js'
import { POSITION_STEP, requirementOf, variationOf } from './future-margin.js'
import type { FutureTask, FutureUpkeep, LossStep, UpkeepAccount } from './future-work.js'
import { WHOLE, type Duty } from './upkeep.js'

/**
 * What is done about accounts of dated futures that cannot carry what they have: their positions are taken over, their debts
 * are paid for their USDC, and what nothing is left to pay is borne by others. USD and cNGN at 1e18.
 */

/** Accounts of one call. */
const ACCRUED_AT_ONCE = 20

/** Liquidations, cures and losses that are due; of one account at most one. */
export function rescueDuties(seen: FutureUpkeep): Duty<FutureTask>[] {
  const taken = liquidationDuties(seen)
  const busy = new Set(taken.map(({ subject }) => subject))
  const cures = cureDuties(seen).filter(({ subject }) => !busy.has(subject))
  for (const { subject } of cures) busy.add(subject)
  return [...taken, ...cures, ...lossDuties(seen, busy)]
}

/**
 * Whether the account may have a debt that nothing is left to pay: no position, and USDC that is worth less than what it
 * owes. A debt that is not worth a USDC is left.
 */
export function mayBeBankrupt(
  account: UpkeepAccount,
  { index }: Pick<FutureUpkeep, 'index'>,
): boolean {
  const debt = -(account.variation + account.cngn)
  if (account.positions.length > 0 || index.price === 0n || debt < index.price) return false
  return mulDivFloor(account.usdc, index.price, E18) < debt
}

const subjectOf = ({ id }: Pick<UpkeepAccount, 'id'>): string => `account-${id}`

/** The largest open position of the account, with its mark. */
interface Largest {
  readonly subId: bigint
  readonly size: bigint
  readonly mark: bigint
}

function largestOf({ series }: FutureUpkeep, { positions }: UpkeepAccount): Largest | undefined {
  const open = positions.flatMap(({ subId, contracts }) => {
    const found = series.find((it) => it.subId === subId && !it.isSettled)
    return found === undefined ? [] : [{ subId, size: abs(contracts), mark: found.mark }]
  })
  return open.sort((a, b) => (a.size < b.size ? 1 : -1))[0]
}

/**
 * The largest position of each account below maintenance margin, the one that lacks most first, as far as the margin of the
 * rescuers and the bound of one takeover reach. Where they reach nowhere, one step is tried, so that the chain says why not.
 */
function liquidationDuties(seen: FutureUpkeep): Duty<FutureTask>[] {
  if (seen.index.price === 0n) return []
  const own = new Set(seen.rescuers.map(({ id }) => id))
  const rooms = new Map(seen.rescuers.map(({ id, room = 0n }) => [id, room] as const))
  const below = seen.accounts
    .flatMap((account) => {
      const { margin } = account
      const largest = largestOf(seen, account)
      if (own.has(account.id) || margin === undefined || margin >= 0n || largest === undefined)
        return []
      return [{ account, margin, largest }]
    })
    .sort((a, b) => (a.margin < b.margin ? -1 : 1))
  return below.flatMap(({ account, largest }, i): Duty<FutureTask>[] => {
    const by = [...rooms].sort(([, a], [, b]) => (a < b ? 1 : -1))[0]
    if (by === undefined) return []
    const [rescuer, room] = by
    const needed = marginFor(seen, largest)
    const portion = portionOf(largest, needed, min(room, seen.mostUsd))
    if (portion === undefined && i > 0) return []
    rooms.set(rescuer, room - min(needed, min(room, seen.mostUsd)))
    const task = {
      ...({ call: 'liquidate', account: account.id, by: rescuer, subId: largest.subId } as const),
      portion: portion ?? stepOf(largest),
    }
    return [{ job: 'liquidation', subject: subjectOf(account), task }]
  })
}

/**
 * USD that taking over all of the position binds: its initial margin, and what its mark is away from the index, which counts
 * against the rescuer, with a quarter more for the factors of cNGN. Rounded up.
 */
function marginFor({ initialRate, index }: FutureUpkeep, { size, mark }: Largest): bigint {
  const distance = abs(variationOf(size, mark, index.price))
  return requirementOf(size, initialRate) + mulDivCeil(distance * 5n, E18, index.price * 4n)
}

/** The share that so much margin carries, rounded down; undefined where that is no whole step. */
function portionOf({ size }: Largest, needed: bigint, room: bigint): bigint | undefined {
  if (needed <= room) return WHOLE
  if (room <= 0n) return undefined
  const portion = mulDivFloor(WHOLE, room, needed)
  return mulDivFloor(size, portion, WHOLE) < POSITION_STEP ? undefined : portion
}

/** The share that is one step, rounded up: the least that the contract moves. */
const stepOf = ({ size }: Largest): bigint =>
  size <= POSITION_STEP ? WHOLE : mulDivCeil(WHOLE, POSITION_STEP, size)

/** cNGN of the account with its positions at the index. */
function ownedAt(seen: FutureUpkeep, { variation, cngn, positions }: UpkeepAccount): bigint {
  return positions.reduce((sum, { subId, contracts }) => {
    const open = seen.series.find((it) => it.subId === subId && !it.isSettled)
    return open === undefined ? sum : sum + variationOf(contracts, open.mark, seen.index.price)
  }, variation + cngn)
}

/**
 * Debts of a USDC and more of accounts that have USDC: of those below maintenance margin, and of all while claims exceed the
 * pool. The largest first, as far as the cNGN of the rescuers and the bound of one takeover reach.
 */
function cureDuties(seen: FutureUpkeep): Duty<FutureTask>[] {
  const { index, accounts, pool } = seen
  if (!index.isFresh || index.price === 0n) return []
  const own = new Set(seen.rescuers.map(({ id }) => id))
  const claims = accounts.reduce((sum, { variation }) => sum + max(variation, 0n), 0n)
  const cashOf = new Map(seen.rescuers.map(({ id, cngn }) => [id, cngn] as const))
  const most = mulDivFloor(seen.mostUsd, index.price, E18)
  const owing = accounts
    .filter(({ id, usdc, margin }) => {
      const isWanted = claims > pool || (margin !== undefined && margin < 0n)
      return isWanted && usdc >= E18 && !own.has(id)
    })
    .map((account) => ({ account, debt: -ownedAt(seen, account) }))
    .filter(({ debt }) => debt >= index.price)
    .sort((a, b) => (a.debt < b.debt ? 1 : -1))
  return owing.flatMap(({ account, debt }): Duty<FutureTask>[] => {
    const by = [...cashOf].sort(([, a], [, b]) => (a < b ? 1 : -1))[0]
    if (by === undefined) return []
    const [rescuer, cash] = by
    const cngn = min(debt, min(cash, most))
    if (cngn < index.price) return []
    cashOf.set(rescuer, cash - cngn)
    const task = { call: 'cure', account: account.id, by: rescuer, cngn } as const
    return [{ job: 'cure', subject: subjectOf(account), task }]
  })
}

/** Debts that nothing is left to pay, with what the contract needs before. */
function lossDuties(seen: FutureUpkeep, busy: ReadonlySet<string>): Duty<FutureTask>[] {
  const lost = seen.accounts.filter((account) => !busy.has(subjectOf(account)))
  const steps = lost.map(({ id }) => [id, seen.losses.get(id)] as const)
  const covers = steps.flatMap(([account, step]): Duty<FutureTask>[] =>
    step === 'cover'
      ? [
          {
            job: 'loss',
            subject: subjectOf({ id: account }),
            task: { call: 'cover_loss', account },
          },
        ]
      : [],
  )
  const isNeeded = (step: LossStep): boolean => steps.some(([, it]) => it === step)
  if (isNeeded('accrue_at_index'))
    return [...covers, { job: 'loss', subject: 'index', task: { call: 'accrue_at_index' } }]
  return isNeeded('accrue') ? [...covers, ...accrualDuties(seen)] : covers
}

/** All accounts with a position, a list at a time: which of them are accrued no read tells. */
function accrualDuties({ accounts }: FutureUpkeep): Duty<FutureTask>[] {
  const ids = accounts.filter(({ positions }) => positions.length > 0).map(({ id }) => id)
  const lists = Array.from({ length: Math.ceil(ids.length / ACCRUED_AT_ONCE) }, (_, i) =>
    ids.slice(i * ACCRUED_AT_ONCE, (i + 1) * ACCRUED_AT_ONCE),
  )
  return lists.map((list, i) => ({
    ...({ job: 'loss', subject: `accrual-${i}` } as const),
    task: { call: 'settle_variation', accounts: list },
  }))
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const abs = (a: bigint): bigint => (a < 0n ? -a : a)
