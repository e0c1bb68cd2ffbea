import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { lockDataDir } from '../../devnet/launcher/data-dir.js'
import { inheritedEnvironment } from '../support/config.js'
import { tempDir } from '../support/temp-dir.js'
import { ENDS_AT_LAST } from '../support/ends-at-last.js'

describe('./venue down', () => {
  const dir = tempDir()
  const dataDir = join(dir.path, 'var')
  before(() => mkdirSync(dataDir))
  after(() => dir.remove())

  function down(of = dataDir) {
    const { status, stdout, stderr } = spawnSync(inProject('venue'), ['down'], {
      env: { ...inheritedEnvironment(), DATA_DIR: of },
      encoding: 'utf8',
      ...ENDS_AT_LAST,
    })
    return [status, stdout + stderr]
  }

  it('says that there is nothing to stop', () => {
    expect(down()).to.deep.equal([1, `venue: there is no venue in ${dataDir}: set DATA_DIR\n`])
    lockDataDir(dataDir)()
    expect(down()).to.deep.equal([0, `no venue runs in ${dataDir}\n`])
  })

  it('asks the launcher to stop, and returns once it has', async () => {
    const program = join(dir.path, 'devnet/up.js')
    mkdirSync(dirname(program))
    const module = inProject('dist/devnet/launcher/data-dir.js')
    writeFileSync(
      program,
      `import('${module}').then(({ lockDataDir }) => {
        lockDataDir('${dataDir}')
        process.on('SIGTERM', () => setImmediate(() => process.exit(0)))
        setInterval(() => {}, 60_000)
        console.log('locked')
      })`,
    )
    const launcher = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(launcher, 'exit')
    await once(launcher.stdout, 'data')
    expect(down()).to.deep.equal([0, `stopped the venue in ${dataDir}\n`])
    expect(await exited).to.deep.equal([0, null])
  })

  it('ends no process that is not a launcher', () => {
    const release = lockDataDir(dataDir)
    const [status, said] = down()
    release()
    expect(status).to.equal(1)
    expect(said).to.include('stop it where it runs')
  })
})
