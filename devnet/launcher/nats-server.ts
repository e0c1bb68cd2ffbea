import { mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeExit, type Child } from '../../runtime/process/supervisor.js'
import { startChild, type ChildOptions } from './child.js'
import { watchWork } from './progress.js'
import { LauncherError, waitFor } from './wait-for.js'

/** Limits of the devnet's server; files grow as needed, no space is reserved. */
const MAX_MEMORY_STORE = '64MB'
/** Without work of the server: it reads its store first. */
const READY_WITHIN_MS = 30_000
const LAST_LINES = 5

export interface NatsServerOptions {
  /** Path of a nats-server program, 2.10.27 or newer. */
  readonly binary: string
  /** Directory for the server's configuration; the store is `store` below it. */
  readonly dir: string
  /** Port for clients on 127.0.0.1. */
  readonly port: number
  /** Port of the monitoring pages on 127.0.0.1; defaults to any free one. */
  readonly monitorPort?: number
  readonly onLine?: ChildOptions['onLine']
  /** Called as soon as the process exists, long before it is ready. */
  readonly onSpawn?: (child: Child) => void
  /** Its users, as `authorizationBlock` states them; without, every program of this machine may connect. */
  readonly authorization?: string
  /** Most that it stores on disk, in bytes; 20 GB by default. */
  readonly maxStoredBytes?: number
  /** A server of a cluster; it is ready once it follows the cluster's leader. */
  readonly cluster?: ClusterPlace
  /** Without a sync for each write: for a store that is being restored and whose loss costs nothing. */
  readonly isUnsynced?: boolean
}

/** A server's place in a cluster on loopback. */
export interface ClusterPlace {
  /** Unique in the cluster; streams find their servers again by it. */
  readonly serverName: string
  readonly port: number
  /** Addresses of the cluster ports of all servers, its own included, such as `nats://127.0.0.1:6222`. */
  readonly routes: readonly string[]
  /** Where the other servers are told to find it; by default at its port. */
  readonly advertise?: string
}

const DEFAULT_MAX_STORED_BYTES = 20e9
/** Longer than a restore takes. */
const UNSYNCED_INTERVAL = '24h'

export interface NatsServer {
  readonly url: string
  /** Address of the server's monitoring pages. */
  readonly monitorUrl: string
  readonly storeDir: string
  readonly child: Child
}

/**
 * Starts a single durable NATS server and resolves once it serves JetStream and has confirmed that it syncs every
 * write to its store before acknowledging it, or none where that is asked for. Throws LauncherError with the server's
 * last lines otherwise.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const { binary, dir, port, monitorPort = -1, onLine = () => {}, onSpawn = () => {} } = options
  const { maxStoredBytes = DEFAULT_MAX_STORED_BYTES, authorization = '', cluster } = options
  const { isUnsynced = false } = options
  const storeDir = join(dir, 'store')
  const configFile = join(dir, 'nats-server.conf')
  await mkdir(storeDir, { recursive: true })
  await removePortsFiles(dir)
  await writeFile(
    configFile,
    natsServerConfig({
      port,
      monitorPort,
      dir,
      storeDir,
      maxStoredBytes,
      authorization,
      cluster,
      isUnsynced,
    }),
  )
  const lastLines: string[] = []
  const room = awaitRoom(storeDir, () => child.signal('SIGTERM'))
  const child: Child = await startChild({
    command: binary,
    args: ['--config', configFile],
    cwd: dir,
    env: {},
    onLine: (line, stream) => {
      if (DISK_FULL.test(line)) room.await()
      lastLines.push(line)
      if (lastLines.length > LAST_LINES) lastLines.shift()
      onLine(line, stream)
    },
  })
  void child.exited.then(room.stop)
  onSpawn(child)
  const portsFile = join(dir, `nats-server_${child.pid}.ports`)
  try {
    const monitorUrl = await Promise.race([
      becomeReady({ portsFile, storeDir, isUnsynced, hasWorked: watchWork(child.pid) }),
      child.exited.then((exit) => {
        throw new LauncherError(
          `nats-server ended with ${describeExit(exit)}:\n${lastLines.join('\n')}`,
        )
      }),
    ])
    return { url: `nats://127.0.0.1:${port}`, monitorUrl, storeDir, child }
  } catch (error) {
    child.signal('SIGKILL')
    throw error
  }
}

const DISK_FULL = /no space left on device/
/** Free space at which a server that found the disk full is started again. */
const ROOM_BYTES = 16 * 1024 * 1024
const LOOK_FOR_ROOM_EVERY_MS = 500

/**
 * A stream whose write has failed takes no other before the server starts again, so a server that found the disk full is ended
 * as soon as there is room.
 */
function awaitRoom(storeDir: string, end: () => void) {
  let timer: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(storeDir)
    if (bavail * bsize < ROOM_BYTES) return
    clearInterval(timer)
    end()
  }
  return {
    await: () => void (timer ??= setInterval(() => void look(), LOOK_FOR_ROOM_EVERY_MS)),
    stop: () => clearInterval(timer),
  }
}

/** A killed server leaves its file behind, and the system may reuse a process id. */
async function removePortsFiles(dir: string): Promise<void> {
  const stale = (await readdir(dir)).filter((name) => name.endsWith('.ports'))
  await Promise.all(stale.map((name) => rm(join(dir, name), { force: true })))
}

/**
 * The server's configuration: every write is durable before it is acknowledged, but for a store that is being restored; it
 * listens on loopback only.
 */
export function natsServerConfig(places: {
  readonly port: number
  /** -1: the server chooses. */
  readonly monitorPort: number
  readonly dir: string
  readonly storeDir: string
  readonly maxStoredBytes: number
  readonly cluster?: ClusterPlace | undefined
  readonly authorization?: string
  readonly isUnsynced?: boolean
}): string {
  return `# Written by the launcher at every start; changes are lost.
server_name: ${places.cluster?.serverName ?? 'venue-devnet'}
listen: "127.0.0.1:${places.port}"
http: "127.0.0.1:${places.monitorPort}"
ports_file_dir: ${JSON.stringify(places.dir)}
max_payload: 1MB
write_deadline: "10s"
lame_duck_duration: "30s"
lame_duck_grace_period: "2s"
jetstream {
  store_dir: ${JSON.stringify(places.storeDir)}
  sync_interval: ${places.isUnsynced === true ? UNSYNCED_INTERVAL : 'always'}
  max_memory_store: ${MAX_MEMORY_STORE}
  max_file_store: ${places.maxStoredBytes}
  limits { duplicate_window: "10m" }
}
${places.cluster === undefined ? '' : clusterConfig(places.cluster)}${places.authorization ?? ''}`
}

/** Clients are told no addresses of other servers. */
function clusterConfig({ port, routes, advertise }: ClusterPlace): string {
  return `cluster {
  name: venue
  listen: "127.0.0.1:${port}"
  no_advertise: true
${advertise === undefined ? '' : `  advertise: ${JSON.stringify(advertise)}\n`}  pool_size: -1
  routes: [${routes.map((route) => JSON.stringify(route)).join(', ')}]
}
`
}

/** Resolves with the monitoring address once the server is healthy. */
async function becomeReady(places: {
  readonly portsFile: string
  readonly storeDir: string
  readonly isUnsynced: boolean
  readonly hasWorked: () => boolean
}): Promise<string> {
  const { portsFile, storeDir, isUnsynced, hasWorked } = places
  const untilIt = <T>(does: string, ask: () => Promise<T | undefined>) =>
    waitFor(`nats-server to ${does}`, READY_WITHIN_MS, ask, hasWorked)
  const monitorUrl = await untilIt('say its ports', async () =>
    monitorIn(await readFile(portsFile, 'utf8')),
  )
  await untilIt('be healthy', async () => {
    const answer = await fetch(`${monitorUrl}/healthz?js-server-only=true`)
    await answer.body?.cancel()
    return answer.ok || undefined
  })
  await assertStores(monitorUrl, storeDir, !isUnsynced)
  return monitorUrl
}

function monitorIn(portsFile: string): string | undefined {
  const ports = JSON.parse(portsFile) as { monitoring?: string[] }
  return ports.monitoring?.[0]
}

async function assertStores(
  monitorUrl: string,
  storeDir: string,
  isDurable: boolean,
): Promise<void> {
  const answer = await fetch(`${monitorUrl}/jsz?config=1`)
  const { config } = (await answer.json()) as {
    config?: { sync_always?: boolean; store_dir?: string }
  }
  if (isDurable && config?.sync_always !== true)
    throw new LauncherError('nats-server does not sync every write: sync_always is not set')
  if (config?.store_dir?.startsWith(storeDir) !== true)
    throw new LauncherError(`nats-server stores in ${config?.store_dir}, not in ${storeDir}`)
}
