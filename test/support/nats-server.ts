import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  startNatsServer as start,
  type NatsServerOptions,
} from '../../devnet/launcher/nats-server.js'
import { natsServerBinary } from './config.js'
import { freePort } from './free-port.js'

const STOP_GRACE_MS = 5_000

export interface TestNatsServer {
  readonly url: string
  /** Of the server that was started first. */
  readonly monitorUrl: string
  /** Ends the server and removes its store; nothing may be called afterwards. */
  stop(): Promise<void>
  /** SIGKILL, as a crash would; the store stays for `restart`. */
  kill(): Promise<void>
  /** Starts it again on the same port and store, after stopping it when it runs. */
  restart(): Promise<void>
}

/** A throw-away durable NATS server on a free port, with a store of its own; ready for clients when this resolves. */
export async function startNatsServer(
  options: Pick<NatsServerOptions, 'isUnsynced'> = {},
): Promise<TestNatsServer> {
  const binary = natsServerBinary()
  const dir = await mkdtemp(join(tmpdir(), 'venue-nats-'))
  const port = await freePort()
  let server = await start({ ...options, binary, dir, port })
  const killAtExit = () => server.child.signal('SIGKILL')
  process.once('exit', killAtExit)
  return {
    url: server.url,
    monitorUrl: server.monitorUrl,
    stop: async () => {
      await server.child.stop(STOP_GRACE_MS)
      process.removeListener('exit', killAtExit)
      await rm(dir, { recursive: true, force: true })
    },
    kill: async () => {
      server.child.signal('SIGKILL')
      await server.child.exited
    },
    restart: async () => {
      await server.child.stop(STOP_GRACE_MS)
      server = await start({ ...options, binary, dir, port })
    },
  }
}
