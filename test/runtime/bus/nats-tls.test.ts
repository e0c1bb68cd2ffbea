import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { startNatsServer, type NatsServer } from '../../../devnet/launcher/nats-server.js'
import { BusAccessRefused, readAccess, type BusPlace } from '../../../runtime/bus/nats-access.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { authorizationBlock, provideSeeds } from '../../../runtime/bus/nats-users.js'
import { makeCertificates } from '../../support/certificates.js'
import { natsServerBinary } from '../../support/config.js'
import { freePort } from '../../support/free-port.js'
import { tempDir } from '../../support/temp-dir.js'
import { connectPlainly } from '../../support/venue-bus.js'
import { bytes } from './probes.js'

describe('the way to the bus', function () {
  it('is loopback, or encrypted and with credentials; every other one is refused', () => {
    const refusal = (place: BusPlace) => () => readAccess(place, undefined)
    for (const url of ['nats://10.0.0.1:4222', 'bus.example:4222', 'ws://127.0.0.1.example:1'])
      expect(refusal({ url }), url).to.throw(BusAccessRefused, 'neither on loopback nor encrypted')
    expect(refusal({ url: 'tls://bus.example:4222' })).to.throw(
      BusAccessRefused,
      'set NATS_CREDENTIALS',
    )
    expect(refusal({ url: 'tls://127.0.0.1:1,nats://127.0.0.1:2' })).to.throw(
      BusAccessRefused,
      'others without',
    )
    expect(refusal({ url: 'tls://127.0.0.1:1', tls: { certFile: '/c.pem' } })).to.throw(
      BusAccessRefused,
      'belong together',
    )
    for (const url of ['nats://127.0.0.1:1', 'localhost:4222', 'nats://[::1]:1,nats://127.0.0.2:1'])
      expect(refusal({ url }), url).not.to.throw()
  })

  describe('with TLS', () => {
    const dir = tempDir()
    const seeds = join(dir.path, 'seeds')
    let server: NatsServer
    let place: BusPlace
    if (spawnSync('openssl', ['version']).status !== 0) {
      it('is not tried: this machine has no openssl to make certificates with')
      return
    }
    before(async () => {
      const { caFile, certFile, keyFile } = makeCertificates(dir.path)
      const tls = `tls { cert_file: ${JSON.stringify(certFile)}, key_file: ${JSON.stringify(keyFile)} }\n`
      server = await startNatsServer({
        binary: natsServerBinary(),
        dir: dir.path,
        port: await freePort(),
        authorization: authorizationBlock(await provideSeeds(seeds)) + tls,
      })
      const url = server.url.replace('nats://127.0.0.1', 'tls://localhost')
      place = { url, credentials: seeds, tls: { caFile } }
    })
    after(async () => {
      await server?.child.stop(5_000)
      dir.remove()
    })

    it('carries a venue, with the authority of NATS_CA_FILE', async () => {
      const warnings: string[] = []
      const bus = await connectNatsBus({
        ...place,
        name: 'matcher',
        user: 'matcher',
        onWarning: (message) => warnings.push(message),
      })
      await bus.declareStream({ stream: 'FEED_M', subject: 'feed.M', description: 'test' })
      expect(await bus.append('feed.M', bytes('x'))).to.equal(1)
      await bus.close()
    })

    it('is not made with a server of another authority, nor with one without TLS', async () => {
      const { credentials, url } = place
      const failure = async (other: BusPlace) =>
        connectPlainly(other, 'matcher').then(
          () => 'connected',
          (error: unknown) => String(error),
        )
      expect(await failure({ url, credentials })).to.match(/certificate/i)
      const plainDir = tempDir()
      const plain = await startNatsServer({
        binary: natsServerBinary(),
        dir: plainDir.path,
        port: await freePort(),
      })
      const asTls = plain.url.replace('nats://127.0.0.1', 'tls://localhost')
      expect(await failure({ ...place, url: asTls })).to.match(/tls/i)
      await plain.child.stop(5_000)
      plainDir.remove()
    })
  })
})
