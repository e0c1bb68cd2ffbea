import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../devnet/launcher/free-port.js'
import { natsServerBinary } from './config.js'

/** A durable bus of the bench on the loopback interface. */
export interface OwnBus {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a nats-server that syncs every write, as the venue's does, with its store in `dir`; it ends with this process.
 */
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
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  return {
    url: `nats://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM')
      await exited
      process.removeListener('exit', kill)
    },
  }
}
