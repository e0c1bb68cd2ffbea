import type { Action, ActionJson, Address, Hex } from '../core/action.js'
import { parseDecimal } from '../core/decimal.js'
import { UINT256_MAX } from '../core/limits.js'
import { encodeDepositData, encodeWithdrawalData } from '../core/transfer-data.js'
import {
  type SigningDomain,
  type TypedDataSigner,
  BadOrderTerms,
  actionDigest,
  actionTypedData,
} from './sign-order.js'
import type { DepositBody, PermitBody, WithdrawalBody } from './transfer-records.js'

/** What a deposit and a withdrawal have in common. */
interface TransferTerms {
  /** Plain decimal text with at most six decimals, in the token. */
  readonly amount: string
  /** One that this owner has not used with this module; randomNonce makes them. */
  readonly nonce: bigint
  /** Unix seconds, at most an hour ahead. */
  readonly expirySec: number
}

/** USDC into a perp margin account. */
export interface DepositTerms extends TransferTerms {
  readonly depositModule: Address
  /** The perp cash asset. */
  readonly cashAsset: Address
  /** The perp risk manager, under which a new account is opened. */
  readonly perpManager: Address
  /** The account to top up; absent: a new one is opened. */
  readonly subaccountId?: string
  /** Lets the deposit module take the amount, when it may not yet; signPermit makes it. */
  readonly permit?: PermitBody
}

/** A token out of an account, to its owner. */
export interface WithdrawalTerms extends TransferTerms {
  readonly withdrawalModule: Address
  /** The asset that is held, not the token that it pays out. */
  readonly asset: Address
  readonly subaccountId: string
}

/** Token units of a positive amount; throws BadOrderTerms when it is none, has more than six decimals or fits no word. */
export function tokenUnits(amount: string): bigint {
  const units = parseDecimal(amount, 6)
  if (units !== undefined && units > 0n && units <= UINT256_MAX) return units
  throw new BadOrderTerms(`amount must be a positive uint256 with at most 6 decimals: ${amount}`)
}

/** Signs a deposit by its owner and returns the body to post. Throws BadOrderTerms. */
export async function signDeposit(
  signer: TypedDataSigner,
  domain: SigningDomain,
  terms: DepositTerms,
): Promise<DepositBody> {
  const { subaccountId = '0', depositModule, cashAsset, perpManager, permit } = terms
  const data = encodeDepositData({
    amount: tokenUnits(terms.amount),
    asset: cashAsset,
    managerForNewAccount: perpManager,
  })
  const call = { ...terms, subaccountId, module: depositModule, data }
  const signed = await signAction(signer, domain, call)
  return { ...signed, ...(permit !== undefined && { permit }) }
}

/** Signs a withdrawal by the account's owner and returns the body to post. Throws BadOrderTerms. */
export function signWithdrawal(
  signer: TypedDataSigner,
  domain: SigningDomain,
  terms: WithdrawalTerms,
): Promise<WithdrawalBody> {
  const data = encodeWithdrawalData({ asset: terms.asset, amount: tokenUnits(terms.amount) })
  return signAction(signer, domain, { ...terms, module: terms.withdrawalModule, data })
}

/** The `action_hash` under which the venue knows a body: to look it up when no answer came. */
export function transferHash(domain: SigningDomain, { action }: { action: ActionJson }): Hex {
  return actionDigest(domain, {
    subaccountId: BigInt(action.subaccount_id),
    nonce: BigInt(action.nonce),
    module: action.module as Address,
    data: action.data as Hex,
    expiry: BigInt(action.expiry),
    owner: action.owner as Address,
    signer: action.signer as Address,
  })
}

interface ModuleCall extends TransferTerms {
  readonly subaccountId: string
  readonly module: Address
  readonly data: Hex
}

async function signAction(
  signer: TypedDataSigner,
  domain: SigningDomain,
  { subaccountId, module, data, nonce, expirySec }: ModuleCall,
): Promise<WithdrawalBody> {
  const owner = signer.address
  const action: Action = {
    ...{ subaccountId: BigInt(subaccountId), nonce, module, data },
    ...{ expiry: BigInt(expirySec), owner, signer: owner },
  }
  return {
    action: {
      subaccount_id: subaccountId,
      nonce: nonce.toString(),
      module,
      data,
      expiry: expirySec.toString(),
      owner,
      signer: owner,
    },
    signature: await signer.signTypedData(actionTypedData(domain, action)),
  }
}
