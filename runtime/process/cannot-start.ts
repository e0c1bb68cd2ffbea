import { CannotStart } from '../../core/cannot-start.js'

/** Exit code of a program that does not start until an operator changes something (EX_CONFIG of sysexits.h). */
export const CANNOT_START_CODE = 78

/** Whether SQLite could not make sense of a file, also where another error carries that as its cause. */
export function isDamage(error: unknown): error is Error {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && /^SQLITE_(NOTADB|CORRUPT)/.test(String(at.code))) return true
  return false
}

/** The settings that `read` gives. When it throws CannotStart, the program ends with that sentence on standard error. */
export function orExit<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    return exitIfCannotStart(error)
  }
}

/** Ends the program with the sentence of a CannotStart; throws any other error on. */
export function exitIfCannotStart(error: unknown): never {
  if (!(error instanceof CannotStart)) throw error
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exit(CANNOT_START_CODE)
}
