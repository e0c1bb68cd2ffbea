import { BusMisconfigured, BusUnavailable } from './bus.js'
import { readJsz, type JszAnswer } from './nats-monitor.js'

/** What a process asserts of the servers before it uses them. */

/** The oldest supported server version. */
export const MIN_SERVER_VERSION = '2.10.27'

/** The server's facts from the connection handshake. */
export interface ServerFacts {
  readonly serverId: string
  readonly version: string
  readonly maxPayload: number
  readonly jetstream: boolean
}

/**
 * Throws BusMisconfigured unless the server is new enough and takes messages of this size, and BusUnavailable while it runs without
 * JetStream: it turns that off when its disk refuses a write, until it is started again.
 */
export function assertServer(facts: ServerFacts, messageBytes: number): void {
  if (!isAtLeast(facts.version, MIN_SERVER_VERSION)) {
    throw new BusMisconfigured(
      `nats-server ${facts.version} is too old, ${MIN_SERVER_VERSION} is needed`,
    )
  }
  if (facts.maxPayload < messageBytes) {
    throw new BusMisconfigured(
      `nats-server takes ${facts.maxPayload} bytes a message, ${messageBytes} are needed (max_payload)`,
    )
  }
  if (!facts.jetstream)
    throw new BusUnavailable(
      'nats-server runs without JetStream: its configuration has none, or its disk refused a write; then make room and restart it',
    )
}

/** The cluster has no leader, or is new and counts fewer servers than it will. It becomes complete when they see each other. */
export class ClusterIncomplete extends BusUnavailable {}

/** What the monitoring ports are compared with. */
export interface ExpectedServers {
  /** The connected server. */
  readonly serverId: string
  /** Whether that server belongs to a cluster. */
  readonly isClustered: boolean
  readonly replicas: number
  /** What cannot be checked now, for the log. */
  readonly onWarning: (message: string) => void
}

/**
 * Checks at the monitoring ports that every server syncs a write before it acknowledges it, that the connected server is one of
 * them, and that the cluster has a server for each replica. Most of several servers must answer: a process can start while
 * one is down. Throws BusMisconfigured; BusUnavailable when too few answer; ClusterIncomplete when the cluster has no leader
 * or counts fewer servers than there are replicas, as a new one does for a moment.
 */
export async function assertDurable(
  monitorUrls: readonly string[],
  expected: ExpectedServers,
): Promise<void> {
  const { replicas, serverId, isClustered, onWarning } = expected
  if (replicas > 1 && !isClustered) {
    throw new BusMisconfigured(`NATS_REPLICAS=${replicas} needs a cluster, nats-server runs alone`)
  }
  if (replicas > monitorUrls.length && replicas > 1) {
    throw new BusMisconfigured(
      `NATS_REPLICAS=${replicas} needs the monitoring address of every server, NATS_MONITOR_URL has ${monitorUrls.length}`,
    )
  }
  const found = await readReports(monitorUrls, onWarning)
  const ids = new Set(found.map(({ report }) => report.server_id))
  if (ids.size < found.length) {
    throw new BusMisconfigured('two addresses of NATS_MONITOR_URL are of the same server')
  }
  if (!ids.has(serverId) && found.length === monitorUrls.length) {
    throw new BusMisconfigured(
      `${monitorUrls.join(', ')} is not the monitoring port of the connected server`,
    )
  }
  for (const { url, report } of found) assertSyncs(url, report)
  if (replicas > 1) assertComplete(found, replicas)
}

interface ServerReport {
  readonly url: string
  readonly report: JszAnswer
}

/** Throws BusUnavailable also while the server starts: it does not know its configuration then. */
async function readReport(url: string): Promise<ServerReport> {
  const report = await readJsz(url)
  if (report.disabled === true) throw new BusUnavailable(`nats-server at ${url} starts`)
  return { url, report }
}

/** The reports of the servers that answer, which are most of them. */
async function readReports(
  monitorUrls: readonly string[],
  onWarning: (message: string) => void,
): Promise<readonly ServerReport[]> {
  const looks = await Promise.allSettled(monitorUrls.map((url) => readReport(url)))
  const found = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []))
  const silent = looks.flatMap((look) => (look.status === 'rejected' ? [look.reason as Error] : []))
  if (2 * found.length <= monitorUrls.length) {
    throw new BusUnavailable(silent.map(({ message }) => message).join('; '), { cause: silent[0] })
  }
  for (const { message } of silent) {
    onWarning(`${message}: whether that server syncs before it acknowledges is unchecked`)
  }
  return found
}

function assertSyncs(url: string, { config }: JszAnswer): void {
  if (config?.sync_always === true) return
  throw new BusMisconfigured(
    `nats-server at ${url} acknowledges before it syncs: set \`sync_interval: always\` in its jetstream block`,
  )
}

function assertComplete(found: readonly ServerReport[], replicas: number): void {
  for (const { url, report } of found) {
    const servers = report.meta_cluster?.cluster_size ?? 0
    if (servers >= replicas) continue
    throw new ClusterIncomplete(
      `nats-server at ${url} counts ${servers} servers in its cluster, NATS_REPLICAS=${replicas} needs as many`,
    )
  }
  // A server that is cut off names none, while the others go on.
  if (found.every(({ report }) => (report.meta_cluster?.leader ?? '') === ''))
    throw new ClusterIncomplete('the servers of the cluster have elected no leader')
}

/** Compares dotted versions by their first three numbers; a suffix such as `-beta` is ignored. */
export function isAtLeast(version: string, minimum: string): boolean {
  const parts = (text: string): number[] => text.split(/[.+-]/, 3).map((part) => parseInt(part, 10))
  const wanted = parts(minimum)
  for (const [index, part] of parts(version).entries()) {
    const least = wanted[index] ?? 0
    if (part !== least) return part > least
  }
  return true
}
