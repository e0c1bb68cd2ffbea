import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { natsServerBinary } from './config.js'

/** A durable bus of one's own on the loopback interface. */
export interface OwnBus {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a nats-server that syncs every write, as the venue's does, with its store in `dir`; ends with us. */
export async function startOwnBus(dir: string): Promise<OwnBus> {
  const port = await freePort()
  const file = join(dir, 'nats.conf')
  const store = JSON.stringify(join(dir, 'store'))
  await writeFile(
    file,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: ${store}, sync_interval: always }\n`,
  )
  const child = spawn(natsServerBinary(), ['--config', file], { stdio: 'ignore' })
  await once(child, 'spawn')
  const exited = once(child, 'exit')
  process.once('exit', () => child.kill('SIGKILL'))
  return {
    url: `nats://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** A port of the loopback interface that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
