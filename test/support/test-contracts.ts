import { readFileSync } from 'node:fs'
import { encodeDeployData, type Abi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../core/action.js'
import { loadCompiler } from '../../devnet/chain/compile-contracts.js'
import { ANVIL_KEY, type AnvilClient } from './anvil.js'

const ROOT = new URL('../../../', import.meta.url)

export interface CompiledContract {
  readonly abi: Abi
  readonly evm: { readonly bytecode: { readonly object: string } }
}

/** The contracts of a file in `contracts/`, by name. An import that begins with `devnet/` is of this tree, any other a package's. */
export async function compileTestContracts<Name extends string>(
  file: string,
  optimizer: { readonly enabled: boolean } = { enabled: false },
): Promise<Record<Name, CompiledContract>> {
  const solc = await loadCompiler()
  const content = readFileSync(new URL(`test/support/contracts/${file}`, ROOT), 'utf8')
  const settings = {
    evmVersion: 'cancun',
    optimizer,
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  }
  const input = { language: 'Solidity', sources: { [file]: { content } }, settings }
  const readImport = (path: string) => {
    const from = path.startsWith('devnet/') ? '' : 'node_modules/'
    return { contents: readFileSync(new URL(`${from}${path}`, ROOT), 'utf8') }
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport })) as {
    readonly errors?: readonly { severity: string; formattedMessage: string }[]
    readonly contracts?: Record<string, Record<Name, CompiledContract>>
  }
  const error = output.errors?.find(({ severity }) => severity === 'error')
  const contracts = output.contracts?.[file]
  if (error !== undefined || contracts === undefined) throw new Error(error?.formattedMessage)
  return contracts
}

const deployer = privateKeyToAccount(ANVIL_KEY)

/** Deploys a contract and answers its address in lower case. */
export async function deployTestContract(
  client: AnvilClient,
  { abi, evm }: CompiledContract,
  ...args: readonly unknown[]
): Promise<Address> {
  const data = encodeDeployData({ abi, bytecode: `0x${evm.bytecode.object}`, args: [...args] })
  const hash = await client.sendTransaction({ account: deployer, data })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  return contractAddress?.toLowerCase() as Address
}
