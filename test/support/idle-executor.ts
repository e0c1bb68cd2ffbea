import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An executor that nothing keeps from settling, and that is asked to settle nothing. */
export interface IdleExecutor {
  readonly url: string
  stop(): Promise<void>
}

/** A market is held after a few seconds without an executor, so that its matcher is not ready any more. */
export async function startIdleExecutor(): Promise<IdleExecutor> {
  const server = createServer((_, response) => void response.end('{"faults":{}}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
