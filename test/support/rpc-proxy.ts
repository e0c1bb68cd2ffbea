import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What happens to a call on its way: `lose` drops it, `lose answer` lets the node do it and drops what it said, `after`
 * holds it back.
 */
export type Fate =
  'pass' | 'lose' | 'lose answer' | { readonly error: string } | { readonly after: Promise<void> }

export interface RpcProxy {
  readonly rpcUrl: string
  /** Methods in the order they came. */
  readonly asked: string[]
  /** Those of them that came in a batch. */
  readonly batched: string[]
  /** May be replaced at any time. */
  fateOf: (method: string) => Fate
  stop(): Promise<void>
}

interface RpcCall {
  readonly id: number
  readonly method: string
}

/** A node in front of the node, which loses or refuses what it is told to. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const server = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy())
  })
  const proxy: RpcProxy = {
    rpcUrl: '',
    asked: [],
    batched: [],
    fateOf: () => 'pass',
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request)
    const parsed = JSON.parse(text) as RpcCall | RpcCall[]
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    proxy.asked.push(...calls.map(({ method }) => method))
    if (Array.isArray(parsed)) proxy.batched.push(...parsed.map(({ method }) => method))
    const fates = calls.map(({ method }) => proxy.fateOf(method))
    const refusal = fates.find((fate) => typeof fate === 'object' && 'error' in fate)
    if (fates.includes('lose')) throw new Error('lost on the way')
    for (const fate of fates) if (typeof fate === 'object' && 'after' in fate) await fate.after
    if (refusal !== undefined && Array.isArray(parsed)) {
      // The other calls of the batch are the node's.
      const passed = calls.filter((_, i) => fates[i] !== refusal)
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(passed) })
      const answers = passed.length === 0 ? [] : ((await answer.json()) as object[])
      const error = { code: -32_000, message: refusal.error }
      const refused = calls.filter((call) => !passed.includes(call))
      const own = refused.map(({ id }) => ({ jsonrpc: '2.0', id, error }))
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify([...answers, ...own]))
      return
    }
    if (refusal !== undefined) {
      const error = { code: -32_000, message: refusal.error }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: calls[0]?.id, error }))
      return
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers, body: text })
    const body = await answer.text()
    if (fates.includes('lose answer')) throw new Error('lost on the way back')
    response.setHeader('content-type', 'application/json').end(body)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(proxy, {
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  })
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
