import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/**
 * How a node answers: as the chain does, by closing the connection, not at all, each call with an error, with the chain id of
 * another chain, or as if the newest block was the one of the moment at which this began.
 */
export type NodeFault = 'none' | 'silent' | 'hangs' | 'errors' | 'other chain' | 'old heads'

export interface FaultyNode {
  readonly rpcUrl: string
  /** Calls that were answered by the present fault. */
  faulty(): number
  show(fault: NodeFault): Promise<void>
  stop(): Promise<void>
}

interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params?: unknown
}

const NEWEST = new Set<unknown>(['latest', 'pending', 'safe', 'finalized'])
const ANOTHER_CHAIN = '0x1'

/** A node between a venue and its chain, whose fault is chosen at any time. */
export async function startFaultyNode(target: string): Promise<FaultyNode> {
  let fault: NodeFault = 'none'
  let faulty = 0
  let newest = '0x0'

  const ask = async (calls: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(calls) })
    return answer.json()
  }
  const height = async (): Promise<string> => {
    const answer = await ask({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
    return (answer as { result: string }).result
  }
  const aged = (value: unknown): unknown => {
    if (NEWEST.has(value)) return newest
    return Array.isArray(value) ? value.map(aged) : value
  }
  const answerOne = async (call: RpcCall): Promise<unknown> => {
    const { id, method, params } = call
    const said = (answer: object) => {
      faulty += 1
      return { jsonrpc: '2.0', id, ...answer }
    }
    if (fault === 'errors') return said({ error: { code: -32_000, message: 'header not found' } })
    if (fault === 'other chain' && method === 'eth_chainId') return said({ result: ANOTHER_CHAIN })
    if (fault !== 'old heads') return ask(call)
    if (method === 'eth_blockNumber') return said({ result: newest })
    faulty += 1
    return ask({ ...call, params: aged(params) })
  }

  const server = createServer((request, response) => {
    const answering = async (): Promise<void> => {
      const given = (await json(request)) as RpcCall | RpcCall[]
      if (fault === 'silent') {
        faulty += 1
        response.destroy()
        return
      }
      if (fault === 'hangs') {
        faulty += 1
        return
      }
      const calls = Array.isArray(given) ? given : [given]
      const answers =
        fault === 'none'
          ? await ask(given)
          : await Promise.all(calls.map((call) => answerOne(call)))
      const body = fault === 'none' || Array.isArray(given) ? answers : (answers as unknown[])[0]
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    }
    answering().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faulty: () => faulty,
    async show(next) {
      if (next === 'old heads') newest = await height()
      faulty = 0
      fault = next
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
