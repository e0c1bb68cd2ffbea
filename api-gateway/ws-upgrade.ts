import type { IncomingMessage, Server } from 'node:http'
import { type Socket, connect } from 'node:net'
import type { Logger } from '../bus-schemas/log.js'
import { endWithJson } from './http-server.js'

/** Most connections relayed at once. */
export const MAX_RELAYED = 10_000
const CONNECT_TIMEOUT_MS = 2_000
const CLOSE_TIMEOUT_MS = 5_000

export interface UpgradeRelay {
  /** Cuts every relayed connection. */
  stop(): void
}

export interface UpgradeRelayOptions {
  readonly server: Server
  /** Where the fan-out's workers listen, for example `http://127.0.0.1:9001`; at least one. */
  readonly fanoutUrls: readonly URL[]
  readonly log: Logger
}

/**
 * Hands upgrades of `/v1/ws` to the fan-out as bare connections: the request's head, then bytes both ways, each side
 * paused while the other cannot take more. Workers get connections in turn, and one that cannot be reached is passed
 * over. When none can, the answer is 503; another path is 404.
 */
export function relayUpgrades({ server, fanoutUrls, log }: UpgradeRelayOptions): UpgradeRelay {
  const relayed = new Set<Socket>()
  let turn = 0

  server.on('upgrade', (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => client.destroy())
    if (pathOf(request) !== '/v1/ws') {
      endWithJson(client, 404, { error: 'no such path', code: 'not_found' })
      return
    }
    if (relayed.size >= MAX_RELAYED) {
      endWithJson(client, 503, { error: 'too many connections', code: 'too_many_connections' })
      return
    }
    relayed.add(client)
    client.on('close', () => relayed.delete(client))
    turn = (turn + 1) % fanoutUrls.length
    const workers = [...fanoutUrls.slice(turn), ...fanoutUrls.slice(0, turn)]
    void joinFirst(workers, { request, client, head, log })
  })

  return {
    stop: () => {
      for (const client of relayed) client.destroy()
    },
  }
}

interface Upgrade {
  readonly request: IncomingMessage
  readonly client: Socket
  readonly head: Buffer
  readonly log: Logger
}

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
  endWithJson(client, 503, {
    error: 'websocket service is not available: retry shortly',
    code: 'fanout_unavailable',
  })
}

/** Rejects with what went wrong, also when it takes longer than CONNECT_TIMEOUT_MS. */
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

function join({ request, client, head }: Upgrade, upstream: Socket): void {
  upstream.on('error', () => client.destroy())
  upstream.on('close', () => closeSoon(client))
  client.on('close', () => upstream.destroy())
  upstream.setNoDelay(true)
  upstream.write(requestHead(request))
  upstream.write(head)
  // pipe() stops reading one side while the other side's buffer is full, so nothing piles up here.
  client.pipe(upstream)
  upstream.pipe(client)
}

/** Lets what is already written reach the client, but not for ever: it may have stopped reading. */
function closeSoon(client: Socket): void {
  client.destroySoon()
  setTimeout(() => client.destroy(), CLOSE_TIMEOUT_MS).unref()
}

const portOf = (url: URL): number => (url.port === '' ? 80 : Number(url.port))

const pathOf = (request: IncomingMessage): string => (request.url ?? '').split('?', 1)[0] ?? ''

/** The request's head as it came, with the caller's address appended to `X-Forwarded-For`. */
function requestHead(request: IncomingMessage): string {
  const lines = [`GET ${request.url} HTTP/1.1`]
  const forwarded: string[] = []
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const [name = '', value = ''] = request.rawHeaders.slice(i, i + 2)
    if (name.toLowerCase() === 'x-forwarded-for') forwarded.push(value)
    else lines.push(`${name}: ${value}`)
  }
  forwarded.push(request.socket.remoteAddress ?? 'unknown')
  lines.push(`X-Forwarded-For: ${forwarded.join(', ')}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
