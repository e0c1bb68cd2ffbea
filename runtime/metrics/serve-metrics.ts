import { once } from 'node:events'
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { isIPv6, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isOfGroup } from '../process/private-files.js'
import type { Metrics } from './metrics.js'

export interface MetricsTarget {
  /** The process, unique among those that run on this machine. */
  readonly process: string
  /** Directory of the target files; made if there is none. */
  readonly dir: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/**
 * Serves `GET /metrics` and writes `<dir>/<process>.json`, which names the address in the form of Prometheus' file-based
 * discovery. A process that starts again overwrites its file; one that is gone leaves it, so that its target is down.
 * Resolves once it listens.
 */
export async function serveMetrics(
  metrics: Metrics,
  { process: name, dir, host, port }: MetricsTarget,
): Promise<void> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('GET /metrics\n')
      return
    }
    metrics.text().then(
      ({ contentType, body }) => response.writeHead(200, { 'content-type': contentType }).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  // In a worker of node's cluster the port is the worker's own.
  server.listen({ port, host, exclusive: true })
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  const target = `${isIPv6(host) ? `[${host}]` : host}:${taken}`
  writeTarget(dir, name, [{ targets: [target], labels: { process: name } }])
  // It serves until the process ends, so that a stop that hangs can be seen; it keeps no process alive.
  server.unref()
}

/** Replaced in one step, because Prometheus may read it at any time. */
function writeTarget(dir: string, name: string, content: unknown): void {
  mkdirSync(dir, { recursive: true })
  const path = join(dir, `${name}.json`)
  writeFileSync(`${path}.new`, `${JSON.stringify(content)}\n`)
  // In a directory of a group the user of Prometheus reads it, which is no member.
  if (isOfGroup(dir)) chmodSync(`${path}.new`, 0o644)
  renameSync(`${path}.new`, path)
}
