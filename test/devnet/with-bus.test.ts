import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { identify } from '../../devnet/launcher/pids.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'

/** A program that says its bus, and ends with the one that has started it. */
const PROGRAM = `console.log(process.env.NATS_URL); process.on('disconnect', () => process.exit())`

describe('a program beside a bus of its own', () => {
  const dir = tempDir()
  after(() => dir.remove())

  it('leaves no nats-server where what runs both is killed', async () => {
    const words = [inProject('dist/devnet/with-bus.js'), '-e', PROGRAM]
    const runner = spawn(process.execPath, words, {
      env: { ...inheritedEnvironment(), DATA_DIR: dir.path, NATS_URL: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = (await once(runner.stdout, 'data')) as [Buffer]
    expect(said.toString()).to.match(/^nats:\/\/127\.0\.0\.1:\d+\n$/)
    const [file = ''] = readdirSync(join(dir.path, 'nats')).filter((name) =>
      name.endsWith('.ports'),
    )
    const pid = Number(/_(\d+)\.ports$/.exec(file)?.[1])
    expect(identify(pid)).not.to.equal(undefined)
    runner.kill('SIGKILL')
    await eventually(() => identify(pid) === undefined)
  })
})
