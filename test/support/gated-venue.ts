import { access, chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseProcfile } from '../../devnet/procfile.js'
import { inProject } from '../../devnet/project-root.js'
import { natsServerBinary } from './config.js'
import { eventually } from './eventually.js'
import { tempDir } from './temp-dir.js'
import { startVenue, type TestVenue } from './venue.js'

/** A venue whose processes and bus can be kept down for as long as a test likes. */
export interface GatedVenue extends TestVenue {
  /** Kills the process; its successors wait before they begin. */
  keepDown(process: string): Promise<void>
  /** Lets the waiting successor begin. */
  letUp(process: string): Promise<void>
}

/** Starts a venue in which a small shell loop stands before each process and before nats-server. */
export async function startGatedVenue(): Promise<GatedVenue> {
  const directory = tempDir()
  const gates = join(directory.path, 'down')
  await mkdir(gates)
  const gateOf = (process: string) => join(gates, process)
  const waitAt = (process: string) =>
    `touch '${gateOf(process)}.met'; while [ -e '${gateOf(process)}' ]; do sleep 0.05; done;`

  const entries = parseProcfile(await readFile(inProject('Procfile'), 'utf8'))
  const procfile = join(directory.path, 'Procfile')
  const lines = entries.map(({ name, command }) => `${name}: ${waitAt(name)} ${command}`)
  await writeFile(procfile, lines.join('\n'))

  const natsServer = join(directory.path, 'nats-server')
  const script = `#!/bin/sh\n${waitAt('nats-server')}\nexec '${natsServerBinary()}' "$@"\n`
  await writeFile(natsServer, script)
  await chmod(natsServer, 0o755)

  const venue = await startVenue({ env: { PROCFILE: procfile, NATS_SERVER_BIN: natsServer } })
  return {
    ...venue,
    keepDown: async (process) => {
      await writeFile(gateOf(process), '')
      await rm(`${gateOf(process)}.met`)
      await venue.kill(process, 'SIGKILL')
      await eventually(() => access(`${gateOf(process)}.met`))
    },
    letUp: (process) => rm(gateOf(process)),
    stop: async (options) => {
      const code = await venue.stop(options)
      directory.remove()
      return code
    },
  }
}
