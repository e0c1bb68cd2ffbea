import { encodeFunctionData, numberToHex, parseAbi } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { OddAnswer } from '../reads/answer-form.js'
import { unreachable, type ChainClient } from '../reads/client.js'
import { PAID, PAYER } from '../reads/paid-call.js'
import type { StateOverrides } from '../reads/state-client.js'

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

/** The word with which a contract accepts; compared whole, as the chain's own checker does. */
const MAGIC_WORD = `1626ba7e${'0'.repeat(56)}`
/** What a foreign contract may use; bounds the work that it causes on the node. */
const WALLET_GAS = 500_000
/**
 * What the stub must have left to give a wallet all of its gas: a call gets at most 63 of 64 parts, after the price of two
 * cold accounts (the wallet, and the code that a key delegates to). The rest is enough for the stub to answer, whatever the wallet burns.
 */
const GAS_BEFORE_WALLET = 520_000
const ASKED = '7761736b6564'
/** The digits of the word in front of the stub's answer. Nothing but the stub answers with it. */
export const ASKED_WORD = ASKED.padStart(64, '0')

const push3 = (value: number): string => `62${value.toString(16).padStart(6, '0')}`

/**
 * Runtime code that calls the address in its first word with the data after it, statically and with WALLET_GAS, and returns
 * two words: ASKED_WORD, and the first word of the answer, or 0 when the call failed or answered less than a word. However the
 * wallet ends, the stub goes on. With too little gas to ask as it should, it returns nothing.
 */
const STUB: Hex = `0x${[
  '60206020', // room for the answer: 32 bytes at 32
  '60203603', // length of the data
  '8060206000' + '37', // memory[0..length] = the data
  '6000' + '600035', // from 0, to the address in the first word
  `${push3(GAS_BEFORE_WALLET)}5a11` + '601d5700', // stop unless there is more gas
  `5b${push3(WALLET_GAS)}` + 'fa', // staticcall
  '3d601f10' + '02', // whether it succeeded with more than 31 bytes
  '602051' + '02' + '602052', // memory[32] *= that
  `65${ASKED}` + '600052' + '60406000f3',
].join('')}`

/** A transaction's own 21,000, the stub, and what it must have left. */
const STUB_GAS = 600_000
/** Above the price of a byte of data (EIP-7623), its copy and its memory, up to the longest signature. */
const GAS_PER_BYTE = 48

export interface WalletQuestion {
  readonly signer: Address
  readonly digest: Hex
  readonly signature: Hex
  /** Who asks in a match: the matching contract, in a transaction of the sender. */
  readonly matching: Address
  readonly sender: Address
}

interface WalletCallSchema {
  readonly Method: 'eth_call'
  readonly Parameters: [object, 'latest', StateOverrides]
  readonly ReturnType: unknown
}

/**
 * Whether the contract at the signer vouches for the signature, asked as a match asks: by the matching contract in a static
 * call, in a transaction of the sender that pays for its gas. A wallet that reverts, halts in any way, writes, or answers
 * anything else than the magic word does not. Rejects with ChainUnreachable when the node has not asked it: every answer
 * without the stub's own word, such as those of a node that does not take state overrides, refuses the fees, or caps the gas
 * of calls below what the stub needs. No wallet can bring one about.
 */
export async function doesWalletVouch(
  client: ChainClient,
  { signer, digest, signature, matching, sender }: WalletQuestion,
): Promise<boolean> {
  const asked = encodeFunctionData({ abi: erc1271Abi, args: [digest, signature] })
  const data: Hex = `0x${signer.slice(2).padStart(64, '0')}${asked.slice(2)}`
  const gas = numberToHex(STUB_GAS + (GAS_PER_BYTE * data.length) / 2)
  const call = { from: sender, to: matching, data, gas, ...PAID }
  const overrides: StateOverrides = { [matching]: { code: STUB }, [sender]: PAYER }
  const question = `signature of ${signer}`
  const answer = await client
    .request<WalletCallSchema>({ method: 'eth_call', params: [call, 'latest', overrides] })
    .catch((error: unknown) => {
      throw unreachable(question, error)
    })
  const said = typeof answer === 'string' ? ANSWER.exec(answer.toLowerCase()) : null
  if (said === null) throw unreachable(question, new OddAnswer('the node has not asked the wallet'))
  return said[1] === MAGIC_WORD
}

const ANSWER = new RegExp(`^0x${ASKED_WORD}([0-9a-f]{64})$`)
