import { mkdirSync, writeFileSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector'
import { basename, dirname, join } from 'node:path'
import { profileDirectory } from './config.js'

/**
 * Loaded into every process of a venue by `--import`: SIGUSR2 starts a CPU profile, the next one writes it to
 * PROFILE_DIR under the name of the process. Has no effect in other processes.
 */
const SAMPLE_EVERY_US = 500

function offerProfiles(dir: string, program: string): void {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US })
  let isRunning = false
  const write = (error: Error | null, { profile }: Profiler.StopReturnType): void => {
    if (error !== null) throw error
    mkdirSync(dir, { recursive: true })
    const path = join(dir, `${basename(dirname(program))}.cpuprofile`)
    writeFileSync(path, JSON.stringify(profile))
  }
  process.on('SIGUSR2', () => {
    if (isRunning) session.post('Profiler.stop', write)
    else session.post('Profiler.start')
    isRunning = !isRunning
  })
}

const dir = profileDirectory()
const [, program = ''] = process.argv
if (dir !== undefined && program.endsWith('/main.js')) offerProfiles(dir, program)
