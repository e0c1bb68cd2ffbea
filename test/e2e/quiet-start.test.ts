import { expect } from 'chai'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { memoryKibOf } from '../../bench/process-usage.js'
import { startVenue, type TestVenue } from '../support/venue.js'

const IDLE_MS = 12_000
const AGAIN_IDLE_MS = 5_000
const MEMORY_MIB_MAX = 640
const LOUD = /"level":"(warn|error|fatal)"|\[(WRN|ERR|FTL)\]/

/** A timer of 10 ms alone would make a hundred. */
const WAKES_PER_SEC_MAX = 60

/** How often a process has gone to sleep so far. */
function sleepsOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])
}

/** What a venue has logged above info. */
function loudLines({ dataDir }: TestVenue): string[] {
  const logs = join(dataDir, 'logs')
  return readdirSync(logs).flatMap((name) =>
    readFileSync(join(logs, name), 'utf8')
      .split('\n')
      .filter((line) => LOUD.test(line))
      .map((line) => `${name}: ${line}`),
  )
}

/** All markets, the demo maker with its flow, and the feeder: what a newcomer starts. */
describe('a venue that is left alone', function () {
  let venue: TestVenue
  let wakesPerSec: number
  after(() => venue?.stop())

  const start = (dataDir?: string) => {
    const env = { DEMO_FLOW: '1' }
    const kept = dataDir === undefined ? {} : { dataDir }
    return startVenue({ blockTime: 2, demoMaker: true, feeder: true, markets: 'all', env, ...kept })
  }

  it('logs no warning from its start to the end of 12 idle seconds', async () => {
    venue = await start()
    const { 'withdrawal-submitter': pid = 0 } = await venue.pids()
    const before = sleepsOf(pid)
    const beganMs = performance.now()
    await delay(IDLE_MS)
    wakesPerSec = ((sleepsOf(pid) - before) * 1_000) / (performance.now() - beganMs)
    expect(loudLines(venue)).to.deep.equal([])
    expect(venue.output()).to.not.match(/WARN|ERROR/)
  })

  it('hardly wakes a process that has no work', () => {
    expect(wakesPerSec).to.be.above(0)
    expect(wakesPerSec).to.be.below(WAKES_PER_SEC_MAX)
  })

  it('takes at most 640 MiB of memory beside its chain, shared pages counted once', async () => {
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

  it('logs none when it is started again, with matches of before', async () => {
    const { dataDir } = venue
    await venue.stop({ keepData: true })
    rmSync(join(dataDir, 'logs'), { recursive: true })
    venue = await start(dataDir)
    await delay(AGAIN_IDLE_MS)
    expect(loudLines(venue)).to.deep.equal([])
    expect(venue.output()).to.not.match(/WARN|ERROR/)
  })
})
