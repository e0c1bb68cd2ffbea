import { toFunctionSelector, getAbiItem } from 'viem'
import type { Market } from '../../core/contracts/market.js'
import type { PerpetualFacts } from '../../core/contracts/perpetual-facts.js'
import type { PerpetualPosition } from '../../core/contracts/perpetual-position.js'
import { managerAbi, perpAssetAbi } from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import type { AccountCalls } from './registry.js'

const GET_MARGIN = toFunctionSelector(getAbiItem({ abi: managerAbi, name: 'getMargin' }))
const GET_UNSETTLED = toFunctionSelector(
  getAbiItem({ abi: perpAssetAbi, name: 'getUnsettledAndUnrealizedCash' }),
)

/**
 * What the account holds at the block of the market's facts. A value that the chain cannot price, because a feed is
 * stale, is absent. Rejects unless the node answers all calls.
 */
export async function readPerpetualPosition(
  market: Market,
  account: AccountCalls,
  { collateral }: PerpetualFacts,
): Promise<PerpetualPosition> {
  const { assetAddress: perp, subId, quoteAssetAddress, marginManagerAddress: manager } = market
  const { subaccountId: id } = account
  const signed = (word: bigint): bigint => BigInt.asIntN(256, word)
  const margin = (isInitial: bigint) =>
    account.word(manager, GET_MARGIN, [id, isInitial]).then(signed).catch(undefinedOnRevert)
  const [position, cash, posted, unsettled, initialSurplus, maintenanceSurplus] = await Promise.all(
    [
      account.balance(perp, subId),
      account.balance(quoteAssetAddress, 0n),
      collateral === undefined ? 0n : account.balance(collateral.asset, 0n),
      account.word(perp, GET_UNSETTLED, [id]).then(signed).catch(undefinedOnRevert),
      margin(1n),
      margin(0n),
    ],
  )
  return {
    ...{ position, cash, collateral: posted },
    ...(unsettled !== undefined && { unsettled }),
    ...(initialSurplus !== undefined && { initialSurplus }),
    ...(maintenanceSurplus !== undefined && { maintenanceSurplus }),
  }
}
