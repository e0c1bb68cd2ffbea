import { readFileSync } from 'node:fs'
import { encodeDeployData, type Abi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'
import { loadCompiler } from '../../devnet/chain/compile-contracts.js'
import { ANVIL_KEY, type AnvilClient } from './anvil.js'

const ROOT = new URL('../../../', import.meta.url)
const FILE = 'TestWallets.sol'
const SETTINGS = {
  evmVersion: 'cancun',
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
}

export type WalletName =
  | 'KeyWallet'
  | 'SelfKeyWallet'
  | 'DeafWallet'
  | 'RevertingWallet'
  | 'JunkWallet'
  | 'ShoutingWallet'
  | 'BurningWallet'
  | 'SafeLikeProxy'
  | 'SafeLikeSingleton'
  | 'SafeLikeHandler'
  | 'OwnerValidator'
  | 'ModularWallet'

interface CompiledWallet {
  readonly abi: Abi
  readonly evm: { readonly bytecode: { readonly object: string } }
}

/** The wallets of TestWallets.sol by name. */
export async function compileWallets(): Promise<Record<WalletName, CompiledWallet>> {
  const solc = await loadCompiler()
  const content = readFileSync(new URL(`test/support/contracts/${FILE}`, ROOT), 'utf8')
  const input = { language: 'Solidity', sources: { [FILE]: { content } }, settings: SETTINGS }
  const readImport = (path: string) => ({
    contents: readFileSync(new URL(`node_modules/${path}`, ROOT), 'utf8'),
  })
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport })) as {
    readonly errors?: readonly { severity: string; formattedMessage: string }[]
    readonly contracts: Record<string, Record<WalletName, CompiledWallet>>
  }
  const error = output.errors?.find(({ severity }) => severity === 'error')
  const wallets = output.contracts[FILE]
  if (error !== undefined || wallets === undefined) throw new Error(error?.formattedMessage)
  return wallets
}

const deployer = privateKeyToAccount(ANVIL_KEY)

/** Deploys a wallet and answers its address in lower case. */
export async function deployWallet(
  client: AnvilClient,
  { abi, evm }: CompiledWallet,
  ...args: readonly unknown[]
): Promise<Address> {
  const data = encodeDeployData({ abi, bytecode: `0x${evm.bytecode.object}`, args: [...args] })
  const hash = await client.sendTransaction({ account: deployer, data })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  return contractAddress?.toLowerCase() as Address
}

/** Lets the key's address delegate to code (EIP-7702), by an authorization that the key signs. */
export async function delegate(client: AnvilClient, privateKey: Hex, to: Address): Promise<void> {
  const account = privateKeyToAccount(privateKey)
  const authorization = await client.signAuthorization({ account, contractAddress: to })
  const hash = await client.sendTransaction({
    account: deployer,
    to: deployer.address,
    authorizationList: [authorization],
  })
  await client.waitForTransactionReceipt({ hash })
}
