import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { natsServerConfig } from '../devnet/launcher/nats-server.js'
import { freePort } from '../devnet/launcher/free-port.js'
import { waitFor } from '../devnet/launcher/wait-for.js'
import { natsServerBinary } from './config.js'

const MAX_STORED_BYTES = 10e9
/** What hangs ends by it; a busy machine takes a minute or so. */
const LED_WITHIN_MS = 180_000

/** Three durable servers of the bench on the loopback interface, each with its store in `dir`. */
export interface OwnCluster {
  readonly url: string
  readonly monitorUrls: readonly string[]
  readonly pids: readonly number[]
  stop(): Promise<void>
}

/** The servers end with this process. */
export async function startOwnCluster(dir: string): Promise<OwnCluster> {
  const names = ['n1', 'n2', 'n3']
  const ports = await Promise.all(names.map(async () => [await freePort(), await freePort()]))
  const routePorts = await Promise.all(names.map(freePort))
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`)
  const start = async (name: string, index: number): Promise<ChildProcess> => {
    const [port = 0, monitorPort = 0] = ports[index] ?? []
    const places = { port, monitorPort, dir: join(dir, name), storeDir: join(dir, name, 'store') }
    const cluster = { serverName: name, port: routePorts[index] ?? 0, routes }
    await mkdir(places.storeDir, { recursive: true })
    const file = join(places.dir, 'nats.conf')
    await writeFile(
      file,
      natsServerConfig({ ...places, maxStoredBytes: MAX_STORED_BYTES, cluster }),
    )
    const child = spawn(natsServerBinary(), ['--config', file], { stdio: 'ignore' })
    await once(child, 'spawn')
    const kill = (): void => void child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.removeListener('exit', kill))
    return child
  }
  const children = await Promise.all(names.map(start))
  const monitorUrls = ports.map(([, port]) => `http://127.0.0.1:${port}`)
  for (const url of monitorUrls)
    await waitFor('the cluster to have a leader', LED_WITHIN_MS, async () => {
      const answer = await fetch(new URL('/jsz', url))
      const { meta_cluster: cluster } = (await answer.json()) as {
        meta_cluster?: { leader?: string }
      }
      return (cluster?.leader ?? '') !== '' || undefined
    })
  return {
    url: ports.map(([port]) => `nats://127.0.0.1:${port}`).join(','),
    monitorUrls,
    pids: children.flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    stop: async () => {
      const ended = children.map((child) => once(child, 'exit'))
      for (const child of children) child.kill('SIGKILL')
      await Promise.all(ended)
    },
  }
}
