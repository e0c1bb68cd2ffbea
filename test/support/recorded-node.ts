import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

/** What a node answered, without its id. */
const answer = z.union([
  z.object({ result: z.unknown() }).strict(),
  z.object({ error: z.looseObject({ code: z.number(), message: z.string() }) }).strict(),
])
type Answer = z.infer<typeof answer>

/** What a node was asked and what it answered, by the method and its parameters as JSON. */
export const recordedAnswers = z.record(z.string(), answer)
export type RecordedAnswers = z.infer<typeof recordedAnswers>

/** The file of what a node answered to `./venue check-deployment`; `npm run record-node` writes it. */
export const RECORDED_NODE = 'test/chain/contracts/recorded-node.json'

export const recordedNode = z.object({
  /** The deployment file. */
  deployment: z.looseObject({
    matching: z.string(),
    batch_executor: z.string(),
    withdrawal_module: z.string(),
    spot_trade_module: z.string(),
    spot_manager: z.string(),
  }),
  /** Addresses. */
  senders: z.object({
    executor: z.string(),
    depositSubmitter: z.string(),
    withdrawalSubmitter: z.string(),
  }),
  /** Of a chain that has what a venue needs, and of one that lacks a thing of each kind. */
  complete: recordedAnswers,
  faulty: recordedAnswers,
})
export type RecordedNode = z.infer<typeof recordedNode>

const call = z.object({
  id: z.number(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
type Call = z.infer<typeof call>

/** A node of JSON-RPC on loopback. */
export interface ServedRpc {
  readonly rpcUrl: string
  stop(): Promise<void>
}

/**
 * A node that has the recorded answers and no other: what was never asked is an error of the node. With `nowSec` its newest block
 * is of that time, in unix seconds.
 */
export const serveRecordedNode = (
  answers: RecordedAnswers,
  { nowSec }: { readonly nowSec?: number } = {},
): Promise<ServedRpc> =>
  serveRpc((asked) => {
    const answered = answers[keyOf(asked)]
    if (answered === undefined)
      return Promise.resolve({
        error: { code: -32_601, message: `not recorded: ${keyOf(asked)}` },
      })
    const { method } = asked
    return Promise.resolve(
      nowSec !== undefined && method.startsWith('eth_getBlockBy')
        ? madeAt(answered, nowSec)
        : answered,
    )
  })

/** The block of an answer as if it had been made at another time, in unix seconds. */
function madeAt(answered: Answer, nowSec: number): Answer {
  if (!('result' in answered)) return answered
  const timestamp = `0x${nowSec.toString(16)}`
  return { result: { ...(answered.result as object), timestamp } }
}

/** Hands every call on to the node at `target`, and keeps what that answers. */
export async function recordNode(
  target: string,
): Promise<ServedRpc & { readonly answers: RecordedAnswers }> {
  const answers: RecordedAnswers = {}
  const served = await serveRpc(async (asked) => {
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...asked }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    const found = answer.parse(error === undefined ? { result } : { error })
    answers[keyOf(asked)] = found
    return found
  })
  return { ...served, answers }
}

const keyOf = ({ method, params }: Call): string => `${method} ${JSON.stringify(params)}`

/**
 * Programs of calls are refused, as by a node that runs no creation code: what they hold depends on what is asked together,
 * and the same calls come one by one then.
 */
const REFUSED: Answer = { error: { code: 3, message: 'execution reverted', data: '0x' } }

const isProgram = ({ method, params: [first] }: Call): boolean =>
  method === 'eth_call' && typeof first === 'object' && first !== null && !('to' in first)

async function serveRpc(answerTo: (asked: Call) => Promise<Answer>): Promise<ServedRpc> {
  const one = async (given: unknown) => {
    const asked = call.parse(given)
    const found = isProgram(asked) ? REFUSED : await answerTo(asked)
    return { jsonrpc: '2.0', id: asked.id, ...found }
  }
  const server = createServer((request, response) => {
    const answered = async (): Promise<void> => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown
      const answers = Array.isArray(body) ? await Promise.all(body.map(one)) : await one(body)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
    }
    answered().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
