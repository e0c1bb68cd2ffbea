import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Ports below those that Linux gives to outgoing connections (32768 and up): such a port may be taken by a connection
 * between the probe and its use.
 */
const FIRST_PORT = 12_000
const PORTS = 20_000
const ATTEMPTS = 100
/** Ports given last, which are not given again: their users may not listen yet. */
const REMEMBERED = 1_000

const given = new Set<number>()

/** A TCP port of 127.0.0.1 on which no process listened a moment ago, and that this process has not been given lately. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = FIRST_PORT + randomInt(PORTS)
    if (given.has(port)) continue
    try {
      await probe(port)
    } catch (error) {
      if (attempt >= ATTEMPTS) throw error
      continue
    }
    remember(port)
    return port
  }
}

function remember(port: number): void {
  given.add(port)
  const [oldest] = given
  if (given.size > REMEMBERED && oldest !== undefined) given.delete(oldest)
}

/** Resolves when a process can listen on the port of 127.0.0.1; rejects with the error of the system otherwise. */
export async function probe(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
