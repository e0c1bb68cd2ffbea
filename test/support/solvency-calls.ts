import { encodeFunctionData, parseAbi } from 'viem'
import type { Address } from '../../core/action.js'
import { variationOf } from '../../core/contracts/future-margin.js'
import { fillBand, FIXING_SEC } from '../../core/contracts/future-prices.js'
import { priceE18 } from '../../core/money.js'
import { actionsCall, ONE, signWithdrawal } from './devnet-actions.js'
import type { Call, Trader } from './devnet-world.js'
import { callOf, fillCall, KEEPER, type FuturesWorld } from './futures-world.js'
import type { SolvencyState } from './solvency-state.js'

/** Units of a token, of 1e18. */
const UNIT = 10n ** 12n
const STEP = 10n ** 15n

export interface Cast {
  /** Accounts of one owner that plays tricks; Matching holds them. */
  readonly tricksters: readonly Trader[]
  /** One more of the same owner, which holds its NFT itself: it takes over and pays debts. */
  readonly partner: Trader
  readonly honest: readonly Trader[]
  /** Takes over whatever may be taken over; owns its NFT. */
  readonly rescuer: Trader
  readonly insurer: Trader
  /** Another key, which puts dust into accounts that are not its own. */
  readonly giver: Trader
}

export const everyoneOf = (cast: Cast): readonly Trader[] => [
  ...cast.tricksters,
  cast.partner,
  ...cast.honest,
  cast.rescuer,
  cast.insurer,
]

/**
 * How much each account may gain, in USDC at the index times the index, at 1e36. `exactly` of the named accounts, where
 * those that are not named gain nothing; `bounded` moves value between two accounts, at most so much and at most what the
 * first has; a `loss` may take from any account that is not in debt, and gives to the bankrupt one alone.
 */
export type Effect =
  | { readonly kind: 'exactly'; readonly gains: ReadonlyMap<bigint, bigint> }
  | {
      readonly kind: 'bounded'
      readonly from: bigint
      readonly to: bigint
      readonly perCent: bigint
    }
  | { readonly kind: 'loss'; readonly of: bigint }

export interface Attempt {
  readonly name: string
  readonly call: Call
  readonly effect: Effect
}

type Random = (below: number) => number
export const NOTHING: Effect = { kind: 'exactly', gains: new Map() }

/** What random calls are made of. */
export interface Stage {
  readonly world: FuturesWorld
  readonly cast: Cast
  readonly next: Random
  readonly state: SolvencyState
}

const pickOf = <T>(next: Random, list: readonly T[]): T => {
  const picked = list[next(list.length)]
  if (picked === undefined) throw new Error('nothing to pick')
  return picked
}

/** Any amount up to `most`: all, hardly any, or anything between. */
function amountUpTo(next: Random, most: bigint): bigint {
  if (most <= 0n) return 0n
  const kind = next(5)
  if (kind === 0) return most
  if (kind === 1) return 1n
  return (most * BigInt(1 + next(1_000))) / 1_000n
}

const tradersOf = ({ tricksters, honest }: Cast): readonly Trader[] => [...tricksters, ...honest]

/** A fill between two accounts, often of the trickster with itself, at any price in the band. */
async function fill({ world, cast, next, state }: Stage): Promise<Attempt | undefined> {
  const { index, timeSec } = state
  const open = state.series.filter(({ subId }) => timeSec < Number(subId) - FIXING_SEC)
  if (open.length === 0) return undefined
  const { subId, mark } = pickOf(next, open)
  const isWash = next(2) === 0
  const takers = isWash ? cast.tricksters : tradersOf(cast)
  const taker = pickOf(next, takers)
  const makers = isWash ? takers : tradersOf(cast)
  const maker = pickOf(
    next,
    makers.filter((other) => other !== taker),
  )
  const { low, high } = fillBand(priceE18(index), Number(subId), timeSec + 30)
  const within = (price: bigint) => (price < low ? low : price > high ? high : price)
  const between = low + ((high - low) * BigInt(next(1_000))) / 1_000n
  const price = pickOf(next, [low, high, within(mark), index, index, between])
  const held = state.accounts.get(taker.subaccountId)?.positions.get(subId) ?? 0n
  const closes = held !== 0n && next(3) === 0
  const amount = closes
    ? held < 0n
      ? -held
      : held
    : BigInt(1 + next(next(4) === 0 ? 100_000 : 8_000)) * STEP
  const takerBuys = closes ? held < 0n : next(2) === 0
  const takerFee = next(3) === 0 ? (amount * 25n) / 10n : 0n
  const gain = variationOf(amount, price, index) * ONE * (takerBuys ? 1n : -1n)
  const gains = new Map([
    [taker.subaccountId, gain - takerFee * index],
    [maker.subaccountId, -gain],
  ])
  const terms = { taker, maker, takerBuys, amount, price, takerFee, subId }
  return {
    name: isWash ? 'wash' : 'fill',
    call: await fillCall(world, terms),
    effect: { kind: 'exactly', gains },
  }
}

/** Takes out anything up to all of a token; what the account loses its owner has in the wallet. */
async function withdraw({ world, cast, next, state }: Stage): Promise<Attempt | undefined> {
  const trader = pickOf(next, next(3) > 0 ? cast.tricksters : cast.honest)
  const account = state.accounts.get(trader.subaccountId)
  const isUsdc = next(2) === 0
  const units = amountUpTo(next, ((isUsdc ? account?.usdc : account?.wrapped) ?? 0n) / UNIT)
  if (units === 0n) return undefined
  const asset = isUsdc ? world.at.wrapped_usdc : world.at.wrapped_cngn
  const signed = await signWithdrawal(world, trader, { asset, assetAmount: units })
  const worth = units * UNIT * (isUsdc ? state.index : ONE)
  return {
    name: 'withdrawal',
    call: actionsCall(world, [signed]),
    effect: { kind: 'exactly', gains: new Map([[trader.subaccountId, -worth]]) },
  }
}

const depositAbi = parseAbi(['function deposit(uint256 accountId, uint256 amount)'])

/** Dust for any account, or means for one that has little. */
function deposit({ world, cast, next, state }: Stage): Attempt {
  const trader = pickOf(next, [...tradersOf(cast), cast.insurer])
  const isUsdc = next(2) === 0
  const isDust = next(2) === 0
  const units = isDust ? 1n : isUsdc ? 4_000_000_000n : 4_000_000_000_000n
  const to: Address = isUsdc ? world.at.wrapped_usdc : world.at.wrapped_cngn
  const args = [trader.subaccountId, units] as const
  const data = encodeFunctionData({ abi: depositAbi, args })
  const worth = units * UNIT * (isUsdc ? state.index : ONE)
  return {
    name: isDust ? 'dust' : 'deposit',
    call: { from: cast.giver.address, to, data },
    effect: { kind: 'exactly', gains: new Map([[trader.subaccountId, worth]]) },
  }
}

/** Pays out and in for a few accounts, in any order. */
function settleSome({ world, cast, next }: Stage): Attempt {
  const all = everyoneOf(cast).map(({ subaccountId }) => subaccountId)
  const ids = Array.from({ length: 1 + next(4) }, () => pickOf(next, all))
  return {
    name: 'payment',
    call:
      next(4) === 0
        ? callOf(world, KEEPER, 'manager', 'accrueAtIndex')
        : callOf(world, KEEPER, 'manager', 'settleVariation', ids),
    effect: NOTHING,
  }
}

/** Half of the maintenance rate of the notional, in per cent of it at 1e18. */
const HALF_RATE = 35n * 10n ** 15n

export function liquidation(
  { world, state }: Pick<Stage, 'world' | 'state'>,
  { by, id, subId, portion }: Readonly<{ by: Trader; id: bigint; subId: bigint; portion: bigint }>,
): Attempt {
  const args = [id, subId, by.subaccountId, portion] as const
  const size = state.accounts.get(id)?.size ?? 0n
  return {
    name: 'liquidation',
    call: callOf(world, by.address, 'manager', 'liquidate', ...args),
    effect: {
      kind: 'bounded',
      from: id,
      to: by.subaccountId,
      perCent: (size * 1_000n * HALF_RATE * state.index) / ONE,
    },
  }
}

export function cure(
  { world, state }: Pick<Stage, 'world' | 'state'>,
  by: Trader,
  id: bigint,
  cngn: bigint,
): Attempt {
  const args = [id, by.subaccountId, cngn] as const
  return {
    name: 'cure',
    call: callOf(world, by.address, 'manager', 'cure', ...args),
    effect: {
      kind: 'bounded',
      from: id,
      to: by.subaccountId,
      perCent: ((state.accounts.get(id)?.usdc ?? 0n) * state.index * 2n) / 100n,
    },
  }
}

export const cover = ({ world }: Pick<Stage, 'world'>, id: bigint): Attempt => ({
  name: 'loss',
  call: callOf(world, KEEPER, 'manager', 'coverLoss', id),
  effect: { kind: 'loss', of: id },
})

/** The trickster's partner, or another, takes over a part of any position. */
function takeOver(stage: Stage): Attempt | undefined {
  const { cast, next, state } = stage
  const by = next(2) === 0 ? cast.partner : cast.rescuer
  const { subaccountId: id } = pickOf(next, [...tradersOf(cast), cast.partner])
  if (id === by.subaccountId) return undefined
  const { subId } = pickOf(next, state.series)
  const portion = next(2) === 0 ? ONE : BigInt(1 + next(100)) * 10n ** 16n
  return liquidation(stage, { by, id, subId, portion })
}

function pay(stage: Stage): Attempt | undefined {
  const { cast, next } = stage
  const by = next(2) === 0 ? cast.partner : cast.rescuer
  const { subaccountId: id } = pickOf(next, everyoneOf(cast))
  if (id === by.subaccountId) return undefined
  return cure(stage, by, id, next(2) === 0 ? 10n ** 30n : BigInt(1 + next(10 ** 6)) * ONE)
}

const coverSome = (stage: Stage): Attempt =>
  cover(stage, pickOf(stage.next, everyoneOf(stage.cast)).subaccountId)

const CHOICES: readonly (readonly [
  weight: number,
  make: (stage: Stage) => Attempt | undefined | Promise<Attempt | undefined>,
])[] = [
  [45, fill],
  [20, withdraw],
  [10, deposit],
  [9, settleSome],
  [7, takeOver],
  [5, pay],
  [4, coverSome],
]

/** A call of a random actor; undefined where it has nothing to do. */
export async function randomCall(stage: Stage): Promise<Attempt | undefined> {
  let drawn = stage.next(100)
  for (const [weight, make] of CHOICES) {
    if (drawn < weight) return make(stage)
    drawn -= weight
  }
  return undefined
}
