import { managerAbi, futuresManagerAbi } from '../../chain/abi/contracts.js'
import type { Hex } from '../../core/action.js'
import { surplusOf, variationOf } from '../../core/contracts/future-margin.js'
import {
  addBalance,
  AT,
  balanceOf,
  Revert,
  type ChainState,
  type FutureState,
} from './chain-state.js'
import { contractInterface } from './contract-interface.js'

/** The manager of spot balances and futures margin on the simulated chain: ledgers, pool and margin. */

const E18 = 10n ** 18n
const RATES = { initial: E18 / 10n, maintenance: (7n * E18) / 100n }
const FACTORS = { initial: (9n * E18) / 10n, maintenance: (95n * E18) / 100n }

export const positionOf = (state: ChainState, account: bigint): bigint =>
  balanceOf(state, account, AT.futureAsset)

/** Variation margin that is neither paid nor owed any more when everything is accrued to the mark. */
export function variationAt(state: ChainState, { mark }: FutureState, account: bigint): bigint {
  const last = state.accruedAt.get(account) ?? mark
  return (state.ledgers.get(account) ?? 0n) + variationOf(positionOf(state, account), last, mark)
}

/** Accrues an account to the mark, and books what else it gains or loses. */
export function accrue(state: ChainState, account: bigint, gain = 0n): void {
  const { future } = state
  if (future === undefined) return
  state.ledgers.set(account, variationAt(state, future, account) + gain)
  state.accruedAt.set(account, future.mark)
}

/** Pays a debt into the pool as far as there is cNGN, and a claim out of it as far as it reaches. */
function payVariation(state: ChainState, future: FutureState, account: bigint): void {
  accrue(state, account)
  const ledger = state.ledgers.get(account) ?? 0n
  const owned = balanceOf(state, account, AT.cngn)
  const limit = ledger > 0n ? future.pool : owned
  const size = ledger > 0n ? drawable(state, future, account) : -ledger
  const moved = (size < limit ? size : limit) * (ledger > 0n ? 1n : -1n)
  addBalance(state, account, AT.cngn, moved)
  state.ledgers.set(account, ledger - moved)
  state.future = { ...future, pool: future.pool - moved }
}

/** What of a claim may be paid out: what it is worth at the mark and at a fresh index. */
function drawable(state: ChainState, future: FutureState, account: bigint): bigint {
  const ledger = state.ledgers.get(account) ?? 0n
  const position = positionOf(state, account)
  if (position === 0n) return ledger
  if (future.isStale) return 0n
  const atIndex = ledger + variationOf(position, future.mark, future.index)
  const lower = atIndex < ledger ? atIndex : ledger
  return lower > 0n ? lower : 0n
}

function marginOf(
  state: ChainState,
  future: FutureState,
  account: bigint,
  kind: 'initial' | 'maintenance',
): bigint {
  const position = positionOf(state, account)
  const atMark = balanceOf(state, account, AT.cngn) + variationAt(state, future, account)
  if (future.isStale && (atMark !== 0n || position !== 0n)) throw new Revert('BLF_DataTooOld')
  const atIndex = atMark + variationOf(position, future.mark, future.index)
  const cngn = kind === 'maintenance' || atIndex < atMark ? atIndex : atMark
  return surplusOf(
    {
      usdc: balanceOf(state, account, AT.usdc),
      cngn,
      size: position < 0n ? -position : position,
    },
    future.index,
    { rate: RATES[kind], factor: FACTORS[kind] },
  )
}

/** The manager's look at each account of a match, in their order: whether what it did may have weakened it. */
export function checkTradingAccounts(
  state: ChainState,
  accounts: ReadonlyMap<bigint, { readonly addsRisk: boolean }>,
): void {
  for (const [account, { addsRisk }] of accounts) {
    if (state.future === undefined) return
    payVariation(state, state.future, account)
    const isExposed = positionOf(state, account) !== 0n || (state.ledgers.get(account) ?? 0n) < 0n
    if (addsRisk && isExposed && marginOf(state, state.future, account, 'initial') < 0n) {
      throw new Revert('SRM_PortfolioBelowMargin')
    }
  }
}

const manager = contractInterface([...managerAbi, ...futuresManagerAbi])

export function callFuturesManager(state: ChainState, data: Hex): Hex {
  const { name, args, result, results } = manager.read(data)
  const { future } = state
  if (name === 'adjustmentsPaused') return result(state.paused.has(AT.manager))
  if (future === undefined) {
    // It is not a manager of futures: a function that it lacks reverts.
    if (['futureAsset', 'wrappedUsdc', 'wrappedCngn'].includes(name)) {
      throw new Revert('SRM_UnsupportedAsset')
    }
    throw new Error(`the simulated manager of balances has no ${name}`)
  }
  switch (name) {
    case 'futureAsset':
      return result(AT.futureAsset)
    case 'wrappedUsdc':
      return result(AT.usdc)
    case 'wrappedCngn':
      return result(AT.cngn)
    case 'marginRates':
      return results([RATES.maintenance, RATES.initial])
    case 'cngnFactors':
      return results([FACTORS.maintenance, FACTORS.initial])
    case 'variation':
      return result(variationAt(state, future, args[0] as bigint))
    case 'getMargin': {
      const [account, isInitial] = args as [bigint, boolean]
      return result(marginOf(state, future, account, isInitial ? 'initial' : 'maintenance'))
    }
    default:
      throw new Error(`the simulated futures manager has no ${name}`)
  }
}
