import { numberToHex } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { rpcErrorOf } from '../abi/errors.js'
import { unreachable, type ChainClient } from './client.js'
import type { AccountOverride, StateOverrides } from './state-client.js'

/** The fields of an account as a node's `prestateTracer` answers them: hex, and the nonce as a number. */
interface TracedAccount {
  readonly balance?: Hex
  readonly nonce?: number | Hex
  readonly code?: Hex
  readonly storage?: Readonly<Record<Hex, Hex>>
}

interface TraceSchema {
  readonly Method: 'debug_traceTransaction'
  readonly Parameters: [Hex, { readonly tracer: 'prestateTracer' }]
  readonly ReturnType: Readonly<Record<Address, TracedAccount>>
}

/**
 * What a mined transaction has found at the addresses that it touched, before it changed anything. Undefined from a node
 * that does not trace, or no longer. Rejects with ChainUnreachable.
 */
export async function readPrestate(
  client: ChainClient,
  hash: Hex,
): Promise<StateOverrides | undefined> {
  try {
    const traced = await client.request<TraceSchema>({
      method: 'debug_traceTransaction',
      params: [hash, { tracer: 'prestateTracer' }],
    })
    const accounts = Object.entries(traced) as [Address, TracedAccount][]
    return Object.fromEntries(
      accounts.map(([address, account]) => [address.toLowerCase(), overrideOf(account)]),
    )
  } catch (error) {
    if (rpcErrorOf(error) !== undefined) return undefined
    throw unreachable(`state before ${hash}`, error)
  }
}

/** What the tracer leaves out of a touched account is empty. */
function overrideOf({ balance, nonce, code = '0x', storage }: TracedAccount): AccountOverride {
  return {
    code,
    ...(balance !== undefined && { balance }),
    ...(nonce !== undefined && { nonce: typeof nonce === 'number' ? numberToHex(nonce) : nonce }),
    ...(storage !== undefined && { stateDiff: storage }),
  }
}
