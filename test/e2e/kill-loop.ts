import { readCommandLine } from '../../runtime/process/command-line.js'
import { startVenue } from '../support/venue.js'
import { describeTrades, expectTaken, KILL_LOOP_VENUE, runKillLoop } from './stage/kill-loop.js'

const USAGE = `usage: npm run kill-loop -- [--cycles N] [--seed S] [--every K]

  --cycles N  how often processes are killed; 100 by default
  --seed S    the same seed gives the same order of kills
  --every K   looks for all that was sent after so many cycles, and after the last; 25 by default`

/** The kill loop by hand, for as long as one likes. */
const { values } = readCommandLine(USAGE, {
  options: {
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

const venue = await startVenue(KILL_LOOP_VENUE)
say(`the venue's files are in ${venue.dataDir}, kept when something is found`)
try {
  const { kills, orderIds, trades } = await runKillLoop({
    venue,
    cycles: wholeNumber(values.cycles),
    seed: wholeNumber(values.seed),
    reconcileEvery: wholeNumber(values.every),
    say,
  })
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
