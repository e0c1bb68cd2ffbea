const ANSWER_WITHIN_MS = 10_000

/** The local chain answered with an error, or not at all. */
export class ChainRpcError extends Error {
  override readonly name = 'ChainRpcError'
}

/** One JSON-RPC call to the local chain's own administration; resolves with `result`, throws ChainRpcError. */
export async function callChain(
  rpcUrl: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
  let answer: { result?: unknown; error?: { message: string } }
  try {
    const response = await fetch(rpcUrl, { method: 'POST', headers, body, signal })
    answer = (await response.json()) as typeof answer
  } catch (error) {
    throw new ChainRpcError(`${method}: no answer from ${rpcUrl}`, { cause: error })
  }
  if (answer.error !== undefined) throw new ChainRpcError(`${method}: ${answer.error.message}`)
  return answer.result
}
