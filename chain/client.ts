import { createPublicClient, http } from 'viem'
import type { HttpTransport, PublicClient } from 'viem'

/**
 * What a connection to the chain is for. `read`: facts, retried and batched. `long`: facts with long answers, each asked
 * by itself. `probe`: facts asked once, for callers that rather do without an answer than wait for it. `judge`: a
 * question on which somebody's contract runs, given little time. `submit`: transactions, asked once, because an unclear
 * answer must come back as it is.
 */
export type ClientPurpose = 'read' | 'long' | 'probe' | 'judge' | 'submit'

export type ChainClient = PublicClient<HttpTransport>

const TIMEOUT_MS = 5_000
/** Less than an order waits for the chain, so that a node that hangs leaves time for what is judged without it. */
const JUDGE_TIMEOUT_MS = 1_000
const MAX_CALLS_PER_BATCH = 100

const TRANSPORT = {
  read: { retryCount: 2, timeout: TIMEOUT_MS, batch: { batchSize: MAX_CALLS_PER_BATCH } },
  long: { retryCount: 2, timeout: TIMEOUT_MS },
  probe: { retryCount: 0, timeout: JUDGE_TIMEOUT_MS, batch: { batchSize: MAX_CALLS_PER_BATCH } },
  judge: { retryCount: 0, timeout: JUDGE_TIMEOUT_MS },
  submit: { retryCount: 0, timeout: TIMEOUT_MS },
} as const

/**
 * A client of the node at `rpcUrl`, with time-outs that the purpose sets. It keeps no answers, and follows no address
 * that a contract names (no off-chain look-ups). Nothing is connected before the first question.
 */
export function createChainClient(rpcUrl: string, purpose: ClientPurpose): ChainClient {
  return createPublicClient({
    transport: http(rpcUrl, TRANSPORT[purpose]),
    cacheTime: 0,
    ccipRead: false,
  })
}
