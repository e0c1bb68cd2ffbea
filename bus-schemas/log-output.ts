import { destination } from 'pino'

/** Lines wait for the end of the turn of the event loop, but never more than about this many characters of them. */
const MAX_WAITING = 8 * 1024

/** Where log lines go. */
export interface LogOutput {
  write(line: string): void
}

/**
 * Standard output. The lines of one turn of the event loop leave in one write: under load a write per line costs more
 * than the line. What waits is lost only with a process that is killed in that very turn.
 */
export function createLogOutput(): LogOutput {
  const stream = destination({ dest: 1, sync: true })
  let waiting = ''
  const flush = (): void => {
    const lines = waiting
    waiting = ''
    if (lines !== '') stream.write(lines)
  }
  process.once('exit', flush)
  return {
    write: (line) => {
      if (waiting === '') setImmediate(flush)
      waiting += line
      if (waiting.length > MAX_WAITING) flush()
    },
  }
}
