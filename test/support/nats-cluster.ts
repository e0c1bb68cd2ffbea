import { expect } from 'chai'
import { appendFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  startNatsServer,
  type NatsServer,
  type NatsServerOptions,
} from '../../devnet/launcher/nats-server.js'
import { natsServerBinary } from './config.js'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import { openRelay, type Relay } from './relay.js'

const SERVERS = [0, 1, 2] as const
const LED_WITHIN_MS = 30_000
const HEALTHY_WITHIN_MS = 60_000

/** One server of a cluster. */
export interface ClusterServer {
  readonly name: string
  readonly url: string
  readonly monitorUrl: string
  readonly pid: () => number
  readonly isRunning: () => boolean
  /** SIGKILL; the store stays. */
  kill(): Promise<void>
  /** Starts it again on the same ports and store, after killing it when it runs. */
  restart(): Promise<void>
  /** Ends its routes to the other servers and lets none be made, until `heal`; its clients stay connected. */
  isolate(): void
  heal(): void
}

export interface NatsCluster {
  readonly servers: readonly ClusterServer[]
  /** The servers' addresses, separated by commas, as in NATS_URL. */
  readonly url: string
  /** The same of their monitoring ports. */
  readonly monitorUrl: string
  /** Holds a directory for each server, with its store and what it printed (`log`). */
  readonly dir: string
  /** Starts the servers that were killed, heals the routes, and resolves once every server is healthy and has its routes. */
  mend(): Promise<void>
  /** Ends the servers, and removes their files unless they are to be kept. */
  stop(options?: { readonly keepData?: boolean }): Promise<void>
}

/** The route from one server to another, through a relay that can be cut. */
interface Route {
  readonly ends: readonly number[]
  readonly relay: Relay
}

export interface NatsClusterOptions {
  /** Leaves the third server out, until `mend`. */
  readonly lastIsLate?: boolean
}

/** Three durable servers on loopback; ready for replicated streams when this resolves, unless the last is late. */
export async function startNatsCluster({
  lastIsLate = false,
}: NatsClusterOptions = {}): Promise<NatsCluster> {
  const dir = await mkdtemp(join(tmpdir(), 'venue-cluster-'))
  const routePorts = await Promise.all(SERVERS.map(freePort))
  const nowhere = await freePort()
  const pairs = SERVERS.flatMap((from) =>
    SERVERS.filter((to) => to !== from).map((to) => [from, to]),
  )
  const routes = await Promise.all(
    pairs.map(async (ends): Promise<Route> => {
      const relay = await openRelay(routePorts[ends[1] as number] as number)
      return { ends, relay }
    }),
  )
  const open = async (index: number): Promise<ClusterServer> => {
    const name = `n${index + 1}`
    const relays = routes.filter(({ ends }) => ends[0] === index).map(({ relay }) => relay)
    const cluster = {
      serverName: name,
      port: routePorts[index] as number,
      // Servers tell each other of this address, which would be a way around the relays.
      advertise: `127.0.0.1:${nowhere}`,
      // All servers stand in the list, itself included: its length is the size of a new cluster.
      routes: [routePorts[index], ...relays.map(({ port }) => port)].map(
        (port) => `nats://127.0.0.1:${port}`,
      ),
    }
    await mkdir(join(dir, name))
    const port = await freePort()
    const monitorPort = await freePort()
    const own = routes.filter(({ ends }) => ends.includes(index))
    const log = join(dir, name, 'log')
    const onLine = (line: string): void => appendFileSync(log, `${line}\n`)
    return openServer(
      { binary: natsServerBinary(), dir: join(dir, name), port, monitorPort, cluster, onLine },
      { name, routes: own },
    )
  }
  const servers = await Promise.all(SERVERS.map(open))
  await Promise.all(servers.slice(0, lastIsLate ? -1 : undefined).map((server) => server.restart()))
  if (!lastIsLate) for (const { monitorUrl } of servers) await untilComplete(monitorUrl)
  return {
    servers,
    dir,
    url: servers.map(({ url }) => url).join(','),
    monitorUrl: servers.map(({ monitorUrl }) => monitorUrl).join(','),
    mend: async () => {
      for (const server of servers) server.heal()
      for (const server of servers) if (!server.isRunning()) await server.restart()
      for (const { monitorUrl } of servers) await untilHealthy(monitorUrl)
      for (const { name, monitorUrl } of servers) await untilRouted(name, monitorUrl)
    },
    stop: async ({ keepData = false } = {}) => {
      await Promise.all(servers.map((server) => server.kill()))
      await Promise.all(routes.map(({ relay }) => relay.close()))
      if (!keepData) await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Resolves when the server has a route to each other one: a healthy one may lack a route, which the next loss would show. */
async function untilRouted(name: string, monitorUrl: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(new URL('/routez', monitorUrl))
    const { routes } = (await answer.json()) as { routes: { remote_name: string }[] }
    const others = new Set(routes.map(({ remote_name: other }) => other))
    expect(others.size, `routes of ${name}`).to.equal(SERVERS.length - 1)
  }, HEALTHY_WITHIN_MS)
}

/** Resolves when the server sees a leader and counts every server: the third one may join after the others have elected. */
async function untilComplete(monitorUrl: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(new URL('/jsz', monitorUrl))
    const { meta_cluster: cluster } = (await answer.json()) as { meta_cluster?: MetaCluster }
    const isLed = (cluster?.leader ?? '') !== ''
    return isLed && cluster?.cluster_size === SERVERS.length
  }, LED_WITHIN_MS)
}

/** Resolves when the server follows the leader of the cluster, and has the streams that it stores. */
async function untilHealthy(monitorUrl: string): Promise<void> {
  await eventually(async () => {
    const { ok, body } = await fetch(new URL('/healthz', monitorUrl))
    await body?.cancel()
    return ok
  }, HEALTHY_WITHIN_MS)
}

interface MetaCluster {
  readonly leader?: string
  readonly cluster_size?: number
}

/** A server that `restart` starts. */
function openServer(
  options: NatsServerOptions & Required<Pick<NatsServerOptions, 'monitorPort'>>,
  { name, routes }: { readonly name: string; readonly routes: readonly Route[] },
): ClusterServer {
  let server: NatsServer | undefined
  process.once('exit', () => server?.child.signal('SIGKILL'))
  const kill = async (): Promise<void> => {
    const killed = server?.child
    server = undefined
    killed?.signal('SIGKILL')
    await killed?.exited
  }
  return {
    name,
    url: `nats://127.0.0.1:${options.port}`,
    monitorUrl: `http://127.0.0.1:${options.monitorPort}`,
    pid: () => {
      if (server === undefined) throw new Error(`${name} does not run`)
      return server.child.pid
    },
    isRunning: () => server !== undefined,
    kill,
    restart: async () => {
      await kill()
      server = await startNatsServer(options)
    },
    isolate: () => routes.forEach(({ relay }) => relay.cut()),
    heal: () => routes.forEach(({ relay }) => relay.heal()),
  }
}
