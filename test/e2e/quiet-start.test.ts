import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { memoryKibOf } from '../../bench/process-usage.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { startVenue, type TestVenue } from '../support/venue.js'

const IDLE_MS = 20_000
const MEMORY_MIB_MAX = 1024
const LOUD = /"level":"(warn|error|fatal)"|\[(WRN|ERR|FTL)\]/

/** All markets, the demo maker with its flow, and the feeder: what a newcomer starts. */
describe('a venue that is left alone', function () {
  this.timeout(240_000)
  let venue: TestVenue
  after(() => venue?.stop())

  it('logs no warning from its start to the end of 20 idle seconds', async () => {
    const rows = JSON.parse(readFileSync(inProject('data/markets.json'), 'utf8')) as {
      readonly market: string
    }[]
    const markets = rows.map(({ market }) => market)
    venue = await startVenue({ blockTime: 2, demoMaker: true, feeder: true, markets })
    await delay(IDLE_MS)
    const logs = join(venue.dataDir, 'logs')
    const loud = readdirSync(logs).flatMap((name) =>
      readFileSync(join(logs, name), 'utf8')
        .split('\n')
        .filter((line) => LOUD.test(line))
        .map((line) => `${name}: ${line}`),
    )
    expect(loud).to.deep.equal([])
    expect(venue.output()).to.not.match(/WARN|ERROR/)
  })

  it('takes at most a GiB of memory beside its chain, shared pages counted once', async () => {
    const pids = Object.entries({ ...(await venue.pids()), launcher: venue.launcherPid })
    const mib = Object.fromEntries(
      pids
        .filter(([name]) => name !== 'chain')
        .map(([name, pid]) => [name, memoryKibOf(pid).proportional / 1024]),
    )
    const whole = Object.values(mib).reduce((sum, each) => sum + each, 0)
    expect(Object.keys(mib)).to.include.members(['gateway', 'nats-server', 'launcher'])
    expect(whole, JSON.stringify(mib)).to.be.below(MEMORY_MIB_MAX)
  })
})
