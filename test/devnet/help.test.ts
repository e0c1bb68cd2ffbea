import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { VERSION } from '../../runtime/process/version.js'
import { tempDir } from '../support/temp-dir.js'

const run = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) =>
  spawnSync(command, args, {
    cwd: inProject('.'),
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env.PATH, ...env },
  })

describe('the help of a command', function () {
  before(provideBundles)

  const COMMANDS = [...run('./venue', ['help']).stdout.matchAll(/^ {2}([a-z-]+) /gm)]
    .map(([, command = '']) => command)
    .filter((command) => command !== 'help' && !command.startsWith('-'))
  const CHANGES = [
    'list',
    'add',
    'row',
    'set',
    'pause',
    'resume',
    'disable',
    'enable',
    'accept-gap',
  ]

  it('is there for every command of ./venue, and each stands in a page for operators', () => {
    expect(COMMANDS).to.include.members(['up', 'audit', 'market', 'rotate-key', 'restore'])
    const page = readFileSync(inProject('docs/OPERATING.md'), 'utf8')
    expect(COMMANDS.filter((command) => !page.includes(`\`./venue ${command}`))).to.deep.equal([])
    const listed = run('./venue', ['market', '--help']).stdout.matchAll(/^ {2}([a-z-]+) .*[<[]/gm)
    for (const [, change] of listed) expect([...CHANGES, 'help']).to.include(change)
  })

  const asked = [...COMMANDS, ...CHANGES.map((change) => `market ${change}`)]
  for (const words of [...asked.map((each) => [...each.split(' '), '--help']), ['market', '-h']])
    it(`./venue ${words.join(' ')} says how it is used, with an example, and does nothing`, () => {
      const { status, stdout, stderr } = run('./venue', words)
      expect([status, stderr]).to.deep.equal([0, ''])
      const command = words.slice(0, -1).join(' ')
      expect(stdout).to.match(new RegExp(`^usage: ./venue ${command}`))
      expect(stdout).to.match(new RegExp(`^ {2}([A-Z_]+=\\S+ )*./venue ${command}\\b`, 'm'))
    })

  it('is there behind the word help as well, for a command alone', () => {
    for (const command of ['logs', 'market'])
      expect(run('./venue', ['help', command]).stdout).to.match(
        new RegExp(`^usage: ./venue ${command} `),
      )
    expect(run('./venue', ['help', '--help']).stdout).to.equal(run('./venue', ['help']).stdout)
  })

  it('is the names of the logs for a name that is none', () => {
    const dir = tempDir()
    try {
      mkdirSync(join(dir.path, 'logs'))
      for (const name of ['executor', 'gateway'])
        writeFileSync(join(dir.path, 'logs', `${name}.log`), '')
      for (const words of [['matcher'], ['executor', 'gateway']]) {
        const { status, stderr } = run('./venue', ['logs', ...words], { DATA_DIR: dir.path })
        expect([status, stderr]).to.deep.equal([
          ...[2, 'venue: logs takes the name of one process: executor gateway \n'],
        ])
      }
    } finally {
      dir.remove()
    }
  })

  it('names the release, which the client and the newest entry of the changelog have too', () => {
    const { version } = JSON.parse(readFileSync(inProject('client/package.json'), 'utf8')) as {
      readonly version: string
    }
    expect(run('./venue', ['--version']).stdout).to.equal(`${VERSION}\n`)
    expect(version).to.equal(VERSION)
    const released = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync(inProject('CHANGELOG.md'), 'utf8'))
    expect(released?.[1]).to.equal(VERSION)
  })

  it('is there for the benches', () => {
    const { status, stdout, stderr } = run('node', ['dist/bench/main.js', '--help'])
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
