import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { testDay } from '../support/config.js'
import { movedTo, onDay } from '../day/moved-clock.js'

const MOCHA = 'node_modules/mocha/bin/mocha.js'

/** Rooms of one process that know dates; the others are left to `npm run day`, because they take minutes. */
const PURE = [
  'dist/test/{interface,refusals,scenarios}/**/*.test.js',
  'dist/test/core/{contracts,entry,market-data,records}/**/*.test.js',
]

/** Runs test files as on the day; resolves with their output once they have ended. */
async function runThere(day: Date, files: readonly string[]) {
  const mocha = [process.execPath, MOCHA, '--exit', '--reporter', 'dot', ...files]
  const { words, env } = onDay(day, mocha)
  const [program = '', ...rest] = words
  const child = spawn(program, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const killAtExit = () => child.kill('SIGKILL')
  process.once('exit', killAtExit)
  const [code] = (await once(child, 'close')) as [number | null]
  process.removeListener('exit', killAtExit)
  return { code, output }
}

/** As on another day (TEST_DAY), which the name of the test prints. */
describe(`as on ${movedTo() ?? testDay().toISOString()}`, function () {
  const passes = async (...files: string[]): Promise<void> => {
    const { code, output } = await runThere(testDay(), files)
    expect(output).to.match(/[1-9]\d* passing/)
    expect(code, output).to.equal(0)
  }

  it('the rules of orders, contracts, records and refusals hold', () => passes(...PURE))

  it('a venue trades all kinds of market, and goes on after a restart', () =>
    passes('dist/test/day/trading.js'))
})
