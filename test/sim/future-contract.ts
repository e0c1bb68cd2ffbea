import { encodeAbiParameters, getAbiItem, toEventSelector } from 'viem'
import { futureAssetAbi, futureTradeModuleAbi } from '../../chain/abi/contracts.js'
import type { Hex } from '../../core/action.js'
import { variationOf } from '../../core/contracts/future-margin.js'
import { fillBand, FIXING_SEC, isInBand } from '../../core/contracts/future-prices.js'
import { priceE18 } from '../../core/money.js'
import {
  addBalance,
  AT,
  FEE_ACCOUNT,
  requireUnpaused,
  Revert,
  type BookedFill,
  type ChainState,
  type FutureState,
  type MatchLegs,
} from './chain-state.js'
import { contractInterface } from './contract-interface.js'
import { accrue, checkTradingAccounts, positionOf } from './futures-manager.js'
import { move } from './spot-contract.js'

/** A series of dated futures on the simulated chain; positions in contracts, fees in USDC. */

const E18 = 10n ** 18n
const POSITION_CAP = 1_000n * E18
const TRADING = 1
const ENDED = 2

const bandAt = ({ index, expirySec }: FutureState, atSec: number) =>
  fillBand(priceE18(index), expirySec, atSec)

export function settleFuture(
  state: ChainState,
  future: FutureState,
  { taker, takerIsBid, takerFee, fills, timestampSec }: MatchLegs,
): BookedFill[] {
  if (timestampSec >= future.expirySec - FIXING_SEC) throw new Revert('FT_TradingEnded')
  if (future.isStale) throw new Revert('FT_IndexStale')
  const band = bandAt(future, timestampSec)
  const risks = new Map<bigint, { addsRisk: boolean }>([[taker, { addsRisk: takerFee > 0n }]])
  const risky = (account: bigint, isRisky: boolean): void => {
    const known = risks.get(account)
    risks.set(account, { addsRisk: isRisky || known?.addsRisk === true })
  }
  const booked = fills.map((fill): BookedFill => {
    const { maker, amount, price } = fill
    if (maker === taker) throw new Revert('AC_CannotTransferAssetToOneself')
    if (!isInBand(band, priceE18(price))) throw new Revert('FT_OutsideFillBand')
    const size = takerIsBid ? amount : -amount
    const takerVariation = variationOf(size, price, future.mark)
    for (const [account, moved, gain] of [
      [taker, size, takerVariation],
      [maker, -size, -takerVariation],
    ] as const) {
      const before = positionOf(state, account)
      accrue(state, account, gain)
      addBalance(state, account, AT.futureAsset, moved)
      const gainAtIndex = variationOf(moved, price, future.index)
      risky(account, gain < 0n || gainAtIndex < 0n || !reduces(before, before + moved))
    }
    risky(maker, fill.fee > 0n)
    return { ...fill, taker, takerIsBid, mark: future.mark, takerVariation }
  })
  for (const { maker, fee } of fills) charge(state, maker, fee)
  charge(state, taker, takerFee)
  requireUnpaused(state, AT.manager)
  checkTradingAccounts(state, risks)
  return booked
}

const charge = (state: ChainState, from: bigint, amount: bigint): void =>
  move(state, { from, to: FEE_ACCOUNT, asset: AT.usdc, amount })

/** A position became smaller and kept its sign, or is as it was. */
function reduces(before: bigint, after: bigint): boolean {
  if (after === 0n || after === before) return true
  const isSmaller = (after < 0n ? -after : after) < (before < 0n ? -before : before)
  return isSmaller && after > 0n === before > 0n
}

const asset = contractInterface(futureAssetAbi)

export function callFutureAsset(
  state: ChainState,
  future: FutureState,
  call: { readonly data: Hex; readonly timestampSec: number },
): Hex {
  const { name, results, result } = asset.read(call.data)
  const sizes = [...state.balances]
    .filter(([key]) => key.endsWith(AT.futureAsset))
    .map(([, size]) => size)
  const longs = sizes.filter((size) => size > 0n).reduce((sum, size) => sum + size, 0n)
  const { mark, index, isStale, expirySec } = future
  const lastTradeSec = expirySec - FIXING_SEC
  switch (name) {
    case 'series': {
      const isTrading = call.timestampSec < lastTradeSec
      return results([BigInt(lastTradeSec), mark, 0n, 0n, isTrading ? TRADING : ENDED])
    }
    case 'band': {
      const { widthE18, low, high } = bandAt(future, call.timestampSec)
      return results([index, widthE18, low, high, isStale ? 1 : 0])
    }
    case 'getIndexPrice':
      if (isStale) throw new Revert('BLF_DataTooOld')
      return result(index)
    case 'openInterest':
      return result(longs)
    case 'totalPosition':
      return result(2n * longs)
    case 'totalPositionCap':
      return result(POSITION_CAP)
    default:
      throw new Error(`the simulated FutureAsset has no ${name}`)
  }
}

const MATCHED = getAbiItem({ abi: futureTradeModuleAbi, name: 'FutureMatched' })
const TOPIC = toEventSelector(MATCHED)

/** The event of a fill, as a receipt has it. */
export function futureMatchedLog(
  { taker, maker, takerIsBid, amount, price, mark, takerVariation }: BookedFill,
  subId: bigint,
) {
  return {
    address: AT.futureModule,
    topics: [TOPIC],
    data: encodeAbiParameters(MATCHED.inputs, [
      ...([AT.futureAsset, subId, taker, maker, takerIsBid, amount, price, mark] as const),
      ...([takerVariation, -takerVariation] as const),
    ]),
  }
}
