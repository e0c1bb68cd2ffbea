import type { Action, Address } from '../core/action.js'
import { decodeTradeData } from '../core/trade-data.js'
import { matchingAbi } from './abi/matching.js'
import { subAccountsAbi } from './abi/sub-accounts.js'
import { tradeModuleAbi } from './abi/trade-module.js'
import type { ChainClient } from './client.js'
import type { Deployment } from './deployment.js'
import type { MatchCall } from './encode-match.js'
import { revertOf } from './revert-name.js'

/** The side without which a refused match would have gone through, as far as each side alone can be judged. */
export type GuiltySide = 'maker' | 'taker'

/**
 * Which side of a refused match is to blame: the one that by itself cannot take part while the other can. Undefined
 * when that is true of both or of neither, when there are several makers, and when the chain cannot be read.
 */
export type FindGuilty = (match: MatchCall, revert: string) => Promise<GuiltySide | undefined>

export interface GuiltyDeps {
  /** A `read` client: the questions travel together. */
  readonly client: ChainClient
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
}

/** One side: who signed, and what it has to give. */
interface Leg {
  readonly action: Action
  readonly owes: bigint
  readonly asset: Address
  readonly subId: bigint
}

/** What a balance that may not be negative answers to a transfer of more than there is. */
const SHORT_OF_BALANCE = 'WERC_CannotBeNegative'
/** A key's signature was checked when the order came and stays what it is; a contract may answer otherwise by now. */
const BAD_SIGNATURE = 'OV_InvalidSignature'
const ONE_E18 = 10n ** 18n

export function createGuiltyFinder(deps: GuiltyDeps): FindGuilty {
  return async (match, revert) => {
    try {
      const legs = await legsOf(deps, match)
      if (legs === undefined) return undefined
      const [taker, maker] = await Promise.all(legs.map((leg) => isAble(deps, leg, revert)))
      if (taker === maker) return undefined
      return taker === true ? 'maker' : 'taker'
    } catch {
      // Blame needs proof: what cannot be read proves nothing.
      return undefined
    }
  }
}

/** The taker's leg, then the maker's; undefined unless there is one of each. */
async function legsOf({ client }: GuiltyDeps, match: MatchCall): Promise<Leg[] | undefined> {
  const [taker, maker] = match.actions
  const [fill] = match.orderData.fillDetails
  if (match.actions.length !== 2 || !taker || !maker || !fill) return undefined
  const decoded = decodeTradeData(taker.data)
  if ('refusal' in decoded) return undefined
  const { asset, subId, isBid } = decoded.data
  const quoteAsset = await client.readContract({
    address: taker.module,
    abi: tradeModuleAbi,
    functionName: 'quoteAsset',
  })
  // Truncated toward zero, as the trade module does.
  const quote = (fill.price * fill.amountFilled) / ONE_E18
  const leg = (action: Action, isBuyer: boolean, fee: bigint): Leg =>
    isBuyer
      ? { action, asset: quoteAsset, subId: 0n, owes: quote + fee }
      : { action, asset, subId, owes: fill.amountFilled }
  return [leg(taker, isBid, match.orderData.takerFee), leg(maker, !isBid, fill.fee)]
}

async function isAble(deps: GuiltyDeps, leg: Leg, revert: string): Promise<boolean> {
  const checks = await Promise.all([
    isInCustody(deps, leg.action),
    maySign(deps, leg.action),
    revert !== SHORT_OF_BALANCE || canPay(deps, leg),
    revert !== BAD_SIGNATURE || isPlainKey(deps, leg.action),
  ])
  return checks.every((fine) => fine)
}

/** Held by the matching contract for the action's owner. */
async function isInCustody({ client, deployment }: GuiltyDeps, action: Action): Promise<boolean> {
  const { matching, subAccounts } = deployment
  const args = [action.subaccountId] as const
  const [owner, holder] = await Promise.all([
    client.readContract({
      ...{ address: matching, abi: matchingAbi, args },
      functionName: 'subAccountToOwner',
    }),
    client
      .readContract({
        ...{ address: subAccounts, abi: subAccountsAbi, args },
        functionName: 'ownerOf',
      })
      .catch(nobodyOnRevert),
  ])
  return isSame(owner, action.owner) && holder !== undefined && isSame(holder, matching)
}

/** The owner itself, or a session key of it that has not run out. */
async function maySign({ client, deployment }: GuiltyDeps, action: Action): Promise<boolean> {
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

async function canPay({ client, deployment }: GuiltyDeps, leg: Leg): Promise<boolean> {
  const balance = await client.readContract({
    address: deployment.subAccounts,
    abi: subAccountsAbi,
    functionName: 'getBalance',
    args: [leg.action.subaccountId, leg.asset, leg.subId],
  })
  return balance >= leg.owes
}

async function isPlainKey({ client }: GuiltyDeps, { signer }: Action): Promise<boolean> {
  return ((await client.getCode({ address: signer })) ?? '0x') === '0x'
}

const isSame = (a: Address, b: Address): boolean => a.toLowerCase() === b.toLowerCase()

/** The holder of an account that does not exist is asked for in vain: the chain reverts, which is an answer. */
function nobodyOnRevert(error: unknown): undefined {
  if (revertOf(error) === undefined) throw error
}
