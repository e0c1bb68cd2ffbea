import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { lockDataDir } from '../../devnet/launcher/data-dir.js'
import { inheritedEnvironment } from '../support/config.js'

describe('./venue reset', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'venue-reset-'))
    await writeFile(join(dir, 'history.db'), 'rows')
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  function reset(): { readonly status: number | null; readonly said: string } {
    const { status, stdout, stderr } = spawnSync(inProject('venue'), ['reset'], {
      env: { ...inheritedEnvironment(), DATA_DIR: dir },
      encoding: 'utf8',
    })
    return { status, said: stdout + stderr }
  }

  it('wipes the directory of a venue that does not run', () => {
    lockDataDir(dir)()
    expect(reset()).to.deep.equal({ status: 0, said: `wiped ${dir}\n` })
    expect(existsSync(dir)).to.equal(false)
    expect(reset().said).to.equal(`${dir} does not exist: nothing to wipe\n`)
  })

  it('leaves a running venue alone', () => {
    const release = lockDataDir(dir)
    const { status, said } = reset()
    release()
    expect(status).to.equal(1)
    expect(said).to.include('is in use by a running venue: stop that first')
    expect(existsSync(join(dir, 'history.db'))).to.equal(true)
  })

  it('leaves alone what is not the directory of a venue', () => {
    const { status, said } = reset()
    expect(status).to.equal(1)
    expect(said).to.include('does not look like the directory of a venue')
    expect(existsSync(join(dir, 'history.db'))).to.equal(true)
  })
})
