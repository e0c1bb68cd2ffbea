import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

/** The key file is not one that a key may be read from. The message names the file, never what it holds. */
export class KeyFileRefused extends Error {
  override readonly name = 'KeyFileRefused'
}

const ACCESS_OF_OTHERS = 0o077
/** 0x, 64 digits and a line's end have 67 bytes. */
const MAX_BYTES = 128

/**
 * The account whose private key the file holds. Throws KeyFileRefused where the file is no regular file of this user, gives its group
 * or others any right, or holds no key.
 */
export function readKeyFile(path: string): PrivateKeyAccount {
  const text = readPrivate(path)
  if (!/^0x[0-9a-fA-F]{64}$/.test(text))
    throw new KeyFileRefused(`${path} holds no private key: write 0x and 64 hex digits`)
  try {
    return privateKeyToAccount(text as `0x${string}`)
  } catch {
    // The reason is left out: it may quote the key.
    throw new KeyFileRefused(`${path} holds a number that is no private key of secp256k1`)
  }
}

/** One descriptor for the checks and the read, so that what was checked is what is read. */
function readPrivate(path: string): string {
  const file = openFile(path)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new KeyFileRefused(`${path} is no regular file`)
    if (stat.uid !== process.getuid?.())
      throw new KeyFileRefused(`${path} belongs to another user: copy it to a file of your own`)
    if ((stat.mode & ACCESS_OF_OTHERS) !== 0) {
      const mode = (stat.mode & 0o777).toString(8)
      throw new KeyFileRefused(`${path} has mode ${mode}: chmod 600 ${path}`)
    }
    const bytes = Buffer.alloc(MAX_BYTES)
    return bytes.toString('utf8', 0, readSync(file, bytes)).trim()
  } finally {
    closeSync(file)
  }
}

function openFile(path: string): number {
  try {
    // A pipe without a writer is refused too, not waited for.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? 'unreadable'
    throw new KeyFileRefused(`${path} cannot be read (${why})`, { cause })
  }
}
