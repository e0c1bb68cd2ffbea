import { readLauncherConfig, readyLines } from './launcher/config.js'
import { createLauncher } from './launcher/launcher.js'
import { createConsole } from './launcher/output.js'
import { LauncherError } from './launcher/wait-for.js'
import { releaseStartMemory } from '../runtime/process/release-memory.js'
import { withSourcePlaces } from '../runtime/process/source-places.js'
import { makePrivate } from '../runtime/process/private-files.js'

makePrivate()

const output = createConsole((line) => process.stdout.write(`${line}\n`))

// A closed terminal must not prevent an orderly shutdown.
process.stdout.on('error', () => {})

const ONE_PRESS_MS = 500

function explain(error: unknown): string {
  if (!(error instanceof LauncherError))
    return withSourcePlaces(String((error as Error).stack ?? error))
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `${error.message}${cause}`
}

async function up(): Promise<void> {
  const config = readLauncherConfig()
  const launcher = createLauncher({ config, console: output })
  let stopping = false
  let interrupts = 0
  let interruptedAt = -Infinity
  const stop = async (exitCode: number) => {
    if (stopping) return
    stopping = true
    await output.step('stop the venue', () => launcher.stop())
    process.exit(exitCode)
  }
  const interrupt = () => {
    // A terminal and npm both hand one Ctrl-C on.
    if (performance.now() - interruptedAt < ONE_PRESS_MS) return
    interruptedAt = performance.now()
    interrupts += 1
    if (interrupts > 1) {
      output.say(`venue: the stop is cut short: ${launcher.kill()}`)
      process.exit(1)
    }
    if (stopping) output.say('the venue is stopping; another Ctrl-C cuts that short')
    else void stop(0)
  }
  process.on('SIGINT', interrupt)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0))
  try {
    const url = await launcher.start()
    if (!stopping) for (const line of readyLines(config, url)) output.say(line)
    await releaseStartMemory()
  } catch (error) {
    if (stopping) return
    process.stderr.write(`venue: ${explain(error)}\n`)
    await stop(1)
  }
}

up().catch((error: unknown) => {
  process.stderr.write(`venue: ${explain(error)}\n`)
  process.exit(1)
})
