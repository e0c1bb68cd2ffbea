import { encodeFunctionData, parseAbi } from 'viem'
import type { Address } from '../core/action.js'
import type { CircuitBreaker } from './circuit-breaker.js'
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

export interface SignatureReadsOptions {
  /** A `judge` client, for the wallets' own code. */
  readonly judge: ChainClient
  /** A `probe` client, for everything else. */
  readonly probe: ChainClient
  /** Turns questions away while the node is silent. A wallet that keeps the node busy must not count as its silence. */
  readonly breaker: CircuitBreaker
}

/**
 * Asks a node about signers. A wallet that reverts or runs out of its gas has refused, a node
 * that does not answer in the client's time has told nothing.
 */
export function createSignatureReads(options: SignatureReadsOptions): SignatureReads {
  const { judge, probe, breaker } = options
  const hasCode = async (address: Address): Promise<boolean | undefined> => {
    try {
      return (await probe.getCode({ address })) !== undefined
    } catch {
      // Whatever went wrong on the way, the question is unanswered; the verdict says so.
      return undefined
    }
  }
  return {
    readCode: (address) => breaker.ask(() => hasCode(address)),
    async callIsValidSignature(signer, digest, signature) {
      const data = encodeFunctionData({ abi: erc1271Abi, args: [digest, signature] })
      const call = { to: signer, data, gas: `0x${ERC1271_GAS.toString(16)}` } as const
      try {
        const answer = await judge.request({ method: 'eth_call', params: [call, 'latest'] })
        return answer.slice(0, MAGIC_WORD.length).toLowerCase() === MAGIC_WORD
      } catch (error) {
        return revertOf(error) === undefined ? undefined : false
      }
    },
  }
}
