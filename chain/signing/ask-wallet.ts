import { encodeFunctionData, numberToHex, parseAbi } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { revertOf } from '../abi/errors.js'
import { unreachable, type ChainClient } from '../reads/client.js'
import type { StateOverrides } from '../reads/state-client.js'

export const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

/** The word with which a contract accepts; compared whole, as the chain's own checker does. */
export const MAGIC_WORD = `0x1626ba7e${'0'.repeat(56)}`
/** Bounds the work that a foreign contract can cause on the node. */
export const ERC1271_GAS = 500_000n

/**
 * Runtime code that calls the address in its first word with the data behind it, statically and with that gas, and returns
 * the first word of the answer; nothing when the call fails or answers less than a word.
 */
const STUB: Hex = `0x${[
  '60206000', // room for the answer: 32 bytes at 0
  '60203603', // length of the data
  '8060206000' + '37', // memory[0..length] = the data
  '6000' + '600035', // from 0, to the address in the first word
  `62${ERC1271_GAS.toString(16).padStart(6, '0')}` + 'fa', // staticcall
  '3d601f10' + '02', // whether it succeeded with more than 31 bytes
  '60051b' + '6000f3', // return that many times 32 bytes
].join('')}`

/** The gas of the whole call. */
const CALL_GAS = 2n * ERC1271_GAS
/** In wei; above what blocks ask for, since a wallet may look at it, and a node refuses less than the base fee. */
const GAS_PRICE = 10n ** 12n

export interface WalletQuestion {
  readonly signer: Address
  readonly digest: Hex
  readonly signature: Hex
  /** Who asks in a match: the matching contract, in a transaction of the sender. */
  readonly matching: Address
  readonly sender: Address
}

interface CallSchema {
  readonly Method: 'eth_call'
  readonly Parameters: [object, 'latest', StateOverrides]
  readonly ReturnType: Hex
}

/**
 * Whether the contract at the signer vouches for the signature, asked as a match asks: by the matching contract, in a call of
 * the sender that pays for its gas. Rejects with ChainUnreachable, also from a node that does not take state overrides.
 */
export async function doesWalletVouch(
  client: ChainClient,
  { signer, digest, signature, matching, sender }: WalletQuestion,
): Promise<boolean> {
  const asked = encodeFunctionData({ abi: erc1271Abi, args: [digest, signature] })
  const data: Hex = `0x${signer.slice(2).padStart(64, '0')}${asked.slice(2)}`
  const call = {
    ...{ from: sender, to: matching, data, gas: numberToHex(CALL_GAS) },
    gasPrice: numberToHex(GAS_PRICE),
  }
  const overrides: StateOverrides = {
    [matching]: { code: STUB },
    [sender]: { balance: numberToHex(10n ** 24n) },
  }
  try {
    const params: CallSchema['Parameters'] = [call, 'latest', overrides]
    const answer = await client.request<CallSchema>({ method: 'eth_call', params })
    return answer.toLowerCase() === MAGIC_WORD
  } catch (error) {
    if (revertOf(error) !== undefined) return false
    throw unreachable(`signature of ${signer}`, error)
  }
}
