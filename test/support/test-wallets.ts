import { privateKeyToAccount } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'
import { ANVIL_KEY, type AnvilClient } from './anvil.js'
import { compileTestContracts, deployTestContract } from './test-contracts.js'

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

/** The wallets of TestWallets.sol by name. */
export const compileWallets = () => compileTestContracts<WalletName>('TestWallets.sol')

export const deployWallet = deployTestContract

const deployer = privateKeyToAccount(ANVIL_KEY)

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
