import { expect } from 'chai'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keepPrivate } from '../../../runtime/process/private-files.js'
import { tempDir } from '../../support/temp-dir.js'

describe('the files of a process', () => {
  const dir = tempDir()
  const at = (name: string) => join(dir.path, name)
  const modeOf = (name: string) => statSync(at(name)).mode & 0o7777
  const make = (name: string, mode: number) => {
    writeFileSync(at(name), '')
    chmodSync(at(name), mode)
  }
  after(() => dir.remove())

  it('are taken from others where an earlier release made them, and keep what their owner may do', () => {
    for (const folder of ['data', 'data/logs', 'shared']) mkdirSync(at(folder))
    for (const folder of ['data', 'data/logs', 'shared']) chmodSync(at(folder), 0o755)
    chmodSync(at('shared'), 0o1777)
    make('data/history.db', 0o644)
    make('data/run.sh', 0o775)
    make('data/logs/gateway.log', 0o666)
    make('shared/of-all', 0o666)
    make('elsewhere', 0o644)
    symlinkSync(at('elsewhere'), at('data/link'))
    keepPrivate(at('data'), { isDeep: false })
    expect(modeOf('data/logs')).to.equal(0o755)
    keepPrivate(at('data'))
    keepPrivate(at('shared'))
    keepPrivate(at('missing'))
    const modes = ['data', 'data/logs', 'data/history.db', 'data/run.sh', 'data/logs/gateway.log']
    expect(modes.map(modeOf)).to.deep.equal([0o700, 0o700, 0o600, 0o700, 0o600])
    // Not its own: behind a link, and in a directory that is meant for all.
    expect(['elsewhere', 'shared', 'shared/of-all'].map(modeOf)).to.deep.equal([
      ...[0o644, 0o1777, 0o666],
    ])
  })

  it('are those behind a link where their directory is one', () => {
    mkdirSync(at('disk'))
    make('disk/history.db', 0o644)
    symlinkSync(at('disk'), at('var'))
    keepPrivate(at('var'))
    expect([modeOf('disk'), modeOf('disk/history.db')]).to.deep.equal([0o700, 0o600])
  })
})
