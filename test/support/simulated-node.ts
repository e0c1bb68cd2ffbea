import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPublicClient, custom, RpcRequestError, type EIP1193RequestFn } from 'viem'
import type { ChainClient } from '../../chain/reads/client.js'
import { answerRpc } from '../sim/chain-rpc.js'
import type { SimulatedChain } from '../sim/chain.js'

/** Wei that every account has for gas. */
const BALANCE_WEI = 10n ** 24n

/** A client of the simulator's chain in this process, which answers at once. `onRequest` may throw instead. */
export function clientOf(
  chain: SimulatedChain,
  onRequest: (method: string) => void = () => undefined,
): ChainClient {
  const options = {
    chain,
    traces: false,
    onRaw: () => undefined,
    executor: { balanceWei: () => BALANCE_WEI },
  }
  const request = async (body: { method: string; params?: unknown }): Promise<unknown> => {
    onRequest(body.method)
    const answer = JSON.parse(answerRpc(options, JSON.stringify({ id: 1, ...body }))) as Answer
    // As the client of a real node finds it.
    if (answer.error !== undefined) {
      throw new RpcRequestError({ body, error: answer.error, url: 'simulated' })
    }
    return Promise.resolve(answer.result)
  }
  const transport = custom({ request: request as EIP1193RequestFn }, { retryCount: 0 })
  return createPublicClient({ transport, cacheTime: 0, ccipRead: false })
}

interface Answer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string }
}

/** The same chain behind an address of this machine, as a process finds its node. */
export async function serveNode(chain: SimulatedChain): Promise<ServedNode> {
  const options = {
    chain,
    traces: false,
    onRaw: () => undefined,
    executor: { balanceWei: () => BALANCE_WEI },
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(answerRpc(options, Buffer.concat(parts).toString()))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface ServedNode {
  readonly url: string
  stop(): Promise<void>
}
