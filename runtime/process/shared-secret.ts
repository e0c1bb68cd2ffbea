import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { CannotStart } from '../../core/cannot-start.js'
import { BadConfiguration } from './config.js'

/** The file that ./venue up makes in DATA_DIR. */
export const EXECUTOR_SECRET_NAME = 'executor.secret'

/** 32 random bytes as hex are 64. */
const MIN_CHARACTERS = 32
/** The longest file. */
const MAX_BYTES = 4_096
const ACCESS_OF_OTHERS = 0o077

const minimum = `must have at least ${MIN_CHARACTERS} characters`

/** Settings of a process that calls the executor, or is it: the secret in a file, or itself. */
export const executorSecretEnv = {
  /** File with the secret that callers of the executor send as `Authorization: Bearer …`. */
  EXECUTOR_SECRET_FILE: z.string().min(1).optional(),
  /** The same secret in the environment. */
  EXECUTOR_SECRET: z.string().min(MIN_CHARACTERS, minimum).optional(),
}

/** The settings as they were read. */
export interface SecretSettings {
  readonly EXECUTOR_SECRET_FILE?: string | undefined
  readonly EXECUTOR_SECRET?: string | undefined
}

/**
 * The secret that matchers and executor share. Throws BadConfiguration when there is none or there are two, and CannotStart
 * when the file cannot be read, may be read by other users, or holds fewer than 32 characters; never with the content.
 */
export function executorSecretOf(settings: SecretSettings): string {
  const { EXECUTOR_SECRET_FILE: file, EXECUTOR_SECRET: secret } = settings
  if (file !== undefined && secret !== undefined)
    throw new BadConfiguration('EXECUTOR_SECRET_FILE and EXECUTOR_SECRET are both set: remove one')
  if (file !== undefined) return readSecret(file)
  if (secret !== undefined) return secret
  throw new BadConfiguration(
    'there is no secret of the executor: set EXECUTOR_SECRET_FILE for executor and matchers (see .env.example)',
  )
}

/** One descriptor for the checks and the read, so that what was checked is what is read. */
function readSecret(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new CannotStart(`the secret file ${path} cannot be read (${why})`, { cause })
  }
  try {
    const { mode, size } = fstatSync(file)
    if ((mode & ACCESS_OF_OTHERS) !== 0)
      throw new CannotStart(
        `the secret file ${path} has mode ${(mode & 0o777).toString(8)}: set it to 600 or 400`,
      )
    if (size > MAX_BYTES) throw new CannotStart(`the secret file ${path} is too long for a secret`)
    const secret = readFileSync(file, 'utf8').trim()
    if (secret.length < MIN_CHARACTERS) throw new CannotStart(`the secret file ${path} ${minimum}`)
    return secret
  } finally {
    closeSync(file)
  }
}
