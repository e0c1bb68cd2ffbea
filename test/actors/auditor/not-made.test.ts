import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startNatsServer, type NatsServer } from '../../../devnet/launcher/nats-server.js'
import { runAudit } from '../../support/audit.js'
import { testAddresses } from '../../support/builders.js'
import { inheritedEnvironment, natsServerBinary } from '../../support/config.js'
import { freePort } from '../../support/free-port.js'
import { tempDir } from '../../support/temp-dir.js'

describe('an audit that is not made', function () {
  const dir = tempDir()
  const deployment = join(dir.path, 'deployment.json')
  let server: NatsServer
  before(async () => {
    writeFileSync(deployment, JSON.stringify({ chain_id: 1, ...testAddresses }))
    server = await startNatsServer({
      ...{ binary: natsServerBinary(), dir: join(dir.path, 'nats'), port: await freePort() },
    })
  })
  after(async () => {
    await server?.child.stop(5_000)
    dir.remove()
  })

  const run = (NATS_URL: string) =>
    runAudit({
      ...{ ...inheritedEnvironment(), DATA_DIR: dir.path, DEPLOYMENT_FILE: deployment },
      ...{ NATS_URL, RPC_URL: 'http://127.0.0.1:1' },
    })

  for (const [what, why] of [
    ['bus', 'the bus at nats://127.0.0.1:1 does not answer: is the venue running?'],
    ['chain', 'no answer from the chain: newest block'],
  ] as const)
    it(`says in one line, with exit code 2, that the ${what} does not answer`, async () => {
      const { code, output } = await run(what === 'bus' ? 'nats://127.0.0.1:1' : server.url)
      expect(output).to.match(/^venue: the audit was not made: .*\n$/)
      expect(output).to.include(why)
      expect(code).to.equal(2)
    })
})
