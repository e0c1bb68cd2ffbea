import { createServer } from 'node:net'
import { join } from 'node:path'
import type { LauncherConfig } from './config.js'
import { freePort } from './free-port.js'
import { LauncherError } from './launcher-error.js'
import { writeJsonDurably } from './write-file.js'

/** Every port of a running venue, all on 127.0.0.1; one that nothing of ours listens on is absent. */
export interface Ports {
  readonly gateway: number
  readonly executor: number
  readonly ws_fanout: number
  readonly nats?: number
  readonly nats_monitor?: number
  readonly chain?: number
}

/**
 * Settles which ports this venue uses and writes them to `DATA_DIR/ports.json`. Throws LauncherError naming the
 * variable of a port that somebody else listens on.
 */
export async function settlePorts(config: LauncherConfig): Promise<Ports> {
  const { ports, natsUrl, existing, dataDir } = config
  const settled: Ports = {
    gateway: await settle('GATEWAY_PORT', ports.gateway),
    executor: await settle('EXECUTOR_PORT', ports.executor),
    ws_fanout: await freePort(),
    ...(natsUrl === undefined && {
      nats: await settle('NATS_PORT', ports.nats),
      nats_monitor: await freePort(),
    }),
    ...(existing === undefined && { chain: await settle('CHAIN_PORT', ports.chain) }),
  }
  await writeJsonDurably(join(dataDir, 'ports.json'), settled)
  return settled
}

async function settle(variable: string, port: number): Promise<number> {
  if (port === 0) return freePort()
  await new Promise<void>((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (cause) =>
      reject(
        new LauncherError(`port ${port} cannot be used (${cause.message}); set ${variable}`, {
          cause,
        }),
      ),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()))
  })
  return port
}
