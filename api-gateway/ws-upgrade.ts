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
  /** Where the fan-out listens, for example `http://127.0.0.1:9001`. */
  readonly fanoutUrl: URL
  readonly log: Logger
}

/**
 * Hands upgrades of `/v1/ws` to the fan-out as bare connections: the request's head, then bytes both ways, each side
 * paused while the other cannot take more. A fan-out that cannot be reached answers 503, another path 404.
 */
export function relayUpgrades({ server, fanoutUrl, log }: UpgradeRelayOptions): UpgradeRelay {
  const relayed = new Set<Socket>()

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
    const upstream = connect({ host: fanoutUrl.hostname, port: portOf(fanoutUrl) })
    joinWhenConnected({ request, client, head, upstream }, (error) => {
      log.warn({ err: error }, 'websocket fan-out unreachable')
      endWithJson(client, 503, {
        error: 'websocket service is not available: retry shortly',
        code: 'fanout_unavailable',
      })
    })
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
  readonly upstream: Socket
}

function joinWhenConnected(upgrade: Upgrade, onUnreachable: (error: Error) => void): void {
  const { request, client, head, upstream } = upgrade
  let connected = false
  const timer = setTimeout(() => {
    upstream.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`))
  }, CONNECT_TIMEOUT_MS)
  upstream.on('error', (error) => {
    clearTimeout(timer)
    if (connected) client.destroy()
    else onUnreachable(error)
  })
  upstream.on('connect', () => {
    clearTimeout(timer)
    connected = true
    upstream.setNoDelay(true)
    upstream.write(requestHead(request))
    upstream.write(head)
    // pipe() stops reading one side while the other side's buffer is full, so nothing piles up here.
    client.pipe(upstream)
    upstream.pipe(client)
  })
  upstream.on('close', () => {
    if (connected) closeSoon(client)
  })
  client.on('close', () => {
    clearTimeout(timer)
    upstream.destroy()
  })
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
