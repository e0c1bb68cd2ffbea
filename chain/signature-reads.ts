import { encodeFunctionData, parseAbi } from 'viem'
import type { ChainClient } from './client.js'
import { revertOf } from './revert-name.js'
import type { SignatureReads } from './verify-signature.js'

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

/** The first word that a willing contract answers, compared whole as the chain's own checker does. */
const MAGIC_WORD = `0x1626ba7e${'0'.repeat(56)}`
/** A wallet's code is its owner's: it may not spend more than this on our account. */
const ERC1271_GAS = 500_000n

/**
 * Asks a node about signers; give it a `judge` client. A wallet that reverts or runs out of its gas has refused, a node
 * that does not answer in the client's time has told nothing.
 */
export function createSignatureReads(client: ChainClient): SignatureReads {
  return {
    async readCode(address) {
      try {
        return (await client.getCode({ address })) !== undefined
      } catch {
        // Whatever went wrong on the way, the question is unanswered; the verdict says so.
        return undefined
      }
    },
    async callIsValidSignature(signer, digest, signature) {
      const data = encodeFunctionData({ abi: erc1271Abi, args: [digest, signature] })
      const call = { to: signer, data, gas: `0x${ERC1271_GAS.toString(16)}` } as const
      try {
        const answer = await client.request({ method: 'eth_call', params: [call, 'latest'] })
        return answer.slice(0, MAGIC_WORD.length).toLowerCase() === MAGIC_WORD
      } catch (error) {
        return revertOf(error) === undefined ? undefined : false
      }
    },
  }
}
