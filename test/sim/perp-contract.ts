import { managerAbi, perpAssetAbi, perpManagerAbi, spotFeedAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { contractInterface } from './contract-interface.js'
import { AT, balanceKey, FEE_ACCOUNT, Revert, type ChainState } from './contracts.js'

/** A perpetual on the simulated chain: its asset stands where spot has the base asset, its cash where spot has the quote. */
export interface PerpState {
  readonly mark: bigint
  /** Whether the feeds are too old to be read. */
  readonly isStale: boolean
}

const E18 = 10n ** 18n
export const PERP_AT_START: PerpState = { mark: E18, isStale: false }
const INITIAL_RATE = E18 / 10n
const MAINTENANCE_RATE = (65n * E18) / 1_000n
const POSITION_CAP = 1_000_000n * E18

/** What a match moves on one account. */
export interface PerpMove {
  readonly account: bigint
  readonly size: bigint
  readonly price: bigint
  readonly fee: bigint
}

const times = (x: bigint, y: bigint): bigint => (x * y) / E18
const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value)
const read = ({ balances }: ChainState, account: bigint, asset: Address): bigint =>
  balances.get(balanceKey(account, asset)) ?? 0n

/** Profit that an account has not settled into cash. */
function unsettledOf(state: ChainState, { mark }: PerpState, account: bigint): bigint {
  const last = state.settledAt.get(account) ?? mark
  return times(read(state, account, AT.base), mark - last)
}

function marginOf(state: ChainState, perp: PerpState, account: bigint, rate: bigint): bigint {
  const required = times(times(sizeOf(read(state, account, AT.base)), perp.mark), rate)
  return read(state, account, AT.quote) + unsettledOf(state, perp, account) - required
}

/** Settles the accounts of a match at the mark and then judges each, as the manager does. */
export function settlePerpetual(
  state: ChainState,
  perp: PerpState,
  moves: readonly PerpMove[],
): void {
  if (perp.isStale) throw new Revert('BLF_DataTooOld')
  const { balances, settledAt } = state
  const earn = (account: bigint, cash: bigint): void =>
    void balances.set(balanceKey(account, AT.quote), read(state, account, AT.quote) + cash)
  for (const { account, size, price, fee } of moves) {
    earn(account, unsettledOf(state, perp, account))
    settledAt.set(account, perp.mark)
    const position = read(state, account, AT.base) + size
    balances.set(balanceKey(account, AT.base), position)
    const delta = -times(price - perp.mark, size) - fee
    earn(account, delta)
    earn(FEE_ACCOUNT, fee)
    const grows = position !== 0n && position > 0n === size > 0n
    if (delta >= 0n && !grows) continue
    if (delta < 0n && read(state, account, AT.quote) < 0n) throw new Revert('SRM_NoNegativeCash')
    if (marginOf(state, perp, account, INITIAL_RATE) < 0n) {
      throw new Revert('SRM_PortfolioBelowMargin')
    }
  }
}

const asset = contractInterface([...perpAssetAbi, ...spotFeedAbi])
const NO_ADDRESS: Address = `0x${'0'.repeat(40)}`

/** Answers a read of the asset and of the feed of the stable token, which stands at the same address. */
export function callPerpAsset(state: ChainState, perp: PerpState, data: Hex): Hex {
  const { name, args, result, results } = asset.read(data)
  const positions = [...state.balances].filter(([key]) => key.endsWith(AT.base))
  const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)
  switch (name) {
    case 'getPerpPrice':
    case 'getIndexPrice':
    case 'getFundingRate':
    case 'getUnsettledAndUnrealizedCash':
      if (perp.isStale) throw new Revert('BLF_DataTooOld')
      if (name === 'getFundingRate') return result(0n)
      if (name === 'getUnsettledAndUnrealizedCash')
        return result(unsettledOf(state, perp, args[0] as bigint))
      return results([perp.mark, E18])
    case 'getSpot':
      return results([E18, E18])
    case 'openInterest':
      return result(sum(positions.map(([, size]) => (size > 0n ? size : 0n))))
    case 'totalPosition':
      return result(sum(positions.map(([, size]) => sizeOf(size))))
    case 'totalPositionCap':
      return result(POSITION_CAP)
    case 'isDisabled':
      return result(false)
    default:
      throw new Error(`the simulated PerpAsset has no ${name}`)
  }
}

const manager = contractInterface([...managerAbi, ...perpManagerAbi])

/** Answers a read of the manager: no collateral, no auction, no surcharges, no borrowing. */
export function callPerpManager(state: ChainState, perp: PerpState, data: Hex): Hex {
  const { name, args, result, results } = manager.read(data)
  switch (name) {
    case 'adjustmentsPaused':
      return result(state.isPaused)
    case 'borrowingEnabled':
      return result(false)
    case 'liquidation':
    case 'assetMap':
      return result(NO_ADDRESS)
    case 'stableFeed':
      return result(AT.base)
    case 'assetDetails':
      return result({ isWhitelisted: true, assetType: 2, marketId: 1n })
    case 'perpMarginRequirements':
      return results([MAINTENANCE_RATE, INITIAL_RATE])
    case 'oracleContingencyParams':
      return results([0n, 0n, 0n, 0n])
    case 'depegParams':
      return results([0n, 0n])
    case 'getMargin': {
      if (perp.isStale) throw new Revert('BLF_DataTooOld')
      const [account, isInitial] = args as [bigint, boolean]
      return result(marginOf(state, perp, account, isInitial ? INITIAL_RATE : MAINTENANCE_RATE))
    }
    default:
      throw new Error(`the simulated manager has no ${name}`)
  }
}
