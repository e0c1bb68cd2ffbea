import { RpcRequestError } from 'viem'
import { crash } from '../core/crash-point.js'
import type { ChainClient } from './client.js'
import type { OpenTransaction } from './transaction-journal.js'

/**
 * What a broadcast told. `taken`: the node has the transaction. `unclear`: everything else, a refusal included, because
 * the bytes may have arrived before or may be mined already; only a receipt decides.
 */
export type Broadcast =
  { readonly kind: 'taken' } | { readonly kind: 'unclear'; readonly cause: Error }

const ALREADY_THERE = /already known|already imported|known transaction|already in (the )?pool/i

/** Sends the newest signed bytes of a journalled transaction; never rejects. Give it a `submit` client. */
export async function sendTransaction(
  client: ChainClient,
  transaction: OpenTransaction,
): Promise<Broadcast> {
  const newest = transaction.attempts.at(-1)
  if (newest === undefined) return { kind: 'unclear', cause: new Error('nothing was signed') }
  try {
    const sending = client.request({ method: 'eth_sendRawTransaction', params: [newest.raw] })
    crash('lane.during_broadcast')
    await sending
    return { kind: 'taken' }
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal !== undefined && ALREADY_THERE.test(refusal)) return { kind: 'taken' }
    // The client's own message would carry the raw bytes into the log.
    return { kind: 'unclear', cause: new Error(refusal ?? 'no answer from the node') }
  }
}

function refusalOf(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof RpcRequestError) return at.details
  }
  return undefined
}
