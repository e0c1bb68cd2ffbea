import { AcceptForeignAnswer, ExecuteFailure } from '../../interface/execute.js'
import { OrderRefused } from './change-market.js'
import type { ExecutorPlace } from './config.js'

const ANSWER_WITHIN_MS = 20_000

/**
 * Has the executor that is in use settle again after the foreign transaction of that hash, and resolves with what to print.
 * Throws OrderRefused with its reason when it does not, or when none answers.
 */
export async function acceptForeign(
  { urls, secret }: ExecutorPlace,
  txHash: string,
): Promise<string> {
  for (const url of urls) {
    const response = await ask(url, secret, txHash)
    if (response === undefined) continue
    const body: unknown = await response.json().catch(() => undefined)
    if (response.status !== 200) {
      const { error = `${url} answers ${response.status}` } =
        ExecuteFailure.safeParse(body).data ?? {}
      throw new OrderRefused(error)
    }
    const { transactions } = AcceptForeignAnswer.parse(body)
    const lines = transactions.map(
      ({ evm_nonce, tx_hash, block_number }) =>
        `nonce ${evm_nonce} was used by ${tx_hash} in block ${block_number}`,
    )
    return [...lines, `${txHash} is accepted: the executor settles again`].join('\n')
  }
  throw new OrderRefused(`no executor answers at ${urls.join(', ')}: is it running?`)
}

/** Undefined where no executor listens: one that stands by does not. */
async function ask(url: string, secret: string, txHash: string): Promise<Response | undefined> {
  try {
    return await fetch(new URL('/accept-foreign', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tx_hash: txHash }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
  } catch {
    return undefined
  }
}
