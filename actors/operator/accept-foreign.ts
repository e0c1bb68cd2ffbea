import { AcceptForeignAnswer, ExecuteFailure } from '../../interface/execute.js'
import { parseJson } from '../../runtime/http/read-body.js'
import { OperatorOrderRefused } from '../market-orders/order-refused.js'
import type { ExecutorPlace } from './config.js'

const ANSWER_WITHIN_MS = 20_000

/**
 * Has the executor that is in use settle again after the foreign transaction of that hash, and resolves with what to print.
 * Throws OperatorOrderRefused with its reason when it does not, or when none answers.
 */
export async function acceptForeign(
  { urls, secret }: ExecutorPlace,
  txHash: string,
  withinMs = ANSWER_WITHIN_MS,
): Promise<string> {
  const silent: string[] = []
  for (const url of urls) {
    const answer = await ask(new URL('/accept-foreign', url), { secret, txHash, withinMs })
    if (answer === undefined) continue
    if ('silence' in answer) silent.push(`${url} gives no answer: ${answer.silence}`)
    else return textOf(url, txHash, answer)
  }
  if (silent.length === 0)
    throw new OperatorOrderRefused(`no executor listens at ${urls.join(', ')}: is it running?`)
  throw new OperatorOrderRefused(
    `${silent.join('; ')}. It may have accepted ${txHash}: ask again, which does no harm`,
  )
}

function textOf(url: string, txHash: string, { status, body }: ExecutorReply): string {
  if (status !== 200) {
    const { error = `${url} answers ${status}` } = ExecuteFailure.safeParse(body).data ?? {}
    throw new OperatorOrderRefused(error)
  }
  const lines = AcceptForeignAnswer.parse(body).transactions.map(
    ({ evm_nonce, tx_hash, block_number }) =>
      `nonce ${evm_nonce} was used by ${tx_hash} in block ${block_number}`,
  )
  return [...lines, `${txHash} is accepted: the executor settles again`].join('\n')
}

interface ExecutorReply {
  readonly status: number
  /** Undefined when it is not JSON. */
  readonly body: unknown
}

interface AcceptanceRequest {
  readonly secret: string
  readonly txHash: string
  readonly withinMs: number
}

/** Undefined where no executor listens: one that stands by does not. `silence`: one may listen, and gave no answer. */
async function ask(
  url: URL,
  { secret, txHash, withinMs }: AcceptanceRequest,
): Promise<ExecutorReply | { readonly silence: string } | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tx_hash: txHash }),
      signal: AbortSignal.timeout(withinMs),
    })
    return { status: response.status, body: parseJson(await response.text()) }
  } catch (error) {
    // What fetch throws: the cause of a TypeError is the network's error, and a time-out is a DOMException.
    if (error instanceof DOMException) return { silence: error.message }
    if (!(error instanceof TypeError)) throw error
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException
    return code === 'ECONNREFUSED' ? undefined : { silence: code ?? message }
  }
}
