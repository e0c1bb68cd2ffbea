import type { TypedDataDomain } from 'viem'
import type { Action, ActionJson, Address, Hex } from '../core/action.js'
import { parseDecimal } from '../core/decimal.js'
import { encodeDepositData, encodeWithdrawalData } from '../core/entry/read-action.js'
import { SIGNED_STRUCTS } from '../core/entry/signed-structs.js'
import { UINT256_MAX } from '../core/limits.js'
import type { NewDeposit, NewWithdrawal, Permit } from '../interface/transfer.js'
import {
  actionDigest,
  actionTypedData,
  BadOrderTerms,
  type SigningDomain,
  type TypedDataSigner,
} from './sign-order.js'

/** What a deposit and a withdrawal have in common. */
interface TransferTerms {
  /** Plain decimal text with at most six decimals, in the token. */
  readonly amount: string
  /** A nonce that this owner has not used with this module, for example a randomNonce. */
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
  /** From signPermit; needed while the deposit module's allowance does not cover the amount. */
  readonly permit?: Permit
}

/** A token out of an account, to its owner. */
export interface WithdrawalTerms extends TransferTerms {
  readonly withdrawalModule: Address
  /** The asset that is held, not the token that it pays out. */
  readonly asset: Address
  readonly subaccountId: string
}

/** Token units of an amount. Throws BadOrderTerms when it is not positive, has more than six decimals or exceeds a uint256. */
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
): Promise<NewDeposit> {
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
): Promise<NewWithdrawal> {
  const data = encodeWithdrawalData({ asset: terms.asset, amount: tokenUnits(terms.amount) })
  return signAction(signer, domain, { ...terms, module: terms.withdrawalModule, data })
}

/** The `action_hash` of a body, to look the transfer up when no answer came. */
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
): Promise<NewWithdrawal> {
  const owner = signer.address
  const action: Action = {
    subaccountId: BigInt(subaccountId),
    nonce,
    module,
    data,
    expiry: BigInt(expirySec),
    owner,
    signer: owner,
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

const permitTypes = { Permit: SIGNED_STRUCTS.Permit } as const

/** An EIP-2612 permit as EIP-712 typed data on the token's own domain. */
export interface PermitTypedData {
  readonly domain: TypedDataDomain
  readonly types: typeof permitTypes
  readonly primaryType: 'Permit'
  readonly message: {
    readonly owner: Address
    readonly spender: Address
    readonly value: bigint
    readonly nonce: bigint
    readonly deadline: bigint
  }
}

/** The holder of the key, for example a viem local account. */
export interface PermitSigner {
  readonly address: Address
  signTypedData(typedData: PermitTypedData): Promise<Hex>
}

/** What the deposit module is allowed. */
export interface PermitTerms {
  readonly chainId: number
  readonly usdc: Address
  readonly depositModule: Address
  /** Plain decimal text with at most six decimals; at least the deposit. */
  readonly amount: string
  /** The owner's current `nonces(owner)` of the token, which counts up with each permit. */
  readonly tokenNonce: bigint
  /** Unix seconds. */
  readonly deadlineSec: number
}

/** Signs a permit on USDC for the deposit module. Throws BadOrderTerms. */
export async function signPermit(signer: PermitSigner, terms: PermitTerms): Promise<Permit> {
  const { chainId, usdc, depositModule, tokenNonce, deadlineSec } = terms
  const value = tokenUnits(terms.amount)
  const signature = await signer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: usdc },
    types: permitTypes,
    primaryType: 'Permit',
    message: {
      owner: signer.address,
      spender: depositModule,
      value,
      nonce: tokenNonce,
      deadline: BigInt(deadlineSec),
    },
  })
  return { value: value.toString(), deadline: deadlineSec.toString(), signature }
}
