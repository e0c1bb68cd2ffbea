import { expect } from 'chai'
import { describe, it } from 'mocha'
import { connect } from 'nats'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecentVersion } from '../../devnet/launcher/binaries.js'
import { startNatsServer as start } from '../../devnet/launcher/nats-server.js'
import { natsServerBinary } from '../support/config.js'
import { startNatsServer, type TestNatsServer } from '../support/nats-server.js'

async function connectTo(server: TestNatsServer) {
  const connection = await connect({ servers: server.url })
  const manager = await connection.jetstreamManager()
  return { connection, manager, jetstream: connection.jetstream() }
}

describe('devnet/nats-server', () => {
  it('keeps an acknowledged message through SIGKILL and a restart on the same port', async () => {
    const server = await startNatsServer()
    try {
      const before = await connectTo(server)
      await before.manager.streams.add({ name: 'KEPT', subjects: ['kept'] })
      const { seq } = await before.jetstream.publish('kept', 'one')
      await before.connection.close()
      await server.kill()
      await server.restart()
      const after = await connectTo(server)
      const message = await after.manager.streams.getMessage('KEPT', { seq })
      await after.connection.close()
      expect(message.string()).to.equal('one')
    } finally {
      await server.stop()
    }
  })

  it('says why the server did not start', async () => {
    const server = await startNatsServer()
    const dir = await mkdtemp(join(tmpdir(), 'venue-nats-taken-'))
    const port = parseInt(server.url.slice('nats://127.0.0.1:'.length))
    const outcome = await start({ binary: natsServerBinary(), dir, port }).catch(String)
    await rm(dir, { recursive: true, force: true })
    await server.stop()
    expect(outcome).to.match(
      /LauncherError: nats-server ended with code 1[^]*address already in use/,
    )
  })

  it('takes 2.10.27 and newer, refuses what cannot promise durable writes', () => {
    expect(isRecentVersion('nats-server: v2.10.27')).to.equal(true)
    expect(isRecentVersion('nats-server: v2.15.1')).to.equal(true)
    expect(isRecentVersion('nats-server: v3.0.0')).to.equal(true)
    expect(isRecentVersion('nats-server: v2.10.26')).to.equal(false)
    expect(isRecentVersion('nats-server: v2.9.10')).to.equal(false)
    expect(isRecentVersion('something else')).to.equal(false)
  })
})
