import type { Address } from '../../core/action.js'
import { erc20Abi } from '../abi/contracts.js'
import { orUnreachable, type ChainClient } from './client.js'

/** How many permits on a token the owner has used, at the newest block; rejects with ChainUnreachable. */
export type PermitNonceReader = (owner: Address) => Promise<bigint>

export const createPermitNonceReader =
  (client: ChainClient, token: Address): PermitNonceReader =>
  (owner) =>
    orUnreachable(
      'nonce of permits',
      client.readContract({ address: token, abi: erc20Abi, functionName: 'nonces', args: [owner] }),
    )
