import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { expect } from 'chai'

const shell = new URL('../../../runtime/process/process.js', import.meta.url).href

interface Started {
  readonly child: ChildProcess
  readonly output: () => string
  readonly said: (text: string) => Promise<void>
  readonly exit: Promise<number | null>
}

const children: ChildProcess[] = []

/** Runs a process whose start function has this body. */
function run(
  body: string,
  env: NodeJS.ProcessEnv = {},
  { ipc = false, background = false, onDamage = '' } = {},
): Started {
  const script = `import { runProcess } from '${shell}'
    runProcess({ name: 'tested', level: 'info', background: ${background}, ${onDamage} start: async ({ log, fail }) => { ${body} } })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
    env: { ...env, PATH: process.env.PATH },
  })
  let text = ''
  children.push(child)
  const exit = Promise.all([once(child, 'exit'), once(child.stdout ?? child, 'end')]).then(
    ([[code]]) => code as number | null,
  )
  const said = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => (text.includes(wanted) ? resolve() : undefined)
      child.stdout?.on('data', look)
      void exit.then(() => reject(new Error(`never said ${wanted}: ${text}`)))
      look()
    })
  child.stdout?.on('data', (chunk) => (text += String(chunk)))
  child.stderr?.on('data', (chunk) => (text += String(chunk)))
  return { child, output: () => text, said, exit }
}

const IDLE = `const work = setInterval(() => {}, 1000)
  return { stop: async () => { log.info('stop called'); clearInterval(work) } }`
const stops = (output: string) => output.split('stop called').length - 1

describe('the process shell', () => {
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`stops once on ${signal} and exits with 0, however often it comes`, async () => {
      const { child, said, exit, output } = run(IDLE)
      await said('started')
      child.kill(signal)
      child.kill(signal)
      expect(await exit).to.equal(0)
      expect(stops(output())).to.equal(1)
    })
  }

  it('runs behind other processes once it has started, if it is one of the background', async () => {
    const { child, said } = run(IDLE, {}, { background: true })
    await said('started')
    const { pid = 0 } = child
    const threads = readdirSync(`/proc/${pid}/task`).map(Number)
    expect(threads).to.have.length.above(4)
    const behind = Math.min(getPriority() + 10, constants.priority.PRIORITY_LOW)
    expect(new Set(threads.map((id) => getPriority(id)))).to.deep.equal(new Set([behind]))
  })

  it('ends when standard input ends and it was told to watch its parent', async () => {
    const { child, said, exit, output } = run(IDLE, { PARENT_WATCH: '1' })
    await said('started')
    child.stdin?.end()
    expect(await exit).to.equal(0)
    expect(stops(output())).to.equal(1)
  })

  it('ends when the IPC channel to its parent closes', async () => {
    const { child, said, exit } = run(IDLE, {}, { ipc: true })
    await said('started')
    child.disconnect()
    expect(await exit).to.equal(0)
  })

  it('goes on when standard input ends and it was not told to watch', async () => {
    const { child, said, exit } = run(
      `process.stdin.on('end', () => log.info('input ended')).resume(); ${IDLE}`,
    )
    await said('started')
    child.stdin?.end()
    await said('input ended')
    expect(child.exitCode).to.equal(null)
    child.kill('SIGTERM')
    expect(await exit).to.equal(0)
  })

  it('ends at once when told to stop before it has started', async () => {
    const { child, said, exit } = run(`setInterval(() => {}, 1000); await new Promise(() => {})`)
    await said('starting')
    child.kill('SIGTERM')
    expect(await exit).to.equal(0)
  })

  const crashes: Record<string, string> = {
    'start failed': `throw new Error('no luck')`,
    'uncaught error': `setTimeout(() => { throw new Error('no luck') }); ${IDLE}`,
    failed: `setTimeout(() => fail(new Error('no luck'))); ${IDLE}`,
    'unhandled rejection': `setTimeout(() => void Promise.reject(new Error('no luck'))); ${IDLE}`,
    'stop failed': `setInterval(() => {}, 1000)
      setTimeout(() => process.kill(process.pid, 'SIGTERM'))
      return { stop: async () => { throw new Error('no luck') } }`,
  }
  for (const [message, body] of Object.entries(crashes)) {
    it(`leaves a fatal line and exit code 1: ${message}`, async () => {
      const { exit, output } = run(body)
      expect(await exit).to.equal(1)
      const fatal = output()
        .split('\n')
        .filter((line) => line.includes('"level":"fatal"'))
      expect(fatal).to.have.length(1)
      expect(fatal[0]).to.contain(message).and.contain('no luck')
    })
  }

  it('refuses a setting that it does not know', async () => {
    const { exit, output } = run(IDLE, { PARENT_WATCH: 'yes' })
    expect(await exit).to.equal(78)
    expect(output()).to.contain('PARENT_WATCH')
  })

  const damage = `setTimeout(() => fail(new Error('a read', {
    cause: Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT_VTAB' }) }))); ${IDLE}`

  it('leaves a damaged database to the operator, whenever that is found', async () => {
    const { exit, output } = run(damage)
    expect(await exit).to.equal(78)
    expect(output().match(/"level":"fatal"/g)).to.have.length(1)
    // The error of SQLite names no file.
    expect(output()).to.include('quick_check of each says which')
  })

  it('is started again where its next start makes a damaged database anew', async () => {
    const onDamage = `onDamage: () => process.stdout.write('noted'),`
    const { exit, output } = run(damage, {}, { onDamage })
    expect(await exit).to.equal(1)
    expect(output()).to.include('noted').and.not.include('quick_check')
  })

  it('is ended with 1 when stopping takes longer than its deadline', async () => {
    const { child, said, exit, output } = run(
      `setInterval(() => {}, 1000); return { stop: () => new Promise(() => {}) }`,
    )
    await said('started')
    child.kill('SIGTERM')
    expect(await exit).to.equal(1)
    expect(output()).to.contain('stop took too long')
  })
})
