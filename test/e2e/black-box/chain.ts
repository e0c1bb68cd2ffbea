import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  parseAbi,
  parseUnits,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '../../support/venue.js'
import type { Hex } from './client.js'

const ABI = parseAbi([
  'function createAccount(address owner, address manager) returns (uint256)',
  'function approve(address to, uint256 amountOrId)',
  'function depositSubAccountFor(uint256 accountId, address recipient)',
  'function deposit(uint256 accountId, uint256 amount)',
  'function registerSessionKey(address toAllow, uint256 expiry)',
  'function deregisterSessionKey(address sessionKey)',
])

/** More than any of the calls takes; given, so that a call may rely on the one before it in the same block. */
const GAS = 1_000_000n

/**
 * Contract wallet of ERC-1271: to it, the digest itself is a valid signature of the digest. Its code compares the
 * first word of the signature with the hash and answers the magic value or zero.
 */
const WALLET_RUNTIME = '6004356064351463' + '1626ba7e' + '0260e01b60005260206000f3'
const WALLET_CREATION: Hex = `0x601880600b6000396000f3${WALLET_RUNTIME}`

/** What the owner of a development account does on chain by itself, without the venue. */
export function createChainUser(devnet: Devnet, privateKey: Hex) {
  const transport = http(devnet.rpc_url)
  const chain = defineChain({
    id: devnet.chain_id,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [devnet.rpc_url] } },
  })
  const account = privateKeyToAccount(privateKey)
  const reader = createPublicClient({ chain, transport })
  const writer = createWalletClient({ account, chain, transport })

  /** Waits for success. */
  async function mined(hash: Hex) {
    const receipt = await reader.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    if (receipt.status !== 'success') throw new Error(`${hash} was reverted`)
    return receipt
  }

  async function registerSessionKey(key: Hex, expiry: bigint): Promise<void> {
    const hash = await writer.writeContract({
      address: devnet.matching,
      abi: ABI,
      functionName: 'registerSessionKey',
      args: [key, expiry],
    })
    await mined(hash)
  }

  async function deregisterSessionKey(key: Hex): Promise<void> {
    const hash = await writer.writeContract({
      address: devnet.matching,
      abi: ABI,
      functionName: 'deregisterSessionKey',
      args: [key],
    })
    await mined(hash)
  }

  /** A new account in the user's own hands, not deposited. */
  async function openAccount(): Promise<bigint> {
    const { request, result } = await reader.simulateContract({
      account,
      address: devnet.sub_accounts,
      abi: ABI,
      functionName: 'createAccount',
      args: [account.address, devnet.spot_manager],
    })
    await mined(await writer.writeContract(request))
    return result
  }

  /** Hands the account to the matching contract, for the owner. */
  async function giveToMatching(accountId: bigint, owner: Hex): Promise<void> {
    const gas = GAS
    const sub_accounts = devnet.sub_accounts
    const matching = devnet.matching
    await writer.writeContract({
      address: sub_accounts,
      abi: ABI,
      gas,
      functionName: 'approve',
      args: [matching, accountId],
    })
    const hash = await writer.writeContract({
      address: matching,
      abi: ABI,
      gas,
      functionName: 'depositSubAccountFor',
      args: [accountId, owner],
    })
    await mined(hash)
  }

  /** Pays USDC from the user's wallet into any account. */
  async function payUsdc(accountId: bigint, usdc: string): Promise<void> {
    const amount = parseUnits(usdc, 6)
    const gas = GAS
    await writer.writeContract({
      address: devnet.usdc,
      abi: ABI,
      gas,
      functionName: 'approve',
      args: [devnet.wrapped_usdc, amount],
    })
    const hash = await writer.writeContract({
      address: devnet.wrapped_usdc,
      abi: ABI,
      gas,
      functionName: 'deposit',
      args: [accountId, amount],
    })
    await mined(hash)
  }

  async function deployWallet(): Promise<Hex> {
    const hash = await writer.sendTransaction({ data: WALLET_CREATION })
    const { contractAddress } = await mined(hash)
    if (!contractAddress) throw new Error('no wallet was deployed')
    return contractAddress
  }

  const keys = { registerSessionKey, deregisterSessionKey }
  return { ...keys, openAccount, giveToMatching, payUsdc, deployWallet }
}

export type ChainUser = ReturnType<typeof createChainUser>
