import type { AccountObservation } from '../core/account.js'
import { getAbiItem, toFunctionSelector, type AbiFunction } from 'viem'
import type { Address, Hex } from '../core/action.js'
import type { Market } from '../core/market.js'
import { amountE18, quoteE18 } from '../core/money.js'
import { addressOfWord, readWords, writeWords } from '../core/words.js'
import { matchingAbi } from './abi/matching.js'
import { subAccountsAbi } from './abi/sub-accounts.js'
import type { ChainClient } from './client.js'
import type { Deployment } from './deployment.js'
import { revertOf } from './revert-name.js'

/** The assets that a spot market moves. */
export type MarketAssets = Pick<Market, 'assetAddress' | 'subId' | 'quoteAssetAddress'>

/** A block by its number and time, unix seconds. */
export interface BlockPlace {
  readonly number: bigint
  readonly timestamp: bigint
}

export interface Observing {
  /** A client that batches: the questions about one account, and about several, travel together. */
  readonly client: ChainClient
  readonly deployment: Pick<Deployment, 'matching' | 'subAccounts'>
  readonly assets: MarketAssets
}

const selectorOf = (item: AbiFunction): Hex => toFunctionSelector(item)
const GET_BALANCE = selectorOf(getAbiItem({ abi: subAccountsAbi, name: 'getBalance' }))
const OWNER_OF = selectorOf(getAbiItem({ abi: subAccountsAbi, name: 'ownerOf' }))
const CUSTODY_OWNER = selectorOf(getAbiItem({ abi: matchingAbi, name: 'subAccountToOwner' }))
const WITHDRAW_TIMESTAMP = selectorOf(getAbiItem({ abi: matchingAbi, name: 'withdrawTimestamp' }))

/** What the subaccount has, and whose it is, at one block; rejects when the node does not tell all of it. */
export async function observeAccount(
  { client, deployment, assets }: Observing,
  subaccountId: bigint,
  block: BlockPlace,
): Promise<AccountObservation> {
  const { matching, subAccounts } = deployment
  const at: Hex = `0x${block.number.toString(16)}`
  // These are asked again and again of every account, and a general encoder takes longer than all the rest of it.
  const ask = async (to: Address, selector: Hex, args: readonly bigint[]): Promise<bigint> => {
    const data: Hex = `${selector}${writeWords(args).slice(2)}`
    const answer = await client.request({ method: 'eth_call', params: [{ to, data }, at] })
    const [word] = readWords(answer, 1) ?? []
    if (word === undefined) throw new Error(`not one word: ${answer.slice(0, 80)}`)
    return word
  }
  const balanceOf = async (asset: Address, subId: bigint): Promise<bigint> =>
    BigInt.asIntN(256, await ask(subAccounts, GET_BALANCE, [subaccountId, BigInt(asset), subId]))
  const [base, quote, owner, requestedAt, holder] = await Promise.all([
    balanceOf(assets.assetAddress, assets.subId),
    balanceOf(assets.quoteAssetAddress, 0n),
    ask(matching, CUSTODY_OWNER, [subaccountId]).then(addressOf),
    ask(matching, WITHDRAW_TIMESTAMP, [subaccountId]),
    ask(subAccounts, OWNER_OF, [subaccountId]).then(addressOf).catch(nobodyOnRevert),
  ])
  const isHeld = holder === matching.toLowerCase() && owner !== NOBODY
  return {
    subaccountId,
    base: amountE18(base),
    quote: quoteE18(quote),
    ...(isHeld && { custodyOwner: owner }),
    leaving: requestedAt !== 0n,
    blockNumber: block.number,
    blockTimeSec: Number(block.timestamp),
  }
}

function addressOf(word: bigint): Address {
  const address = addressOfWord(word)
  if (address === undefined) throw new Error('not an address')
  return address
}

const NOBODY: Address = `0x${'0'.repeat(40)}`

/** The holder of an account that does not exist is asked for in vain: the chain reverts, which is an answer. */
function nobodyOnRevert(error: unknown): undefined {
  if (revertOf(error) === undefined) throw error
}
