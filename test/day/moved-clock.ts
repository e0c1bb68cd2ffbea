import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { inProject } from '../../devnet/launcher/binaries.js'

/** Set in the environment of all that runs on another day: that day, in ISO 8601. */
const ON_DAY = 'CLOCK_MOVED_TO'

/** The clock cannot be moved on this machine; the message says why. */
export class ClockNotMoved extends Error {
  override readonly name = 'ClockNotMoved'
}

/** The day to which the clock of this process is moved; undefined when it is not. */
export const movedTo = (env: NodeJS.ProcessEnv = process.env): string | undefined => env[ON_DAY]

/**
 * A command that runs another one, and all that it starts, with clocks that show `day` when it begins and go on from there. What
 * already runs on another day stays on it. Compiles `moved-clock.c` at the first use. Throws ClockNotMoved without a compiler.
 */
export function onDay(
  day: Date,
  command: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): { readonly words: readonly string[]; readonly env: NodeJS.ProcessEnv } {
  if (movedTo(env) !== undefined) return { words: command, env }
  const seconds = Math.round((day.getTime() - Date.now()) / 1_000)
  return {
    words: [provideMovedClock(), `${seconds}`, ...command],
    env: { ...env, [ON_DAY]: day.toISOString() },
  }
}

/** Path of the compiled program; its name has the source's hash. */
function provideMovedClock(): string {
  const source = inProject('test/day/moved-clock.c')
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12)
  const program = inProject(`.cache/moved-clock-${hash}`)
  if (existsSync(program)) return program
  mkdirSync(inProject('.cache'), { recursive: true })
  const unfinished = `${program}.${process.pid}`
  const words = ['-O2', '-Wall', '-Wextra', '-Werror', '-o', unfinished, source]
  const { status, stderr, error } = spawnSync('cc', words, { encoding: 'utf8' })
  if (status !== 0)
    throw new ClockNotMoved(
      `cc does not compile test/day/moved-clock.c:\n${error?.message ?? stderr}`,
    )
  renameSync(unfinished, program)
  return program
}
