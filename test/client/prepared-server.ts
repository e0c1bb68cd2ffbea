import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What is answered next; `drop` cuts the connection. */
export type PreparedAnswer =
  | {
      readonly status: number
      readonly body: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  | 'drop'

export interface PreparedServer {
  readonly baseUrl: string
  /** Every request so far. */
  readonly asked: { readonly line: string; readonly body: string; readonly auth: unknown }[]
  /** Taken from the front; 500 once there are none. */
  answers: PreparedAnswer[]
  close(): void
}

/** An HTTP server that answers what the test prepared, whatever it is asked. */
export async function aPreparedServer(): Promise<PreparedServer> {
  const asked: PreparedServer['asked'] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const auth = request.headers['x-service-auth']
      asked.push({ line: `${request.method} ${request.url}`, body: text, auth })
      const answer = prepared.answers.shift() ?? {
        status: 500,
        body: { error: 'nothing prepared' },
      }
      if (answer === 'drop') {
        request.socket.destroy()
        return
      }
      const { headers } = 'headers' in answer ? answer : {}
      response.writeHead(answer.status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(answer.body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const prepared: PreparedServer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answers: [],
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return prepared
}
