import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  http,
  parseAbi,
  type Hex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Devnet } from '../../support/venue.js'

const tokenAbi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])
/** 10 ether, 2,000 USDC and 3,000,000 cNGN. */
const WEI = 10n ** 19n
const USDC = 2_000_000_000n
const CNGN = 3_000_000_000_000n

/** A key whose address has gas and tokens, given by an account of the devnet, and no account of the venue. */
export async function fundNewcomer(devnet: Devnet, giver: number): Promise<Hex> {
  const given = devnet.accounts[giver]
  if (given === undefined) throw new Error(`the devnet has no account ${giver}`)
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  const transport = http(devnet.rpc_url)
  const wallet = createWalletClient({ account: privateKeyToAccount(given.private_key), transport })
  const chain = createPublicClient({ transport })
  const transfer = (amount: bigint): Hex =>
    encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [address, amount] })
  for (const call of [
    { to: address, value: WEI },
    { to: devnet.usdc, data: transfer(USDC) },
    { to: devnet.cngn, data: transfer(CNGN) },
  ]) {
    const hash = await wallet.sendTransaction({ ...call, chain: null })
    const { status } = await chain.waitForTransactionReceipt({ hash, timeout: 60_000 })
    if (status !== 'success') throw new Error(`${hash} reverted`)
  }
  return key
}
