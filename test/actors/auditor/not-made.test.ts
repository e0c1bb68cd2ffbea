import { expect } from 'chai'
import { join } from 'node:path'
import { startNatsServer, type NatsServer } from '../../../devnet/launcher/nats-server.js'
import { runAudit } from '../../support/audit.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { aMarket } from '../../support/builders.js'
import { inheritedEnvironment, natsServerBinary } from '../../support/config.js'
import { freePort } from '../../support/free-port.js'
import { registerMarkets } from '../../support/registered.js'
import { tempDir } from '../../support/temp-dir.js'

describe('an audit that is not made (OPE-049)', function () {
  const dir = tempDir()
  let server: NatsServer
  before(async () => {
    server = await startNatsServer({
      binary: natsServerBinary(),
      dir: join(dir.path, 'nats'),
      port: await freePort(),
    })
  })
  after(async () => {
    await server?.child.stop(5_000)
    dir.remove()
  })

  const register = async () => {
    const bus = await connectNatsBus({ url: server.url, name: 'test' })
    await registerMarkets(bus, [aMarket()])
    await bus.close()
  }
  const run = (NATS_URL: string) =>
    runAudit({
      ...inheritedEnvironment(),
      DATA_DIR: dir.path,
      NATS_URL,
      RPC_URL: 'http://127.0.0.1:1',
    })

  it('says in one line, with exit code 2, that no market is registered', async () => {
    const { code, output } = await run(server.url)
    expect(output).to.equal(
      'venue: the audit was not made: the stream MARKETS has no market: start the venue, or restore the stream\n',
    )
    expect(code).to.equal(2)
  })

  for (const [what, why] of [
    ['bus', 'the bus at nats://127.0.0.1:1 does not answer: is the venue running?'],
    ['chain', 'no answer from the chain: newest block'],
  ] as const)
    it(`says in one line, with exit code 2, that the ${what} does not answer`, async () => {
      if (what === 'chain') await register()
      const { code, output } = await run(what === 'bus' ? 'nats://127.0.0.1:1' : server.url)
      expect(output).to.match(/^venue: the audit was not made: .*\n$/)
      expect(output).to.include(why)
      expect(code).to.equal(2)
    })
})
