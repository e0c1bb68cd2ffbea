import type { Address } from '../core/action.js'
import type { TokenUnits6 } from '../core/money.js'
import { tokenUnits6 } from '../core/money.js'
import { depositModuleAbi } from './abi/deposit-module.js'
import { erc20Abi } from './abi/erc20.js'
import { orUnreachable } from './chain-unreachable.js'
import type { ChainClient } from './client.js'

/** What an owner's wallet may be asked for; both in the token's units. */
export interface WalletFacts {
  readonly balance: TokenUnits6
  /** How much of it the spender may take. */
  readonly allowance: TokenUnits6
}

/** Facts at the newest block about what moves money; each rejects with ChainUnreachable, for money fails closed. */
export interface TransferReader {
  /** Whether the owner has spent the nonce with the deposit or withdrawal module at `module`. */
  nonceUsed(module: Address, owner: Address, nonce: bigint): Promise<boolean>
  wallet(token: Address, owner: Address, spender: Address): Promise<WalletFacts>
  allowance(token: Address, owner: Address, spender: Address): Promise<TokenUnits6>
  /** Unix seconds of the newest block. */
  blockTimeSec(): Promise<bigint>
}

/** Asks the node behind a `read` client; nothing is remembered. */
export function createTransferReader(client: ChainClient): TransferReader {
  const allowance = async (token: Address, owner: Address, spender: Address) =>
    tokenUnits6(
      await orUnreachable(
        'allowance',
        client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: 'allowance',
          args: [owner, spender],
        }),
      ),
    )
  const balance = async (token: Address, owner: Address) =>
    tokenUnits6(
      await orUnreachable(
        'balance of the wallet',
        client.readContract({
          address: token,
          abi: erc20Abi,
          functionName: 'balanceOf',
          args: [owner],
        }),
      ),
    )
  return {
    allowance,
    nonceUsed: (module, owner, nonce) =>
      orUnreachable(
        'nonce of the action',
        // Both modules answer this question in the same words.
        client.readContract({
          address: module,
          abi: depositModuleAbi,
          functionName: 'usedNonces',
          args: [owner, nonce],
        }),
      ),
    async wallet(token, owner, spender) {
      const [held, allowed] = await Promise.all([
        balance(token, owner),
        allowance(token, owner, spender),
      ])
      return { balance: held, allowance: allowed }
    },
    async blockTimeSec() {
      const block = await orUnreachable('newest block', client.getBlock({ blockTag: 'latest' }))
      return block.timestamp
    },
  }
}
