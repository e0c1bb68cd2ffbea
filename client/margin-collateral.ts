import { encodeFunctionData, parseAbi, type Address, type Hex } from 'viem'
import type { PerpState } from '../interface/perpetual.js'
import { tokenUnits } from './sign-transfer.js'

/**
 * Collateral of a perpetual account is posted by the owner's own transactions; the venue's deposits take cash only. Both
 * calls are to be sent by the wallet that holds the tokens, the approval first.
 */

const erc20Abi = parseAbi(['function approve(address spender, uint256 amount) returns (bool)'])
const escrowAbi = parseAbi(['function deposit(uint256 recipientAccount, uint256 assetAmount)'])

/** A call for the owner's wallet to send. */
export interface WalletCall {
  readonly to: Address
  readonly data: Hex
}

/** Collateral for an account, by the item of the market entry's `perp.collateral_assets`. */
export interface CollateralTerms {
  readonly collateral: Pick<PerpState['collateral_assets'][number], 'asset_address'>
  /** The token that the escrow holds: its `wrappedAsset()`. */
  readonly token: Address
  readonly subaccountId: string
  /** Plain decimal text with at most six decimals, in the token. */
  readonly amount: string
}

/**
 * What approves and posts the amount. The deposit reverts beyond the collateral's `cap`, and while `deposits_open` is false.
 * Throws BadOrderTerms.
 */
export function collateralCalls({
  collateral,
  token,
  subaccountId,
  amount,
}: CollateralTerms): readonly [approve: WalletCall, deposit: WalletCall] {
  const escrow = collateral.asset_address as Address
  const units = tokenUnits(amount)
  const approve = { abi: erc20Abi, functionName: 'approve', args: [escrow, units] } as const
  const deposited = [BigInt(subaccountId), units] as const
  const deposit = { abi: escrowAbi, functionName: 'deposit', args: deposited } as const
  return [
    { to: token, data: encodeFunctionData(approve) },
    { to: escrow, data: encodeFunctionData(deposit) },
  ]
}
