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
const DELEGATES = '0xef0100'

/** A place within a block. */
export interface PlaceInBlock extends Pick<ChainHead, 'hash' | 'parentHash'> {
  readonly transactionIndex: number
}

/**
 * The code that EIP-7702 authorizations have given to these keys, or taken from them, in the transactions of the block
 * before the place, computed from these transactions and the keys' nonces: an authorization takes effect if it is for this
 * chain or for any, and has the key's nonce at that moment. A key to which none was applied is left out. Undefined when
 * there are too many authorizations. Rejects with ChainUnreachable.
 */
export async function readDelegatedBefore(
  client: ChainClient,
  chainId: number,
  { hash, parentHash, transactionIndex }: PlaceInBlock,
  keys: readonly Address[],
): Promise<StateOverrides | undefined> {
  const { transactions } = await orUnreachable(
    `transactions of block ${hash}`,
    client.getBlock({ blockHash: hash, includeTransactions: true }),
  )
  const earlier = transactions.slice(0, transactionIndex)
  const lists = earlier.flatMap(({ authorizationList = [] }) => authorizationList)
  if (lists.length === 0) return {}
  if (lists.length > MAX_AUTHORIZATIONS) return undefined
  const counts = await Promise.all(keys.map((key) => countAt(client, key, parentHash)))
  const nonces = new Map(keys.map((key, i) => [key, counts[i] ?? 0]))
  const given: Record<Address, AccountOverride> = {}
  for (const { from, nonce, authorizationList = [] } of earlier) {
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
