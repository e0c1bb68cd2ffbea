import { readLauncherConfig, readyLines } from './launcher/config.js'
import { createLauncher } from './launcher/launcher.js'
import { createConsole } from './launcher/output.js'
import { LauncherError } from './launcher/wait-for.js'
import { releaseStartMemory } from '../runtime/process/release-memory.js'
import { withSourcePlaces } from '../runtime/process/source-places.js'

const output = createConsole((line) => process.stdout.write(`${line}\n`))

// A closed terminal must not prevent an orderly shutdown.
process.stdout.on('error', () => {})

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
  const stop = async (exitCode: number) => {
    if (stopping) {
      launcher.kill()
      process.exit(1)
    }
    stopping = true
    await output.step('stop the venue', () => launcher.stop())
    process.exit(exitCode)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void stop(0))
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
