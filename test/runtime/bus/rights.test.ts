import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUS_USERS, type BusUser } from '../../../bus-schemas/permissions.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { startNatsServer, type NatsServer } from '../../../devnet/launcher/nats-server.js'
import { authorizationBlock, provideSeeds } from '../../../runtime/bus/nats-users.js'
import {
  publications,
  refusedPublications,
  refusedSubscriptions,
  subscriptions,
  untried,
  type Tried,
} from '../../support/bus-rights.js'
import { natsServerBinary } from '../../support/config.js'
import { freePort } from '../../support/free-port.js'
import { tempDir } from '../../support/temp-dir.js'
import { connectPlainly } from '../../support/venue-bus.js'

/** `WRITE_DOCS=1` writes it; then look at what changes. */
const TABLE = inProject('docs/BUS-RIGHTS.md')

const HEAD = `# Rights on the bus

What the server lets each credential do, as \`test/runtime/bus/rights.test.ts\` measures it on a real nats-server: it tries everything
below with every credential. What is not listed is refused to all. Made from \`bus-schemas/permissions.ts\`
([0041](decisions/0041-users-of-the-bus.md), [0043](decisions/0043-archive-of-the-feeds.md)); a line that is new or names one more credential is a new right.
`

type Rights = ReadonlyMap<string, readonly BusUser[]>

describe('the rights on the bus', function () {
  const dir = tempDir()
  const seeds = join(dir.path, 'seeds')
  let server: NatsServer
  before(async () => {
    server = await startNatsServer({
      binary: natsServerBinary(),
      dir: dir.path,
      port: await freePort(),
      authorization: authorizationBlock(await provideSeeds(seeds)),
    })
  })
  after(async () => {
    await server?.child.stop(5_000)
    dir.remove()
  })

  async function measure(
    tried: readonly Tried[],
    refusedTo: typeof refusedPublications,
  ): Promise<Rights> {
    const rights = new Map<string, BusUser[]>()
    for (const user of BUS_USERS) {
      const connection = await connectPlainly({ url: server.url, credentials: seeds }, user)
      const refused = await refusedTo(connection, tried)
      for (const { what, subject } of tried) {
        const granted = rights.get(what) ?? []
        if (!refused.has(subject)) granted.push(user)
        rights.set(what, granted)
      }
    }
    return rights
  }

  const tableOf = (rights: Rights): string =>
    [...rights]
      .filter(([, users]) => users.length > 0)
      .map(([what, users]) => {
        const named = users.length === BUS_USERS.length ? 'all' : users.join(', ')
        return `| \`${what}\` | ${named} |\n`
      })
      .sort()
      .join('')

  it('are those of docs/BUS-RIGHTS.md, for every subject and every administrative call', async () => {
    expect(untried(), 'nothing is tried of these exports of subjects.ts').to.deep.equal([])
    const published = await measure(publications(BUS_USERS), refusedPublications)
    const heard = await measure(subscriptions(BUS_USERS), refusedSubscriptions)
    // A measurement that refuses nothing, or all, measures nothing.
    for (const rights of [published, heard]) {
      const granted = [...rights.values()].map(({ length }) => length)
      expect(granted).to.include(0)
      expect(granted).to.include(1)
    }
    const head = '| subject | credentials |\n| - | - |\n'
    const text =
      `${HEAD}\n## Publishing\n\n${head}${tableOf(published)}` +
      `\n## Hearing\n\n${head}${tableOf(heard)}`
    if (process.env.WRITE_DOCS === '1') writeFileSync(TABLE, text)
    expect(readFileSync(TABLE, 'utf8')).to.equal(text)
  })
})
