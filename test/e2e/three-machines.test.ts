import { expect } from 'chai'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { busEnv, busPlace } from '../../runtime/bus/nats-access.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { provideUsers } from '../../runtime/bus/nats-users.js'
import { makeCertificates } from '../support/certificates.js'
import { natsServerBinary } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { tempDir } from '../support/temp-dir.js'

const HOSTS = ['a', 'b', 'c'] as const
const PORTS = ['4322', '4323', '6222'] as const
const sample = (name: string): string =>
  readFileSync(inProject(`docs/operating/three/${name}`), 'utf8')

/** The samples of docs/THREE-MACHINES.md on one machine: other ports and directories, and every host is localhost. */
describe('the samples for three machines', function () {
  if (spawnSync('openssl', ['version']).status !== 0) {
    it('are not tried: this machine has no openssl to make certificates with')
    return
  }
  const dir = tempDir()
  const secrets = join(dir.path, 'bus')
  const servers: ChildProcess[] = []
  const buses: Bus[] = []
  const ports = new Map<string, number>()
  /** A text of the samples with the places of this test. */
  const placed = (text: string, host: string): string =>
    [...ports]
      .reduce((so, [place, port]) => so.replaceAll(place, `localhost:${port}`), text)
      .replaceAll('/var/lib/venue/nats', join(dir.path, `store-${host}`))
      .replaceAll('/etc/venue/bus', secrets)

  before(async () => {
    mkdirSync(secrets, { mode: 0o700 })
    const { caFile, certFile, keyFile } = makeCertificates(secrets)
    for (const [name, file] of Object.entries({ ca: caFile, server: certFile }))
      writeFileSync(join(secrets, `${name}.pem`), readFileSync(file))
    writeFileSync(join(secrets, 'server.key'), readFileSync(keyFile))
    await provideUsers(secrets)
    for (const host of HOSTS)
      for (const port of PORTS) ports.set(`host-${host}.internal:${port}`, await freePort())
    for (const host of HOSTS) {
      const file = join(dir.path, `${host}.conf`)
      writeFileSync(file, placed(sample(`nats-server-${host}.conf`), host))
      servers.push(spawn(natsServerBinary(), ['--config', file], { stdio: 'ignore' }))
    }
  })
  after(async () => {
    for (const bus of buses) await bus.close()
    for (const server of servers) {
      const exited = once(server, 'exit')
      server.kill('SIGKILL')
      await exited
    }
    dir.remove()
  })

  it('are servers of one cluster that a process on either host reaches with its settings', async () => {
    for (const host of ['a', 'b']) {
      const text = placed(sample(`host-${host}.env`), host)
      const settings = [...text.matchAll(/^(NATS_\w+)=(.*)$/gm)].map(([, name, value]) => [
        ...[name, value],
      ])
      const env = { NATS_CREDENTIALS: secrets, ...(Object.fromEntries(settings) as object) }
      const place = busPlace(busEnv.parse(env))
      expect(place.replicas).to.equal(3)
      const own = `tls://localhost:${ports.get(`host-${host}.internal:4322`)}`
      expect(place.url.startsWith(own)).to.equal(true)
      const bus = await connectNatsBus({ ...place, name: 'matcher', user: 'matcher' })
      buses.push(bus)
      const stream = { stream: 'FEED_M', subject: 'feed.M', description: 'test' }
      await eventually(() => bus.declareStream(stream).then(() => true))
      await bus.append('feed.M', new TextEncoder().encode(host))
    }
    const messages = await buses[0]?.read('FEED_M', 1, 2)
    expect(messages?.map(({ data }) => Buffer.from(data).toString())).to.deep.equal(['a', 'b'])
  })

  it('name no address of the bus that a process refuses, nor does a page', () => {
    const pages = ['docs/THREE-MACHINES.md', 'docs/GO-LIVE.md', 'docs/BACKUP.md']
    const texts = [...pages.map((page) => readFileSync(inProject(page), 'utf8'))]
    for (const host of ['a', 'b']) texts.push(sample(`host-${host}.env`))
    const plain = texts.flatMap(
      (text) => text.match(/NATS_URL=\S*nats:\/\/(?!127\.0\.0\.1)\S*/g) ?? [],
    )
    expect(plain).to.deep.equal([])
  })
})
