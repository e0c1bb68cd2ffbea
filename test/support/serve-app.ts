import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type Koa from 'koa'

export interface ServedApp {
  readonly url: string
  stop(): Promise<void>
}

/** Serves a Koa application on a free loopback port. */
export async function serveApp(app: Koa): Promise<ServedApp> {
  const handle = app.callback()
  const server = createServer((request, response) => void handle(request, response))
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
