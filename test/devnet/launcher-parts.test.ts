import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { roleAccounts } from '../../devnet/accounts.js'
import { startChild } from '../../devnet/child.js'
import type { Child } from '../../devnet/child.js'
import { startGuard } from '../../devnet/launcher-guard.js'
import { lockDataDir } from '../../devnet/launcher-lock.js'
import { consoleLine, openLogFile } from '../../devnet/launcher-log.js'
import { endOrphans, keepPids, readPids } from '../../devnet/launcher-pids.js'
import { assertChainBelongs } from '../../devnet/local-chain.js'
import { identify, isRunning } from '../../devnet/process-identity.js'
import { inProject } from '../../devnet/project-root.js'
import { supervise } from '../../devnet/supervisor.js'
import { waitFor } from '../../devnet/wait-for.js'
import { writeFileDurably } from '../../devnet/write-file.js'

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
    const module = inProject('dist/devnet/launcher-lock.js')
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

  it('leaves a stranger alone who was given the same process id', async () => {
    const stranger = await shell('exec sleep 60')
    const record = { pid: stranger.pid, started: 'another-boot/1' }
    const file = { launcher: record, processes: { gateway: record } }
    await writeFile(join(dir, 'pids.json'), JSON.stringify(file))
    expect(await endOrphans(dir)).to.deep.equal([])
    expect(identify(stranger.pid)).to.not.equal(undefined)
    await stranger.stop(1_000)
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
    await waitFor('the guard to end', 5_000, () =>
      Promise.resolve(identify(pid) === undefined || undefined),
    )
    expect(identify(dropped.pid)).to.not.equal(undefined)
    await dropped.stop(1_000)
  })
})

describe('devnet/supervisor', () => {
  useOwnDirectory()

  it('starts a process again after it ended, says so, and not after a stop', async () => {
    const pids: number[] = []
    const crashes: string[] = []
    const supervised = supervise({
      name: 'sleeper',
      start: async (spawned) => spawned(await shell('exec sleep 60')),
      onStart: (pid) => pids.push(pid),
      onEnd: () => {},
      onCrash: (reason, inARow) => crashes.push(`${reason}, ${inARow}`),
      onCrashLoop: () => {},
      pauseMs: () => 1,
    })
    await supervised.ready
    supervised.signal('SIGKILL')
    await waitFor('a second start', 5_000, () => Promise.resolve(pids.length === 2 || undefined))
    expect(crashes).to.deep.equal(['ended with SIGKILL, 1'])
    expect(await supervised.stop(2_000)).to.include({ signal: 'SIGTERM' })
    expect(crashes).to.have.length(1)
    expect(pids.map((pid) => identify(pid))).to.deep.equal([undefined, undefined])
  })

  it('pauses longer and longer, and reports who ends again and again', async () => {
    const counts: number[] = []
    const loops: number[] = []
    const supervised = supervise({
      name: 'broken',
      start: async (spawned) => spawned(await shell('exit 3')),
      onStart: () => {},
      onEnd: () => {},
      onCrash: (_, inARow) => counts.push(inARow),
      onCrashLoop: (inARow) => loops.push(inARow),
      pauseMs: (inARow) => inARow,
    })
    await waitFor('ten crashes', 5_000, () => Promise.resolve(counts.length >= 10 || undefined))
    await supervised.stop(1_000)
    expect(counts.slice(0, 10)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(loops.slice(0, 2)).to.deep.equal([5, 10])
  })

  it('kills who does not listen', async () => {
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
    const log = openLogFile(dir, 'x', 10)
    for (const word of ['first-line', 'second-line', 'third']) log.write(word)
    log.close()
    expect(await readFile(join(dir, 'logs/x.log'), 'utf8')).to.equal('third\n')
    expect(await readFile(join(dir, 'logs/x.log.1'), 'utf8')).to.equal('second-line\n')
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
    expect(new Set(addresses).size).to.equal(6)
  })
})

describe('devnet/write-file', () => {
  useOwnDirectory()

  it('leaves the old content when the writer is killed in between', async () => {
    const file = join(dir, 'f')
    await writeFileDurably(file, 'old')
    const module = inProject('dist/devnet/write-file.js')
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
