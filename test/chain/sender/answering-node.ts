import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Question {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a node answers to a question: a result, or the message of an error. */
export type Answering = (question: Question) => unknown

export interface AnsweringNode {
  readonly rpcUrl: string
  /** What it was sent. */
  readonly bodies: readonly unknown[]
  readonly stop: () => Promise<unknown>
}

/** A node that answers so, by default nothing. */
export async function startNode(answering: Answering = () => null): Promise<AnsweringNode> {
  const bodies: unknown[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const asked = JSON.parse(text) as Question | Question[]
      bodies.push(asked)
      const answer = async (question: Question) => {
        const result = await answering(question)
        const said = result instanceof Error ? { error: errorOf(result) } : { result }
        return { jsonrpc: '2.0', id: question.id, ...said }
      }
      const answers = Array.isArray(asked) ? Promise.all(asked.map(answer)) : answer(asked)
      const headers = { 'content-type': 'application/json' }
      void answers.then((said) => response.writeHead(200, headers).end(JSON.stringify(said)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { bodies, rpcUrl: `http://127.0.0.1:${port}`, stop }
}

const errorOf = ({ message }: Error) => ({ code: -32_000, message })
