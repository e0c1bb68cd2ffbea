import { createPublicClient, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  createTransferClient,
  randomNonce,
  signDeposit,
  signPermit,
  signWithdrawal,
  type NewDeposit,
  type NewWithdrawal,
  type Permit,
} from '../../../client/index.js'
import type { Address, Hex } from '../../../core/action.js'
import type { Devnet } from '../../support/venue.js'

const ABI = parseAbi([
  'function nonces(address owner) view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function getBalance(uint256 accountId, address asset, uint256 subId) view returns (int256)',
  'function subAccountToOwner(uint256 accountId) view returns (address)',
])
const TEN_MINUTES = 600

export interface Withdrawing {
  readonly asset: Address
  readonly amount: string
  /** The spot account by default. */
  readonly subaccountId?: string
}

/** One of the devnet's accounts moving money in and out. */
export function createTransferUser(devnet: Devnet, index: number): TransferUser {
  const account = devnet.accounts[index]
  if (account === undefined) throw new Error(`the devnet has no account ${index}`)
  return transferUserOf(devnet, account.private_key, account.spot_subaccount_id)
}

/** An owner moving money in and out, and what the chain says of it. */
export function transferUserOf(devnet: Devnet, privateKey: Hex, spotAccount: string) {
  const signer = privateKeyToAccount(privateKey)
  const domain = { chainId: devnet.chain_id, matching: devnet.matching }
  const chain = createPublicClient({ transport: http(devnet.rpc_url) })
  const frame = () => ({
    nonce: randomNonce(),
    expirySec: Math.floor(Date.now() / 1_000) + TEN_MINUTES,
  })
  const ofOwner = (functionName: 'nonces' | 'balanceOf'): Promise<bigint> =>
    chain.readContract({ address: devnet.usdc, abi: ABI, functionName, args: [signer.address] })

  return {
    address: signer.address.toLowerCase(),
    spotAccount,
    domain,
    venue: createTransferClient(devnet.gateway_url),

    permit: async (amount: string): Promise<Permit> =>
      signPermit(signer, {
        chainId: devnet.chain_id,
        usdc: devnet.usdc,
        depositModule: devnet.deposit_module,
        amount,
        tokenNonce: await ofOwner('nonces'),
        deadlineSec: frame().expirySec,
      }),

    deposit: (
      amount: string,
      more: { readonly subaccountId?: string; readonly permit?: Permit } = {},
    ): Promise<NewDeposit> =>
      signDeposit(signer, domain, {
        depositModule: devnet.deposit_module,
        cashAsset: devnet.cash_asset,
        perpManager: devnet.perp_manager,
        amount,
        ...frame(),
        ...more,
      }),

    withdrawal: ({ asset, amount, subaccountId }: Withdrawing): Promise<NewWithdrawal> =>
      signWithdrawal(signer, domain, {
        withdrawalModule: devnet.withdrawal_module,
        asset,
        amount,
        ...frame(),
        subaccountId: subaccountId ?? spotAccount,
      }),

    /** USDC in the wallet, in base units. */
    wallet: () => ofOwner('balanceOf'),
    allowance: () =>
      chain.readContract({
        address: devnet.usdc,
        abi: ABI,
        functionName: 'allowance',
        args: [signer.address, devnet.deposit_module],
      }),
    /** What an account holds of an asset, at 1e18. */
    held: (accountId: string, asset: Address) =>
      chain.readContract({
        address: devnet.sub_accounts,
        abi: ABI,
        functionName: 'getBalance',
        args: [BigInt(accountId), asset, 0n],
      }),
    ownerOf: async (accountId: string) => {
      const owner = await chain.readContract({
        address: devnet.matching,
        abi: ABI,
        functionName: 'subAccountToOwner',
        args: [BigInt(accountId)],
      })
      return owner.toLowerCase()
    },
  }
}

export type TransferUser = ReturnType<typeof transferUserOf>
