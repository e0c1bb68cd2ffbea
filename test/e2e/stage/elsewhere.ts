import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildClient } from '../../../devnet/build-client.js'

/** A site of another origin that serves the browser build of the client. */
export interface Elsewhere {
  readonly origin: string
  close(): Promise<void>
}

export async function serveClient(): Promise<Elsewhere> {
  const directory = await mkdtemp(join(tmpdir(), 'client-'))
  await buildClient(directory)
  const script = await readFile(join(directory, 'lib/browser.js'))
  await rm(directory, { recursive: true })
  const server = createServer(({ url }, response) => {
    const isScript = url === '/browser.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><title>elsewhere</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
