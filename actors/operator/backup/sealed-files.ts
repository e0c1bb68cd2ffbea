import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BadBackup, type BackupPart } from './manifest.js'

/** For whom a backup is encrypted, or by what it is opened: keys of age, or a file with a passphrase. */
export interface SealKey {
  /** `age1…`; any of them opens the backup. */
  readonly recipients?: readonly string[]
  /** A file of lines `AGE-SECRET-KEY-1…`, as age-keygen writes it. */
  readonly identityFile?: string
  readonly passphraseFile?: string
  /** Binary logarithm of the work that each guess of the passphrase costs; 18 by default. */
  readonly passphraseWork?: number
}

/** Writes the encrypted files of a backup. */
export interface Sealer extends Pick<Encrypter, 'encrypt'> {
  /** A key made for this backup, encrypted by the passphrase: one guess would else cost as much for each file. */
  readonly keyFile?: Uint8Array
}

/** The key in a backup that a passphrase opens. */
export const KEY_FILE = 'key.age'

/** Reads them. */
export type Opener = Pick<Decrypter, 'decrypt'>

/** Throws BadBackup when the key cannot be used. */
export async function openSealer(key: SealKey): Promise<Sealer> {
  const { recipients = [], passphraseFile, passphraseWork } = key
  if (passphraseFile !== undefined && recipients.length > 0)
    throw new BadBackup('give --recipient or --passphrase-file, not both')
  if (passphraseFile !== undefined) {
    const identity = await generateIdentity()
    const locker = new Encrypter()
    locker.setPassphrase(await readPassphrase(passphraseFile))
    if (passphraseWork !== undefined) locker.setScryptWorkFactor(passphraseWork)
    const encrypter = encrypterTo([await identityToRecipient(identity)])
    const keyFile = await locker.encrypt(identity)
    return { encrypt: encrypter.encrypt.bind(encrypter), keyFile }
  }
  if (recipients.length === 0)
    throw new BadBackup('a backup is encrypted: give --recipient or --passphrase-file')
  return encrypterTo(recipients)
}

function encrypterTo(recipients: readonly string[]): Encrypter {
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch (cause) {
      throw new BadBackup(`${recipient} is not a public key of age (age1…)`, { cause })
    }
  }
  return encrypter
}

/** For the files of the backup in the directory. Throws BadBackup when the key cannot be used. */
export async function openOpener(
  { identityFile, passphraseFile }: SealKey,
  dir: string,
): Promise<Opener> {
  if (identityFile === undefined && passphraseFile === undefined)
    throw new BadBackup('a backup is encrypted: give --identity or --passphrase-file')
  const decrypter = new Decrypter()
  if (passphraseFile !== undefined) decrypter.addIdentity(await unlock(passphraseFile, dir))
  if (identityFile === undefined) return decrypter
  const lines = (await readText(identityFile)).split(/\s*\n\s*/)
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (keys.length === 0) throw new BadBackup(`${identityFile} holds no secret key of age`)
  for (const key of keys) {
    try {
      decrypter.addIdentity(key)
    } catch {
      // Without the cause, which might show the key.
      throw new BadBackup(`${identityFile} holds a line that is not a secret key of age`)
    }
  }
  return decrypter
}

async function unlock(passphraseFile: string, dir: string): Promise<string> {
  const opener = new Decrypter()
  opener.addPassphrase(await readPassphrase(passphraseFile))
  const locked = await readFile(join(dir, KEY_FILE)).catch((cause: unknown) => {
    throw new BadBackup(`${dir} was not made with a passphrase: it has no ${KEY_FILE}`, { cause })
  })
  try {
    return await opener.decrypt(locked, 'text')
  } catch (cause) {
    throw new BadBackup('the passphrase does not open the backup', { cause })
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new BadBackup(`${path} cannot be read`, { cause })
  }
}

async function readPassphrase(path: string): Promise<string> {
  const passphrase = (await readText(path)).trim()
  if (passphrase === '') throw new BadBackup(`${path} holds no passphrase`)
  return passphrase
}

/** Size and hash of what went through. */
interface StreamMeasure {
  bytes: number
  readonly hash: ReturnType<typeof createHash>
}

const measure = (): StreamMeasure => ({ bytes: 0, hash: createHash('sha256') })

async function* through(
  chunks: AsyncIterable<Uint8Array>,
  measured: StreamMeasure,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    measured.bytes += chunk.length
    measured.hash.update(chunk)
    yield chunk
  }
}

/** Encrypts the content into a file of the directory; the file is on disk when this resolves. */
export async function sealFile(
  sealer: Pick<Sealer, 'encrypt'>,
  path: string,
  content: AsyncIterable<Uint8Array>,
): Promise<Pick<BackupPart, 'bytes' | 'sha256' | 'stored_bytes' | 'stored_sha256'>> {
  const plain = measure()
  const stored = measure()
  const sealed = await sealer.encrypt(ReadableStream.from(through(content, plain)))
  const handle = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of through(sealed, stored)) await handle.writeFile(chunk)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return {
    bytes: plain.bytes,
    sha256: plain.hash.digest('hex'),
    stored_bytes: stored.bytes,
    stored_sha256: stored.hash.digest('hex'),
  }
}

/** The content of a part. Throws BadBackup, at its end at the latest, when it is not what was captured. */
export async function* openedFile(
  opener: Opener,
  dir: string,
  { file, bytes, sha256 }: BackupPart,
): AsyncGenerator<Uint8Array> {
  const measured = measure()
  try {
    const sealed = ReadableStream.from(createReadStream(join(dir, file)))
    yield* through(await opener.decrypt(sealed as ReadableStream<Uint8Array>), measured)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BadBackup(`${file} of the backup cannot be opened: ${why}`, { cause })
  }
  if (measured.bytes !== bytes || measured.hash.digest('hex') !== sha256)
    throw new BadBackup(`${file} of the backup is not what was captured`)
}
