import {
  dutchAuctionAbi,
  managerAbi,
  perpAssetAbi,
  perpManagerAbi,
  spotFeedAbi,
} from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import {
  addBalance,
  AT,
  balanceOf,
  FEE_ACCOUNT,
  requireUnpaused,
  Revert,
  type ChainState,
  type MatchLegs,
  type PerpState,
} from './chain-state.js'
import { contractInterface } from './contract-interface.js'

const E18 = 10n ** 18n
const INITIAL_RATE = E18 / 10n
const MAINTENANCE_RATE = (65n * E18) / 1_000n
const POSITION_CAP = 1_000_000n * E18

/** What a match moves on one account. */
interface PerpMove {
  readonly account: bigint
  readonly size: bigint
  readonly price: bigint
  readonly fee: bigint
}

const times = (x: bigint, y: bigint): bigint => (x * y) / E18
const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value)

/** Profit and funding that an account has not settled into cash. */
export function unsettledOf(
  state: ChainState,
  { mark, funding }: PerpState,
  account: bigint,
): bigint {
  const now = mark - funding
  const last = state.settledAt.get(account) ?? now
  return times(balanceOf(state, account, AT.perpAsset), now - last)
}

function marginOf(state: ChainState, perp: PerpState, account: bigint, rate: bigint): bigint {
  const position = balanceOf(state, account, AT.perpAsset)
  const required = times(times(sizeOf(position), perp.mark), rate)
  return balanceOf(state, account, AT.cash) + unsettledOf(state, perp, account) - required
}

/** Settles the accounts of a match at the mark and then judges each, as the manager does. */
export function settlePerpetual(state: ChainState, perp: PerpState, match: MatchLegs): void {
  if (perp.isStale) throw new Revert('BLF_DataTooOld')
  requireUnpaused(state, AT.perpManager)
  for (const { account, size, price, fee } of movesOf(match)) {
    if (state.auctions.has(account)) throw new Revert('BM_AccountUnderLiquidation')
    addBalance(state, account, AT.cash, unsettledOf(state, perp, account))
    state.settledAt.set(account, perp.mark - perp.funding)
    addBalance(state, account, AT.perpAsset, size)
    const position = balanceOf(state, account, AT.perpAsset)
    const delta = -times(price - perp.mark, size) - fee
    addBalance(state, account, AT.cash, delta)
    addBalance(state, FEE_ACCOUNT, AT.cash, fee)
    const grows = position !== 0n && position > 0n === size > 0n
    if (delta >= 0n && !grows) continue
    if (delta < 0n && balanceOf(state, account, AT.cash) < 0n) {
      throw new Revert('SRM_NoNegativeCash')
    }
    if (marginOf(state, perp, account, INITIAL_RATE) < 0n) {
      throw new Revert('SRM_PortfolioBelowMargin')
    }
  }
}

/** The taker pays its fee with its first fill. */
const movesOf = ({ taker, takerIsBid, takerFee, fills }: MatchLegs): PerpMove[] =>
  fills.flatMap(({ maker, amount, price, fee }, i) => {
    if (taker === maker) throw new Revert('AC_CannotTransferAssetToOneself')
    const size = takerIsBid ? amount : -amount
    return [
      { account: maker, size: -size, price, fee },
      { account: taker, size, price, fee: i === 0 ? takerFee : 0n },
    ]
  })

const asset = contractInterface([...perpAssetAbi, ...spotFeedAbi])
const NO_ADDRESS: Address = `0x${'0'.repeat(40)}`

/** Answers a read of the asset and of the feed of the stable token, which stands at the same address. */
export function callPerpAsset(state: ChainState, perp: PerpState, data: Hex): Hex {
  const { name, args, result, results } = asset.read(data)
  const positions = [...state.balances].filter(([key]) => key.endsWith(AT.perpAsset))
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

/** Answers a read of the manager: no collateral, no surcharges, no borrowing. */
export function callPerpManager(state: ChainState, perp: PerpState, data: Hex): Hex {
  const { name, args, result, results } = manager.read(data)
  switch (name) {
    case 'adjustmentsPaused':
      return result(state.paused.has(AT.perpManager))
    case 'borrowingEnabled':
      return result(false)
    case 'liquidation':
      return result(AT.auction)
    case 'assetMap':
      return result(NO_ADDRESS)
    case 'stableFeed':
      return result(AT.perpAsset)
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

const auction = contractInterface(dutchAuctionAbi)

export function callAuction(state: ChainState, data: Hex): Hex {
  const { name, args, result } = auction.read(data)
  if (name !== 'isAuctionLive') throw new Error(`the simulated auction has no ${name}`)
  return result(state.auctions.has(args[0] as bigint))
}
