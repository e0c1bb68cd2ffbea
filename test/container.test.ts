import { expect } from 'chai'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { inProject } from '../devnet/launcher/binaries.js'
import { createMetrics } from '../runtime/metrics/metrics.js'
import { serveMetrics } from '../runtime/metrics/serve-metrics.js'
import { within } from '../runtime/process/within.js'
import { eventually, onThisMachine } from './support/eventually.js'
import { tempDir } from './support/temp-dir.js'

const RUN = 'docs/operating/container/run.sh'
const HEALTHY = 'docs/operating/container/healthy.sh'
const ENDS_WITHIN_MS = 10_000

describe('the first program of a container', () => {
  const dir = tempDir()
  const started = join(dir.path, 'started')
  const procfile = join(dir.path, 'Procfile')
  const running: ChildProcess[] = []
  before(() => {
    const note = `echo x >>${started};`
    const stops = "trap 'exit 5' TERM; while :; do sleep 0.1 & wait; done"
    writeFileSync(
      procfile,
      [
        `hopeless: ${note} exit 78`,
        `ends: ${note} exit 0`,
        `breaks: exit 3`,
        `stays: ${note} ${stops}`,
      ]
        .map((line) => `${line}\n`)
        .join(''),
    )
  })
  after(() => {
    for (const child of running) child.kill('SIGKILL')
    dir.remove()
  })

  const env = () => ({ PATH: process.env.PATH, PROCFILE: procfile, TMPDIR: dir.path })
  function run(name: string, changed: NodeJS.ProcessEnv = {}) {
    writeFileSync(started, '')
    const child = spawn(RUN, [name], {
      cwd: inProject('.'),
      env: { ...env(), ...changed },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    running.push(child)
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const exited = once(child, 'exit').then(([code]) => code as number | null)
    return { child, exited, said: () => said }
  }
  const starts = () => readFileSync(started, 'utf8').trim().split('\n').filter(Boolean).length

  it('ends as its process does, so that it is started again', async () => {
    expect(await run('breaks').exited).to.equal(3)
    expect(await run('ends').exited).to.equal(0)
  })

  it('stays after 78, without its process, until it is stopped', async () => {
    // What it has said may be read before or after it begins to wait.
    for (let stop = 0; stop < 40; stop += 1) {
      const { child, exited, said } = run('hopeless')
      await eventually(() => expect(said()).to.include('hopeless does not start again by itself'))
      expect(child.exitCode).to.equal(null)
      expect(starts()).to.equal(1)
      child.kill('SIGTERM')
      expect(await within(exited, onThisMachine(ENDS_WITHIN_MS))).to.equal(78)
      expect(starts()).to.equal(1)
    }
  })

  it('ends when it is stopped, however far its start is', async () => {
    for (let stop = 0; stop < 80; stop += 1) {
      const { child, exited } = run('stays')
      await delay(stop / 5)
      child.kill('SIGTERM')
      // Null: the signal came before the trap. 143: before the process had begun. 5: the process ended by it.
      expect(await within(exited, onThisMachine(ENDS_WITHIN_MS))).to.be.oneOf([null, 143, 5])
    }
  })

  it('stops its process in order where it cannot write its temporary directory', async () => {
    const { child, exited } = run('stays', { TMPDIR: join(dir.path, 'missing') })
    await eventually(() => expect(starts()).to.equal(1))
    child.kill('SIGTERM')
    expect(await within(exited, onThisMachine(ENDS_WITHIN_MS))).to.equal(5)
  })

  it('stops its process by SIGTERM, waits for it, and ends as it does', async () => {
    // The process may end before or after its shell looks.
    for (let stop = 0; stop < 10; stop += 1) {
      const { child, exited } = run('stays')
      await eventually(() => expect(starts()).to.equal(1))
      child.kill('SIGTERM')
      expect(await exited).to.equal(5)
    }
  })

  it('is healthy while the process that it named answers at its metrics', async () => {
    const healthy = () =>
      new Promise<number>((resolve) => {
        const check = spawn(HEALTHY, {
          cwd: inProject('.'),
          env: { ...env(), METRICS_DIR: dir.path },
          stdio: 'ignore',
        })
        check.on('exit', (code) => resolve(code ?? -1))
      })
    expect(await run('breaks').exited).to.equal(3)
    expect(await healthy()).to.equal(1)
    const place = { dir: dir.path, host: '127.0.0.1', port: 0 }
    await serveMetrics(createMetrics(), { ...place, process: 'breaks' })
    expect(await healthy()).to.equal(0)
    const silent = [{ targets: ['127.0.0.1:1'], labels: {} }]
    writeFileSync(join(dir.path, 'breaks.json'), JSON.stringify(silent))
    expect(await healthy()).to.equal(1)
  })

  it('needs the name of a process', () => {
    const { status, stderr } = spawnSync(RUN, { cwd: inProject('.'), encoding: 'utf8', env: env() })
    expect(status).to.be.above(0)
    expect(stderr).to.include('names a process of the Procfile')
  })
})
