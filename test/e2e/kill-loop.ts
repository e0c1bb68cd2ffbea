import { readCommandLine } from '../../runtime/process/command-line.js'
import { SPOT_ALONE, startVenue } from '../support/venue.js'
import {
  describePause,
  RECOVERED_WITHIN_MS,
  runClusterKillLoop,
} from './stage/cluster-kill-loop.js'
import { startClusterVenue } from './stage/cluster-venue.js'
import { describeTrades, expectTaken, KILL_LOOP_VENUE, runKillLoop } from './stage/kill-loop.js'

const USAGE = `usage: npm run kill-loop -- [--cluster] [--cycles N] [--seed S] [--every K]

  --cluster   three servers of the bus and every process twice: a server, a process, a host is killed, or a server cut off
  --cycles N  how often processes are killed; 100 by default
  --seed S    the same seed gives the same order of kills
  --every K   looks for all that was sent after so many cycles, and after the last; 25 by default`

/** The kill loop by hand, for as long as one likes. */
const { values } = readCommandLine(USAGE, {
  options: {
    cluster: { type: 'boolean', default: false },
    cycles: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    every: { type: 'string', default: '25' },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const wholeNumber = (text: string): number => {
  const value = parseInt(text, 10)
  if (!(value > 0)) throw new Error(`${text} is not a whole number above 0`)
  return value
}
const loop = {
  cycles: wholeNumber(values.cycles),
  seed: wholeNumber(values.seed),
  reconcileEvery: wholeNumber(values.every),
  say,
}

async function killProcesses(): Promise<void> {
  const venue = await startVenue(KILL_LOOP_VENUE)
  say(`the venue's files are in ${venue.dataDir}, kept when something is found`)
  try {
    const { kills, orderIds, trades } = await runKillLoop({ venue, ...loop })
    await venue.stop({ keepData: true })
    expectTaken(venue.dataDir, orderIds)
    say(
      `${kills} kills, ${orderIds.length} orders, ${describeTrades(trades)}: nothing lost, nothing doubled`,
    )
    await venue.stop()
  } catch (error) {
    say(String((error as Error).stack ?? error))
    say(venue.output())
    await venue.stop({ keepData: true })
    process.exitCode = 1
  }
}

async function killInCluster(): Promise<void> {
  const cluster = await startClusterVenue({ ...KILL_LOOP_VENUE, markets: SPOT_ALONE })
  const dirs = [...cluster.hosts.map(({ venue }) => venue.dataDir), cluster.nats.dir]
  say(`the files of hosts and bus are in ${dirs.join(', ')}, kept when something is found`)
  try {
    const result = await runClusterKillLoop({ cluster, ...loop })
    const { kills, orderIds, trades, pauses, spared } = result
    say(
      `${kills} losses, ${orderIds.length} orders, ${describeTrades(trades)}: nothing lost, nothing doubled`,
    )
    for (const what of spared) say(`not tried in so few cycles: ${what}`)
    const late = pauses.filter(
      ({ ordersMs, settledMs }) => Math.max(ordersMs, settledMs) > RECOVERED_WITHIN_MS,
    )
    for (const pause of late) say(`later than promised: ${describePause(pause)}`)
    if (late.length > 0) process.exitCode = 1
    await cluster.stop()
  } catch (error) {
    say(String((error as Error).stack ?? error))
    for (const { venue } of cluster.hosts) say(venue.output())
    await cluster.stop({ keepData: true })
    process.exitCode = 1
  }
}

// What was started ends with this process.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
await (values.cluster ? killInCluster() : killProcesses())
