import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { endAtHelp, typedWords } from '../../runtime/process/command-line.js'
import { ClockNotMoved, onDay } from './moved-clock.js'

/**
 * Runs a command as on another day: `npm run day -- 2027-01-07T12:00Z ./venue test`. The clocks of all processes that it starts are
 * moved, those of the bus server and of the local chain too; timers are not.
 */

const USAGE = `usage: npm run day -- <time> <command> [arguments]

Runs a command, and all that it starts, with clocks that show <time> when it begins and go on from there:

  npm run day -- 2027-01-07T12:00Z ./venue test
  npm run day -- 2028-02-29T12:00Z npx mocha dist/test/e2e/trading.test.js
  npm run day -- 2026-11-30T12:30Z ./venue up`

endAtHelp(USAGE)
const [time = '', ...command] = typedWords()
const day = new Date(time)
if (Number.isNaN(day.getTime()) || command.length === 0) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

try {
  const { words, env } = onDay(day, command)
  const [program = '', ...rest] = words
  process.stderr.write(`as on ${day.toISOString()}: ${command.join(' ')}\n`)
  const child = spawn(program, rest, { env, stdio: 'inherit' })
  // A terminal's Ctrl-C reaches the command as well.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  process.exitCode = code ?? (signal === null ? 1 : 128)
} catch (error) {
  if (!(error instanceof ClockNotMoved)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
