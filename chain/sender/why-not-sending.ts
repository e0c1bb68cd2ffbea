import type { TransactionSender } from './transaction-sender.js'

/** A sender is not ready when the chain has not answered for longer than this. */
export const CHAIN_SILENT_MAX_MS = 10_000

/** Why the sender sends nothing now; undefined when it can. */
export function whyNotSending(
  txSender: Pick<TransactionSender, 'frozen' | 'chainSilentMs'>,
): string | undefined {
  if (txSender.frozen() !== undefined) return 'a foreign transaction used the key'
  return txSender.chainSilentMs() > CHAIN_SILENT_MAX_MS ? 'the chain does not answer' : undefined
}
