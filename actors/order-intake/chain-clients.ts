import { createMarketReader, type MarketReader } from '../../chain/contracts/market-reader.js'
import { createFundsReader, type FundsReader } from '../../chain/contracts/observe-account.js'
import { readWiring } from '../../chain/contracts/wiring.js'
import { checkClock, createHeadReader } from '../../chain/reads/blocks.js'
import { createChainClient, createCircuitBreaker } from '../../chain/reads/client.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import { createAccountReader, type AccountReader } from '../../chain/reads/read-account.js'
import {
  createSignatureReads,
  createSignatureVerifier,
  type SignatureVerifier,
} from '../../chain/signing/verify-signature.js'
import { createTouchedBlocks, type TouchedBlocks } from '../../core/touched-accounts.js'
import type { ReadWiring } from './check-wiring.js'

/** Time between two blocks of the target chain. */
export const BLOCK_TIME_MS = 2_000

/** The chain clients of order-intake. */
export interface IntakeChain {
  readonly accounts: AccountReader
  readonly funds: FundsReader
  readonly chainMarkets: MarketReader
  readonly readWiring: ReadWiring
  readonly verifier: SignatureVerifier
  readonly touched: TouchedBlocks
  /** The signing domain, for the detail of a refusal. */
  readonly domain: Readonly<Record<string, unknown>>
}

/** Throws ClockDiffers when this machine's clock is behind the chain's; a chain that does not answer is accepted. */
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
  const readHead = createHeadReader(probe)
  // At the newest block whichever it is: nearly all other facts are known, and the head need not be read for code alone.
  const reads = createSignatureReads({ judge, probe, breaker })
  const touched = createTouchedBlocks(() => performance.now())
  const bounds = { cacheMs: BLOCK_TIME_MS, touched }
  const options = { client: probe, breaker, deployment, readHead, ...bounds }
  return {
    touched,
    accounts: createAccountReader(options),
    funds: createFundsReader(options),
    chainMarkets: createMarketReader({ ...options, nowMs: Date.now }),
    readWiring: (market) => readWiring({ client: probe, deployment }, market),
    verifier: createSignatureVerifier({ domain, ...reads }),
    domain: { name: 'Matching', version: '1.0', ...domain },
  }
}
