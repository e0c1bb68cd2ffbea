import { keccak256 } from 'viem'
import type { Action, Address, Hex } from '../../core/action.js'
import { decodeTradeData } from '../../core/entry/read-action.js'
import type { Market } from '../../core/model/market.js'
import {
  managerAbi,
  matchingAbi,
  subAccountsAbi,
  tradeModuleAbi,
  wrappedErc20AssetAbi,
} from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import type { ChainClient } from '../reads/client.js'
import type { Deployment } from '../reads/deployment.js'
import { doesWalletVouch } from '../signing/ask-wallet.js'
import type { SideOfMatch, Solvency } from './chain-contract.js'
import { observeAccount, observeMarket } from './observe-account.js'
import { chainContractOf } from './registry.js'

/** One side of a match: what it has signed, what the match takes of its order, and how its contract judges its means. */
export interface MatchSideChecks extends SideOfMatch {
  readonly action: Action
  /** In units of the signed amount. */
  readonly amount: bigint
  readonly solvency: Solvency
  readonly signature: Hex
  /** What the signature is over. */
  readonly digest: Hex
}

export interface SideReads {
  readonly client: ChainClient
  /** Who sends matches. */
  readonly sender: Address
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
}

/** Whether a side passes by itself in the client's newest state. Rejects when the chain does not answer. */
export type SideCheck = (reads: SideReads, leg: MatchSideChecks) => Promise<boolean>

const isSame = (a: Address, b: Address): boolean => a.toLowerCase() === b.toLowerCase()

/** Whether the matching contract holds the account for the action's owner. */
export const isInCustody: SideCheck = async ({ client, deployment }, { action }) => {
  const { matching, subAccounts } = deployment
  const args = [action.subaccountId] as const
  const [owner, holder] = await Promise.all([
    client.readContract({
      address: matching,
      abi: matchingAbi,
      args,
      functionName: 'subAccountToOwner',
    }),
    client
      .readContract({
        address: subAccounts,
        abi: subAccountsAbi,
        args,
        functionName: 'ownerOf',
      })
      .catch(undefinedOnRevert),
  ])
  return isSame(owner, action.owner) && holder !== undefined && isSame(holder, matching)
}

/** Whether the action has not expired, and its signer is the owner or a session key that has not. */
export const maySign: SideCheck = async ({ client, deployment }, { action }) => {
  const { timestamp } = await client.getBlock()
  if (action.expiry < timestamp) return false
  if (isSame(action.signer, action.owner)) return true
  const expiry = await client.readContract({
    address: deployment.matching,
    abi: matchingAbi,
    functionName: 'sessionKeys',
    args: [action.signer, action.owner],
  })
  return expiry >= timestamp
}

/** Whether the account has what the match asks of it. */
export const isSolvent: SideCheck = (reads, leg) =>
  leg.solvency.isSolvent(leg, {
    observe: (market, subaccountId) => observe(reads, market, subaccountId),
  })

async function observe(reads: SideReads, market: Market, subaccountId: bigint) {
  const block = await reads.client.getBlock()
  const seen = (await observeMarket(reads, market, block, 0))?.facts
  const { facts } = await observeAccount(reads, market, subaccountId, { ...block, seen })
  return { account: facts, market: seen }
}

/** Whether there is code at the signer, so that it is asked instead of its key. */
export const isCode = async ({ client }: Pick<SideReads, 'client'>, signer: Address) =>
  ((await client.getCode({ address: signer })) ?? '0x') !== '0x'

/** Whether the signature holds: that of a plain key was checked when the order came, and stays valid. */
export const keepsSignature: SideCheck = async (
  reads,
  { action: { signer }, digest, signature },
) => {
  if (!(await isCode(reads, signer))) return true
  const { client, sender, deployment } = reads
  const { matching } = deployment
  return doesWalletVouch(client, { signer, digest, signature, matching, sender })
}

/** Whether the signed amount has room for the match in addition to what the chain has filled of it, through any executor. */
export const isWithinLimit: SideCheck = async ({ client }, { action, amount }) => {
  const decoded = decodeTradeData(action.data)
  if ('refusal' in decoded) return false
  const filled = await client.readContract({
    address: action.module,
    abi: tradeModuleAbi,
    functionName: 'filled',
    args: [action.owner, action.nonce],
  })
  return filled + amount <= decoded.data.desiredAmount
}

const UNSEEN = `0x${'0'.repeat(64)}`

/** Whether the nonce is not used up by another order of the owner. */
export const keepsNonce: SideCheck = async ({ client }, { action }) => {
  const seen = await client.readContract({
    address: action.module,
    abi: tradeModuleAbi,
    functionName: 'seenNonces',
    args: [action.owner, action.nonce],
  })
  return seen === UNSEEN || seen === keccak256(action.data)
}

/** Whether the account is under the market's own manager. */
export const isUnderManagerOf: SideCheck = async (reads, { action, market }) =>
  isSame(await managerOf(reads, action), market.marginManagerAddress)

/** Whether the account is under the market's own manager, or under one that is not paused. */
export const isUnderOpenManager: SideCheck = async (reads, leg) => {
  const manager = await managerOf(reads, leg.action)
  if (isSame(manager, leg.market.marginManagerAddress)) return true
  const paused = reads.client.readContract({
    address: manager,
    abi: managerAbi,
    functionName: 'adjustmentsPaused',
  })
  return !(await paused)
}

/** Whether the account's means do not depend on prices of the chain. */
export const isUnpriced: SideCheck = async (reads, { market, action: { subaccountId } }) => {
  const isPriced = chainContractOf(market)?.isPriced
  if (isPriced === undefined) return true
  return !isPriced((await observe(reads, market, subaccountId)).account)
}

/** Whether base and quote of the market may be held under the account's manager. */
export const mayHoldAssets: SideCheck = async (reads, { action, market }) => {
  const manager = await managerOf(reads, action)
  const known = await Promise.all(
    [market.assetAddress, market.quoteAssetAddress].map((address) =>
      reads.client.readContract({
        address,
        abi: wrappedErc20AssetAbi,
        functionName: 'whitelistedManager',
        args: [manager],
      }),
    ),
  )
  return known.every((isKnown) => isKnown)
}

/** Whether the account receives for itself, which needs no allowance. */
export const isRecipient: SideCheck = (_, { action }) => {
  const decoded = decodeTradeData(action.data)
  return Promise.resolve('data' in decoded && decoded.data.recipientId === action.subaccountId)
}

/** Whether the account collects the market's fees, so that the chain lets it trade with none. */
export const isFeeAccount: SideCheck = async ({ client }, { action }) => {
  const recipient = await client.readContract({
    address: action.module,
    abi: tradeModuleAbi,
    functionName: 'feeRecipient',
  })
  return recipient === action.subaccountId
}

const managerOf = ({ client, deployment }: SideReads, { subaccountId }: Action): Promise<Address> =>
  client.readContract({
    address: deployment.subAccounts,
    abi: subAccountsAbi,
    functionName: 'manager',
    args: [subaccountId],
  })
