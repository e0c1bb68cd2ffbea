import { checkClock } from '../../chain/check-clock.js'
import { createCircuitBreaker } from '../../chain/circuit-breaker.js'
import { createChainClient } from '../../chain/client.js'
import type { ChainClient } from '../../chain/client.js'
import type { Deployment } from '../../chain/deployment.js'
import { createAccountReader } from '../../chain/read-account.js'
import type { AccountReader } from '../../chain/read-account.js'
import { createTransferReader } from '../../chain/read-transfer.js'
import type { TransferReader } from '../../chain/read-transfer.js'
import { createSignatureReads } from '../../chain/signature-reads.js'
import { createSignatureVerifier } from '../../chain/verify-signature.js'
import type { SignatureVerifier } from '../../chain/verify-signature.js'
import { createChainClock } from './chain-clock.js'
import type { ChainClock } from './chain-clock.js'

/** What a submitter asks the chain with. */
export interface SubmitterChain {
  /** A `read` client. */
  readonly client: ChainClient
  readonly reader: TransferReader
  /** Facts of the newest block, none of them remembered. */
  readonly accounts: AccountReader
  readonly verifier: SignatureVerifier
  /** The signing domain as a refusal shows it. */
  readonly domain: Readonly<Record<string, unknown>>
  readonly clock: ChainClock
}

export interface ChainOptions {
  readonly rpcUrl: string
  readonly deployment: Deployment
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly onWarning: (message: string) => void
}

/** Throws ClockDiffers when this machine's clock is behind the chain's; a chain that is silent is no hindrance. */
export async function openChain(options: ChainOptions): Promise<SubmitterChain> {
  const { rpcUrl, deployment, nowMs, onWarning } = options
  const client = createChainClient(rpcUrl, 'read')
  await checkClock({ client, nowMs, onWarning })
  const judge = createChainClient(rpcUrl, 'judge')
  const breaker = createCircuitBreaker()
  const domain = { chainId: deployment.chainId, verifyingContract: deployment.matching }
  const reads = createSignatureReads({ judge, probe: client, breaker })
  return {
    client,
    reader: createTransferReader(client),
    accounts: createAccountReader({ client, deployment, cacheMs: 0 }),
    verifier: createSignatureVerifier({ domain, ...reads }),
    domain: { name: 'Matching', version: '1.0', ...domain },
    clock: createChainClock(nowMs),
  }
}
