import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { eventually } from '../support/eventually.js'
import { tempDir } from '../support/temp-dir.js'

/** Runs a line of shell with the function `step`, which speaks up each second. */
function runStep(line: string) {
  const dir = tempDir()
  try {
    const script = `setup_log=${join(dir.path, 'log')}; . ${inProject('devnet/step.sh')}; ${line}`
    const env = { PATH: process.env.PATH, step_tick_s: '1' }
    return spawnSync('sh', ['-euc', script], { env, encoding: 'utf8', timeout: 30_000 })
  } finally {
    dir.remove()
  }
}

describe('the setup', () => {
  it('says in one line that another user’s cache is in its way', () => {
    const dir = tempDir()
    try {
      // No user can append to a directory, the superuser included.
      mkdirSync(join(dir.path, '.cache/setup.log'), { recursive: true })
      const run = spawnSync('sh', ['-euc', `. ${inProject('devnet/setup.sh')}`], {
        cwd: dir.path,
        env: { PATH: process.env.PATH },
        encoding: 'utf8',
        timeout: 30_000,
      })
      expect([run.status, run.stdout]).to.deep.equal([1, ''])
      const log = join(realpathSync(dir.path), '.cache/setup.log')
      expect(run.stderr).to.match(
        new RegExp(`^venue: ${log} cannot be written; it may belong to another user: .*\\n$`),
      )
    } finally {
      dir.remove()
    }
  })

  for (const [version, why] of [
    ['v20.18.3', 'is too old; 20.19 or newer is needed'],
    ['v21.7.3', 'lacks zlib.crc32; take Node 20.19 or 22.2'],
    ['v22.1.0', 'lacks zlib.crc32; take Node 20.19 or 22.2'],
    ['v24.21.0', 'aborts while better-sqlite3 12 collects its statements; take Node 20.19 or 22'],
  ] as const)
    it(`refuses Node ${version} in one line`, () => {
      const dir = tempDir()
      try {
        writeFileSync(join(dir.path, 'node'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
        const run = spawnSync('sh', ['-euc', '. devnet/setup.sh'], {
          cwd: inProject('.'),
          encoding: 'utf8',
          timeout: 30_000,
          env: { PATH: `${dir.path}:${process.env.PATH}` },
        })
        expect([run.status, run.stdout]).to.deep.equal([1, ''])
        expect(run.stderr).to.equal(`venue: Node ${version} ${why}\n`)
      } finally {
        dir.remove()
      }
    })
})

/** Stands in for what the setup calls; `npm ci` writes down when it runs, and goes on once there is a file `go`. */
const STAND_INS = {
  'bin/node': '[ "$1" != -v ] || echo v22.12.0',
  'bin/npm': `[ "$1" = ci ] || exit 0
    echo begun >>npm-ci
    until [ -e go ]; do sleep 0.02; done
    mkdir -p node_modules/@foundry-rs/anvil-linux-amd64/bin
    cp bin/make node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil
    echo ended >>npm-ci
    [ ! -e broken ]`,
  'bin/nats-server': 'echo nats-server: v2.10.27',
  'bin/python3': '',
  'bin/make': '',
  'bin/g++': '',
}

describe('two setups in one tree', function () {
  let dir: ReturnType<typeof tempDir>
  const running: Promise<unknown>[] = []
  beforeEach(() => {
    dir = tempDir()
    for (const [name, lines] of Object.entries(STAND_INS)) {
      const file = join(dir.path, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
    }
    writeFileSync(join(dir.path, 'package-lock.json'), '{}')
    symlinkSync(inProject('devnet'), join(dir.path, 'devnet'))
  })
  afterEach(async () => {
    for (const name of ['go', 'end']) put(name)
    await Promise.all(running.splice(0))
    dir.remove()
  })

  const put = (name: string): void => writeFileSync(join(dir.path, name), '')
  const npmCi = (): string => readFileSync(join(dir.path, 'npm-ci'), 'utf8')
  /** The lock is free, says a process that another one has started. */
  const isFree = (): boolean =>
    spawnSync('flock', ['--nonblock', '.cache/setup.lock', 'true'], { cwd: dir.path }).status === 0
  /** Runs the setup, and then a line of shell. */
  function setUp(line = 'true') {
    const said = { stdout: '', stderr: '' }
    const child = spawn('sh', ['-euc', `command=up; . devnet/setup.sh; ${line}`], {
      cwd: dir.path,
      env: { PATH: `${join(dir.path, 'bin')}:${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.on('data', (data) => (said.stdout += String(data)))
    child.stderr.on('data', (data) => (said.stderr += String(data)))
    const ended = once(child, 'close').then(([status]) => ({ status: status as unknown, ...said }))
    running.push(ended)
    return { said, ended }
  }

  it('take turns, and the second finds the packages installed', async () => {
    const first = setUp()
    await eventually(() => npmCi() === 'begun\n')
    const second = setUp()
    await eventually(() => second.said.stderr.length > 0, 10_000)
    put('go')
    const [one, other] = await Promise.all([first.ended, second.ended])
    expect([one.status, one.stderr, other.status]).to.deep.equal([0, '', 0])
    expect(other.stderr).to.equal(
      `venue: another setup runs in ${realpathSync(dir.path)}: waiting for its end\n`,
    )
    expect(npmCi()).to.equal('begun\nended\n')
    expect(one.stdout).to.include('install packages')
    expect(other.stdout)
      .to.match(/all set up/)
      .and.not.include('install packages')
  })

  it('do not wait for what runs after the first, which has nothing of the lock', async () => {
    put('go')
    const first = setUp('[ ! -e /proc/self/fd/9 ]; until [ -e end ]; do sleep 0.02; done')
    await eventually(() => first.said.stdout.includes('all set up'), 10_000)
    expect(isFree()).to.equal(true)
    put('end')
    expect((await first.ended).status).to.equal(0)
  })

  it('do not wait for one that failed', async () => {
    put('go')
    put('broken')
    const { status, stderr } = await setUp().ended
    expect([status, stderr]).to.deep.equal([1, 'venue: npm ci failed; its last lines are above\n'])
    expect(isFree()).to.equal(true)
  })
})

describe('a step of the setup', function () {
  it('says that it goes on, and how long it took, without what the command prints', () => {
    const { status, stdout, stderr } = runStep(`step 'wait' sh -c 'echo loud; sleep 3'`)
    expect([status, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(/^( {2}wait: \d s so far\n)+ {2}wait: \d+ ms\n$/)
  })

  it('shows the end of what the command printed when it fails', () => {
    const { status, stdout, stderr } = runStep(
      `step 'break' sh -c 'echo the cause >&2; exit 3' || echo stop`,
    )
    expect([status, stdout]).to.deep.equal([0, '  break: failed\nstop\n'])
    expect(stderr).to.equal('the cause\n')
  })
})
