import { readFile, writeFile } from 'node:fs/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { freePort } from '../../support/free-port.js'
import {
  startNatsCluster,
  type ClusterServer,
  type NatsCluster,
} from '../../support/nats-cluster.js'
import { startVenue, type StartVenueOptions, type TestVenue } from '../../support/venue.js'

/** Two launchers with their processes start on one machine. */
const READY_WITHIN_MS = 240_000

/** One of the hosts that run every process. */
export interface ClusterHost {
  readonly name: 'a' | 'b'
  readonly venue: TestVenue
  readonly server: ClusterServer
}

/** Three servers of the bus and every process of a venue twice, on one machine; the chain stands beside them. */
export interface ClusterVenue {
  /** The first one's launcher runs the chain. */
  readonly hosts: readonly [ClusterHost, ClusterHost]
  readonly nats: NatsCluster
  /** What a program needs to know of the bus. */
  readonly busEnvironment: Readonly<Record<string, string>>
  /** Stops everything, and removes its files unless they are to be kept. */
  stop(options?: { readonly keepData?: boolean }): Promise<void>
}

/** Ports and order of addresses of a host. */
interface HostSettings {
  readonly nats: NatsCluster
  /** Of the host's own server. */
  readonly place: 0 | 1
  readonly executorPorts: readonly [number, number]
  readonly procfile: string
}

const SECRET = 'the same on each host of a venue'

/** Starts the first host with its chain, then the second one on the same chain. */
export async function startClusterVenue(
  options: Omit<StartVenueOptions, 'dataDir' | 'beside'> = {},
): Promise<ClusterVenue> {
  const nats = await startNatsCluster()
  const dir = await mkdtemp(join(tmpdir(), 'venue-hosts-'))
  const executorPorts = [await freePort(), await freePort()] as const
  const started: TestVenue[] = []
  const stop: ClusterVenue['stop'] = async ({ keepData = false } = {}) => {
    for (const venue of started.toReversed()) {
      // A test may have stopped the launcher to lose its host.
      process.kill(venue.launcherPid, 'SIGCONT')
      await venue.stop({ keepData })
    }
    await nats.stop({ keepData })
    if (!keepData) await rm(dir, { recursive: true, force: true })
  }
  try {
    const procfile = await writeProcfile(dir, executorPorts)
    const settings = (place: 0 | 1) =>
      environmentOf({ nats, place, executorPorts, procfile }, options.env)
    const a = await startVenue({ readyWithinMs: READY_WITHIN_MS, ...options, env: settings(0) })
    started.push(a)
    const b = await startVenue({
      readyWithinMs: READY_WITHIN_MS,
      ...options,
      env: settings(1),
      beside: a,
      feeder: false,
    })
    started.push(b)
    const [n1, n2] = nats.servers as [ClusterServer, ClusterServer, ClusterServer]
    const hosts = [
      { name: 'a', venue: a, server: n1 },
      { name: 'b', venue: b, server: n2 },
    ] as const
    return { hosts, nats, busEnvironment: busEnvironmentOf(nats, 0), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The lines of the Procfile, those that ask an executor with both addresses: the launcher knows its own one only. */
async function writeProcfile(dir: string, ports: readonly number[]): Promise<string> {
  const urls = ports.map((port) => `http://127.0.0.1:${port}`).join(',')
  const text = await readFile(inProject('Procfile'), 'utf8')
  const path = join(dir, 'Procfile')
  await writeFile(
    path,
    text.replaceAll(/^(gateway|matchers): exec /gm, `$&env EXECUTOR_URL=${urls} `),
  )
  return path
}

function environmentOf(
  { nats, place, executorPorts, procfile }: HostSettings,
  env: StartVenueOptions['env'],
): Record<string, string> {
  return {
    ...busEnvironmentOf(nats, place),
    STANDBY: '1',
    EXECUTOR_PORT: `${executorPorts[place]}`,
    // The matcher of one host asks the executor of the other.
    EXECUTOR_SECRET: SECRET,
    PROCFILE: procfile,
    ...env,
  }
}

function busEnvironmentOf({ servers, monitorUrl }: NatsCluster, first: number) {
  const inOrder = [...servers.slice(first), ...servers.slice(0, first)]
  return {
    NATS_URL: inOrder.map(({ url }) => url).join(','),
    NATS_MONITOR_URL: monitorUrl,
    NATS_REPLICAS: `${servers.length}`,
  }
}
