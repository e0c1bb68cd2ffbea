import { expect } from 'chai'
import { mkdtemp } from 'node:fs/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryKibOf } from '../../bench/process-usage.js'
import { provideMarketFile } from '../../data/market-file.js'
import { eventually, onThisMachine } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'

const SERIES = 50
const DAY_SEC = 86_400
/** On an idle machine with two processors. */
const STARTED_WITHIN_MS = 60_000
const MEMORY_MIB = 2_048
/** The start's memory is collected by then. */
const IDLE_MS = 10_000

type Json = Readonly<Record<string, unknown>>

describe('a venue with fifty series of futures', function () {
  let venue: TestVenue | undefined
  afterEach(async () => {
    await venue?.stop()
    venue = undefined
  })

  it('starts within a minute and takes at most 2 GiB with its bus', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'venue-'))
    const firstSec = (Math.floor(Date.now() / 1_000 / DAY_SEC) + 30) * DAY_SEC + 50_400
    // The contracts open 16 at a time: most of these have no series on the chain, and their markets are held.
    const expiries = Array.from({ length: SERIES }, (_, n) => firstSec + n * DAY_SEC)
    await provideMarketFile(join(dataDir, 'markets.json'), SPOT_AND_PERP, expiries)
    const begunAt = performance.now()
    venue = await startVenue({
      dataDir,
      env: { FUTURES_CALENDAR: 'none' },
      readyWithinMs: 2 * STARTED_WITHIN_MS,
    })
    const { gatewayUrl } = venue
    await eventually(async () => expect(await matchersReady(gatewayUrl)).to.equal(SERIES + 2))
    const startedMs = performance.now() - begunAt
    expect(startedMs).to.be.at.most(onThisMachine(STARTED_WITHIN_MS))
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    const memory = await memoryOf(venue)
    const sum = Object.values(memory).reduce((total, mib) => total + mib, 0)
    process.stdout.write(
      `      started in ${Math.round(startedMs / 1_000)} s, ${sum} MiB: ${JSON.stringify(memory)}\n`,
    )
    expect(sum).to.be.at.most(MEMORY_MIB)
  })
})

/** How many markets have a matcher that does its work, by `/v1/health`. */
async function matchersReady(gatewayUrl: string): Promise<number> {
  const answer = await fetch(`${gatewayUrl}/v1/health`)
  const { markets } = (await answer.json()) as { markets: Record<string, Json> }
  const isReady = ({ pending_settlements: pending, trouble }: Json) =>
    typeof pending === 'number' && trouble === undefined
  return Object.values(markets).filter(isReady).length
}

/** Memory of each process of the venue and its children in MiB, shared pages counted once, without the chain. */
async function memoryOf(venue: TestVenue): Promise<Record<string, number>> {
  const { chain, ...others } = await venue.pids()
  expect(chain).to.be.a('number')
  const roots = [...Object.entries(others), ['launcher', venue.launcherPid] as const]
  const own = new Set(roots.map(([, pid]) => pid).concat(chain ?? 0))
  return Object.fromEntries(
    roots.map(([name, pid]) => {
      const all = [pid, ...descendantsOf(pid, own)]
      const kib = all.reduce((sum, each) => sum + memoryKibOf(each).proportional, 0)
      return [name, Math.round(kib / 1_024)]
    }),
  )
}

/** Processes below this one, but for those that are counted by themselves. */
function descendantsOf(pid: number, counted: ReadonlySet<number>): number[] {
  const children = readdirSync('/proc').flatMap((name) => {
    if (!/^[0-9]+$/.test(name) || counted.has(Number(name))) return []
    return parentOf(name) === pid ? [Number(name)] : []
  })
  return children.flatMap((child) => [child, ...descendantsOf(child, counted)])
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
