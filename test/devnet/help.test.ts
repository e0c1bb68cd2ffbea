import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { tempDir } from '../support/temp-dir.js'

const run = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) =>
  spawnSync(command, args, {
    ...{ cwd: inProject('.'), encoding: 'utf8', timeout: 30_000 },
    env: { PATH: process.env.PATH, ...env },
  })

describe('the help of a command', function () {
  this.timeout(60_000)

  for (const command of [
    'up',
    'run',
    'test',
    'reset',
    'logs',
    'market',
    'status',
    'inspect',
    'check-deployment',
    'backup',
    'restore',
    'bus-replicas',
    'bus-users',
    'series',
  ])
    for (const word of ['--help', '-h'])
      it(`./venue ${command} ${word} says how it is used, and does nothing`, () => {
        const { status, stdout, stderr } = run('./venue', [command, word])
        expect([status, stderr]).to.deep.equal([0, ''])
        expect(stdout).to.match(new RegExp(`^usage: ./venue ${command}`))
      })

  for (const program of ['actors/auditor/main', 'bench/main'])
    it(`that of ${program} too`, () => {
      const { status, stdout, stderr } = run('node', [`dist/${program}.js`, '--help'])
      expect([status, stderr]).to.deep.equal([0, ''])
      expect(stdout).to.match(/^usage: npm run /)
    })

  it('is shown with what a command does not know, which it does not carry out', () => {
    const dir = tempDir()
    try {
      writeFileSync(join(dir.path, 'venue.lock'), '')
      const reset = run('./venue', ['reset', 'all'], { DATA_DIR: dir.path })
      expect(reset.status).to.equal(2)
      expect(reset.stderr).to.match(
        /^venue: reset takes no arguments, and was given "all"\n\nusage:/,
      )
      expect(existsSync(dir.path)).to.equal(true)
    } finally {
      dir.remove()
    }
    const bench = run('node', ['dist/bench/main.js', '--quick'])
    expect(bench.status).to.equal(2)
    expect(bench.stderr).to.match(/^Unknown option '--quick'.*\n\nusage: npm run bench/)
  })
})
