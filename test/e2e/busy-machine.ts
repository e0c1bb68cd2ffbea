import { readCommandLine } from '../../runtime/process/command-line.js'
import { startVenue, type StartVenueOptions } from '../support/venue.js'
import { describeRecovery, freeze, isLateRecovery } from './stage/freezes.js'
import { burnProcessors } from './stage/load-machine.js'

const USAGE = `usage: npm run busy-machine -- [--starts N] [--burners K] | --freeze SECONDS [--processes a,b] [--demo]

  --starts N        starts and stops a venue so often beside processes that use the processors; 10 by default
  --burners K       so many of those; 2 by default
  --freeze SECONDS  instead: stops each process of a venue for so long, one after the other, and measures until it serves
  --processes a,b   these alone
  --demo            while the demo maker quotes and trades`

/** How a venue fares on a machine that has no time for it, by hand. */
const { values } = readCommandLine(USAGE, {
  options: {
    starts: { type: 'string', default: '10' },
    burners: { type: 'string', default: '2' },
    freeze: { type: 'string' },
    processes: { type: 'string' },
    demo: { type: 'boolean', default: false },
  },
})

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const wholeNumber = (text: string): number => {
  const value = parseInt(text, 10)
  if (!(value > 0)) throw new Error(`${text} is not a whole number above 0`)
  return value
}
const inSeconds = (sinceMs: number): string =>
  `${((performance.now() - sinceMs) / 1_000).toFixed(1).padStart(6)} s`

const VENUE: StartVenueOptions = {
  blockTime: 2,
  demoMaker: true,
  feeder: true,
  markets: 'all',
  // The start is given up for lack of progress alone.
  readyWithinMs: 3_600_000,
}

/** Each start continues what the one before has left. */
async function startOften(count: number): Promise<void> {
  const calm = burnProcessors(wholeNumber(values.burners))
  let dataDir: string | undefined
  try {
    for (let n = 1; n <= count; n += 1) {
      const begun = performance.now()
      const venue = await startVenue({ ...VENUE, ...(dataDir !== undefined && { dataDir }) })
      const started = inSeconds(begun)
      dataDir = venue.dataDir
      const stopping = performance.now()
      const code = await venue.stop({ keepData: n < count })
      say(`start ${n}: ready in ${started}, stopped in ${inSeconds(stopping)}, exit code ${code}`)
      if (code !== 0 || !venue.output().includes('save the chain:')) {
        say(venue.output())
        process.exitCode = 1
      }
    }
  } finally {
    calm()
  }
}

async function freezeEach(forMs: number): Promise<void> {
  const demo = { demoMaker: values.demo, env: { DEMO_FLOW: values.demo ? '1' : '0' } }
  const venue = await startVenue({ ...VENUE, ...demo })
  try {
    const names = values.processes?.split(',') ?? Object.keys(await venue.pids()).toSorted()
    for (const name of names) {
      const recovery = await freeze(venue, name, forMs)
      say(describeRecovery(recovery) + (isLateRecovery(recovery) ? '  later than promised' : ''))
      if (isLateRecovery(recovery)) process.exitCode = 1
    }
  } finally {
    await venue.stop({ keepData: process.exitCode === 1 })
    if (process.exitCode === 1) say(`the venue's files are in ${venue.dataDir}`)
  }
}

// What was started ends with this process.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
const { freeze: seconds, starts } = values
await (seconds === undefined
  ? startOften(wholeNumber(starts))
  : freezeEach(wholeNumber(seconds) * 1_000))
