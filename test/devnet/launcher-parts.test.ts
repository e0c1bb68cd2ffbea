import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { roleAccounts, ROLES } from '../../devnet/chain/accounts.js'
import { assertChainBelongs } from '../../devnet/chain/local-chain.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { startChild } from '../../devnet/launcher/child.js'
import { writeFileDurably } from '../../data/durable-file.js'
import { lockDataDir, provideDataDir } from '../../devnet/launcher/data-dir.js'
import { startGuard } from '../../devnet/launcher/keep-running.js'
import { consoleLine, openLogFile } from '../../devnet/launcher/output.js'
import { endOrphans, identify, isRunning, keepPids, readPids } from '../../devnet/launcher/pids.js'
import type { Child } from '../../runtime/process/supervisor.js'
import { eventually } from '../support/eventually.js'

let dir = ''

/** A directory of its own for each test of the surrounding describe. */
function useOwnDirectory(): void {
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'venue-parts-'))
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))
}

const shell = (script: string, onLine: (line: string) => void = () => {}): Promise<Child> =>
  startChild({ command: '/bin/sh', args: ['-c', script], cwd: dir, env: {}, onLine })

/** A process that is already deaf to SIGTERM when this resolves. */
async function stubbornProcess(): Promise<Child> {
  let child: Promise<Child> | undefined
  await new Promise<string>((deaf) => {
    child = shell("trap '' TERM; echo deaf; while :; do sleep 1; done", deaf)
  })
  if (child === undefined) throw new Error('no process')
  return child
}

describe('devnet/launcher-lock', () => {
  useOwnDirectory()

  /** Holds the lock in a process of its own until its standard input ends. */
  async function holdElsewhere() {
    const module = inProject('dist/devnet/launcher/data-dir.js')
    const script = `(await import('${module}')).lockDataDir('${dir}'); console.log('held'); process.stdin.resume()`
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script])
    await once(holder.stdout, 'data')
    return holder
  }

  it('refuses a second launcher, naming the first', async () => {
    const holder = await holdElsewhere()
    expect(() => lockDataDir(dir)).to.throw(`in use by the launcher with process id ${holder.pid};`)
    holder.stdin.end()
    await once(holder, 'exit')
    lockDataDir(dir)()
  })

  it('makes the directory, and names one that cannot be written', async () => {
    const inside = join(dir, 'a', 'b')
    provideDataDir(inside)
    expect((await stat(inside)).isDirectory()).to.equal(true)
    const file = join(dir, 'file')
    await writeFile(file, '')
    for (const place of [file, join(file, 'inside')])
      expect(() => provideDataDir(place)).to.throw(
        `DATA_DIR ${place} cannot be written (a file is in its place); set DATA_DIR`,
      )
    // Not even the administrator makes a directory here.
    for (const place of ['/proc/venue', '/proc/venue/inside'])
      expect(() => provideDataDir(place)).to.throw(
        /^DATA_DIR \/proc\/venue\S* cannot be written \(ENOENT: [^\n]+\); set DATA_DIR$/,
      )
  })

  it('takes over at once from one that was killed', async () => {
    const holder = await holdElsewhere()
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const release = lockDataDir(dir)
    expect(await readFile(join(dir, 'venue.lock'), 'utf8')).to.equal(`${process.pid}\n`)
    release()
  })
})

describe('devnet/launcher-pids', () => {
  useOwnDirectory()

  it('ends what an earlier launcher left behind, even if it does not listen', async () => {
    const gentle = await shell('exec sleep 60')
    const stubborn = await stubbornProcess()
    const pids = keepPids(dir)
    await pids.set('gentle', gentle.pid)
    await pids.set('stubborn', stubborn.pid)
    expect(await endOrphans(dir)).to.deep.equal(['gentle', 'stubborn'])
    expect(await gentle.exited).to.include({ signal: 'SIGTERM' })
    expect(await stubborn.exited).to.include({ signal: 'SIGKILL' })
  })

  it('does not signal a foreign process with a reused process id', async () => {
    const foreign = await shell('exec sleep 60')
    const record = { pid: foreign.pid, started: 'another-boot/1' }
    const file = { launcher: record, processes: { gateway: record } }
    await writeFile(join(dir, 'pids.json'), JSON.stringify(file))
    expect(await endOrphans(dir)).to.deep.equal([])
    expect(identify(foreign.pid)).to.not.equal(undefined)
    await foreign.stop(1_000)
  })

  it('lists only what runs', async () => {
    const child = await shell('exec sleep 60')
    const pids = keepPids(dir)
    await pids.set('one', child.pid)
    expect((await readPids(dir))?.processes['one']?.pid).to.equal(child.pid)
    await child.stop(1_000)
    await pids.remove('one')
    expect((await readPids(dir))?.processes).to.deep.equal({})
  })
})

describe('devnet/launcher-guard', () => {
  useOwnDirectory()

  it('ends what is still listed when its launcher is gone, and nothing else', async () => {
    const left = await shell('exec sleep 60')
    const dropped = await shell('exec sleep 60')
    const guard = startGuard()
    guard.add(left.pid)
    guard.add(dropped.pid)
    guard.drop(dropped.pid)
    guard.end()
    expect(await left.exited).to.include({ signal: 'SIGTERM' })
    const { pid = 0 } = guard
    await eventually(() => identify(pid) === undefined)
    expect(identify(dropped.pid)).to.not.equal(undefined)
    await dropped.stop(1_000)
  })
})

describe('devnet/child', () => {
  useOwnDirectory()

  it('kills a process that ignores SIGTERM', async () => {
    const stubborn = await stubbornProcess()
    expect(await stubborn.stop(300)).to.include({ signal: 'SIGKILL' })
  })
})

describe('devnet/launcher-log', () => {
  useOwnDirectory()

  it('shows warnings and what is not a log line, keeps the rest off the console', () => {
    const line = (level: string, more = {}) => JSON.stringify({ level, msg: 'm', ...more })
    expect(consoleLine(line('info'), 'stdout')).to.equal(undefined)
    expect(consoleLine(line('warn'), 'stdout')).to.equal('WARN m')
    expect(consoleLine(line('fatal', { err: { message: 'why' } }), 'stdout')).to.equal(
      'FATAL m: why',
    )
    expect(consoleLine('TypeError: x', 'stderr')).to.equal('TypeError: x')
    expect(consoleLine('chatter', 'stdout')).to.equal(undefined)
    expect(consoleLine('[12] 2026/01/01 [INF] Server is ready', 'stderr')).to.equal(undefined)
    expect(consoleLine('[12] 2026/01/01 [ERR] disk', 'stderr')).to.match(/ERR/)
  })

  it('sets a large file aside and stays below its bound', async () => {
    const kept = async (files: number, words: readonly string[]) => {
      const log = openLogFile(dir, 'x', { fileBytes: 10, files })
      for (const word of words) log.write(word)
      log.close()
      const names = (await readdir(join(dir, 'logs'))).toSorted()
      return Promise.all(names.map((name) => readFile(join(dir, 'logs', name), 'utf8')))
    }
    const words = ['first-line', 'second-line', 'third-line', 'fourth-line', 'fifth']
    expect(await kept(3, words)).to.deep.equal(['fifth\n', 'fourth-line\n', 'third-line\n'])
    expect(await kept(2, ['is-full', 'newest'])).to.deep.equal(['newest\n', 'fifth\nis-full\n'])
    expect(await kept(1, ['is-full', 'alone'])).to.deep.equal(['alone\n'])
  })

  it('goes on where the full file is gone, removed by hand or set aside before', async () => {
    const file = join(dir, 'logs', 'x.log')
    const log = openLogFile(dir, 'x', { fileBytes: 10, files: 2 })
    log.write('first-line')
    await rm(file)
    log.write('second')
    log.close()
    expect(await readFile(file, 'utf8')).to.equal('second\n')
  })

  it('is followed by ./venue logs when the file is set aside', async function () {
    const log = openLogFile(dir, 'x', { fileBytes: 10, files: 2 })
    log.write('before-it')
    const follower = spawn('./venue', ['logs', 'x'], {
      cwd: inProject('.'),
      env: { PATH: process.env.PATH, DATA_DIR: dir },
      detached: true,
    })
    let shown = ''
    follower.stdout.on('data', (data: Buffer) => (shown += data.toString()))
    try {
      await eventually(() => expect(shown).to.include('before-it'))
      log.write('set-aside-now')
      await eventually(() => expect(shown).to.include('set-aside-now'), 15_000)
    } finally {
      follower.kill()
      log.close()
    }
  })
})

describe('devnet/local-chain', () => {
  useOwnDirectory()

  const refusal = () => assertChainBelongs(dir).catch(String)

  it('refuses the records of a venue whose chain is missing, naming the way out', async () => {
    expect(await refusal()).to.equal(undefined)
    await writeFile(join(dir, 'executor.db'), '')
    expect(await refusal()).to.match(/executor\.db but not the chain.*\.\/venue reset/)
  })

  it('refuses a chain whose keys are missing', async () => {
    await writeFile(join(dir, 'chain-state.json'), '{}')
    expect(await refusal()).to.match(/keys\.json: run \.\/venue reset/)
  })
})

describe('devnet/accounts', () => {
  useOwnDirectory()

  it('makes up keys once and keeps them from other users', async () => {
    const first = await roleAccounts(dir)
    expect(await roleAccounts(dir)).to.deep.equal(first)
    expect((await stat(join(dir, 'keys.json'))).mode & 0o777).to.equal(0o600)
    const addresses = Object.values(first).map(({ address }) => address)
    expect(new Set(addresses).size).to.equal(ROLES.length)
  })

  it('names the remedy for keys of an earlier version', async () => {
    const { privateKey } = (await roleAccounts(dir)).deployer
    await writeFile(join(dir, 'keys.json'), JSON.stringify({ deployer: privateKey }))
    const refusal = await roleAccounts(dir).catch(String)
    expect(refusal).to.match(/keys\.json lacks keys .*: run \.\/venue reset/)
  })
})

describe('devnet/write-file', () => {
  useOwnDirectory()

  it('leaves the old content when the writer is killed in between', async () => {
    const file = join(dir, 'f')
    await writeFileDurably(file, 'old')
    const module = inProject('dist/data/durable-file.js')
    const script = `(await import('${module}')).writeFileDurably('${file}', Buffer.alloc(200_000_000)); setImmediate(() => process.kill(process.pid, 'SIGKILL'))`
    await once(spawn(process.execPath, ['--input-type=module', '-e', script]), 'exit')
    expect(await readFile(file, 'utf8')).to.equal('old')
  })

  it('knows a running process from one that ended', async () => {
    const child = await shell('exec sleep 60')
    const identity = identify(child.pid) ?? { pid: 0, started: '' }
    expect(isRunning(identity)).to.equal(true)
    await child.stop(1_000)
    expect(isRunning(identity)).to.equal(false)
  })
})
