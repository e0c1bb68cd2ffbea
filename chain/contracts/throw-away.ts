import { encodeFunctionData, numberToHex } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { Action, Address, Hex } from '../../core/action.js'
import { SIGNED_STRUCTS } from '../../core/entry/signed-structs.js'
import { E18, mulDivCeil, mulDivFloor } from '../../core/money.js'
import { erc20Abi, matchingAbi, wrappedErc20AssetAbi } from '../abi/contracts.js'
import { rpcErrorOf, undefinedOnRevert } from '../abi/errors.js'
import { unreachable, type ChainClient } from '../reads/client.js'
import type { Deployment } from '../reads/deployment.js'
import { isHex } from '../reads/answer-form.js'
import type { StateOverrides } from '../reads/state-client.js'
import { bytesToHex, keccakText } from '../signing/keys.js'
import { matchingDomain } from '../signing/vectors.js'
import type { Brought } from './chain-contract.js'
import type { SequencedCall } from './simulate.js'

/**
 * Accounts that exist in a simulation alone. Only what their owners hold of a token is made up, by the storage of the token;
 * all else is done by calls that any account may send, so that whatever refuses these is seen.
 */

/** An owner that has nothing on the chain. */
export type ThrowAway = PrivateKeyAccount & { readonly address: Address }

/** By the hash of a block, so that its address cannot have been prepared; `n` tells several of one block apart. */
export function throwAway(blockHash: Hex, n: number): ThrowAway {
  const account = privateKeyToAccount(bytesToHex(keccakText(`throw-away ${n} of ${blockHash}`)))
  return { ...account, address: account.address.toLowerCase() as Address }
}

/** 2096-10-02: no block of now is later. */
const FAR_SEC = 4_000_000_000n

/** The calldata with which the action is sent, signed by its owner. */
export async function signedBy(
  owner: ThrowAway,
  deployment: Pick<Deployment, 'chainId' | 'matching'>,
  terms: Pick<Action, 'subaccountId' | 'nonce' | 'module' | 'data'>,
): Promise<{ readonly action: Action; readonly signature: Hex }> {
  const action = { ...terms, expiry: FAR_SEC, owner: owner.address, signer: owner.address }
  const signature = await owner.signTypedData({
    domain: matchingDomain(deployment),
    types: { Action: SIGNED_STRUCTS.Action },
    primaryType: 'Action',
    message: action,
  })
  return { action, signature }
}

/** A call of a simulation, and what it does in words. */
export interface StagedCall extends SequencedCall {
  readonly does: string
}

/** More than any of these calls needs. */
const STEP_GAS = numberToHex(3_000_000n)

export const stepOf = (does: string, from: Address, to: Address, data: Hex): StagedCall => ({
  does,
  from,
  to,
  data,
  gas: STEP_GAS,
})

/** Opens an account that the matching contract holds for the owner. */
export const opening = (owner: Address, matching: Address, manager: Address): StagedCall =>
  stepOf(
    `opening an account under ${manager}`,
    owner,
    matching,
    encodeFunctionData({ abi: matchingAbi, functionName: 'createSubAccount', args: [manager] }),
  )

/** An escrow with its token, and an amount in units of the token. */
export interface TokenAmount {
  readonly asset: Address
  readonly token: Address
  readonly units: bigint
  /** What an account is credited for it, in 1e-18 units. */
  readonly balance: bigint
}

/** Pays into an account from the owner's wallet. */
export function funding(
  owner: Address,
  id: bigint,
  { asset, token, units }: TokenAmount,
): StagedCall[] {
  const args = [id, units] as const
  return [
    approval(owner, token, asset, units),
    stepOf(
      `a deposit into ${asset}`,
      owner,
      asset,
      encodeFunctionData({ abi: wrappedErc20AssetAbi, functionName: 'deposit', args }),
    ),
  ]
}

export const approval = (
  owner: Address,
  token: Address,
  spender: Address,
  units: bigint,
): StagedCall =>
  stepOf(
    `an approval of ${token}`,
    owner,
    token,
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, units] }),
  )

/** What an owner holds of a token, in its units. */
export const balanceRead = (token: Address, owner: Address): StagedCall =>
  stepOf(
    `reading a balance of ${token}`,
    owner,
    token,
    encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] }),
  )

/** The token of an escrow and the amount in its units, rounded up; a text where the escrow names no token. */
export async function inTokens(
  client: ChainClient,
  { asset, amount }: Brought,
): Promise<TokenAmount | string> {
  const abi = wrappedErc20AssetAbi
  const token = await client
    .readContract({ address: asset, abi, functionName: 'wrappedAsset' })
    .catch(undefinedOnRevert)
  const decimals =
    token &&
    (await client
      .readContract({ address: token, abi: erc20Abi, functionName: 'decimals' })
      .catch(undefinedOnRevert))
  if (token === undefined || decimals === undefined) return `${asset} holds no token`
  const unit = 10n ** BigInt(decimals)
  const units = mulDivCeil(amount, unit, E18)
  const balance = mulDivFloor(units, E18, unit)
  return { asset, token: token.toLowerCase() as Address, units, balance }
}

/** viem's types lack the question of a call that is not a transaction, and overrides of storage. */
interface AccessListSchema {
  readonly Parameters: [Pick<SequencedCall, 'from' | 'to' | 'data' | 'gas'>, Hex]
  readonly ReturnType: unknown
}
interface OverriddenCallSchema {
  readonly Parameters: [Pick<SequencedCall, 'to' | 'data'>, Hex, StateOverrides]
  readonly ReturnType: Hex
}

/** A balance is found among the few slots that a token reads of it. */
const MOST_SLOTS = 64

/**
 * The storage with which an owner holds the units of a token: among the slots that the token reads for the balance, the one
 * with which it states this amount. A text where the node or the token gives none. Rejects with ChainUnreachable.
 */
export async function balanceOverride(
  client: ChainClient,
  { token, units }: Pick<TokenAmount, 'token' | 'units'>,
  { owner, payer }: { readonly owner: Address; readonly payer: Address },
  blockNumber: bigint,
): Promise<StateOverrides | string> {
  const { to, data } = balanceRead(token, owner)
  const at = numberToHex(blockNumber)
  const word = numberToHex(units, { size: 32 })
  const slots =
    (await slotsRead(client, { from: owner, to, data }, at)) ??
    // Some nodes have the sender of this question pay a fee, and a new owner has nothing.
    (await slotsRead(client, { from: payer, to, data, gas: STEP_GAS }, at))
  if (slots === undefined) return 'the node answers no eth_createAccessList'
  for (const [address, slot] of slots.slice(0, MOST_SLOTS)) {
    const overrides: StateOverrides = { [address]: { stateDiff: { [slot]: word } } }
    const params: OverriddenCallSchema['Parameters'] = [{ to, data }, at, overrides]
    try {
      const stated = await client.request<OverriddenCallSchema>({ method: 'eth_call', params })
      if (stated !== '0x' && BigInt(stated) === units) return overrides
    } catch (error) {
      // Another slot, as that of a pause or of the token's own code, may make it revert.
      if (rpcErrorOf(error) === undefined) throw unreachable('a balance that is made up', error)
    }
  }
  return `no storage of ${token} that a node can change states a balance`
}

/** Undefined from a node that lacks the method. */
async function slotsRead(
  client: ChainClient,
  call: AccessListSchema['Parameters'][0],
  at: Hex,
): Promise<readonly (readonly [Address, Hex])[] | undefined> {
  try {
    const params: AccessListSchema['Parameters'] = [call, at]
    const answer = await client.request<AccessListSchema>({
      method: 'eth_createAccessList',
      params,
    })
    const { accessList } = (answer ?? {}) as { readonly accessList?: unknown }
    return Array.isArray(accessList) ? accessList.flatMap(slotsOf) : undefined
  } catch (error) {
    if (rpcErrorOf(error) !== undefined) return undefined
    throw unreachable('the storage of a balance', error)
  }
}

function slotsOf(entry: unknown): (readonly [Address, Hex])[] {
  const { address, storageKeys } = (entry ?? {}) as Readonly<Record<string, unknown>>
  if (!isHex(address) || !Array.isArray(storageKeys)) return []
  const at = address.toLowerCase() as Address
  return storageKeys.filter(isHex).map((slot) => [at, slot] as const)
}

/** All of them together; those of one address add up. */
export function joined(overrides: readonly StateOverrides[]): StateOverrides {
  const all: Record<Address, StateOverrides[Address]> = {}
  for (const each of overrides) {
    for (const [address, { stateDiff = {} }] of Object.entries(each) as [
      Address,
      StateOverrides[Address],
    ][])
      all[address] = { stateDiff: { ...all[address]?.stateDiff, ...stateDiff } }
  }
  return all
}
