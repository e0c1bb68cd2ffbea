import { recoverAuthorizationAddress } from 'viem/utils'
import type { Address, Hex } from '../../core/action.js'
import { countAt, type ChainHead } from './blocks.js'
import { orUnreachable, type ChainClient } from './client.js'
import type { AccountOverride, StateOverrides } from './state-client.js'

/** Most authorizations that are looked at: each takes a millisecond. */
const MAX_AUTHORIZATIONS = 500
const NO_ADDRESS: Address = `0x${'0'.repeat(40)}`
/** An authorization with a higher s has no effect. */
const HALF_CURVE_ORDER = (2n ** 256n - 0x14551231950b75fc4402da1732fc9bebfn) / 2n
/** What stands before the address in the code of a key that delegates. */
export const DELEGATES = '0xef0100'

/** A place within a block. */
export interface PlaceInBlock extends Pick<ChainHead, 'hash' | 'parentHash'> {
  readonly transactionIndex: number
}

interface EarlierTransaction {
  readonly from: Address
  readonly nonce: number
  readonly authorizationList: readonly (Authorization & { s: Hex })[]
}

/**
 * The transactions of the block before the place; none where no authorization is among them. Undefined when there are too
 * many authorizations. Rejects with ChainUnreachable.
 */
export async function readEarlier(
  client: ChainClient,
  { hash, transactionIndex }: PlaceInBlock,
): Promise<readonly EarlierTransaction[] | undefined> {
  const { transactions } = await orUnreachable(
    `transactions of block ${hash}`,
    client.getBlock({ blockHash: hash, includeTransactions: true }),
  )
  const earlier = transactions
    .slice(0, transactionIndex)
    .map(({ from, nonce, authorizationList = [] }) => ({ from, nonce, authorizationList }))
  const count = earlier.reduce((sum, { authorizationList }) => sum + authorizationList.length, 0)
  if (count > MAX_AUTHORIZATIONS) return undefined
  return count === 0 ? [] : earlier
}

/**
 * The code that EIP-7702 authorizations have given to these keys, or taken from them, in the earlier transactions of the
 * block, computed from these transactions and the keys' nonces: an authorization takes effect if it is for this chain or
 * for any, and has the key's nonce at that moment. A key to which none was applied is left out. Rejects with
 * ChainUnreachable.
 */
export async function readDelegatedBefore(
  { client, chainId }: { readonly client: ChainClient; readonly chainId: number },
  { parentHash }: PlaceInBlock,
  earlier: readonly EarlierTransaction[],
  keys: readonly Address[],
): Promise<StateOverrides> {
  if (earlier.length === 0) return {}
  const counts = await Promise.all(keys.map((key) => countAt(client, key, parentHash)))
  const nonces = new Map(keys.map((key, i) => [key, counts[i] ?? 0]))
  const given: Record<Address, AccountOverride> = {}
  for (const { from, nonce, authorizationList } of earlier) {
    const sender = from.toLowerCase() as Address
    // Before the authorizations of the transaction are looked at.
    if (nonces.has(sender)) nonces.set(sender, nonce + 1)
    for (const authorization of authorizationList) {
      const key = await signerOf(authorization)
      const isOfChain = authorization.chainId === 0 || authorization.chainId === chainId
      if (key === undefined || !isOfChain || nonces.get(key) !== authorization.nonce) continue
      nonces.set(key, authorization.nonce + 1)
      given[key] = { code: codeOf(authorization.address.toLowerCase() as Address) }
    }
  }
  return given
}

type Authorization = Parameters<typeof recoverAuthorizationAddress>[0]['authorization']

async function signerOf(authorization: Authorization & { s: Hex }): Promise<Address | undefined> {
  if (BigInt(authorization.s) > HALF_CURVE_ORDER) return undefined
  const key = await recoverAuthorizationAddress({ authorization }).catch(unrecoverable)
  return key?.toLowerCase() as Address | undefined
}

/** No key: the chain skips such an authorization. */
const unrecoverable = (): undefined => undefined

const codeOf = (delegate: Address): Hex =>
  delegate === NO_ADDRESS ? '0x' : `${DELEGATES}${delegate.slice(2)}`
