import type { IncomingMessage, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import {
  clientAddress,
  endWithRefusal,
  leaveHttp,
  requestIdOf,
} from '../runtime/http/connections.js'
import { refusals, refuse as refusalOf, type Refusal } from '../core/entry/refusals.js'
import { RETRY_AFTER_SEC } from '../core/entry/sent-again.js'
import { takeUpgrades } from '../runtime/http/server.js'
import type { Logger } from '../runtime/process/log.js'

/** Bound of the connections relayed at once. */
export const MAX_RELAYED = 10_000
const CONNECT_TIMEOUT_MS = 2_000
const HANDSHAKE_TIMEOUT_MS = 5_000
const CLOSE_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 1_000

const unavailable = refusalOf(503)

const upgradeRefusals = {
  tooMany: unavailable('too_many_connections', 'too many connections'),
  unavailable: unavailable(
    'fanout_unavailable',
    'websocket service is not available: retry shortly',
  ),
}

export interface UpgradeRelay {
  /**
   * Half-closes every relayed connection towards the fan-out, which then ends it with close code 1001. Resolves when all
   * are closed, at the latest after STOP_TIMEOUT_MS.
   */
  stop(): Promise<void>
}

export interface UpgradeRelayOptions {
  readonly server: Server
  /** Where the fan-out's workers listen, for example `http://127.0.0.1:9001`; at least one. */
  readonly fanoutUrls: readonly URL[]
  /** Number of trusted proxies in front that append to `X-Forwarded-For`. */
  readonly trustedProxies: number
  readonly log: Logger
  /** How long a fan-out that is connected may take to answer the upgrade. */
  readonly handshakeMs?: number
}

/**
 * Relays upgrades of `/v1/ws` to the fan-out as plain connections: the request's head, then bytes in both directions,
 * each side paused while the other cannot accept more. Workers are chosen in turn, skipping those that cannot be
 * reached. Answers 503 when none can or the chosen one stays silent, and 404 to another path.
 */
export function relayUpgrades(options: UpgradeRelayOptions): UpgradeRelay {
  const { server, fanoutUrls, trustedProxies, log } = options
  const { handshakeMs = HANDSHAKE_TIMEOUT_MS } = options
  /** Clients, each with its connection to a worker; undefined while that is being opened. */
  const relayed = new Map<Socket, Socket | undefined>()
  let turn = 0

  takeUpgrades(server, (request, client, head) => {
    leaveHttp(client)
    client.on('error', () => client.destroy())
    if (pathOf(request) !== '/v1/ws') {
      refuseUpgrade({ request, client }, refusals.pathNotFound)
      return
    }
    if (relayed.size >= MAX_RELAYED) {
      refuseUpgrade({ request, client }, upgradeRefusals.tooMany)
      return
    }
    relayed.set(client, undefined)
    client.on('close', () => relayed.delete(client))
    turn = (turn + 1) % fanoutUrls.length
    const workers = [...fanoutUrls.slice(turn), ...fanoutUrls.slice(0, turn)]
    const onJoined = (upstream: Socket): void => void relayed.set(client, upstream)
    const address = clientAddress(request, trustedProxies)
    void joinFirst(workers, { request, client, head, address, log, handshakeMs, onJoined })
  })

  async function stop(): Promise<void> {
    const clients = [...relayed]
    const closed = clients.map(
      ([client]) => new Promise((resolve) => client.once('close', resolve)),
    )
    for (const [client, upstream] of clients) {
      if (upstream === undefined) client.destroy()
      else endRelay(client, upstream)
    }
    const late = setTimeout(() => {
      for (const client of relayed.keys()) client.destroy()
    }, STOP_TIMEOUT_MS)
    await Promise.all(closed)
    clearTimeout(late)
  }
  return { stop }
}

interface Upgrade {
  readonly request: IncomingMessage
  readonly client: Socket
  readonly head: Buffer
  /** The client's address. */
  readonly address: string
  readonly log: Logger
  readonly handshakeMs: number
  readonly onJoined: (upstream: Socket) => void
}

const refuseUpgrade = (
  { request, client }: Pick<Upgrade, 'request' | 'client'>,
  refusal: Refusal,
) =>
  endWithRefusal(client, refusal, {
    requestId: requestIdOf(request.headers),
    ...(refusal.status === 503 && { headers: { 'Retry-After': `${RETRY_AFTER_SEC}` } }),
  })

async function joinFirst(workers: readonly URL[], upgrade: Upgrade): Promise<void> {
  const { client, log } = upgrade
  for (const worker of workers) {
    try {
      const upstream = await connectTo(worker)
      if (client.destroyed) upstream.destroy()
      else join(upgrade, upstream)
      return
    } catch (error) {
      log.warn({ err: error, worker: worker.host }, 'websocket fan-out unreachable')
      if (client.destroyed) return
    }
  }
  refuseUpgrade(upgrade, upgradeRefusals.unavailable)
}

/** Rejects when the worker cannot be reached within CONNECT_TIMEOUT_MS. */
function connectTo(worker: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const upstream = connect({ host: worker.hostname, port: portOf(worker) })
    const late = new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)
    const timer = setTimeout(() => upstream.destroy(late), CONNECT_TIMEOUT_MS)
    upstream.once('error', reject)
    upstream.once('close', () => clearTimeout(timer))
    upstream.once('connect', () => {
      clearTimeout(timer)
      upstream.off('error', reject)
      resolve(upstream)
    })
  })
}

function join(upgrade: Upgrade, upstream: Socket): void {
  const { client, head, onJoined } = upgrade
  onJoined(upstream)
  const late = setTimeout(() => {
    // A stopped process does not answer, but the kernel still accepts connections for it.
    upstream.unpipe(client)
    client.unpipe(upstream)
    refuseUpgrade(upgrade, upgradeRefusals.unavailable)
    upstream.destroy()
  }, upgrade.handshakeMs)
  upstream.once('data', () => clearTimeout(late))
  upstream.once('close', () => clearTimeout(late))
  upstream.on('error', () => client.destroy())
  upstream.on('close', () => closeAfterFlush(client))
  client.on('close', () => upstream.destroy())
  upstream.setNoDelay(true)
  upstream.write(requestHead(upgrade))
  upstream.write(head)
  // pipe() stops reading one side while the other side's buffer is full: that bounds the memory of a relay.
  client.pipe(upstream)
  upstream.pipe(client)
}

/** Passes nothing more on from the client, and what the fan-out still sends: its close frame ends the connection. */
function endRelay(client: Socket, upstream: Socket): void {
  client.unpipe(upstream)
  client.resume()
  upstream.end()
}

/** Closes a connection once its written bytes are sent, at the latest after CLOSE_TIMEOUT_MS: the client may not read. */
function closeAfterFlush(client: Socket): void {
  client.destroySoon()
  setTimeout(() => client.destroy(), CLOSE_TIMEOUT_MS).unref()
}

const portOf = (url: URL): number => (url.port === '' ? 80 : Number(url.port))

const pathOf = (request: IncomingMessage): string => (request.url ?? '').split('?', 1)[0] ?? ''

/** The request's head unchanged, except that `X-Forwarded-For` is the client's address alone. */
function requestHead({ request, address }: Upgrade): string {
  const lines = [`GET ${request.url} HTTP/1.1`]
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    if (name.toLowerCase() !== 'x-forwarded-for') lines.push(`${name}: ${value}`)
  }
  lines.push(`X-Forwarded-For: ${address}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
