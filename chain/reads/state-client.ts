import { createPublicClient, custom } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { assert, InvariantBroken } from '../../core/assert.js'
import type { ChainClient } from './client.js'
import { defectIn } from './read-failure.js'

/** What differs at an address from the state of a block, in the form of JSON-RPC. */
export interface AccountOverride {
  readonly balance?: Hex
  readonly nonce?: Hex
  readonly code?: Hex
  readonly stateDiff?: Readonly<Record<Hex, Hex>>
}

/** By address in lower case. */
export type StateOverrides = Readonly<Record<Address, AccountOverride>>

/** A state of the chain: that after a block, with what differs from it. */
export interface ChainState {
  readonly blockHash: Hex
  readonly overrides: StateOverrides
  /** The block that counts as the newest one in this state. */
  readonly newest: Hex
}

/** The requests of a read: method and parameters of JSON-RPC. */
interface StateRequest {
  readonly method: string
  readonly params?: unknown
}

/**
 * A client that reads one state, whatever block its caller names. It answers what readers of contracts ask: calls, code and
 * the newest block; anything else breaks an invariant.
 */
export function clientOfState(client: ChainClient, state: ChainState): ChainClient {
  const { blockHash, overrides, newest } = state
  const at = { blockHash }
  const isChanged = Object.keys(overrides).length > 0
  const ask = client.request as (request: StateRequest) => Promise<unknown>
  const request = async ({ method, params }: StateRequest): Promise<unknown> => {
    const [first, , more] = (params ?? []) as readonly [unknown, unknown?, StateOverrides?]
    switch (method) {
      case 'eth_call': {
        if (!isChanged && more === undefined) return ask({ method, params: [first, at] })
        return ask({ method, params: [first, at, merged(overrides, more ?? {})] })
      }
      case 'eth_getCode': {
        const known = overrides[(first as Address).toLowerCase() as Address]?.code
        return known ?? ask({ method, params: [first, at] })
      }
      case 'eth_getBlockByNumber':
        return ask({ method: 'eth_getBlockByHash', params: [newest, false] })
      default:
        return assert(false, `${method} is not a read of a state`)
    }
  }
  // The client below tries again by itself.
  const transport = custom(
    { request: (asked: StateRequest) => request(asked).catch(markDefect) },
    { retryCount: 0 },
  )
  return createPublicClient({ transport, cacheTime: 0, ccipRead: false })
}

/** viem takes whatever a transport throws for an answer of the node, but a broken invariant is found below it. */
function markDefect(error: unknown): never {
  const defect = defectIn(error)
  if (defect === undefined || defect instanceof InvariantBroken) throw error
  throw new InvariantBroken(`the client of a state: ${defect.message}`, { cause: defect })
}

function merged(base: StateOverrides, more: StateOverrides): StateOverrides {
  const all: Record<Address, AccountOverride> = { ...base }
  for (const [address, override] of Object.entries(more) as [Address, AccountOverride][]) {
    all[address] = { ...all[address], ...override }
  }
  return all
}
