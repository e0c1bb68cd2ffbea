import type { TransactionLane } from './transaction-lane.js'

/** A sender is not ready when the chain has not answered for longer than this. */
export const CHAIN_SILENT_MAX_MS = 10_000

/** Why the lane sends nothing now; undefined when it can. */
export function whyNotSending(
  lane: Pick<TransactionLane, 'frozen' | 'chainSilentMs'>,
): string | undefined {
  if (lane.frozen() !== undefined) return 'a foreign transaction used the key'
  return lane.chainSilentMs() > CHAIN_SILENT_MAX_MS ? 'the chain does not answer' : undefined
}
