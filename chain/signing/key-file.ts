import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Address, Hex } from '../../core/action.js'
import { CannotStart } from '../../core/cannot-start.js'
import { openExternalSigner } from './external/external-signer.js'
import { createTransactionSigner, type TransactionSigner } from './keys.js'

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/

/** Where the key of a process is: in a file, or in its environment. */
export type KeySource =
  | { readonly file: string }
  /** `isWorthless`: the chain is one that `./venue up` made, whose keys come from a known phrase. */
  | { readonly privateKey: Hex; readonly isWorthless: boolean }

/** A key of 32 bytes, in settings. */
export const keyText = z.custom<Hex>(
  (value) => typeof value === 'string' && PRIVATE_KEY.test(value),
  'must be 0x and 64 hex digits',
)

/** Whether a process is on a chain that its launcher made; in the settings of each process with a key. */
export const localChain = z.enum(['0', '1']).default('0')

/** The settings of one process's key. */
export interface KeySettings {
  /** The name in front of `_KEY_FILE` and `_PRIVATE_KEY`. */
  readonly name: string
  readonly file: string | undefined
  readonly privateKey: Hex | undefined
  readonly localChain: '0' | '1'
}

/** Undefined when there is no key. Throws CannotStart when there are two. */
export function keySourceOf(settings: KeySettings): KeySource | undefined {
  const { name, file, privateKey, localChain: isLocal } = settings
  if (file !== undefined && privateKey !== undefined)
    throw new CannotStart(`${name}_KEY_FILE and ${name}_PRIVATE_KEY are both set: remove one`)
  if (file !== undefined) return { file }
  return privateKey && { privateKey, isWorthless: isLocal === '1' }
}

/** A key next to the one in use, whose transactions are followed to their end and which signs nothing new. */
export const retiringFileOf = (keyFile: string): string => `${keyFile}.retiring`

/** The longest key file. */
const MAX_BYTES = 4_096
const ANY_ACCESS_OF_OTHERS = 0o177

const reference = z.strictObject({
  signer_url: z.url({ protocol: /^https?$/ }),
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  timeout_ms: z.int().min(100).max(10_000).default(2_000),
})

/** What is expected of a key file. */
export interface KeyFileRules {
  /** The user that must own it; the process's own by default. `any`: for an operator that reads another user's. */
  readonly ownerUid?: number | 'any'
}

/**
 * Opens the signer of a key file: `0x` and 64 hex digits, or for a key in an external signer one JSON object
 * `{"signer_url", "address", "timeout_ms"}`. Throws CannotStart, in one sentence without the content, when the file
 * cannot be read, belongs to another user, or may be used by others than its owner; and as openExternalSigner does.
 */
export function openKeyFile(
  path: string,
  chainId: number,
  { ownerUid = process.getuid?.() ?? 0 }: KeyFileRules = {},
): TransactionSigner {
  const text = readGuarded(path, ownerUid).trim()
  if (PRIVATE_KEY.test(text)) return privateSigner(text as Hex, chainId, path)
  const named = reference.safeParse(parsed(text))
  if (!named.success)
    throw new CannotStart(
      `the key file ${path} must hold 0x and 64 hex digits, or the signer_url and address of an external signer`,
    )
  const { signer_url: url, address, timeout_ms: timeoutMs } = named.data
  return openExternalSigner({ url, timeoutMs, address: address.toLowerCase() as Address }, chainId)
}

function privateSigner(key: Hex, chainId: number, where: string): TransactionSigner {
  try {
    return createTransactionSigner(key, chainId)
  } catch (cause) {
    throw new CannotStart(`${where} holds no key of the curve`, { cause })
  }
}

/** One descriptor for the checks and the read, so that what was checked is what is read. */
function readGuarded(path: string, ownerUid: number | 'any'): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new CannotStart(`the key file ${path} cannot be read (${why})`, { cause })
  }
  try {
    const { mode, uid, size } = fstatSync(file)
    if (ownerUid !== 'any' && uid !== ownerUid)
      throw new CannotStart(`the key file ${path} belongs to user ${uid} and not to ${ownerUid}`)
    if ((mode & ANY_ACCESS_OF_OTHERS) !== 0)
      throw new CannotStart(
        `the key file ${path} has mode ${(mode & 0o777).toString(8)}: set it to 600 or 400`,
      )
    if (size > MAX_BYTES) throw new CannotStart(`the key file ${path} is too long for a key`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
