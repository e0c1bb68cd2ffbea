import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bus } from '../../runtime/bus/bus.js'
import { busEnv, busPlace } from '../../runtime/bus/nats-access.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { parseEnv } from '../../runtime/process/config.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { natsServerBinary } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { tempDir } from '../support/temp-dir.js'

/** Each host is a loopback address of its own, so that all have the same ports, as in the samples. */
const HOSTS = { a: '127.0.0.1', b: '127.0.0.2', c: '127.0.0.3' } as const

describe('the samples of docs/operating/three', function () {
  this.timeout(120_000)
  const dir = tempDir()
  const servers: ChildProcess[] = []
  const buses: Bus[] = []
  let placed: (file: string) => string

  before(async () => {
    const ports = { 4322: await freePort(), 4323: await freePort(), 6222: await freePort() }
    placed = (file) => {
      let text = readFileSync(inProject(`docs/operating/three/${file}`), 'utf8')
      for (const [host, address] of Object.entries(HOSTS))
        text = text.replaceAll(`host-${host}.internal`, address)
      for (const [port, free] of Object.entries(ports)) text = text.replaceAll(port, `${free}`)
      return text
    }
    for (const host of Object.keys(HOSTS)) {
      const own = join(dir.path, host)
      mkdirSync(own)
      const file = join(own, 'nats-server.conf')
      writeFileSync(file, placed(`nats-server-${host}.conf`).replaceAll('/var/lib/venue', own))
      servers.push(spawn(natsServerBinary(), ['--config', file], { stdio: 'ignore' }))
    }
  })
  after(async () => {
    for (const bus of buses) await bus.close()
    const ended = servers.map((server) => once(server, 'exit'))
    for (const server of servers) server.kill('SIGKILL')
    await Promise.all(ended)
  })

  /** The bus as a process on this host reaches it. */
  async function connectOn(host: 'a' | 'b'): Promise<Bus> {
    const lines = placed(`host-${host}.env`).matchAll(/^([A-Z_]+)=(.*)$/gm)
    const settings = Object.fromEntries(Array.from(lines, ([, name = '', value]) => [name, value]))
    const config = parseEnv(busEnv, settings)
    expect(config.NATS_REPLICAS).to.equal(3)
    expect(config.NATS_URL.startsWith(`nats://${HOSTS[host]}:`)).to.equal(true)
    await eventually(async () => {
      buses.push(await connectNatsBus({ ...busPlace(config), name: host }))
    })
    return buses.at(-1) as Bus
  }

  it('make one bus, on which each stream is on three servers', async () => {
    const [a, b] = [await connectOn('a'), await connectOn('b')]
    const spec = { stream: 'SAMPLE', subject: 'sample', description: '' }
    await eventually(() => a.declareStream(spec))
    await b.declareStream(spec)
    expect(await a.append(spec.subject, Buffer.from('one'))).to.equal(1)
    const [message] = await b.read(spec.stream, 1, 1)
    expect(Buffer.from(message?.data ?? []).toString()).to.equal('one')
  })
})
