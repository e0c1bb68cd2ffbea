import { checkClock } from '../../chain/check-clock.js'
import { createCircuitBreaker } from '../../chain/circuit-breaker.js'
import { createChainClient } from '../../chain/client.js'
import type { Deployment } from '../../chain/deployment.js'
import { type AccountReader, createAccountReader } from '../../chain/read-account.js'
import { type FundsReader, createFundsReader } from '../../chain/read-funds.js'
import { createSignatureReads } from '../../chain/signature-reads.js'
import { type SignatureVerifier, createSignatureVerifier } from '../../chain/verify-signature.js'

/** What order-intake asks the chain with. */
export interface IntakeChain {
  readonly accounts: AccountReader
  readonly funds: FundsReader
  readonly verifier: SignatureVerifier
  /** The signing domain as a refusal shows it. */
  readonly domain: Readonly<Record<string, unknown>>
}

/** Facts about accounts are kept for one block of the target chain. */
const BLOCK_TIME_MS = 2_000

/** Throws ClockDiffers when this machine's clock is behind the chain's; a chain that is silent is no hindrance. */
export async function openChain(
  rpcUrl: string,
  deployment: Deployment,
  onWarning: (message: string) => void,
): Promise<IntakeChain> {
  const probe = createChainClient(rpcUrl, 'probe')
  await checkClock({ client: probe, nowMs: Date.now, onWarning })
  const breaker = createCircuitBreaker()
  const judge = createChainClient(rpcUrl, 'judge')
  const domain = { chainId: deployment.chainId, verifyingContract: deployment.matching }
  const reads = createSignatureReads({ judge, probe, breaker })
  const options = { client: probe, breaker, deployment, cacheMs: BLOCK_TIME_MS }
  return {
    accounts: createAccountReader(options),
    funds: createFundsReader(options),
    verifier: createSignatureVerifier({ domain, ...reads }),
    domain: { name: 'Matching', version: '1.0', ...domain },
  }
}
